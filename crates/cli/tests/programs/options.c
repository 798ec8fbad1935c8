/* Options of all kinds, and a crash that needs two of them. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option options[] = {
    {"level", required_argument, NULL, 'l'},
    {"mode", required_argument, NULL, 'm'},
    {"verbose", no_argument, NULL, 'v'},
    {NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
    long level = 0;
    int extra = 0, verbose = 0, fast = 0;
    int c;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "l:m:vx", options, NULL)) != -1) {
        switch (c) {
        case 'l': {
            char *end;
            level = strtol(optarg, &end, 10);
            if (*end || end == optarg)
                return 2;
            break;
        }
        case 'm':
            if (strcmp(optarg, "fast") == 0)
                fast = 1;
            else if (strcmp(optarg, "slow") != 0)
                return 2;
            break;
        case 'v':
            verbose = 1;
            break;
        case 'x':
            extra = 1;
            break;
        default:
            return 2;
        }
    }
    if (level == 37 && extra)
        *(volatile int *) 0 = 1;
    printf("%d %d\n", verbose, fast);
    return 0;
}
