/* stdlib.h and search.h: sorting and looking up with a comparison function. Fields: elements, whose
 * first byte counts; size of an element; how to compare; for searches a key. */
#include "harness.h"
#include <search.h>

/* What the comparison function needs to know. */
static struct world *current;
static size_t element_size;
static int way;

/* Puts its operands on record: order and number of calls are compared, too. */
static int compare(const void *a, const void *b)
{
    put_bytes(current, a, element_size, 0);
    put_bytes(current, b, element_size, 0);
    int x = *(const unsigned char *)a, y = *(const unsigned char *)b;
    switch (way) {
    case 0: return x - y;
    case 1: return x / 16 - y / 16;
    /* Contradicts itself. */
    default: return (7 * x + 13 * y) % 3 - 1;
    }
}

static int compare_with(const void *a, const void *b, void *context)
{
    return context == current ? compare(a, b) : 0;
}

static unsigned char *take_elements(struct world *world, size_t *count)
{
    size_t size;
    unsigned char *elements = take_bytes_in(world, &size, 64);
    element_size = (size_t)take_number(world);
    way = (int)take_number(world);
    current = world;
    *count = size / element_size;
    return elements;
}

REAL(qsort)
static void check_qsort(struct world *world)
{
    size_t count;
    unsigned char *elements = take_elements(world, &count);
    CALL(world, qsort, (elements, count, element_size, compare));
}

REAL(qsort_r)
static void check_qsort_r(struct world *world)
{
    size_t count;
    unsigned char *elements = take_elements(world, &count);
    CALL(world, qsort_r, (elements, count, element_size, compare_with, world));
}

REAL(bsearch)
static void check_bsearch(struct world *world)
{
    size_t count;
    unsigned char *elements = take_elements(world, &count);
    void *key = take_bytes(world, NULL);
    put_place(world, elements, CALL(world, bsearch, (key, elements, count, element_size, compare)));
}

REAL(lfind)
static void check_lfind(struct world *world)
{
    size_t count;
    unsigned char *elements = take_elements(world, &count);
    void *key = take_bytes(world, NULL);
    put_place(world, elements, CALL(world, lfind, (key, elements, &count, element_size, compare)));
}

REAL(lsearch)
static void check_lsearch(struct world *world)
{
    size_t count;
    unsigned char *elements = take_elements(world, &count);
    void *key = take_bytes(world, NULL);
    put_place(world, elements,
              CALL(world, lsearch, (key, elements, &count, element_size, compare)));
    PUT(world, count);
}

/* All elements go into a tree; one is looked up, one taken out. */
REAL(tsearch)
REAL(tfind)
REAL(tdelete)
static void check_tsearch(struct world *world)
{
    size_t count;
    unsigned char *elements = take_elements(world, &count);
    void *key = take_bytes(world, NULL), *tree = NULL;
    for (size_t i = 0; i < count; i++) {
        void **node = CALL(world, tsearch, (elements + i * element_size, &tree, compare));
        put_place(world, elements, *node);
    }
    void **node = CALL(world, tfind, (key, &tree, compare));
    put_place(world, elements, node != NULL ? *node : NULL);
    node = CALL(world, tdelete, (key, &tree, compare));
    int was_there = node != NULL;
    PUT(world, was_there);
    while (tree != NULL)
        real_tdelete(*(void **)tree, &tree, compare);
}

FAMILY(CHECK(qsort), CHECK(qsort_r), CHECK(bsearch), CHECK(lfind), CHECK(lsearch), CHECK(tsearch))
