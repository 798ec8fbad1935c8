// There must be one more argument, before the others.
// needs: structure
// arguments: quarterly-report 2026
// runs: 16
#include <stdio.h>

static int same(const char *a, const char *b) {
  while (*a && *a == *b)
    a++, b++;
  return *a == *b;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  if (same(argv[2], "quarterly-report") && argv[1][0] == '!')
    puts("marked"); // target
  return argc > 9;
}
