/* An account, booked by lines on standard input: "+N" pays in, "-N" pays out, "hN" holds money back, "r" releases it; N is a digit. Says what
   is left. The version after the change: what is held back is taken from the balance, and what is paid out
   may be taken from it. Held, paid out and released, money is there twice. */
#include <assert.h>
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
    if (amount > balance + held)
      refused++;
    else
      balance -= amount;
    break;
  case 'h':
    held += amount < balance ? amount : balance;
    balance -= amount < balance ? amount : balance;
    break;
  case 'r':
    balance += held;
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
  assert(balance >= 0);
  printf("%d left, %d refused\n", balance < 0 ? 0 : balance, refused);
  return 0;
}
