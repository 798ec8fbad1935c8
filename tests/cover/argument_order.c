// The switch is there, but behind what it is for.
// needs: structure
// beside: switch splice
// arguments: quarterly-report-of-the-northern-offices-and-of-all-their-branches --reverse
// runs: 60
#include <stdio.h>

static int same(const char *a, const char *b) {
  while (*a && *a == *b)
    a++, b++;
  return *a == *b;
}

int main(int argc, char **argv) {
  int reverse = 0;
  for (int i = 1; i < argc; i++) {
    if (same(argv[i], "--reverse"))
      reverse = 1;
    else if (same(argv[i], "quarterly-report-of-the-northern-offices-and-of-all-their-branches") && reverse)
      puts("reversed"); // target
  }
  return 0;
}
