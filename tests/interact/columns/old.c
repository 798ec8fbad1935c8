/* How many columns fit into a line. Arguments are "wN" for its width and "tN" for the width of a column, in this order or the other; N is a number
   of one or two digits. The version before the change: both are at least 1. */
#include <stdio.h>
#include <stdlib.h>

static int width = 80, column = 8;

static int number(const char *text)
{
  int value = 0;
  for (; *text >= '0' && *text <= '9' && value < 100; text++)
    value = 10 * value + (*text - '0');
  return *text == '\0' ? value : -1;
}

static void set_width(int value)
{
  if (value < 1)
    exit(2);
  width = value;
}

static void set_column(int value)
{
  if (value < 1)
    exit(2);
  column = value;
}

int main(int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    int value = number(argv[i] + 1);
    if (value < 0)
      return 2;
    if (argv[i][0] == 'w')
      set_width(value);
    else if (argv[i][0] == 't')
      set_column(value);
  }
  printf("%d columns\n", width / column);
  return 0;
}
