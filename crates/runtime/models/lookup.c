/* stdlib.h and search.h: looking up with a comparison function.
 *
 * Searches in arrays are written out. Trees are glibc's own affair: the real functions walk
 * them, and get a comparison function that calls the program's and decides here, in traced
 * code, on which side of its operand the key lies. That is all that they ask for. */
#include "model.h"
#include <search.h>
#include <stdlib.h>

void *__plx_m_bsearch(const void *key, const void *base, size_t count, size_t size,
                      __compar_fn_t function)
{
    FIX(count);
    FIX(size);
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *element = (const char *)base + middle * size;
        int order = function(key, element);
        if (order < 0)
            high = middle;
        else if (order > 0)
            low = middle + 1;
        else
            return (void *)element;
    }
    return NULL;
}

void *__plx_m_lfind(const void *key, const void *base, size_t *count, size_t size,
                    __compar_fn_t function)
{
    const char *element = base;
    size_t n = *count;
    FIX(n);
    FIX(size);
    for (size_t i = 0; i < n; i++, element += size)
        if (function(key, element) == 0)
            return (void *)element;
    return NULL;
}

void *__plx_m_lsearch(const void *key, void *base, size_t *count, size_t size,
                      __compar_fn_t function)
{
    void *found = __plx_m_lfind(key, base, count, size, function);
    if (found != NULL)
        return found;
    size_t n = *count;
    FIX(n);
    FIX(size);
    *count = n + 1;
    return __plx_m_memcpy((char *)base + n * size, key, size);
}

/* The program's function of the tree search that is under way in this thread. */
static __thread __compar_fn_t current;

static int decide(const void *a, const void *b)
{
    __compar_fn_t function = current;
    int order = function(a, b);
    /* The function may have searched a tree itself. */
    current = function;
    if (order == 0)
        return 0;
    return order < 0 ? -1 : 1;
}

void *__plx_m_tsearch(const void *key, void **root, __compar_fn_t function)
{
    __compar_fn_t outer = current;
    current = function;
    void *node = tsearch(key, root, decide);
    current = outer;
    if (root != NULL)
        __plx_clear(root, sizeof *root);
    return node;
}

void *__plx_m_tfind(const void *key, void *const *root, __compar_fn_t function)
{
    __compar_fn_t outer = current;
    current = function;
    void *node = tfind(key, root, decide);
    current = outer;
    return node;
}

void *__plx_m_tdelete(const void *restrict key, void **restrict root, __compar_fn_t function)
{
    __compar_fn_t outer = current;
    current = function;
    void *node = tdelete(key, root, decide);
    current = outer;
    if (root != NULL)
        __plx_clear(root, sizeof *root);
    return node;
}
