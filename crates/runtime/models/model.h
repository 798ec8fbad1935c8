/* Models of libc functions in plain C.
 *
 * These files are compiled to bitcode and instrumented like any module of a
 * program, so that their branches become events and their values expressions. A
 * model is named __plx_m_ and the function's name. Nothing is redirected in these
 * modules: a call of strlen is the real one, a call of __plx_m_strlen the model.
 *
 * Most models ask first whether any byte that matters is labelled, and let the
 * real function do the work if none is. The slow path is the obvious loop.
 *
 * Compile with -fno-builtin: a compiler that recognises strlen's loop would
 * replace the model by the function that it models.
 */
#ifndef PARALLAX_MODEL_H
#define PARALLAX_MODEL_H

#define _GNU_SOURCE
#include <stddef.h>

/* Entry points of the runtime. */
unsigned __plx_peek(const void *address, size_t size);
void __plx_clear(void *address, size_t size);
void __plx_lose(const char *function);
void __plx_fix(void *variable, size_t size);
void __plx_keep(const void *address, size_t size);
void __plx_length(const void *place, const size_t *length);

/* Models written in Rust. */
void *__plx_m_malloc(size_t size);
void *__plx_m_realloc(void *old, size_t size);
void __plx_m_free(void *block);
void *__plx_m_memcpy(void *to, const void *from, size_t size);
void *__plx_m_memmove(void *to, const void *from, size_t size);

/* Whether a variable carries a label. */
#define LABELLED(variable) (__plx_peek(&(variable), sizeof(variable)) != 0)

/* Fixes an integer variable, of at most eight bytes, to its present value: from here on it is
 * concrete, and the trace says that it was made so. */
#define FIX(variable)                                                                              \
    do {                                                                                           \
        if (LABELLED(variable))                                                                    \
            __plx_fix(&(variable), sizeof(variable));                                              \
    } while (0)

/* So many bytes are about to be written to a place. If the number is input's to decide, the trace says so:
 * then it can be asked whether they always fit. */
#define WRITES(place, bytes)                                                                       \
    do {                                                                                           \
        size_t length_of_range = (bytes);                                                          \
        if (LABELLED(length_of_range))                                                             \
            __plx_length(place, &length_of_range);                                                 \
    } while (0)

/* Counts that labels went into a function which takes no note of them. */
#define LOSE(name) __plx_lose(name)

#endif
