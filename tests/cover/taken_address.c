// The target is in a function that is called through a pointer, which an option stores.
// needs: switch
// arguments: text
// runs: 16
#include <getopt.h>
#include <stdio.h>

static int plain(const char *text) { return puts(text) < 0; }

static int quoted(const char *text) {
  return printf("\"%s\"\n", text) < 0; // target
}

static int (*show)(const char *text) = plain;

int main(int argc, char **argv) {
  int c;
  while ((c = getopt(argc, argv, "abcdefghijklmnopqrstuvwxyz")) != -1) {
    if (c == 'q')
      show = quoted;
    else if (c == '?')
      return 2;
  }
  return optind < argc ? show(argv[optind]) : 0;
}
