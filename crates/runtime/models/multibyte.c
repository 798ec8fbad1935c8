/* wchar.h and stdlib.h: characters of several bytes made wide, in the C, POSIX and UTF-8 locales.
 *
 * One function, decode, holds all that is known about character sets; the functions of libc are
 * loops around it. It leaves the shift state as glibc does: the number of bytes that a partial
 * character has and wants, and the bits that are known. Each function has a state of its own for
 * callers that bring none, as the standard says, and hands it to the real function too, so that
 * model and real function can take turns.
 *
 * In the slow path the real function is asked as well: where it does not agree (another
 * version of libc), it has the last word. */
#include "model.h"
#include "charset.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* How a partial character is kept. */
static unsigned bytes_seen(const mbstate_t *state) { return (unsigned)state->__count & 0xff; }
static unsigned bytes_wanted(const mbstate_t *state) { return (unsigned)state->__count >> 8; }

/* One character of UTF-8 from at least one byte: its length in this call, INVALID or INCOMPLETE. */
static size_t decode_utf8(unsigned *character, const unsigned char *s, size_t n, mbstate_t *state)
{
    unsigned seen = bytes_seen(state), wanted = bytes_wanted(state);
    unsigned value = state->__value.__wch;
    size_t used = 0;
    if (seen == 0) {
        unsigned lead = s[0];
        if (lead < 0x80) {
            *character = lead;
            return 1;
        }
        /* Without continuation bytes before them, and none that could be said in one byte. */
        if (lead < 0xc2 || lead >= 0xfe)
            return invalid();
        if (lead < 0xe0) {
            wanted = 2;
            value = lead & 0x1f;
        } else if (lead < 0xf0) {
            wanted = 3;
            value = lead & 0x0f;
        } else if (lead < 0xf8) {
            wanted = 4;
            value = lead & 0x07;
        } else if (lead < 0xfc) {
            wanted = 5;
            value = lead & 0x03;
        } else {
            wanted = 6;
            value = lead & 0x01;
        }
        value <<= 6 * (wanted - 1);
        seen = 1;
        used = 1;
    }
    for (; seen < wanted && used < n; seen++, used++) {
        unsigned next = s[used];
        if ((next & 0xc0) != 0x80)
            return invalid();
        value |= (next & 0x3f) << 6 * (wanted - seen - 1);
    }
    if (seen < wanted) {
        state->__count = (int)(wanted << 8 | seen);
        state->__value.__wch = value;
        return INCOMPLETE;
    }
    /* Not in more bytes than needed, and no half of a UTF-16 pair. */
    if ((wanted > 2 && value >> (5 * wanted - 4) == 0) || value >> 11 == 0xd800 >> 11)
        return invalid();
    state->__count = 0;
    *character = value;
    return used;
}

/* One character; as mbrtowc with nothing left out. */
static size_t decode(wchar_t *to, const char *s, size_t n, mbstate_t *state)
{
    if (n == 0)
        return INCOMPLETE;
    mbstate_t other = *state;
    __plx_clear(&other, sizeof other);
    wchar_t expected = 0;
    int error = errno;
    size_t real = mbrtowc(&expected, s, n, &other);
    int real_error = errno;
    /* No more than one character can have been looked at. */
    size_t looked_at = n < longest_character ? n : longest_character;
    if (looked_at > real)
        looked_at = real;
    if (real == 0)
        looked_at = 1;
    if (!__plx_peek(s, looked_at) && !LABELLED(*state)) {
        *state = other;
        if (real < INCOMPLETE)
            *to = expected;
        return real;
    }

    errno = error;
    mbstate_t after = *state;
    unsigned character = 0;
    size_t length = INVALID;
    switch (current_charset()) {
    case ASCII:
        /* Other bytes are invalid in this version of libc, and characters of their own in others. */
        if (bytes_seen(state) == 0 && (unsigned char)*s < 0x80) {
            character = (unsigned char)*s;
            length = 1;
        } else {
            errno = EILSEQ;
        }
        break;
    case UTF8:
        length = decode_utf8(&character, (const unsigned char *)s, n, &after);
        break;
    case OTHER:
        errno = real_error;
        break;
    }
    if (length < INCOMPLETE && character == 0) {
        /* The null character ends in the initial state, whatever was before. */
        length = 0;
        after.__count = 0;
    }
    /* Compared by libc, lest the comparison become a condition. */
    if (length != real || errno != real_error ||
        (length < INCOMPLETE && memcmp(&character, &expected, sizeof expected) != 0)) {
        LOSE("mbrtowc");
        errno = real_error;
        *state = other;
        if (real < INCOMPLETE)
            *to = expected;
        return real;
    }
    *state = after;
    if (length < INCOMPLETE)
        *to = (wchar_t)character;
    return length;
}

size_t __plx_m_mbrtowc(wchar_t *restrict to, const char *restrict s, size_t n,
                       mbstate_t *restrict state)
{
    static mbstate_t own;
    if (state == NULL)
        state = &own;
    FIX(n);
    wchar_t character;
    if (s == NULL) {
        s = "";
        n = 1;
        to = NULL;
    }
    size_t length = decode(&character, s, n, state);
    if (to != NULL && length < INCOMPLETE)
        *to = character;
    return length;
}

