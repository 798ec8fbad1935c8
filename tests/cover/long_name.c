// A name must be longer than it is; what stands behind it must stay.
// needs: structure
// stdin: <name> the end\n
// runs: 40
#include <stdio.h>
#include <string.h>

int main(void) {
  char line[200], name[24];
  if (!fgets(line, sizeof line, stdin) || line[0] != '<')
    return 2;
  char *end = strchr(line, '>');
  if (!end || strcmp(end, "> the end\n") != 0)
    return 2;
  *end = 0;
  if (strlen(line + 1) >= sizeof name)
    return puts("too long") < 0; // target
  strcpy(name, line + 1);
  return puts(name) < 0;
}
