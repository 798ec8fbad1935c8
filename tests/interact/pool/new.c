/* A pool of buffers, driven by pairs of bytes on standard input: what to do, and a number. Says what became of it. The version after the
   change: a reserve is kept back from what can be taken, what is given back goes to the reserve first, and buffers that are lent are found by how
   many are not in the pool. With a reserve, and something given back that was never taken, somebody lends what nobody has. */
#include <assert.h>
#include <stdio.h>

enum { SIZE = 16 };

static int is_lent[SIZE];
static int free_count = SIZE, reserve, limit = SIZE, calls, errors, is_closed, level, colour, owner, weight, high;

static void take(int number)
{
  if (free_count - reserve >= number % 4) {
    free_count -= number % 4;
    weight += number;
  } else
    errors++;
}

static void keep_back(int number)
{
  reserve = number % 8;
}

static void give_back(int number)
{
  if (reserve > 0)
    reserve -= number % 4;
  else if (free_count + number % 4 <= SIZE)
    free_count += number % 4;
}

static void lend(int number)
{
  int at = free_count - reserve - 1;
  if (at < 0) {
    errors++;
    return;
  }
  assert(at < SIZE);
  is_lent[at] = number;
}

static void count(void)
{
  int lent = 0;
  for (int i = 0; i < SIZE; i++)
    lent += is_lent[i] != 0;
  if (lent > high)
    high = lent;
}

static int step(int what, int number)
{
  calls++;
  switch (what) {
  case 'a':
    owner = number;
    break;
  case 'b':
    colour ^= number;
    break;
  case 'c':
    is_closed = number & 1;
    break;
  case 'd':
    level += number > level;
    break;
  case 'e':
    level -= level > 0;
    break;
  case 'g':
    give_back(number);
    break;
  case 'h':
    count();
    break;
  case 'k':
    keep_back(number);
    break;
  case 'l':
    lend(number);
    break;
  case 'm':
    limit = number < SIZE ? number : SIZE;
    break;
  case 'o':
    if (owner == number)
      weight = 0;
    break;
  case 'r':
    for (int i = 0; i < limit; i++)
      is_lent[i] = 0;
    break;
  case 's':
    printf("%d free, %d high\n", free_count, high);
    break;
  case 't':
    take(number);
    break;
  case 'w':
    printf("%d of weight %d\n", level, weight);
    break;
  case 'z':
    return 0;
  default:
    errors++;
  }
  return 1;
}

int main(void)
{
  int what, number;
  while ((what = getchar()) != EOF && (number = getchar()) != EOF)
    if (!step(what, number))
      break;
  printf("%d calls, %d errors, %d free%s\n", calls, errors, free_count, is_closed ? ", closed" : "");
  return errors > 0;
}
