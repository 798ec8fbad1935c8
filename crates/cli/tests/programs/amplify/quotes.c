/* Prints its second argument in the format of the first. A number may be given as the code of a character behind a
 * quote; that there is a character behind it is taken for granted. */
#include <stdio.h>
#include <stdlib.h>

static long number(const char *text)
{
    if (*text == '"' || *text == '\'') {
        unsigned char code = (unsigned char)*++text;
        if (*++text)
            fprintf(stderr, "what follows the character is ignored\n");
        return code;
    }
    return strtol(text, NULL, 0);
}

int main(int argc, char **argv)
{
    if (argc < 3 || argv[1][0] != '%')
        return 2;
    switch (argv[1][1]) {
    case 'd':
        printf("%ld\n", number(argv[2]));
        return 0;
    case 'c':
        printf("%c\n", argv[2][0]);
        return 0;
    case 's':
        printf("%s\n", argv[2]);
        return 0;
    }
    return 2;
}
