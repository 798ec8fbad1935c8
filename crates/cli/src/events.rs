//! What happens while something takes time, on the terminal: notes and findings as lines that stay, progress in a line that moves, a
//! check on a screen of its own.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use parallax_campaign::{
    Answer, Cancel, Context, Event, Events, Exit, Failure, Progress, Step, Task,
};
use parallax_project::Event as BuildEvent;

use crate::console::{self, Line, Palette, printable, shorten};
use crate::interrupt;
use crate::screen::Screen;
use crate::size::show_time;

/// Plain lines of progress come no more often than this.
const LINES: Duration = Duration::from_secs(30);

/// What every command gives to what takes time.
pub fn context() -> Context {
    Context {
        events: Arc::new(Console),
        cancel: Cancel::new(interrupt::flag(), interrupt::is_asked),
        runs: Arc::default(),
        width: console::width(),
        in_check: false,
    }
}

/// Prints what a search has to say, for people or for programs.
pub fn print(answer: &Answer, as_json: bool) -> Result<Exit, Failure> {
    match as_json {
        true => console::print_data(&answer.json)?,
        false => console::print(&answer.text)?,
    }
    Ok(answer.exit)
}

/// Standard error.
struct Console;

impl Events for Console {
    fn tell(&self, event: Event<'_>) {
        match event {
            Event::Note(note) => console::note(note),
            Event::Trouble(failure) => console::print_error(&failure.render(&Palette)),
            Event::Line(line) => console::print_error(&format!("{line}\n")),
            Event::Found(line) => match console::live() {
                Some(live) => live.found(line),
                None => console::print_error(&format!("{line}\n")),
            },
        }
    }

    fn begin(&self, task: Task<'_>) -> Box<dyn Progress> {
        match task {
            Task::Search(_) => {
                interrupt::ask();
                Box::new(Searching {
                    line: Line::new("{spinner} {msg}", None),
                    last: Mutex::new(Instant::now()),
                })
            }
            Task::Derive { variant, modules } => {
                let template = "{msg:>12} [{bar:30}] {pos}/{len} {prefix}";
                let line = Line::new(template, Some(modules));
                line.bar.set_message(variant.to_owned());
                Box::new(Deriving(line))
            }
            Task::Build(label) => {
                interrupt::ask();
                Box::new(Building {
                    line: Line::new("{spinner} {prefix} {msg}", None),
                    label: label.to_owned(),
                })
            }
            Task::Record { shows_output } => {
                interrupt::ask_and_wake();
                Box::new(Recording(match shows_output {
                    // With the tests' own output on the terminal, a line that moves would be in its way.
                    true => Line::hidden(),
                    false => Line::new("{spinner} recording {elapsed}: {msg}", None),
                }))
            }
            Task::Check {
                title,
                budget,
                clock,
                runs,
                phases,
            } => {
                interrupt::ask();
                Box::new(Screen::open(title, budget, clock, runs, phases))
            }
        }
    }
}

struct Searching {
    line: Line,
    /// When a line was printed.
    last: Mutex<Instant>,
}

impl Progress for Searching {
    /// At once to who looks, now and then to others.
    fn step(&self, step: Step<'_>) {
        let Step::Line(line) = step else {
            return;
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = console::live() {
            live.tell(line);
        } else if self.line.is_shown {
            // Lines that wrap would not be cleared.
            let room = console::live_width().saturating_sub(3);
            self.line.bar.set_message(shorten(line, room));
        } else if last.elapsed() >= LINES {
            *last = Instant::now();
            console::print_error(&format!("{line}\n"));
        }
    }
}

struct Deriving(Line);

impl Progress for Deriving {
    fn step(&self, step: Step<'_>) {
        // Nothing is known yet that could be reported; what was compiled is kept. Under a screen, something is.
        if interrupt::is_asked() && console::live().is_none() {
            interrupt::leave();
        }
        match step {
            Step::Compiled { source, done } => {
                self.0.bar.set_position(done);
                self.0.bar.set_prefix(source.to_owned());
            }
            _ => self.0.bar.set_prefix("linking"),
        }
    }
}

struct Building {
    line: Line,
    label: String,
}

impl Building {
    fn say(&self, step: &str, message: &str) {
        let prefix = format!("{} {step}", self.label);
        // Lines that wrap would not be cleared.
        let room = console::live_width().saturating_sub(prefix.chars().count() + 6);
        self.line.bar.set_prefix(prefix);
        let message = shorten(&printable(message.as_bytes()), room);
        self.line.bar.set_message(message);
    }
}

impl Progress for Building {
    fn step(&self, step: Step<'_>) {
        let Step::Build(event) = step else {
            return;
        };
        match event {
            BuildEvent::Waiting => self.say("", "another parallax builds it; waiting"),
            BuildEvent::Copying => self.say("", "putting the files in place"),
            BuildEvent::Started { step, command } => self.say(step, &format!("$ {command}")),
            BuildEvent::Running { step, time, line } => {
                let step = format!("{step} {}", show_time(Duration::from_secs(time.as_secs())));
                self.say(&step, line);
            }
            BuildEvent::Finished { .. } => {}
        }
    }
}

struct Recording(Line);

impl Progress for Recording {
    fn step(&self, step: Step<'_>) {
        if let Step::Recorded { runs, scenarios } = step {
            let message = format!("{runs} runs, {scenarios} scenarios");
            self.0.bar.set_message(message);
        }
    }
}
