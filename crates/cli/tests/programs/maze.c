/* A maze of 7 by 11: moves come from standard input; whoever stands on '#' is out. No place may be visited
 * twice, so there are two ways: around the upper and around the lower side of the island in the middle. */
#include <stdio.h>

static const char maze[7][12] = {
    "+---------+",
    "|         |",
    "| +-+ +-+ |",
    "  | | | |  ",
    "| +-+-+-+ |",
    "|        #|",
    "+---------+",
};

static char visited[7][12];

int main(void)
{
    int x = 1, y = 1;
    for (int moves = 0; moves < 18; moves++) {
        int c = getchar();
        int nx = x, ny = y;
        switch (c) {
        case 'w': ny--; break;
        case 's': ny++; break;
        case 'a': nx--; break;
        case 'd': nx++; break;
        default:
            puts("what?");
            return 2;
        }
        if (maze[ny][nx] == '#') {
            puts("out");
            return 0;
        }
        if (maze[ny][nx] != ' ' || nx < 1 || nx > 9 || visited[ny][nx]) {
            puts("wall");
            return 1;
        }
        visited[y][x] = 1;
        x = nx;
        y = ny;
    }
    puts("lost");
    return 1;
}
