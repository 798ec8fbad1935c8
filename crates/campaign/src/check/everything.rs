//! All goals in one program of a patch: while its versions are compared, the same search looks for inputs that run changed lines which no
//! test runs, that make changed code fail, and that run changes in an order that no test has.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use parallax_analysis::Analysis;
use parallax_analysis::sequence::Interactions;
use parallax_exec::sites::{ModuleSites, read_tables};
use parallax_report::model::Interaction;
use parallax_search::core::counts::Counts;
use parallax_search::core::goal::Goal;
use parallax_search::cover::{Inbox, variables};
use parallax_search::engine::{Patch, Summary};
use parallax_search::explore::{Bounds, Shape};
use parallax_search::goals::failures::{Failures, Reach};
use parallax_search::goals::lines::Lines;
use parallax_search::goals::orders::{Code as Followed, Finding, Following, Orders};
use parallax_store::scenario_id;

use crate::budget::Budget;
use crate::changes::{Comparison, Version};
use crate::cover::candidates::{self, Candidate};
use crate::cover::{Covering, Looking, Shared, Starts};
use crate::diverge::{Beside, Further, Options, Ready, Search};
use crate::failure::Failure;
use crate::patch::Suite;
use crate::versions::{Pair, Seed};

/// A patch with fewer hunks has nothing that could meet.
const LEAST_HUNKS: usize = 2;
/// Time for one group of lines: no less, or it comes to nothing; no more, or others never have their turn.
const LEAST_EACH: Duration = Duration::from_secs(2);
const MOST_EACH: Duration = Duration::from_secs(60);

/// What is known of the new version without running it.
pub struct Code {
    comparison: Option<Comparison>,
    /// Where there is no comparison.
    alone: Option<Version>,
    tables: Vec<ModuleSites>,
}

impl Code {
    fn new(options: &Options, pair: &Pair, ready: &Ready) -> Result<Code, Failure> {
        let context = &options.setup.context;
        let paths = &ready.subject.paths;
        let comparison = match pair.patch.hunks.len() >= LEAST_HUNKS {
            true => {
                let wanted = Interactions::Important;
                let made = Comparison::new(context, &paths.old, &paths.new, None, wanted)?;
                Some(made)
            }
            false => None,
        };
        let alone = match &comparison {
            Some(_) => None,
            None => Some(Version::new(context, &paths.new)?),
        };
        let mut code = Code {
            comparison,
            alone,
            tables: Vec::new(),
        };
        if let Some(version) = code.version() {
            code.tables = read_tables(&version.covered.path, &version.covered.libraries)?;
        }
        Ok(code)
    }

    fn version(&self) -> Option<&Version> {
        let compared = self.comparison.as_ref().map(|one| &one.new);
        compared.or(self.alone.as_ref())
    }

    fn analysis(&self) -> Option<&Analysis> {
        self.version().map(|version| &version.analysis)
    }
}

/// By program and what it shows: the changes that an input executed.
pub type Interacting = BTreeMap<(String, String), Interaction>;

/// See the module's description.
pub struct Everything<'e, 'w> {
    pub options: &'e Options,
    pub pair: &'e Pair,
    pub covering: &'e mut Covering<'w>,
    /// By program. One that cannot be analysed is not tried again.
    pub codes: &'e mut BTreeMap<String, Option<Rc<Code>>>,
    pub interactions: &'e mut Interacting,
    /// How often the program was searched before.
    pub round: usize,
    /// Told now and then how many groups of changed lines inputs run.
    pub tell: &'e mut dyn FnMut(&crate::cover::Campaign<'w>),
}

impl Everything<'_, '_> {
    fn code(&mut self, ready: &Ready) -> Option<Rc<Code>> {
        let name = &ready.subject.name;
        if let Some(known) = self.codes.get(name) {
            return known.clone();
        }
        let made = match Code::new(self.options, self.pair, ready) {
            Ok(made) => Some(Rc::new(made)),
            Err(failure) => {
                let note = format!("{name}: the versions are compared, and that is all");
                self.pair.context.trouble(&failure, &note);
                None
            }
        };
        self.codes.insert(name.clone(), made.clone());
        made
    }

    /// The files that the patch changes, as the new version was built from them.
    fn files(&self) -> Vec<PathBuf> {
        let source = &self.pair.builds.new.source;
        let hunks = self.pair.patch.hunks.iter();
        let mut files: Vec<PathBuf> = hunks.map(|hunk| source.join(&hunk.file)).collect();
        files.dedup();
        files
    }

    /// Makes all targets open that would get more time than before, however that is shared out; how much each gets.
    fn reopen(&mut self, time: Duration) -> Duration {
        let campaign = &mut self.covering.campaign;
        let open = campaign.found.targets.len() - campaign.covered();
        let mut each = (time * 2 / open.max(1) as u32).clamp(LEAST_EACH, MOST_EACH);
        campaign.reopen(Budget::of(each));
        // What the last budget was not enough for may need more.
        while campaign.open().is_empty() && each < time {
            each *= 2;
            campaign.reopen(Budget::of(each));
        }
        each
    }
}

