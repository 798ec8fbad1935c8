/* An editor of lines. Commands are letters on standard input, each by itself; text that is added is made up. Numbers lines from 1.
   The version after the change: a mark is kept as a distance from the end, so that it need not move when lines are added
   before it. That a line goes is counted as if it went behind the mark: who sets a mark at the last line, deletes that line and
   looks at the mark looks behind the last line. */
#include <assert.h>
#include <stdio.h>

enum { ROOM = 16 };

static int length[ROOM];
static int lines, at, mark, is_marked, copied = -1, width = 8, is_quiet, changes;

static void add(int text)
{
  if (lines == ROOM)
    return;
  for (int i = lines; i > at; i--)
    length[i] = length[i - 1];
  length[at++] = text;
  lines++;
  changes++;
}

static void delete(void)
{
  if (at == 0)
    return;
  at--;
  lines--;
  changes++;
  mark -= is_marked;
  for (int i = at; i < lines; i++)
    length[i] = length[i + 1];
}

static void set_mark(void)
{
  is_marked = 1;
  mark = lines - at;
}

static void look(void)
{
  if (!is_marked || mark >= lines) {
    puts("no mark");
    return;
  }
  assert(mark >= 0);
  printf("%d\n", length[lines - mark - 1]);
}

static void join(void)
{
  if (at < 2)
    return;
  length[at - 2] += length[at - 1];
  delete();
}

static void cut_long(void)
{
  for (int i = 0; i < lines; i++)
    if (length[i] > width)
      length[i] = width;
}

static int total(void)
{
  int sum = 0;
  for (int i = 0; i < lines; i++)
    sum += length[i];
  return sum;
}

static void command(int c)
{
  switch (c) {
  case 'a':
    add(4);
    break;
  case 'b':
    at = 0;
    break;
  case 'c':
    copied = at > 0 ? length[at - 1] : -1;
    break;
  case 'd':
    delete();
    break;
  case 'e':
    at = lines;
    break;
  case 'f':
    cut_long();
    break;
  case 'i':
    add(7);
    break;
  case 'j':
    join();
    break;
  case 'l':
    look();
    break;
  case 'm':
    set_mark();
    break;
  case 'n':
    width = width < 32 ? width * 2 : 8;
    break;
  case 'o':
    at += at < lines;
    break;
  case 'p':
    if (!is_quiet)
      printf("%d of %d\n", at, lines);
    break;
  case 'q':
    is_quiet = !is_quiet;
    break;
  case 's':
    printf("%d\n", total());
    break;
  case 'u':
    at -= at > 0;
    break;
  case 'v':
    if (copied >= 0)
      add(copied);
    break;
  case '\n':
    break;
  default:
    puts("what?");
  }
}

int main(void)
{
  int c;
  while ((c = getchar()) != EOF)
    command(c);
  printf("%d lines, %d changes\n", lines, changes);
  return 0;
}
