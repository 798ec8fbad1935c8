// KATCH, figure 3: one of two calls cannot lead to the target.
// needs: nothing
// arguments: 150
// runs: 30
#include <stdio.h>
#include <stdlib.h>

static void check(int x) {
  if (x == 999)
    puts("reached"); // target
}

int main(int argc, char **argv) {
  int input = argc > 1 ? atoi(argv[1]) : 0;
  if (input < 100)
    check(0);
  if (input > 100)
    if (input > 200)
      check(input);
  return 0;
}
