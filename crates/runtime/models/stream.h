/* What the models know of glibc's streams. */
#ifndef PARALLAX_STREAM_H
#define PARALLAX_STREAM_H

#include <stddef.h>
#include <stdio.h>

/* Fills the buffer, because so many bytes are wanted; false at the end. */
unsigned __plx_stream_fill(FILE *stream, size_t wanted);
void __plx_stream_touched(FILE *stream, const char *function);

/* Flags. */
#define SEEN_END 0x10
#define SEEN_ERROR 0x20
#define NEEDS_LOCK 0x80

/* A stream is locked only if there ever was a second thread, as glibc does it. */
static inline int lock(FILE *stream)
{
    int needed = (stream->_flags2 & NEEDS_LOCK) != 0;
    if (needed)
        flockfile(stream);
    return needed;
}

static inline void unlock(FILE *stream, int locked)
{
    if (locked)
        funlockfile(stream);
}

#endif
