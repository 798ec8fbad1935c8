/* Reports about its arguments: the version after a change. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 12

struct line {
  int number;
  const char *text;
};

static int limit = 40;

static int is_separator(char letter) {
  return letter == ',' || letter == ';';
}

static int weight(const char *text) {
  int sum = 0;
  for (; *text; text++)
    sum += is_separator(*text) ? 1 : 2;
  return sum;
}

static void show(struct line line) {
  if (strlen(line.text) == 0)
    printf("(empty) ");
  printf("%d: <%s>\n", line.number, line.text);
}

static int classify(int value) {
  if (value < 0)
    value = -value;
  switch (value % 3) {
  case 0:
    return value + 2;
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
  int shown = 0;
  if (value > limit && value < 90) {
    puts("large");
  } else
    puts("small");
  for (int i = 2; i < argc; i++) {
    struct line line = { i, argv[i] };
    total += weight(argv[i]);
    if (argv[i][0] != '-')
      show(line);
    shown = shown + 1;
  }
  if (total > WIDTH)
    puts("wide");
  printf("%d %d\n", classify(value), total + shown);
  puts("done");
  return total % 7;
}