impl Beside for Everything<'_, '_> {
    fn search(
        &mut self,
        ready: &Ready,
        mut seeds: Vec<Seed>,
        budget: Budget,
        search: &mut Search<'_>,
    ) -> Result<Option<Summary>, Failure> {
        let Some(code) = self.code(ready) else {
            return search(&seeds, Further::default());
        };
        let Some(analysis) = code.analysis() else {
            return search(&seeds, Further::default());
        };
        let time = budget.time.unwrap_or(MOST_EACH);
        let each = self.reopen(time);
        let files = self.files();
        let name = ready.subject.name.clone();
        let mut subjects = self.covering.campaign.found.subjects.iter();
        let subject = subjects.position(|subject| subject.name == name);
        let covering = &mut *self.covering;
        let means = Shared {
            options: covering.options,
            budget: Budget::of(each),
            store: covering.store,
            scope: covering.scope,
            variables: &covering.variables,
            tests: None,
            end: Some(Instant::now() + time),
        };
        // What makes changed code fail is looked for near what runs it.
        let near: Vec<_> = seeds.iter().map(|seed| seed.scenario.clone()).collect();
        let touching = seeds.len();
        let sites = &ready.versions.new.sites;
        let inbox = Inbox::default();
        let mut looking = None;
        let mut searched = 0;
        let mut starts = None;
        if let Some(subject) = subject {
            let targets = covering.assigned(subject, self.round, means.budget)?;
            let path = &covering.campaign.found.subjects[subject].path;
            let suite = Suite::read(means.store, path)?;
            let candidates = candidates::read(means.store, suite)?;
            let counts = Counts::new(&analysis.program, &code.tables);
            let campaign = &mut covering.campaign;
            let mut lines = Looking::open(&means, campaign, subject, sites, &inbox)?;
            searched = lines.look_for(&targets, &counts, &candidates)?;
            let conditions = lines.campaign.all_conditions();
            let checkpoint = Starts::open(&self.pair.context, means.store, &name, &conditions)?;
            if !lines.targets.is_empty() {
                seeds.extend(candidates.into_iter().map(of_candidate));
                if let Some((more, histories)) = checkpoint.read() {
                    seeds.extend(more.into_iter().map(|scenario| Seed {
                        id: scenario_id(name.as_bytes(), &scenario),
                        scenario,
                        is_given: false,
                    }));
                    lines.histories = histories;
                }
                looking = Some(lines);
                starts = Some(checkpoint);
            }
        }
        if seeds.is_empty() {
            seeds.push(Seed::nothing(&name));
        }
        let all: Vec<_> = seeds.iter().map(|seed| seed.scenario.clone()).collect();
        let shape = Shape::Bounded(Bounds::around(&all));
        let effects = analysis.effects();
        let mut lines = looking.as_ref().map(|looking| {
            let aims = looking.aims(searched);
            let tables = &code.tables;
            Lines::new(
                analysis,
                &effects,
                sites,
                tables,
                &shape,
                aims,
                inbox.clone(),
            )
        });
        let mut failures = (!near.is_empty()).then(|| {
            let reach = Reach {
                max_distance: None,
                depth_factor: crate::amplify::DEPTH_FACTOR,
            };
            Failures::new(&near, reach)
        });
        let comparison = code.comparison.as_ref();
        let comparison = comparison.filter(|one| !one.graph.nodes.is_empty());
        let mut settings = self.options.setup.compared(&ready.subject.paths.new);
        settings.readable.extend(self.pair.folders());
        let following = comparison.map(|one| {
            let followed = Followed {
                analysis,
                dependences: &one.new.dependences,
                graph: &one.graph,
                sites,
                tables: &code.tables,
            };
            Following::new(followed, &one.new.covered.path, &settings)
        });
        // What is left to chance comes out otherwise each time.
        let mut orders = following
            .as_ref()
            .map(|following| Orders::new(following, false, self.round as u64));
        let mut goals: Vec<&mut dyn Goal> = Vec::new();
        if let Some(lines) = &mut lines {
            goals.push(lines);
        }
        if let Some(failures) = &mut failures {
            goals.push(failures);
        }
        if let Some(orders) = &mut orders {
            goals.push(orders);
        }
        let tell = &mut *self.tell;
        let mut hear = || {
            if let Some(looking) = &mut looking {
                looking.keep_all()?;
                tell(looking.campaign);
            }
            Ok(())
        };
        let known = &means.variables;
        let mut environment = variables(analysis, known.to_vec());
        environment.retain(|variable| !known.contains(variable));
        let summary = search(
            &seeds,
            Further {
                goals,
                tables: &code.tables,
                examiner: following.as_ref().map(|following| following as _),
                environment,
                patch: Patch {
                    files,
                    beside: Some(touching.max(1)),
                },
                hear: Some(&mut hear),
            },
        )?;
        let Some(summary) = summary else {
            return Ok(None);
        };
        if let (Some(lines), Some(mut looking), Some(mut starts)) = (lines, looking, starts) {
            let (outcomes, discoveries) = lines.finish();
            starts.write(discoveries, &looking.histories)?;
            looking.finish(outcomes, &summary, true)?;
        }
        if let (Some(orders), Some(comparison)) = (orders, comparison) {
            let findings = orders.summary(summary.clone()).findings;
            let interactions = findings.iter().map(|one| {
                let key = (name.clone(), one.shown.key());
                (key, interaction(comparison, one))
            });
            self.interactions.extend(interactions);
        }
        Ok(Some(summary))
    }
}

fn of_candidate(candidate: Candidate) -> Seed {
    Seed {
        id: candidate.test.id,
        scenario: candidate.scenario,
        is_given: candidate.test.is_given,
    }
}

fn interaction(comparison: &Comparison, finding: &Finding) -> Interaction {
    let place = |node: &usize| {
        let place = comparison.place(*node);
        (place.file, place.line, place.text)
    };
    Interaction {
        sequence: finding.critical.sequence.iter().map(place).collect(),
        critical: finding.is_interaction(),
        inputs: finding.critical.skipping,
        judgement: finding
            .shown
            .golden
            .map(|_| finding.kind.name().replace('-', " ")),
    }
}
