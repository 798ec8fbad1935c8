// A variable is set through a table of names, by a key that is longer than the one in the input.
// needs: switch
// stdin: port=80\n
// runs: 60
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int port, verbose;

static const struct {
  const char *name;
  int *variable;
} settings[] = {{"port", &port}, {"verbose", &verbose}};

int main(void) {
  char line[80];
  while (fgets(line, sizeof line, stdin)) {
    char *value = strchr(line, '=');
    if (!value)
      return 2;
    *value++ = 0;
    for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++)
      if (!strcmp(settings[i].name, line))
        *settings[i].variable = atoi(value);
  }
  if (verbose)
    puts("verbose"); // target
  return port == 0;
}
