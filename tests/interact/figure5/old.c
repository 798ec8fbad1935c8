/* Reads a range of numbers as in "3-", and says where it begins. The version before the change of figure 5 in "Regression Tests to
   Expose Change Interaction Errors" (FSE 2013); the comments are the figure's lines. */
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>

int main(int argc, char **argv)
{
  const char *at = argc > 1 ? argv[1] : "";
  int value = 0, chosen = 0, begin = 1;
  while (true) { /* 2 */
    if (*at >= '0' && *at <= '9') { /* 3 */
      value = *at - '0'; /* 4 */
    } else if (*at == '-') { /* 6 */
      chosen = value; /* 7 */
      begin = chosen ? value : 1; /* 8 */
    } else if (*at == '\0') { /* 9 */
      assert(begin != 0); /* 10 */
      break; /* 11 */
    }
    at++; /* 13 */
  }
  printf("from %d\n", begin);
  return 0;
}
