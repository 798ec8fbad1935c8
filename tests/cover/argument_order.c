// The switch is there, but behind what it is for.
// needs: structure
// arguments: quarterly-report --reverse
// runs: 24
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
    else if (same(argv[i], "quarterly-report") && reverse)
      puts("reversed"); // target
  }
  return 0;
}
