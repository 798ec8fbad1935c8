/* klee/klee.h in traced programs. */
#define PARALLAX_TRACED
#include "../declared/klee.c"
