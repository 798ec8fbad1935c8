/* Prints chosen columns of a text. In the shape of figure 7 of the paper on Shadow: room is made for the start of an
   open range, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t closed_max;
static size_t open_start;
static unsigned char *marked;
static unsigned char *starts;

static int is_marked(size_t n) { return marked[n / 8] >> n % 8 & 1; }

static void mark(unsigned char *set, size_t n) { set[n / 8] |= 1 << n % 8; }

static int parse(const char *list, int filling) {
  while (*list) {
    size_t from = 0, to = 0;
    int dash = 0;
    while (*list >= '0' && *list <= '9')
      from = from * 10 + (*list++ - '0');
    if (*list == '-') {
      dash = 1;
      list++;
      while (*list >= '0' && *list <= '9')
        to = to * 10 + (*list++ - '0');
    } else
      to = from;
    if (from == 0 || from > 200 || to > 200 || (to && to < from))
      return 0;
    if (dash && to == 0) {
      if (open_start == 0 || from < open_start)
        open_start = from;
    } else if (!filling) {
      if (to > closed_max)
        closed_max = to;
    } else
      for (size_t n = from; n <= to; n++)
        mark(marked, n);
    if (*list == ',')
      list++;
    else if (*list)
      return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 3 || !parse(argv[1], 0))
    return 1;
  const char *delimiter = argc > 3 ? argv[3] : 0;
  if (closed_max < open_start)
    closed_max = open_start;
  marked = calloc(closed_max / 8 + 1, 1);
  starts = calloc(64, 1);
  parse(argv[1], 1);
  if (delimiter && open_start && !is_marked(open_start))
    mark(starts, open_start);
  size_t n = 1;
  for (const char *p = argv[2]; *p; p++, n++) {
    if (delimiter && n < 300 && starts[n / 8] >> n % 8 & 1)
      fputs(delimiter, stdout);
    if ((n <= closed_max && is_marked(n)) || (open_start && n >= open_start))
      putchar(*p);
  }
  putchar('\n');
  return 0;
}
