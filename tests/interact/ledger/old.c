/* An account, booked by lines on standard input: "+N" pays in, "-N" pays out, "hN" holds money back, "r" releases it; N is a digit. Says what
   is left. The version before the change: holding money back only counts. */
#include <stdio.h>

static int balance, held, refused;

static void book(const char *line)
{
  int amount = line[1] >= '0' && line[1] <= '9' ? line[1] - '0' : 0;
  switch (line[0]) {
  case '+':
    balance += amount;
    break;
  case '-':
    if (amount > balance)
      refused++;
    else
      balance -= amount;
    break;
  case 'h':
    held++;
    break;
  case 'r':
    held = 0;
    break;
  default:
    refused++;
  }
}

int main(void)
{
  char line[8];
  while (fgets(line, sizeof line, stdin))
    book(line);
  printf("%d left, %d refused\n", balance < 0 ? 0 : balance, refused);
  return 0;
}
