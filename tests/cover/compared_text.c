// A long text is compared with bytes inside of a word, letter by letter, by a function of the library.
// needs: switch
// beside: regenerate structure splice
// stdin: no. ordinary-entry-of-the-archive-and-nothing-else
// runs: 12
#include <stdio.h>
#include <string.h>

int main(void) {
  char line[128];
  if (!fgets(line, sizeof line, stdin) || strlen(line) < 44)
    return 2;
  if (strncmp(line + 4, "ordinary-entry-of-the-archive", 29) == 0)
    puts("ordinary");
  else if (strncmp(line + 6, "confidential-until-further-notice", 33) == 0)
    puts("kept"); // target
  return 0;
}
