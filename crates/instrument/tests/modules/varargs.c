// Variable arguments of every class: general, vector, x87, structures, more than fit registers.
#include <stdarg.h>
struct pair { long a, b; };
struct large { char bytes[40]; };
static long double total(int count, ...) {
  va_list list, copy;
  va_start(list, count);
  va_copy(copy, list);
  long double sum = 0;
  for (int i = 0; i < count; i++) {
    sum += va_arg(list, int);
    sum += va_arg(list, double);
    sum += va_arg(list, long double);
    sum += va_arg(list, struct pair).b;
    sum += va_arg(list, struct large).bytes[3];
  }
  va_end(copy);
  va_end(list);
  return sum;
}
int main(int argc, char **argv) {
  struct pair p = {argc, 2};
  struct large l = {{1, 2, 3, argv[0][0]}};
  return (int)total(2, argc, 1.5, 2.5L, p, l, 4, 2.0, 3.0L, p, l);
}
