//! Scenarios and their results in words.

use parallax_scenario::{
    Bytes, Ending, Scenario, Sink, WORK, shell_quoted, shell_word, signal_name,
};

use crate::words::printable;

/// The command line, to be pasted.
pub fn command_line(program: &str, scenario: &Scenario) -> String {
    let mut words: Vec<String> = Vec::new();
    for (name, value) in &scenario.env {
        words.push(format!(
            "{}={}",
            printable(name),
            printable(&shell_quoted(value))
        ));
    }
    words.push(program.to_owned());
    words.extend(scenario.argv.iter().map(|argument| shell_word(argument)));
    if scenario.closed_stdin {
        words.push("<&-".to_owned());
    }
    for (number, sink) in [("", &scenario.stdout), ("2", &scenario.stderr)] {
        match sink {
            Sink::Read => {}
            Sink::Full => words.push(format!("{number}>/dev/full")),
            Sink::Closed => words.push(format!("{number}>&-")),
            // As near as a shell comes to it.
            Sink::Broken => words.push(format!("{number}> >(exec true)")),
            // Any file will do.
            Sink::File(file) if file.path.is_empty() => words.push(format!("{number}>out")),
            Sink::File(file) => {
                let arrow = if file.keeps() { ">>" } else { ">" };
                words.push(format!(
                    "{number}{arrow}{}",
                    shell_word(&path_from(scenario, &file.path))
                ));
            }
        }
    }
    words.join(" ")
}

/// The path of one of the scenario's files as seen from where the program starts.
fn path_from(scenario: &Scenario, path: &[u8]) -> Vec<u8> {
    let start = &scenario.directory;
    let below = path.strip_prefix(&start[..]);
    match below.and_then(|rest| rest.strip_prefix(b"/")) {
        Some(rest) => rest.to_vec(),
        None if start.is_empty() => path.to_vec(),
        None => [WORK.as_bytes(), b"/", path].concat(),
    }
}

/// Everything else that the program is given: what it is, and its bytes in one line each.
pub fn inputs(scenario: &Scenario) -> Vec<(String, String)> {
    let line = |bytes: &[u8]| printable(bytes).replace('\n', "\\n");
    let mut list = Vec::new();
    let mut add = |name: String, bytes: &[u8]| {
        if !bytes.is_empty() {
            list.push((name, line(bytes)));
        }
    };
    add("stdin".into(), &scenario.stdin);
    for (name, contents) in &scenario.files {
        add(format!("file {}", printable(name)), contents);
    }
    for (number, stream) in scenario.streams.iter().enumerate() {
        add(format!("stream {}", number + 1), stream);
    }
    for object in &scenario.objects {
        let hex: Vec<String> = object.bytes.iter().map(|b| format!("{b:02x}")).collect();
        add(
            format!("{} (hex)", printable(&object.name)),
            hex.join(" ").as_bytes(),
        );
    }
    for directory in &scenario.directories {
        let is_above = |file: &&Bytes| {
            let below = file.strip_prefix(&directory[..]);
            below.is_some_and(|rest| rest.starts_with(b"/"))
        };
        // Those that something lies in are seen from that.
        if !scenario.files.keys().any(|file| is_above(&file)) {
            list.push(("directory".to_owned(), printable(directory)));
        }
    }
    for (name, target) in &scenario.links {
        list.push((format!("link {}", printable(name)), line(target)));
    }
    for (name, mode) in &scenario.modes {
        let name = match name.is_empty() {
            true => ".".to_owned(),
            false => printable(name),
        };
        list.push((format!("permissions of {name}"), format!("{mode:03o}")));
    }
    list
}

/// How a run ended.
pub fn ending(ending: &Ending) -> String {
    match (ending.exit, ending.signal) {
        (Some(status), _) => format!("exit code {status}"),
        (_, Some(signal)) => format!("killed by {}", signal_name(signal)),
        _ => "ended by a limit".to_owned(),
    }
}
