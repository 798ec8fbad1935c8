//! Two programs and one command line.

use std::path::Path;

use parallax_search::archive::Archive;
use parallax_search::interact::{Finding, Observer, Progress};

use super::{Arguments, Ready, progress_line};
use crate::commands::explore::watch::{self, Watcher};
use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use parallax_report::results::interact::{self as report, InteractReport};

pub fn run(arguments: &Arguments, old: &Path, new: &Path) -> Result<Exit, Failure> {
    if !arguments.only.is_empty() {
        let message = "--program chooses among the programs of a project";
        return Err(
            Failure::new(Exit::Usage, message).hint("parallax interact OLD..NEW --program NAME")
        );
    }
    let means = &arguments.means;
    let start = arguments.start.read()?;
    let golden = arguments.golden.as_ref().map(Path::new);
    let ready = Ready::new(old, new, golden, arguments.patch.as_deref(), means)?;
    let wish = arguments.wish()?;
    let output = means.output("interact", new);
    let archive = Archive::open(&output)?;
    let places = vec![(output.clone(), new.to_owned())];
    let mut watcher = Watcher::new(places, wish.budget.time);
    let summary = ready.search(new, start, Vec::new(), &wish, &mut watcher)?;
    watcher.finish(&[])?;
    let mut kept = Vec::new();
    for finding in &summary.findings {
        kept.push(archive.add_test(&finding.scenario)?.display().to_string());
    }
    let reports = [report::Program {
        title: format!("{} → {}", old.display(), new.display()),
        name: new.display().to_string(),
        graph: ready.comparison.shown(),
        summary: &summary,
        kept,
    }];
    let shown = InteractReport {
        isolated: arguments.isolated,
        is_verbose: arguments.verbose,
        programs: &reports,
        unreached: &[],
        width: console::width(),
        kept: format!("inputs are kept in {}", output.display()),
    };
    match means.json {
        true => console::print_data(&report::render_json(&shown))?,
        false => console::print(&report::render_text(&shown))?,
    }
    Ok(watch::exit(summary.findings.is_empty()))
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        self.tell(progress_line(&self.pace(progress.runs), progress));
    }

    fn found(&mut self, finding: &Finding) {
        self.announce_one_of_many(&report::headline(finding));
    }

    fn stop(&self) -> bool {
        self.is_over()
    }
}
