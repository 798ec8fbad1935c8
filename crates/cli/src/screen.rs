//! The live screen: what each phase has done, what is going on, how much time is left. Plain lines where nobody looks.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use parallax_campaign::check::clock::{Clock, shown as clock};
use parallax_campaign::{Progress, Runs, Step};

use crate::console::{self, Live, Palette, shorten};
use crate::size::counted;

/// Plain lines come no more often than this, unless something happens.
const LINES: Duration = Duration::from_secs(30);

/// How a phase is shown.
#[derive(Clone, Debug)]
struct Row {
    name: &'static str,
    /// What it has come to, in words.
    gave: String,
    state: RowState,
    spent: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowState {
    Waiting,
    Running,
    Paused,
    Done,
}

/// What is shown of everything together.
#[derive(Clone, Debug, Default)]
struct Shown {
    title: String,
    rows: Vec<Row>,
    line: String,
    findings: u64,
    covered: u64,
    lines: u64,
    /// What was said about findings.
    found: BTreeSet<String>,
}

/// The screen.
pub struct Screen {
    bar: ProgressBar,
    is_terminal: bool,
    clock: Arc<Clock>,
    budget: Duration,
    runs: Arc<Runs>,
    shown: Mutex<Shown>,
    last: Mutex<Instant>,
}

impl Screen {
    /// Begins to show; everything that searches would show themselves goes there from now on.
    pub fn open(
        title: String,
        budget: Duration,
        clock: Arc<Clock>,
        runs: Arc<Runs>,
        names: &[&'static str],
    ) -> OnScreen {
        let is_terminal = io::stderr().is_terminal();
        let target = match is_terminal {
            true => console::terminal::target(5),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        let row = |name: &&'static str| Row {
            name,
            gave: String::new(),
            state: RowState::Waiting,
            spent: Duration::ZERO,
        };
        let screen = Arc::new(Screen {
            bar,
            is_terminal,
            clock,
            budget,
            runs,
            shown: Mutex::new(Shown {
                title,
                rows: names.iter().map(row).collect(),
                ..Shown::default()
            }),
            last: Mutex::new(Instant::now()),
        });
        console::share(Some(screen.clone()));
        screen.draw();
        OnScreen(screen)
    }

    /// A phase begins.
    fn begin(&self, phase: usize) {
        let is_first = {
            let mut shown = self.shown();
            shown.line.clear();
            // What begins together is said once.
            let is_first = shown.rows.iter().all(|row| row.state == RowState::Waiting);
            shown.rows[phase].state = RowState::Running;
            is_first
        };
        if is_first && !self.is_terminal {
            self.plain();
        }
        self.draw();
    }

    /// It is over, for now.
    fn end(&self, phase: usize, gave: String, spent: Duration, is_done: bool) {
        {
            let mut shown = self.shown();
            let row = &mut shown.rows[phase];
            row.gave = gave;
            row.spent = spent;
            row.state = match is_done {
                true => RowState::Done,
                false => RowState::Paused,
            };
        }
        self.draw();
    }

    /// Something else than a phase is done.
    fn now(&self, line: &str) {
        self.shown().line = line.to_owned();
        if !self.is_terminal {
            console::print_error(&format!("{:>6}  {line}\n", self.time()));
        }
        self.draw();
    }

    fn time(&self) -> String {
        clock(self.clock.elapsed())
    }

    /// What there is to show of everything.
    fn totals(&self, findings: u64, covered: u64, lines: u64) {
        {
            let mut shown = self.shown();
            (shown.findings, shown.covered, shown.lines) = (findings, covered, lines);
        }
        self.draw();
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn status(&self, shown: &Shown) -> String {
        let elapsed = self.clock.elapsed();
        let left = self.budget.saturating_sub(elapsed);
        let runs = self.runs.total();
        let rate = runs as f64 / elapsed.as_secs_f64().max(0.1);
        format!(
            "{}, {} of {} run, {} ({rate:.0}/s), {} left",
            counted(shown.findings, "finding"),
            shown.covered,
            counted(shown.lines, "changed line"),
            counted(runs, "execution"),
            clock(left),
        )
    }

    fn draw(&self) {
        if !self.is_terminal {
            return;
        }
        let shown = self.shown().clone();
        let width = console::live_width().saturating_sub(1);
        let mut text = Palette.heading(&shorten(&shown.title, width));
        for row in &shown.rows {
            let mark = match row.state {
                RowState::Waiting => Palette.dim("·"),
                RowState::Running => Palette.warn("▸"),
                RowState::Paused => Palette.dim("∙"),
                RowState::Done => Palette.good("✓"),
            };
            let time = match row.spent.is_zero() {
                true => String::new(),
                false => clock(row.spent),
            };
            let gave = shorten(&row.gave, width.saturating_sub(40));
            let _ = write!(text, "\n {mark} {:<28}{time:>7}  {gave}", row.name);
        }
        // Always as many lines: of a block that shrinks and grows, lines stay behind when something is written above it.
        let line = Palette.dim(&shorten(&shown.line, width.saturating_sub(4)));
        let _ = write!(text, "\n   {line}");
        let status = shorten(&self.status(&shown), width.saturating_sub(4));
        let _ = write!(text, "\n   {status}");
        self.bar.set_message(text);
        self.bar.tick();
    }

    fn plain(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let shown = self.shown().clone();
        let running = shown.rows.iter().find(|row| row.state == RowState::Running);
        let name = running.map_or(shown.line.as_str(), |row| row.name);
        let status = self.status(&shown);
        console::print_error(&format!("{:>6}  {name}: {status}\n", self.time()));
    }
}

/// A check that is shown; the screen is closed when it is over.
pub struct OnScreen(Arc<Screen>);

impl Progress for OnScreen {
    fn step(&self, step: Step<'_>) {
        match step {
            Step::Begin(phase) => self.0.begin(phase),
            Step::End {
                phase,
                gave,
                spent,
                is_done,
            } => self.0.end(phase, gave, spent, is_done),
            Step::Doing(line) => self.0.now(line),
            Step::Totals {
                findings,
                covered,
                lines,
            } => self.0.totals(findings, covered, lines),
            _ => {}
        }
    }
}

impl Drop for OnScreen {
    fn drop(&mut self) {
        console::share(None);
        self.0.bar.finish_and_clear();
    }
}

impl Live for Screen {
    fn above(&self, write: &dyn Fn()) {
        self.bar.suspend(write);
    }

    fn found(&self, line: &str) {
        if self.shown().found.insert(line.to_owned()) {
            console::print_error(&format!("{line}\n"));
        }
    }

    fn tell(&self, line: &str) {
        self.shown().line = line.to_owned();
        if self.is_terminal {
            self.draw();
            return;
        }
        let is_time = {
            let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            last.elapsed() >= LINES
        };
        if is_time {
            self.plain();
        }
    }
}
