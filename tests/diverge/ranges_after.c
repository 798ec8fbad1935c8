/* Prints the parts of a text that a list of ranges names. In the shape of figure 8 of the paper on Shadow: what
   was given is remembered, and ranges without end or the wrong way round are refused. */
#include <stdio.h>
#include <stdlib.h>

static int ranges[16][2];
static int count;

static void fail(const char *why) {
  fprintf(stderr, "%s\n", why);
  exit(1);
}

static void add(int from, int to) {
  if (count == 16)
    fail("too many ranges");
  ranges[count][0] = from;
  ranges[count][1] = to;
  count++;
}

static void read_ranges(const char *text) {
  int value = 0, first = 0, dash = 0;
  int left = 0, right = 0;
  for (;; text++) {
    if (*text == '-') {
      if (dash)
        fail("more than one dash");
      dash = 1;
      first = left ? value : 1;
      value = 0;
    } else if (*text == ',' || *text == '\0') {
      if (dash) {
        dash = 0;
        if (!left && !right)
          fail("range with no end");
        if (!right)
          add(first, 1000);
        else {
          if (value < first)
            fail("decreasing range");
          add(first, value);
        }
        value = 0;
      } else {
        add(value, value);
        value = 0;
      }
      left = right = 0;
      if (*text == '\0')
        break;
    } else if (*text >= '0' && *text <= '9') {
      if (dash)
        right = 1;
      else
        left = 1;
      value = value * 10 + (*text - '0');
      if (value > 999)
        fail("too large");
    } else
      fail("invalid list");
  }
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  read_ranges(argv[1]);
  for (int i = 0; i < count; i++) {
    if (ranges[i][0] == 0 && i + 1 < count)
      abort(); /* ranges begin with 1: nothing else was ever made */
  }
  int n = 1;
  for (const char *p = argv[2]; *p; p++, n++)
    for (int i = 0; i < count; i++)
      if (n >= ranges[i][0] && n <= ranges[i][1]) {
        putchar(*p);
        break;
      }
  putchar('\n');
  return 0;
}
