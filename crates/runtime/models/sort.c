/* stdlib.h: sorting.
 *
 * glibc sorts by merging halves, front half first, and so does the model: the comparison function
 * is called with the same elements in the same order, the result is the same permutation even
 * if the function contradicts itself, and what it returns decides branches of this code.
 * Elements move with their labels. */
#include "model.h"
#include <stdlib.h>
#include <unistd.h>

typedef int (*with_context)(const void *, const void *, void *);

/* Larger elements are not moved while sorting; pointers to them are. */
enum { largest_moved = 32 };

/* Less memory than this comes from the stack. */
enum { stack_bytes = 1024 };

struct order {
    /* One of the two. */
    __compar_fn_t plain;
    with_context extended;
    void *context;
    size_t size;
    int is_indirect;
    /* Room for all that is sorted, followed, if indirect, by room for one element. */
    char *spare;
};

typedef unsigned int __attribute__((may_alias, aligned(1))) any32;
typedef unsigned long __attribute__((may_alias, aligned(1))) any64;

static int compare(const struct order *order, const char *a, const char *b)
{
    if (order->is_indirect) {
        a = *(const char *const *)(const void *)a;
        b = *(const char *const *)(const void *)b;
    }
    if (order->plain != NULL)
        return order->plain(a, b);
    return order->extended(a, b, order->context);
}

static void move(char *to, const char *from, size_t size)
{
    if (size == sizeof(any64))
        *(any64 *)(void *)to = *(const any64 *)(const void *)from;
    else if (size == sizeof(any32))
        *(any32 *)(void *)to = *(const any32 *)(const void *)from;
    else
        __plx_m_memcpy(to, from, size);
}

static void sort_halves(const struct order *order, char *start, size_t count)
{
    if (count < 2)
        return;
    size_t size = order->is_indirect ? sizeof(void *) : order->size;
    size_t left = count / 2, right = count - left;
    char *front = start, *back = start + left * size, *to = order->spare;
    sort_halves(order, front, left);
    sort_halves(order, back, right);
    while (left > 0 && right > 0) {
        if (compare(order, front, back) <= 0) {
            move(to, front, size);
            front += size;
            left--;
        } else {
            move(to, back, size);
            back += size;
            right--;
        }
        to += size;
    }
    /* What is left of the back half is where it belongs. */
    __plx_m_memcpy(to, front, left * size);
    __plx_m_memcpy(start, order->spare, (count - right) * size);
}

/* Puts elements where the sorted pointers say: each cycle of the permutation once around, with
 * one element kept aside. */
static void follow_pointers(const struct order *order, char *start, size_t count)
{
    size_t size = order->size;
    char **wanted = (char **)(void *)order->spare, *aside = order->spare + 2 * count * sizeof *wanted;
    for (size_t i = 0; i < count; i++) {
        char *first = start + i * size;
        if (wanted[i] == first)
            continue;
        __plx_m_memcpy(aside, first, size);
        size_t at = i;
        while (wanted[at] != first) {
            char *from = wanted[at];
            __plx_m_memcpy(start + at * size, from, size);
            wanted[at] = start + at * size;
            at = (size_t)(from - start) / size;
        }
        __plx_m_memcpy(start + at * size, aside, size);
        wanted[at] = start + at * size;
    }
}

/* Whether glibc would spend that much memory on sorting. */
static int is_affordable(size_t bytes)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages <= 0 || page <= 0 || bytes / (size_t)page <= (size_t)pages / 4;
}

/* False if there is not enough memory. */
static int sort(struct order *order, void *base, size_t count)
{
    size_t bytes = order->size * count;
    if (order->is_indirect)
        bytes = 2 * count * sizeof(void *) + order->size;
    char on_stack[stack_bytes] __attribute__((aligned(16)));
    order->spare = on_stack;
    if (bytes >= stack_bytes)
        order->spare = is_affordable(bytes) ? __plx_m_malloc(bytes) : NULL;
    if (order->spare == NULL)
        return 0;
    if (order->is_indirect) {
        char **pointers = (char **)(void *)order->spare + count;
        for (size_t i = 0; i < count; i++)
            pointers[i] = (char *)base + i * order->size;
        sort_halves(order, (char *)pointers, count);
        __plx_m_memcpy(order->spare, pointers, count * sizeof *pointers);
        follow_pointers(order, base, count);
    } else {
        sort_halves(order, base, count);
    }
    if (order->spare != on_stack)
        __plx_m_free(order->spare);
    return 1;
}

/* Memory does not suffice: glibc sorts in another way then, which needs none. */
static void forget_labels(void *base, size_t bytes)
{
    if (__plx_peek(base, bytes)) {
        LOSE("qsort");
        __plx_clear(base, bytes);
    }
}

void __plx_m_qsort(void *base, size_t count, size_t size, __compar_fn_t function)
{
    FIX(count);
    FIX(size);
    struct order order = {.plain = function, .size = size, .is_indirect = size > largest_moved};
    if (!sort(&order, base, count)) {
        forget_labels(base, count * size);
        qsort(base, count, size, function);
    }
}

void __plx_m_qsort_r(void *base, size_t count, size_t size, with_context function, void *context)
{
    FIX(count);
    FIX(size);
    struct order order = {
        .extended = function, .context = context, .size = size, .is_indirect = size > largest_moved};
    if (!sort(&order, base, count)) {
        forget_labels(base, count * size);
        qsort_r(base, count, size, function, context);
    }
}
