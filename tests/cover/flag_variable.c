// A long option stores to the variable by itself.
// needs: switch
// arguments: text
// runs: 12
#include <getopt.h>
#include <stdio.h>

static int verbose, brief;
static const struct option options[] = {{"brief", no_argument, &brief, 1},
                                        {"verbose-listing", no_argument, &verbose, 1},
                                        {NULL, 0, NULL, 0}};

int main(int argc, char **argv) {
  while (getopt_long(argc, argv, "", options, NULL) != -1)
    continue;
  if (verbose)
    puts("all of it"); // target
  return brief;
}
