// One byte more in the middle, and the length before it; what follows must stay as it is.
// needs: structure
// stdin: 4:abcd the end of this record
// runs: 40
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char text[200], *rest;
  size_t size = fread(text, 1, sizeof text - 1, stdin);
  text[size] = 0;
  long length = strtol(text, &rest, 10);
  if (*rest != ':' || length < 1 || length > (long)size - (rest - text) - 1)
    return 2;
  if (strcmp(rest + 1 + length, " the end of this record") != 0)
    return 3;
  if (length == 5)
    puts("five"); // target
  return 0;
}
