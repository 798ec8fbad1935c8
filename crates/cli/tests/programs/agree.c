/* Two files that must agree, line by line, and then say the right thing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char a[32], b[32];
    FILE *left = fopen("left", "r"), *right = fopen("right", "r");
    if (!left || !right)
        return 2;
    if (!fgets(a, sizeof a, left) || !fgets(b, sizeof b, right))
        return 3;
    if (strcmp(a, b) != 0)
        return 1;
    if (strncmp(a, "yes", 3) == 0)
        abort();
    return 0;
}
