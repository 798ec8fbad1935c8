// A number of one digit must become one of six.
// needs: structure
// stdin: 7 apples\n
// runs: 60
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  char line[80], *rest;
  if (!fgets(line, sizeof line, stdin))
    return 2;
  long number = strtol(line, &rest, 10);
  if (strcmp(rest, " apples\n") != 0)
    return 2;
  if (number == 123456)
    puts("many"); // target
  return 0;
}
