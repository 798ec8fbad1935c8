// The target is in a function that is only called through a table.
// needs: pointers
// arguments: plain 0123456789012345678901234567890123456789
// runs: 60
#include <stdio.h>
#include <string.h>

struct command {
  const char *name;
  int (*run)(const char *text);
};

static int digits(const char *text) {
  int count = 0;
  for (; *text; text++) {
    if (*text == 'a' || *text == 'e' || *text == 'i')
      count += 2;
    if (*text >= '0' && *text <= '9')
      count++;
  }
  return printf("%d\n", count) < 0;
}

static int first(const char *text) {
  if (text[0] == '(' && text[1] == ')')
    return puts("empty") < 0; // target
  return digits(text);
}

static const struct command commands[] = {{"plain", digits}, {"first", first}};

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  digits(argv[2]);
  for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strcmp(argv[1], commands[i].name) == 0)
      return commands[i].run(argv[2]);
  return 2;
}
