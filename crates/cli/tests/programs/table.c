/* A switch on what a table says about the input: every class of characters is a case of its own. */
#include <stdio.h>
#include <stdlib.h>

enum class { OTHER, DIGIT, LETTER, SPACE, SIGN };

static const unsigned char classes[256] = {
    ['0'] = DIGIT, ['1'] = DIGIT, ['2'] = DIGIT, ['7'] = DIGIT,
    ['a'] = LETTER, ['b'] = LETTER, ['z'] = LETTER,
    [' '] = SPACE, ['\t'] = SPACE,
    ['+'] = SIGN, ['-'] = SIGN,
};

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    switch (classes[(unsigned char) argv[1][0]]) {
    case DIGIT:
        return 10;
    case LETTER:
        return 11;
    case SPACE:
        return 12;
    case SIGN:
        if (classes[(unsigned char) argv[1][1]] == DIGIT && argv[1][1] != '1' && argv[1][1] < '7')
            abort();
        return 13;
    default:
        return 14;
    }
}
