/* Stands in for the plain program. */
#include <stdio.h>

int main(int argc, char **argv)
{
    printf("plain %s\n", argc > 1 ? argv[1] : "");
    return 6;
}
