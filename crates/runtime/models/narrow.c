/* wchar.h and stdlib.h: wide characters made bytes, in the C, POSIX and UTF-8 locales. Built as the
 * other direction is: see multibyte.c. */
#include "model.h"
#include "charset.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

/* One character in UTF-8: its length, or INVALID. */
static size_t encode_utf8(char *to, unsigned character)
{
    if (character < 0x80) {
        to[0] = (char)character;
        return 1;
    }
    if (character > 0x7fffffff || character >> 11 == 0xd800 >> 11)
        return invalid();
    unsigned length = 2;
    /* Each byte more holds five bits more: six of its own, and the first loses one. */
    while (character >> (5 * length + 1) != 0)
        length++;
    for (unsigned at = length - 1; at > 0; at--) {
        to[at] = (char)(0x80 | (character & 0x3f));
        character >>= 6;
    }
    /* As many ones as there are bytes, a zero, the rest. */
    to[0] = (char)((0xff00 >> length & 0xff) | character);
    return length;
}

/* One character to room for the longest; as wcrtomb with nothing left out. */
static size_t encode(char *to, wchar_t character, mbstate_t *state)
{
    char expected[longest_character];
    int error = errno;
    mbstate_t other = *state;
    __plx_clear(&other, sizeof other);
    size_t real = wcrtomb(expected, character, &other);
    int real_error = errno;
    __plx_clear(expected, sizeof expected);
    if (LABELLED(character)) {
        errno = error;
        size_t length = INVALID;
        enum charset charset = current_charset();
        if (charset == UTF8)
            length = encode_utf8(to, (unsigned)character);
        else if (charset == ASCII && (unsigned)character < 0x80)
            length = encode_utf8(to, (unsigned)character);
        else if (charset == ASCII)
            errno = EILSEQ;
        if (length == real && errno == real_error && charset != OTHER &&
            (length == INVALID || memcmp(to, expected, length) == 0)) {
            *state = other;
            return length;
        }
        LOSE("wcrtomb");
    }
    errno = real_error;
    *state = other;
    if (real != INVALID)
        __plx_m_memcpy(to, expected, real);
    return real;
}

size_t __plx_m_wcrtomb(char *restrict to, wchar_t character, mbstate_t *restrict state)
{
    static mbstate_t own;
    char bytes[longest_character];
    if (to == NULL)
        character = L'\0';
    size_t length = encode(bytes, character, state != NULL ? state : &own);
    if (to != NULL && length != INVALID)
        __plx_m_memcpy(to, bytes, length);
    return length;
}

int __plx_m_wctomb(char *to, wchar_t character)
{
    static mbstate_t own;
    if (to == NULL)
        return wctomb(NULL, L'\0');
    return (int)__plx_m_wcrtomb(to, character, &own);
}

/* At most n bytes to a target that may be missing, from at most limit characters. */
static size_t to_bytes(char *to, const wchar_t **from, size_t limit, size_t n, mbstate_t *state)
{
    const wchar_t *s = *from;
    mbstate_t copy = *state;
    if (to == NULL)
        state = &copy;
    size_t done = 0;
    for (; limit > 0; limit--) {
        if (to != NULL && done == n)
            break;
        char bytes[longest_character];
        wchar_t character = *s;
        size_t length = encode(bytes, character, state);
        if (length == INVALID) {
            if (to != NULL)
                *from = s;
            return INVALID;
        }
        if (to != NULL) {
            if (length > n - done)
                break;
            __plx_m_memcpy(to + done, bytes, length);
        }
        if (character == L'\0') {
            if (to != NULL)
                *from = NULL;
            return done;
        }
        done += length;
        s++;
    }
    if (to != NULL)
        *from = s;
    return done;
}

size_t __plx_m_wcsnrtombs(char *restrict to, const wchar_t **restrict from, size_t limit, size_t n,
                          mbstate_t *restrict state)
{
    static mbstate_t own;
    if (state == NULL)
        state = &own;
    FIX(limit);
    FIX(n);
    size_t readable = wcsnlen(*from, limit);
    if (readable < limit)
        readable++;
    if (__plx_peek(*from, readable * sizeof(wchar_t)) || LABELLED(*state))
        return to_bytes(to, from, limit, n, state);
    size_t count = wcsnrtombs(to, from, readable, n, state);
    /* Where it met an invalid character, it does not say how many bytes it has written. */
    size_t most = count != INVALID ? count + 1 : readable * longest_character;
    if (to != NULL)
        __plx_clear(to, most < n ? most : n);
    __plx_clear(from, sizeof *from);
    __plx_clear(state, sizeof *state);
    return count;
}

size_t __plx_m_wcsrtombs(char *restrict to, const wchar_t **restrict from, size_t n,
                         mbstate_t *restrict state)
{
    static mbstate_t own;
    return __plx_m_wcsnrtombs(to, from, SIZE_MAX, n, state != NULL ? state : &own);
}

size_t __plx_m_wcstombs(char *restrict to, const wchar_t *from, size_t n)
{
    mbstate_t state = {0};
    return __plx_m_wcsnrtombs(to, &from, SIZE_MAX, n, &state);
}

/* Characters of one byte. In UTF-8 and ASCII they are those below 0x80; the real function says
 * whether this version of libc knows more. */
wint_t __plx_m_btowc(int c)
{
    wint_t real = btowc(c);
    if (!LABELLED(c))
        return real;
    enum charset charset = current_charset();
    if (charset != OTHER && c >= 0 && c < 0x80)
        return (wint_t)c;
    if (charset == OTHER || real != WEOF) {
        LOSE("btowc");
        FIX(c);
    }
    return real;
}

int __plx_m_wctob(wint_t c)
{
    int real = wctob(c);
    if (!LABELLED(c))
        return real;
    enum charset charset = current_charset();
    if (charset != OTHER && c < 0x80)
        return (int)c;
    if (charset == OTHER || real != EOF) {
        LOSE("wctob");
        FIX(c);
    }
    return real;
}

WITH_ROOM(size_t, wcsnrtombs,
          (char *to, const wchar_t **from, size_t limit, size_t n, mbstate_t *state, size_t room), n,
          (to, from, limit, n, state), (to, from, limit, n, state, room))
WITH_ROOM(size_t, wcsrtombs,
          (char *to, const wchar_t **from, size_t n, mbstate_t *state, size_t room), n,
          (to, from, n, state), (to, from, n, state, room))
WITH_ROOM(size_t, wcstombs, (char *to, const wchar_t *from, size_t n, size_t room), n,
          (to, from, n), (to, from, n, room))
WITH_ROOM(size_t, wcrtomb, (char *to, wchar_t character, mbstate_t *state, size_t room), MB_CUR_MAX,
          (to, character, state), (to, character, state, room))
WITH_ROOM(int, wctomb, (char *to, wchar_t character, size_t room), MB_CUR_MAX, (to, character),
          (to, character, room))
