/* A program with an allocator of its own, instrumented as far as it matters: it tells the runtime
 * about labels while the runtime's models may be calling it. */
#include "instrumented.h"
#include <stdio.h>
#include <string.h>

static unsigned char pool[1 << 20];
static size_t used;
static int calls;

void *malloc(size_t size)
{
    calls++;
    used = (used + 15) & ~(size_t)15;
    size_t *header = (size_t *)(void *)(pool + used);
    __plx_load(header, 8, 1);
    __plx_clear(header, 8);
    *header = size;
    used += 16 + size;
    return used <= sizeof pool ? (char *)header + 16 : NULL;
}

void free(void *object)
{
    (void)object;
}

void *calloc(size_t count, size_t size)
{
    return memset(malloc(count * size), 0, count * size);
}

void *realloc(void *old, size_t size)
{
    void *new = malloc(size);
    if (old) {
        size_t had = ((size_t *)old)[-2];
        __plx_copy(new, old, had < size ? had : size);
        memcpy(new, old, had < size ? had : size);
    }
    return new;
}

int main(void)
{
    unsigned char buffer[8];
    if (__plx_m_read(0, buffer, 8) != 8)
        return 1;
    unsigned char *copy = malloc(8);
    __plx_m_memcpy(copy, buffer, 8);
    copy = realloc(copy, 4000);
    printf("%d calls, %s\n", calls > 1, __plx_load(copy, 8, 1) ? "labelled" : "concrete");
    return 0;
}
