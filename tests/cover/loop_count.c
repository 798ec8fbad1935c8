// The loop over lines must be gone through more often than it is.
// needs: structure
// stdin: one\ntwo\n
// runs: 60
#include <stdio.h>

int main(void) {
  char line[80];
  int lines = 0;
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (line[0] == '\n')
      return 1;
    lines++;
  }
  if (lines >= 5)
    puts("many"); // target
  return 0;
}
