/* Marks which of some fields are printed, as cut does. The version before the change of figure 3 in "Regression Tests to Expose Change
   Interaction Errors" (FSE 2013); the comments are the figure's lines. Arguments are ranges, "N-M" or "N-"; -o asks for a
   delimiter. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t max_end, open_start;
static bool has_delimiter;
static unsigned char *printable;

static bool is_printable(size_t i)
{
  return printable[i]; /* 266 */
}

static void parse(const char *range)
{
  char *end;
  size_t first = strtoul(range, &end, 10);
  if (*end != '-')
    exit(2);
  if (end[1] == '\0')
    open_start = first;
  else {
    size_t last = strtoul(end + 1, NULL, 10);
    if (max_end < last)
      max_end = last;
  }
}

int main(int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "-o") == 0)
      has_delimiter = true;
    else
      parse(argv[i]);
  if (open_start > 9999 || max_end > 9999)
    return 2;
  if (max_end < open_start) /* 503 */
    max_end = open_start; /* 504 */
  printable = calloc(max_end + 1, 1); /* 509 */
  if (has_delimiter /* 531 */
      && open_start /* 533 */
      && !is_printable(open_start))
    puts("marks the start"); /* 535 */
  printf("%zu\n", open_start);
  free(printable);
  return 0;
}
