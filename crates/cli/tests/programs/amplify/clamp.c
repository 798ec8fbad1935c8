/* An index that is clamped from above only: a negative one is written through. */
#include <unistd.h>

static int values[100];

static void clear(int at)
{
    if (at > 99)
        at = 99;
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
