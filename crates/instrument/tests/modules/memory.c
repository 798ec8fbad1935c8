// Atomics, volatile, thread-local storage, memory intrinsics, inline assembly, function pointers,
// vector types, weak symbols.
#include <stdatomic.h>
#include <string.h>
typedef int v4 __attribute__((vector_size(16)));
typedef int v8 __attribute__((vector_size(32)));
typedef float f2 __attribute__((vector_size(8)));
static atomic_int shared;
static volatile int port;
static _Thread_local int mine;
extern int elsewhere(int) __attribute__((weak));
struct block { char bytes[300]; };
static int apply(int (*f)(int), int x) { return f ? f(x) : 0; }
int main(int argc, char **argv) {
  struct block a, b;
  memset(&a, argv[0][0], sizeof a);
  memcpy(&b, &a, sizeof b);
  memmove(b.bytes + 1, b.bytes, argc);
  int expected = 3;
  atomic_fetch_add(&shared, argc);
  atomic_compare_exchange_strong(&shared, &expected, argc);
  atomic_exchange(&shared, 7);
  port = argc;
  mine += port;
  v4 v = {1, 2, 3, argc};
  v8 w = {argc};
  f2 g = {argc, 2};
  v = v * v + 1;
  w += w;
  g *= g;
  int out;
  __asm__("movl %1, %0" : "=r"(out) : "r"(argc));
  __asm__ volatile("" ::: "memory");
  return apply(elsewhere, out) + v[3] + w[2] + (int)g[0] + b.bytes[5] + mine +
         atomic_load(&shared);
}
