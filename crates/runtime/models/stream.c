/* stdio.h: input.
 *
 * All functions take bytes from the stream's buffer, which the runtime labels when it
 * is filled (__plx_m___underflow). The buffer is reached through the fields that
 * glibc's own macros use. */
#include "model.h"
#include "stream.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

int __plx_m___uflow(FILE *stream);
unsigned __plx_stream_is_symbolic(FILE *stream);

char *__fgets_chk(char *to, size_t room, int n, FILE *stream);
size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *stream);

/* Bytes in the buffer; fills it if it is empty, because so many are wanted. 0 at the end. */
static size_t available(FILE *stream, size_t wanted)
{
    if (stream->_IO_read_ptr >= stream->_IO_read_end && !__plx_stream_fill(stream, wanted))
        return 0;
    return (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
}

/* Moves bytes from the buffer up to a delimiter or until n are moved. Each labelled byte's
 * comparison with the delimiter is a branch. Returns how many were moved. */
static size_t move_until(char *to, size_t n, char delimiter, FILE *stream, int *found)
{
    const char *from = stream->_IO_read_ptr;
    size_t moved = 0;
    if (!__plx_peek(from, n)) {
        const char *at = memchr(from, delimiter, n);
        *found = at != NULL;
        moved = at ? (size_t)(at - from) + 1 : n;
        __plx_clear(to, moved);
        memcpy(to, from, moved);
    } else {
        *found = 0;
        while (moved < n && !*found) {
            char c = from[moved];
            to[moved++] = c;
            if (c == delimiter)
                *found = 1;
        }
    }
    stream->_IO_read_ptr += moved;
    return moved;
}

int __plx_m_fgetc_unlocked(FILE *stream)
{
    if (stream->_IO_read_ptr >= stream->_IO_read_end)
        return __plx_m___uflow(stream);
    return *(unsigned char *)stream->_IO_read_ptr++;
}

int __plx_m_fgetc(FILE *stream)
{
    int locked = lock(stream);
    int c = __plx_m_fgetc_unlocked(stream);
    unlock(stream, locked);
    return c;
}

int __plx_m_getchar(void)
{
    return __plx_m_fgetc(stdin);
}

int __plx_m_getchar_unlocked(void)
{
    return __plx_m_fgetc_unlocked(stdin);
}

char *__plx_m_fgets_unlocked(char *to, int n, FILE *stream)
{
    if (n <= 0)
        return NULL;
    WRITES(to, (size_t)n);
    if (n == 1) {
        to[0] = '\0';
        return to;
    }
    /* An error of before does not count, but stays noted. */
    int error_before = stream->_flags & SEEN_ERROR;
    stream->_flags &= ~SEEN_ERROR;
    size_t count = 0, room = (size_t)n - 1;
    int found = 0;
    while (count < room && !found) {
        size_t have = available(stream, room - count);
        if (have == 0)
            break;
        if (have > room - count)
            have = room - count;
        count += move_until(to + count, have, '\n', stream, &found);
    }
    char *result = NULL;
    if (count > 0 && (!(stream->_flags & SEEN_ERROR) || errno == EAGAIN)) {
        to[count] = '\0';
        result = to;
    }
    stream->_flags |= error_before;
    return result;
}

char *__plx_m_fgets(char *to, int n, FILE *stream)
{
    int locked = lock(stream);
    char *result = __plx_m_fgets_unlocked(to, n, stream);
    unlock(stream, locked);
    return result;
}

char *__plx_m___fgets_chk(char *to, size_t room, int n, FILE *stream)
{
    /* With room for the terminator only, libc's fortified function does nothing at all. */
    if (n == 1 && room > 0)
        return NULL;
    if (n <= 0 || (size_t)n <= room)
        return __plx_m_fgets(to, n, stream);
    char *result = __fgets_chk(to, room, n, stream);
    __plx_stream_touched(stream, "__fgets_chk");
    return result;
}

char *__plx_m___fgets_unlocked_chk(char *to, size_t room, int n, FILE *stream)
{
    return __plx_m___fgets_chk(to, room, n, stream);
}

size_t __plx_m_fread_unlocked(void *to, size_t size, size_t count, FILE *stream)
{
    size_t wanted = size * count, done = 0;
    if (wanted == 0)
        return 0;
    WRITES(to, wanted);
    if (!__plx_stream_is_symbolic(stream)) {
        /* The real function may read past the buffer, straight into its target. */
        size_t taken = fread_unlocked(to, size, count, stream);
        __plx_clear(to, wanted);
        return taken;
    }
    while (done < wanted) {
        size_t have = available(stream, wanted - done);
        if (have == 0)
            break;
        if (have > wanted - done)
            have = wanted - done;
        __plx_m_memcpy((char *)to + done, stream->_IO_read_ptr, have);
        stream->_IO_read_ptr += have;
        done += have;
    }
    return done == wanted ? count : done / size;
}

size_t __plx_m_fread(void *to, size_t size, size_t count, FILE *stream)
{
    int locked = lock(stream);
    size_t result = __plx_m_fread_unlocked(to, size, count, stream);
    unlock(stream, locked);
    return result;
}

/* The real function ends the program when the room is too small. */
size_t __plx_m___fread_chk(void *to, size_t room, size_t size, size_t count, FILE *stream)
{
    size_t bytes;
    if (__builtin_mul_overflow(size, count, &bytes) || bytes > room)
        return __fread_chk(to, room, size, count, stream);
    return __plx_m_fread(to, size, count, stream);
}

size_t __plx_m___fread_unlocked_chk(void *to, size_t room, size_t size, size_t count, FILE *stream)
{
    return __plx_m___fread_chk(to, room, size, count, stream);
}

/* Makes room for size bytes; false if there is no memory. */
static int make_room(char **line, size_t *capacity, size_t size)
{
    if (*line != NULL && size <= *capacity)
        return 1;
    if (size < 2 * *capacity)
        size = 2 * *capacity;
    char *larger = __plx_m_realloc(*line, size);
    if (larger == NULL)
        return 0;
    *line = larger;
    *capacity = size;
    return 1;
}

static ssize_t read_line(char **line, size_t *capacity, int delimiter, FILE *stream)
{
    enum { first_capacity = 120 };
    if (ferror_unlocked(stream))
        return -1;
    if (*line == NULL || *capacity == 0) {
        *capacity = 0;
        if (!make_room(line, capacity, first_capacity))
            return -1;
    }
    size_t length = 0, have = available(stream, 1);
    if (have == 0)
        return -1;
    int found = 0;
    while (have > 0 && !found) {
        /* With labels in it, the line's end is not known before the bytes are moved. */
        if (!__plx_peek(stream->_IO_read_ptr, have)) {
            const char *at = memchr(stream->_IO_read_ptr, delimiter, have);
            if (at != NULL)
                have = (size_t)(at - stream->_IO_read_ptr) + 1;
        } else if (length + 1 < *capacity && have > *capacity - length - 1) {
            have = *capacity - length - 1;
        }
        if (!make_room(line, capacity, length + have + 1))
            return -1;
        length += move_until(*line + length, have, (char)delimiter, stream, &found);
        if (!found)
            have = available(stream, 1);
    }
    (*line)[length] = '\0';
    return (ssize_t)length;
}

ssize_t __plx_m_getdelim(char **line, size_t *capacity, int delimiter, FILE *stream)
{
    if (line == NULL || capacity == NULL) {
        errno = EINVAL;
        return -1;
    }
    int locked = lock(stream);
    ssize_t length = read_line(line, capacity, delimiter, stream);
    unlock(stream, locked);
    return length;
}

ssize_t __plx_m_getline(char **line, size_t *capacity, FILE *stream)
{
    return __plx_m_getdelim(line, capacity, '\n', stream);
}