size_t __plx_m_mbrlen(const char *restrict s, size_t n, mbstate_t *restrict state)
{
    static mbstate_t own;
    return __plx_m_mbrtowc(NULL, s, n, state != NULL ? state : &own);
}

/* The character sets that are modelled have no shift states; the real function knows the others. */
int __plx_m_mbtowc(wchar_t *restrict to, const char *restrict s, size_t n)
{
    static mbstate_t own;
    if (s == NULL) {
        memset(&own, 0, sizeof own);
        __plx_clear(&own, sizeof own);
        return mbtowc(NULL, NULL, 0);
    }
    if (*s == '\0') {
        if (to != NULL)
            *to = L'\0';
        return 0;
    }
    size_t length = __plx_m_mbrtowc(to, s, n, &own);
    return length < INCOMPLETE ? (int)length : -1;
}

int __plx_m_mblen(const char *s, size_t n)
{
    if (s == NULL)
        return mblen(NULL, 0);
    if (*s == '\0')
        return 0;
    mbstate_t state = {0};
    size_t length = __plx_m_mbrtowc(NULL, s, n, &state);
    return length < INCOMPLETE ? (int)length : -1;
}

int __plx_m_mbsinit(const mbstate_t *state)
{
    return state == NULL || state->__count == 0;
}

/* At most n characters to a target that may be missing, from at most limit bytes.
 *
 * Without a limit, glibc looks at one byte more than there is room for characters, then at the
 * next such portion. That shows when a character that begins in one portion turns out to be
 * invalid in the next: the source then points to the latter. */
static size_t to_wide(wchar_t *to, const char **from, size_t limit, size_t n, mbstate_t *state)
{
    int in_portions = limit == SIZE_MAX && to != NULL;
    const char *s = *from;
    /* Without a target nothing is consumed. */
    mbstate_t copy = *state;
    if (to == NULL)
        state = &copy;
    size_t done = 0, portion = 0;
    while (to == NULL || done < n) {
        if (portion == 0)
            portion = in_portions ? strnlen(s, n - done) + 1 : limit;
        if (portion == 0)
            break;
        /* No byte behind the terminator may be looked at. */
        size_t most = portion < longest_character ? portion : longest_character, have = strnlen(s, most);
        if (have < most)
            have++;
        wchar_t character;
        size_t length = decode(&character, s, have, state);
        if (length == INCOMPLETE && have == portion) {
            s += have;
            portion = 0;
            if (in_portions)
                continue;
            break;
        }
        if (length >= INCOMPLETE) {
            errno = EILSEQ;
            if (to != NULL)
                *from = s;
            return INVALID;
        }
        if (to != NULL)
            to[done] = character;
        if (length == 0) {
            if (to != NULL)
                *from = NULL;
            return done;
        }
        done++;
        s += length;
        portion -= length;
        if (portion == 0 && !in_portions)
            break;
    }
    if (to != NULL)
        *from = s;
    return done;
}

size_t __plx_m_mbsnrtowcs(wchar_t *restrict to, const char **restrict from, size_t limit, size_t n,
                          mbstate_t *restrict state)
{
    static mbstate_t own;
    if (state == NULL)
        state = &own;
    FIX(limit);
    FIX(n);
    size_t readable = strnlen(*from, limit);
    if (readable < limit)
        readable++;
    if (__plx_peek(*from, readable) || LABELLED(*state))
        return to_wide(to, from, limit, n, state);
    size_t count = limit == SIZE_MAX ? mbsrtowcs(to, from, n, state)
                                     : mbsnrtowcs(to, from, readable, n, state);
    /* Where it met an invalid character, it does not say how many it has written. */
    if (count != INVALID && count < readable)
        readable = count + 1;
    if (to != NULL)
        __plx_clear(to, (readable < n ? readable : n) * sizeof *to);
    __plx_clear(from, sizeof *from);
    __plx_clear(state, sizeof *state);
    return count;
}

size_t __plx_m_mbsrtowcs(wchar_t *restrict to, const char **restrict from, size_t n,
                         mbstate_t *restrict state)
{
    static mbstate_t own;
    return __plx_m_mbsnrtowcs(to, from, SIZE_MAX, n, state != NULL ? state : &own);
}

size_t __plx_m_mbstowcs(wchar_t *restrict to, const char *from, size_t n)
{
    mbstate_t state = {0};
    return __plx_m_mbsnrtowcs(to, &from, SIZE_MAX, n, &state);
}

WITH_ROOM(size_t, mbsnrtowcs,
          (wchar_t *to, const char **from, size_t limit, size_t n, mbstate_t *state, size_t room), n,
          (to, from, limit, n, state), (to, from, limit, n, state, room))
WITH_ROOM(size_t, mbsrtowcs,
          (wchar_t *to, const char **from, size_t n, mbstate_t *state, size_t room), n,
          (to, from, n, state), (to, from, n, state, room))
WITH_ROOM(size_t, mbstowcs, (wchar_t *to, const char *from, size_t n, size_t room), n,
          (to, from, n), (to, from, n, room))
