// KATCH, figure 6: the variable that the switch reads was copied from a global one, which an option sets.
// needs: switch
// arguments: text
// runs: 12
#include <getopt.h>
#include <stdio.h>

enum space { NONE, CHANGE, ALL };
static enum space ignore_space;

static int hash(const char *text) {
  enum space space = ignore_space;
  int h = 0;
  for (; *text; text++)
    switch (space) {
    case ALL:
      h = h * 31 + *text; // target
      break;
    case CHANGE:
      h += *text;
      break;
    default:
      h ^= *text;
    }
  return h;
}

int main(int argc, char **argv) {
  int c;
  while ((c = getopt(argc, argv, "abcdefghijklmnopqrstuvwxyz")) != -1)
    switch (c) {
    case 'b':
      ignore_space = CHANGE;
      break;
    case 'w':
      ignore_space = ALL;
      break;
    case '?':
      return 2;
    }
  for (; optind < argc; optind++)
    printf("%d\n", hash(argv[optind]));
  return 0;
}
