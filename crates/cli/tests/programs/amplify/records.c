/* Copies the contents of a record, whose length the record itself tells, to a buffer of fixed size. */
#include <stdio.h>

int main(void)
{
    char buffer[8];
    int length = getchar(), sum = 0;
    if (length == EOF)
        return 2;
    for (int i = 0; i < length; i++) {
        int c = getchar();
        if (c == EOF)
            break;
        buffer[i] = (char)c;
    }
    for (int i = 0; i < length && i < 8; i++)
        sum += buffer[i];
    printf("%d\n", sum);
    return 0;
}
