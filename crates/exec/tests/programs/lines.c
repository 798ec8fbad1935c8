/* A server of one request a line, for the tests of played clients: hello NAME, count, echo TEXT, quit, stop.
   Argument: tcp:PORT, tcp6:PORT or unix:PATH. SIGTERM ends it with a summary and status 7. */
#include <netinet/in.h>
#include <stddef.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int connections, greeted;

static void end(int signal) {
    (void)signal;
    char text[32];
    int length = snprintf(text, sizeof text, "%d connections\n", connections);
    if (write(1, text, length) < 0) _exit(8);
    _exit(7);
}

static int open_server(const char *address) {
    int server = -1, done = -1;
    if (strncmp(address, "tcp:", 4) == 0) {
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(atoi(address + 4))};
        server = socket(AF_INET, SOCK_STREAM, 0);
        done = bind(server, (struct sockaddr *)&in, sizeof in);
    } else if (strncmp(address, "tcp6:", 5) == 0) {
        struct sockaddr_in6 in = {.sin6_family = AF_INET6, .sin6_port = htons(atoi(address + 5))};
        server = socket(AF_INET6, SOCK_STREAM, 0);
        done = bind(server, (struct sockaddr *)&in, sizeof in);
    } else if (strncmp(address, "unix:", 5) == 0) {
        struct sockaddr_un un = {.sun_family = AF_UNIX};
        const char *path = address + 5;
        size_t length = strlen(path);
        memcpy(un.sun_path, path, length);
        if (un.sun_path[0] == '@') un.sun_path[0] = 0;
        server = socket(AF_UNIX, SOCK_STREAM, 0);
        done = bind(server, (struct sockaddr *)&un, offsetof(struct sockaddr_un, sun_path) + length);
    }
    if (done != 0) {
        perror(address);
        exit(2);
    }
    listen(server, 8);
    return server;
}

/* Whether the connection goes on. */
static int answer(FILE *client, char *line) {
    if (strncmp(line, "hello", 5) == 0) {
        char *name = strchr(line, ' ');
        greeted++;
        fprintf(client, "hello,");
        /* Without a name: a null pointer. */
        volatile char first = *name;
        fprintf(client, "%c%s", first, name + 1);
    } else if (strncmp(line, "count", 5) == 0) {
        fprintf(client, "%d\n", greeted);
    } else if (strncmp(line, "echo ", 5) == 0) {
        fputs(line + 5, client);
    } else if (strncmp(line, "stop", 4) == 0) {
        fprintf(client, "stopping\n");
        fclose(client);
        exit(0);
    } else {
        fprintf(client, "bye\n");
        return 0;
    }
    fflush(client);
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    signal(SIGTERM, end);
    int server = open_server(argv[1]);
    for (;;) {
        int descriptor = accept(server, NULL, NULL);
        if (descriptor < 0) return 3;
        connections++;
        FILE *from = fdopen(descriptor, "r"), *to = fdopen(dup(descriptor), "w");
        char line[4096];
        while (fgets(line, sizeof line, from) && answer(to, line)) {
        }
        fclose(from);
        fclose(to);
    }
}
