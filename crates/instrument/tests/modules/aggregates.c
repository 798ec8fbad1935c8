// Structures by value in all sizes, returned structures, unions, bit fields, arrays in structures.
#include <complex.h>
struct one { char c; };
struct two { int a; float b; };
struct four { long a, b, c, d; };
struct bits { unsigned a : 3, b : 7; signed c : 11; unsigned long d : 40; };
union mixed { double d; unsigned long u; char bytes[8]; };
struct one f1(struct one x) { x.c++; return x; }
struct two f2(struct two x) { x.b *= x.a; return x; }
struct four f4(struct four x, struct two y) { x.c += y.a; return x; }
_Complex double fc(_Complex double z) { return z * z; }
int main(int argc, char **argv) {
  struct bits b = {argc, argc, argc, argc};
  b.c = b.a + b.b;
  b.d <<= b.a;
  union mixed m = {.d = argc};
  m.bytes[1] = argv[0][0];
  struct four f = {1, 2, 3, 4};
  f = f4(f, f2((struct two){argc, 1.5f}));
  return f.c + b.c + b.d + m.u + f1((struct one){1}).c + (int)creal(fc(argc));
}
