// The condition reads an element of an array, which another word on the command line fills.
// needs: switch
// arguments: 1
// runs: 16
#include <stdio.h>
#include <string.h>

static int features[4];

static void enable(const char *name) {
  if (strcmp(name, "compression") == 0)
    features[2] = 1;
  else if (strcmp(name, "checksums") == 0)
    features[3] = 1;
}

int main(int argc, char **argv) {
  for (int i = 2; i < argc; i++)
    enable(argv[i]);
  if (argc > 1 && features[3])
    puts("checked"); // target
  return 0;
}
