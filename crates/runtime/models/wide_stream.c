/* wchar.h: input of wide characters.
 *
 * A wide stream of glibc has two buffers: bytes as they were read, and the characters that they
 * stand for. libc fills both; then the bytes get their labels, and are decoded once more, in traced
 * code, into the same characters with labels. (Where the buffer is smaller than a character, the
 * bytes are gone by then, and what they were is lost.) */
#include "model.h"
#include "charset.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

size_t __plx_m_mbrtowc(wchar_t *to, const char *s, size_t n, mbstate_t *state);
void __plx_stream_refilled(FILE *stream, size_t kept);
void __plx_stream_ended(FILE *stream);
void __plx_stream_touched(FILE *stream, const char *function);
wint_t __wunderflow(FILE *stream);
wchar_t *__fgetws_chk(wchar_t *to, size_t room, int n, FILE *stream);

/* Flags of glibc's streams. */
#define SEEN_ERROR 0x20
#define NEEDS_LOCK 0x80
#define IN_BACKUP 0x100

/* The beginning of what glibc keeps for wide streams, the same since it has them. */
struct wide {
    wchar_t *read_ptr, *read_end, *read_base;
};

static struct wide *wide_of(FILE *stream)
{
    return (struct wide *)(void *)stream->_wide_data;
}

/* Bytes of one character, 0 if that is not known. */
static size_t encoded_size(enum charset charset, wchar_t c)
{
    size_t size = 1;
    if (charset == OTHER || c < 0)
        return 0;
    if (charset == UTF8 && c >= 0x80)
        for (size = 2; c >> (5 * size + 1) != 0;)
            size++;
    return size;
}

/* Decodes what the characters in the buffer were made from. */
static void label_characters(FILE *stream)
{
    struct wide *wide = wide_of(stream);
    size_t count = (size_t)(wide->read_end - wide->read_ptr), size = 0;
    enum charset charset = current_charset();
    __plx_clear(wide->read_ptr, count * sizeof *wide->read_ptr);
    for (size_t i = 0; i < count; i++)
        size += encoded_size(charset, wide->read_ptr[i]);
    const char *end = stream->_IO_read_ptr, *bytes = end - size;
    if (!__plx_peek(stream->_IO_buf_base, (size_t)(stream->_IO_read_end - stream->_IO_buf_base)))
        return;
    if (charset == OTHER || size > (size_t)(end - stream->_IO_buf_base)) {
        LOSE("fgetwc");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        wchar_t *place = &wide->read_ptr[i], character;
        mbstate_t state = {0};
        size_t expected = encoded_size(charset, *place);
        size_t length = __plx_m_mbrtowc(&character, bytes, (size_t)(end - bytes), &state);
        if ((length != expected && (length != 0 || *place != L'\0')) ||
            memcmp(&character, place, sizeof character) != 0) {
            LOSE("fgetwc");
            return;
        }
        *place = character;
        bytes += expected;
    }
}

/* Makes at least one character available. */
static wint_t fill(FILE *stream)
{
    char *pointer = stream->_IO_read_ptr, *end = stream->_IO_read_end;
    size_t kept = end > pointer ? (size_t)(end - pointer) : 0;
    int was_aside = (stream->_flags & IN_BACKUP) != 0;
    wint_t first = __wunderflow(stream);
    if (first == WEOF) {
        __plx_stream_ended(stream);
        return first;
    }
    /* Behind what was pushed back there may have been characters: nothing was read then. */
    int is_old = was_aside && pointer == stream->_IO_read_ptr && end == stream->_IO_read_end;
    if (!is_old && stream->_IO_read_base == stream->_IO_buf_base)
        __plx_stream_refilled(stream, kept);
    label_characters(stream);
    return first;
}

/* Whether there is a character, of a stream that is or becomes wide. */
static int is_available(FILE *stream)
{
    struct wide *wide = wide_of(stream);
    return wide->read_ptr < wide->read_end || fill(stream) != WEOF;
}

wint_t __plx_m_fgetwc_unlocked(FILE *stream)
{
    if (fwide(stream, 1) <= 0)
        return fgetwc_unlocked(stream);
    return is_available(stream) ? (wint_t)*wide_of(stream)->read_ptr++ : WEOF;
}

/* A stream is locked only if there ever was a second thread, as glibc does it. */
static int lock(FILE *stream)
{
    int needed = (stream->_flags2 & NEEDS_LOCK) != 0;
    if (needed)
        flockfile(stream);
    return needed;
}

