/* Models of functions that write through pointers and whose results are not input: the real
 * function does all the work, what it wrote loses its labels, and labels that went into it are
 * counted as lost; what they stand for stays as it is from there on, because the answer rests on it. Without this a buffer that once held input would keep the labels of those bytes
 * that happen to stay the same. */
#ifndef PARALLAX_EFFECT_H
#define PARALLAX_EFFECT_H

#include "model.h"
#include <string.h>

/* A model that looks at what goes in, calls the function, then does what is said with its result. */
#define AFTER(type, name, parameters, arguments, looked_at, effect)                                \
    type __plx_m_##name parameters                                                                 \
    {                                                                                              \
        if (looked_at)                                                                             \
            LOSE(#name);                                                                           \
        type result = name arguments;                                                              \
        effect;                                                                                    \
        return result;                                                                             \
    }

/* What can be looked at. */
#define NOTHING 0
#define TEXT(s) keep_text(s)
#define OBJECT(pointer) keep(pointer, sizeof *(pointer))
#define BYTES(pointer, size) keep(pointer, size)
#define NUMBER(variable) fix((void *)&(variable), sizeof(variable))

#define WRITTEN(condition, address, size)                                                          \
    if (condition)                                                                                 \
    __plx_clear((void *)(address), (size))

static inline int is_labelled_text(const char *s)
{
    return s != NULL && __plx_peek(s, strlen(s) + 1);
}

static inline int fix(void *variable, size_t size)
{
    if (!__plx_peek(variable, size))
        return 0;
    __plx_fix(variable, size);
    return 1;
}

static inline int keep(const void *address, size_t size)
{
    if (address == NULL || !__plx_peek(address, size))
        return 0;
    __plx_keep(address, size);
    return 1;
}

static inline int keep_text(const char *s)
{
    return s != NULL && keep(s, strlen(s) + 1);
}

#endif
