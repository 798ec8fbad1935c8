//! Servers: what their clients send, when they are answered, and what ends them.

mod support;

use parallax_recorder::End;
use support::{Project, bytes};

/// Answers each line with the line in brackets, for every client in turn, until it is told to stop.
const ECHO: &str = r#"
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static volatile int done;
static void stop(int s) { done = 1; }
int main(int argc, char **argv) {
    struct sigaction action = { .sa_handler = stop };
    sigaction(SIGTERM, &action, 0);
    int at;
    if (argc > 2) {
        struct sockaddr_un where = { .sun_family = AF_UNIX };
        strcpy(where.sun_path, argv[2]);
        at = socket(AF_UNIX, SOCK_STREAM, 0);
        bind(at, (void *)&where, sizeof where);
    } else {
        struct sockaddr_in where = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        where.sin_port = htons(atoi(argv[1]));
        int on = 1;
        at = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(at, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (bind(at, (void *)&where, sizeof where)) return 9;
    }
    listen(at, 5);
    FILE *greeting = fopen("config", "r");
    char word[99] = "";
    if (greeting) fgets(word, 99, greeting);
    while (!done) {
        int client = accept(at, 0, 0);
        if (client < 0) continue;
        char line[999], answer[2000];
        ssize_t n;
        while ((n = read(client, line, sizeof line)) > 0) {
            int length = sprintf(answer, "%s[%.*s]", word, (int)n, line);
            send(client, answer, length, 0);
        }
        close(client);
    }
    return 0;
}"#;

/// Two clients: one that asks twice, one that asks once.
const CLIENT: &str = r#"
import socket, sys, time
def client(*questions):
    for _ in range(200):
        try:
            if sys.argv[1].isdigit():
                s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
            else:
                s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
            break
        except OSError:
            time.sleep(0.05)
    for question in questions:
        s.sendall(question)
        assert question in s.recv(999)
    s.close()
client(b"one", b"two!")
client(b"three")
"#;

fn project() -> Project {
    let mut project = Project::new();
    project.program("echo", ECHO);
    project.write("client.py", CLIENT);
    project.write("config", ":");
    project
}

fn check(line: &str, address: &str) {
    let project = project();
    let recording = project.record(&["sh", "-c", line]);
    assert_eq!(recording.summary.end, Some(End::Exit(0)));
    let run = recording.only();
    assert_eq!(run.scenario.streams, ["onetwo!", "three"].map(bytes));
    let listening = run.scenario.listening.unwrap();
    assert_eq!(listening.address, bytes(address));
    assert_eq!(listening.pauses, [vec![3], vec![]]);
    assert_eq!(listening.end, libc::SIGTERM);
    assert_eq!(run.result.answers, [":[one]:[two!]", ":[three]"].map(bytes));
    assert_eq!(run.result.exit, Some(0));
    assert_eq!(run.scenario.files[&bytes("config")], bytes(":"));
}

#[test]
fn what_clients_send_over_tcp_is_recorded() {
    // Free a moment ago; nobody else is given it so soon.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let line = format!("./echo {port} & python3 client.py {port} && kill -TERM $! && wait $!");
    check(&line, &format!("tcp:{port}"));
}

#[test]
fn what_clients_send_over_a_socket_file_is_recorded() {
    let line = "./echo - sock & python3 client.py sock && kill -TERM $! && wait $!";
    check(line, "unix:sock");
}
