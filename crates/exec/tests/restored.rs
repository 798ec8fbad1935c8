//! One run after the other in one sandbox: what a run does to it, and how it ends, is nothing to the next.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parallax_exec::execute::{RunOptions, Settings};
use parallax_exec::run::End;
use parallax_exec::sandbox::Confinement;
use parallax_scenario::Scenario;
use support::{Shell, text};

#[test]
fn the_sandbox_restores_itself() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    let look = "pwd; stat -c '%a %n' . /tmp /var/tmp /run /dev/shm; ls -A . /tmp | head; cat file; touch new /tmp/new && echo done";
    let scenario = Scenario {
        files: [
            ("file".into(), "text".into()),
            ("inner/file".into(), "x".into()),
        ]
        .into(),
        ..Scenario::default()
    };
    let expected = text(&shell.run_with(look, scenario.clone()).stdout.bytes);
    assert!(expected.ends_with("done\n"), "{expected}");
    for script in [
        "chmod 0 /tmp",
        "chmod 0 .",
        "chmod 0 . /tmp /var/tmp /run /dev/shm",
        "chmod 555 . /tmp",
        "cd /; rm -rf /tmp/parallax-work; rmdir /tmp/parallax-work; mv /tmp/parallax-work /tmp/other",
        "mkdir -p a/b/c; chmod 0 a/b/c a/b a; mkdir /tmp/d; touch /tmp/d/e; chmod 0 /tmp/d",
        "head -c 200000000 /dev/zero > large; head -c 200000000 /dev/zero > /tmp/large",
        "seq -f d%g 20000 | xargs mkdir 2>/dev/null",
        "ln -s /etc link; ln -s . file2; mkfifo pipe; rm -rf inner; ln -s /etc inner",
    ] {
        let outcome = shell.run_with(script, scenario.clone());
        assert!(matches!(outcome.end, End::Exit(_)), "{script}: {outcome:?}");
        for _ in 0..2 {
            let after = text(&shell.run_with(look, scenario.clone()).stdout.bytes);
            assert_eq!(after, expected, "{script}");
        }
    }
    // What contradicts itself is refused, and harms nobody.
    let wrong = Scenario {
        files: [("a".into(), "x".into()), ("a/b".into(), "y".into())].into(),
        ..Scenario::default()
    };
    assert!(shell.executor.run(&wrong, &[]).is_err());
    let after = text(&shell.run_with(look, scenario).stdout.bytes);
    assert_eq!(after, expected);
}

#[test]
fn a_run_ends_by_its_own_limit_by_the_deadline_or_when_it_is_cancelled() {
    let flag = Arc::new(AtomicBool::new(false));
    for server in [false, true] {
        flag.store(false, Ordering::Relaxed);
        let settings = Settings {
            cancel: Some(Arc::clone(&flag)),
            server,
            ..Settings::default()
        };
        let Some(mut shell) = Shell::new(settings) else {
            return;
        };
        assert_eq!(shell.run("exit 3").end, End::Exit(3));
        let sleep = Scenario {
            argv: vec!["-c".into(), "sleep 20".into()],
            ..Scenario::default()
        };
        let started = Instant::now();
        let options = RunOptions {
            timeout: Some(Duration::from_millis(150)),
            ..RunOptions::default()
        };
        let outcome = shell.executor.run_with(&sleep, &[], options).unwrap();
        assert_eq!(outcome.end, End::Timeout);
        shell
            .executor
            .end_by(Some(Instant::now() + Duration::from_millis(150)));
        assert_eq!(shell.run("sleep 20").end, End::Interrupted);
        // Nobody has time for another one.
        assert_eq!(shell.run("exit 0").end, End::Interrupted);
        shell.executor.end_by(None);
        assert_eq!(shell.run("exit 4").end, End::Exit(4));
        let setter = {
            let flag = Arc::clone(&flag);
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(150));
                flag.store(true, Ordering::Relaxed);
                Instant::now()
            })
        };
        assert_eq!(shell.run("sleep 20").end, End::Interrupted);
        let delay = setter.join().unwrap().elapsed();
        // Much more than the 10 ms between looks only on a busy machine.
        assert!(delay < Duration::from_secs(1), "{delay:?}");
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn permissions_of_the_machines_devices_cannot_be_changed() {
    let Some(mut shell) = Shell::new(Settings::default()) else {
        return;
    };
    // To what they are: it must not do harm where it can be done.
    let script = "for d in null zero full random urandom; do chmod $(stat -c %a /dev/$d) /dev/$d && echo $d; done; \
        echo x > /dev/null && echo y > /dev/zero && echo written";
    let outcome = shell.run(script);
    if matches!(shell.executor.confinement(), Confinement::Namespaces { .. }) {
        assert_eq!(text(&outcome.stdout.bytes), "written\n");
    }
}
