//! Scenarios and their results in words.

pub use parallax_scenario::commands::command_line;
use parallax_scenario::{Bytes, Ending, Scenario, signal_name};

use crate::words::printable;

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
