/* obstack.h: an object that grows out of its chunk moves to another one. libc does that, and does
 * not know about labels: they wait elsewhere meanwhile. */
#include "model.h"
#include <obstack.h>
#include <stdlib.h>

void __plx_m__obstack_newchunk(struct obstack *stack, int length)
{
    FIX(length);
    size_t size = (size_t)(stack->next_free - stack->object_base);
    char *kept = NULL;
    if (__plx_peek(stack->object_base, size)) {
        kept = __plx_m_malloc(size);
        if (kept != NULL)
            __plx_m_memcpy(kept, stack->object_base, size);
        else
            LOSE("_obstack_newchunk");
    }
    _obstack_newchunk(stack, length);
    __plx_clear(stack, sizeof *stack);
    __plx_clear(stack->object_base, size);
    if (kept != NULL) {
        __plx_m_memcpy(stack->object_base, kept, size);
        __plx_m_free(kept);
    }
}
