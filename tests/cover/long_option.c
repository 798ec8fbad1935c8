// The value that the condition needs is returned for a long option that has no letter, and takes an argument.
// needs: switch
// arguments: text
// runs: 16
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 256, QUIET, DEPTH };
static int depth;
static const struct option options[] = {
    {"width", required_argument, NULL, WIDTH},
    {"quiet", no_argument, NULL, QUIET},
    {"recursion-depth", required_argument, NULL, DEPTH},
    {NULL, 0, NULL, 0}};

int main(int argc, char **argv) {
  int c, width = 80;
  while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
    switch (c) {
    case WIDTH:
      width = atoi(optarg);
      break;
    case QUIET:
      return 0;
    case DEPTH:
      depth = atoi(optarg);
      break;
    default:
      return 2;
    }
  if (depth > 3)
    puts("deep"); // target
  return printf("%d\n", width) < 0;
}
