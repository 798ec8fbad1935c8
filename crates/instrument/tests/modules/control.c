// Computed goto, switch with ranges, setjmp, loops with several exits, variable-length arrays.
#include <setjmp.h>
static jmp_buf place;
static int dispatch(const char *code) {
  static void *const table[] = {&&stop, &&more, &&less};
  int sum = 0;
  goto *table[*code % 3];
more:
  sum++;
  goto *table[*++code % 3];
less:
  sum--;
  goto *table[*++code % 3];
stop:
  return sum;
}
static int jumps(int n) {
  volatile int count = 0;
  if (setjmp(place) < n) {
    count++;
    longjmp(place, count);
  }
  return count;
}
static int lengths(int n) {
  int total = 0;
  for (int i = 1; i < n; i++) {
    char buffer[i];
    buffer[i - 1] = i;
    total += buffer[i - 1];
    if (total > 100) break;
  }
  return total;
}
int main(int argc, char **argv) {
  switch (argv[0][0]) {
  case 'a' ... 'f': return 1;
  case '0': return dispatch(argv[0]);
  case 200: __builtin_unreachable();
  }
  return jumps(argc) + lengths(argc) + dispatch("\1\2");
}
