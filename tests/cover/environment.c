// The condition needs an environment variable.
// needs: switch
// arguments: text
// runs: 12
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (getenv("READER_STRICT") != NULL)
    puts("strict"); // target
  for (int i = 1; i < argc; i++)
    puts(argv[i]);
  return 0;
}
