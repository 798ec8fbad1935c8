/* Reports about its arguments: the version before a change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 8

struct line {
  int number;
  const char *text;
};

static int limit = 10;

static int weight(const char *text) {
  int sum = 0;
  for (; *text; text++)
    sum += *text == ',' ? 1 : 2;
  return sum;
}

static void show(struct line line) {
  printf("%d: %s\n", line.number, line.text);
}

static int classify(int value) {
  switch (value % 3) {
  case 0:
    return value + 1;
  case 1:
    value *= 2;
    break;
  default:
    value = 0;
  }
  return value;
}

int main(int argc, char **argv) {
  int value = argc > 1 ? atoi(argv[1]) : 0;
  int total = 0;
  if (value > limit) {
    puts("large");
    total = value - limit;
  } else
    puts("small");
  for (int i = 2; i < argc; i++) {
    struct line line = { i, argv[i] };
    total += weight(argv[i]);
    show(line);
  }
  if (total > WIDTH)
    puts("wide");
  printf("%d %d\n", classify(value), total);
  return total % 7;
}
