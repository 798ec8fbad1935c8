// KATCH, figures 4 and 5: the word was compared before its characters are looked at.
// needs: regenerate
// arguments: GET
// runs: 2
#include <stdio.h>
#include <string.h>

static void note(char c) {
  if (c >= ' ' && c <= '~')
    putchar(c);
  else
    printf("%%%02x", c & 255); // target
}

int main(int argc, char **argv) {
  char *verb = argc > 1 ? argv[1] : "";
  if (strcmp(verb, "GET") == 0)
    puts("get");
  for (char *p = verb; *p; p++)
    note(*p);
  return 0;
}
