//! Keeps what an amplification finds, then tells who watches.

use parallax_report::words::counted;
use parallax_scenario::Bytes;
use parallax_search::amplify::{Amplified, Observer, Progress};
use parallax_store::{Store, StoreError};

use crate::context::Context;
use crate::keeper::kept_finding;
use crate::watch::Watcher;

/// See the module's description.
pub struct Keeper<'k> {
    context: Context,
    store: &'k Store,
    /// The programs' names in the store.
    names: &'k [Bytes],
    watcher: &'k mut Watcher,
    /// What is found now was found by an earlier process.
    catching_up: bool,
    error: Option<StoreError>,
}

impl<'k> Keeper<'k> {
    pub fn new(
        context: &Context,
        store: &'k Store,
        names: &'k [Bytes],
        watcher: &'k mut Watcher,
        catching_up: bool,
    ) -> Keeper<'k> {
        Keeper {
            context: context.clone(),
            store,
            names,
            watcher,
            catching_up,
            error: None,
        }
    }

    fn put(&mut self, target: usize, found: &Amplified) {
        let name = self.names[target].clone();
        let distance = Some(found.distance as u64);
        let kept = kept_finding(name, "amplify", &found.finding, distance);
        if let Err(error) = self.store.put_finding(&kept) {
            self.error.get_or_insert(error);
        }
    }

    /// Keeps the findings of each program as they are in the end.
    pub fn finish<'f>(
        mut self,
        findings: impl Iterator<Item = &'f [Amplified]>,
    ) -> Result<(), StoreError> {
        for (target, found) in findings.enumerate() {
            for found in found {
                self.put(target, found);
            }
        }
        self.error.map_or(Ok(()), Err)
    }
}

impl Observer for Keeper<'_> {
    fn progress(&mut self, progress: &Progress) {
        let line = format!(
            "{}  distance {}  {} of {} checked  {}  {} open  {}",
            self.watcher.pace(progress.runs),
            progress.distance,
            progress.checked,
            counted(progress.tests, "test"),
            counted(progress.checks, "check"),
            progress.open,
            counted(progress.findings, "error"),
        );
        self.watcher.tell(&line);
    }

    fn finding(&mut self, target: usize, found: &Amplified) {
        if self.catching_up {
            return;
        }
        self.put(target, found);
        // What is told must not be lost.
        if self.error.is_none() {
            self.watcher.found(target, &found.finding);
        }
    }

    fn stop(&self) -> bool {
        self.error.is_some() || self.watcher.is_over()
    }

    fn caught_up(&mut self, progress: &Progress) {
        if !std::mem::take(&mut self.catching_up) {
            return;
        }
        // Who takes turns with others goes on all the time.
        if self.context.in_check {
            return;
        }
        self.context.note(&format!(
            "goes on with what was known: {}, {}, {}",
            counted(progress.runs, "run"),
            counted(progress.checks, "check"),
            counted(progress.findings, "error"),
        ));
    }
}
