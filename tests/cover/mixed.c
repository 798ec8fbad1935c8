// An option, then a character of the text that the option lets through.
// needs: switch
// arguments: abc
// runs: 80
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>

static int upper_case, quoted;

int main(int argc, char **argv) {
  int c;
  while ((c = getopt(argc, argv, "nqtuv")) != -1)
    switch (c) {
    case 'u':
      upper_case = 1;
      break;
    case 'q':
      quoted = 1;
      break;
    case '?':
      return 2;
    }
  for (; optind < argc; optind++)
    for (char *p = argv[optind]; *p; p++)
      if (upper_case && quoted && *p == '\\')
        puts("backslash"); // target
      else
        putchar(upper_case ? toupper(*p) : *p);
  return 0;
}
