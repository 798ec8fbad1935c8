// The condition reads a field of a structure that is set through a pointer in another function.
// needs: switch
// arguments: text
// runs: 12
#include <getopt.h>
#include <stdio.h>

struct settings {
  int width;
  int mode;
};

static void set_mode(struct settings *settings, int mode) { settings->mode = mode; }

static void strict(struct settings *settings) { settings->mode = 7; }

static int show(const struct settings *settings, const char *text) {
  if (settings->mode == 7)
    return puts("strict") < 0; // target
  return puts(text) < 0;
}

int main(int argc, char **argv) {
  struct settings settings = {80, 0};
  int c;
  while ((c = getopt(argc, argv, "abcdefghijklmnopqrstuvwxyz")) != -1) {
    if (c == 'm')
      set_mode(&settings, 2);
    else if (c == 's')
      strict(&settings);
    else if (c == '?')
      return 2;
  }
  return optind < argc ? show(&settings, argv[optind]) : 0;
}