static void unlock(FILE *stream, int locked)
{
    if (locked)
        funlockfile(stream);
}

wint_t __plx_m_fgetwc(FILE *stream)
{
    int locked = lock(stream);
    wint_t c = __plx_m_fgetwc_unlocked(stream);
    unlock(stream, locked);
    return c;
}

wint_t __plx_m_getwchar(void)
{
    return __plx_m_fgetwc(stdin);
}

wint_t __plx_m_getwchar_unlocked(void)
{
    return __plx_m_fgetwc_unlocked(stdin);
}

wchar_t *__plx_m_fgetws_unlocked(wchar_t *to, int n, FILE *stream)
{
    if (n <= 1 || fwide(stream, 1) <= 0)
        return fgetws_unlocked(to, n, stream);
    /* An error of before does not count, but stays noted. */
    int error_before = stream->_flags & SEEN_ERROR;
    stream->_flags &= ~SEEN_ERROR;
    int count = 0, is_complete = 0;
    while (count < n - 1 && !is_complete && is_available(stream)) {
        wchar_t c = *wide_of(stream)->read_ptr++;
        to[count++] = c;
        is_complete = c == L'\n';
    }
    wchar_t *result = NULL;
    if (count > 0 && (!(stream->_flags & SEEN_ERROR) || errno == EAGAIN)) {
        to[count] = L'\0';
        result = to;
    }
    stream->_flags |= error_before;
    return result;
}

wchar_t *__plx_m_fgetws(wchar_t *to, int n, FILE *stream)
{
    int locked = lock(stream);
    wchar_t *result = __plx_m_fgetws_unlocked(to, n, stream);
    unlock(stream, locked);
    return result;
}

/* The real function ends the program when the room is too small. */
wchar_t *__plx_m___fgetws_chk(wchar_t *to, size_t room, int n, FILE *stream)
{
    if (n > 1 && (size_t)n <= room)
        return __plx_m_fgetws(to, n, stream);
    return __fgetws_chk(to, room, n, stream);
}

/* The character pushed back keeps its label. */
wint_t __plx_m_ungetwc(wint_t c, FILE *stream)
{
    wint_t result = ungetwc(c, stream);
    struct wide *wide = wide_of(stream);
    if (result != WEOF && fwide(stream, 0) > 0 && wide->read_ptr < wide->read_end &&
        memcmp(wide->read_ptr, &c, sizeof c) == 0)
        *wide->read_ptr = (wchar_t)c;
    return result != WEOF ? c : WEOF;
}

/* Formatted input has no model. There are two of each: GNU's old ones, in which %a allocates, and
 * C99's. */
int old_vfwscanf(FILE *stream, const wchar_t *format, va_list list) __asm__("vfwscanf");
int c99_vfwscanf(FILE *stream, const wchar_t *format, va_list list) __asm__("__isoc99_vfwscanf");

#define FORMATTED(real, vfwscanf_model, fwscanf_model, vwscanf_model, wscanf_model)                \
    int vfwscanf_model(FILE *stream, const wchar_t *format, va_list arguments)                     \
    {                                                                                              \
        int result = real(stream, format, arguments);                                              \
        __plx_stream_touched(stream, "fwscanf");                                                   \
        return result;                                                                             \
    }                                                                                              \
    int fwscanf_model(FILE *stream, const wchar_t *format, ...)                                    \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        int result = vfwscanf_model(stream, format, arguments);                                    \
        va_end(arguments);                                                                         \
        return result;                                                                             \
    }                                                                                              \
    int vwscanf_model(const wchar_t *format, va_list arguments)                                    \
    {                                                                                              \
        return vfwscanf_model(stdin, format, arguments);                                           \
    }                                                                                              \
    int wscanf_model(const wchar_t *format, ...)                                                   \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        int result = vfwscanf_model(stdin, format, arguments);                                     \
        va_end(arguments);                                                                         \
        return result;                                                                             \
    }

FORMATTED(old_vfwscanf, __plx_m_vfwscanf, __plx_m_fwscanf, __plx_m_vwscanf, __plx_m_wscanf)
FORMATTED(c99_vfwscanf, __plx_m___isoc99_vfwscanf, __plx_m___isoc99_fwscanf,
          __plx_m___isoc99_vwscanf, __plx_m___isoc99_wscanf)
