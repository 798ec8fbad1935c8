/* As clamp.c, but far too large indices are ignored. */
#include <unistd.h>

static int values[100];

static void clear(int at)
{
    if (at > 99) {
        if (at > 199)
            return;
        at = 99;
    }
    values[at] = 0;
}

int main(void)
{
    int at;
    if (read(0, &at, sizeof at) != sizeof at)
        return 2;
    clear(at);
    return 0;
}
