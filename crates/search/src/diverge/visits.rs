//! A run as a sequence of conditions that were decided and of values that were put out, under names that both versions share.

use parallax_abi::SiteId;
use parallax_abi::trace::{Event, EventKind};
use parallax_expr::Label;
use rustc_hash::FxHashMap;

use super::correspond::Places;
use crate::core::limits::Limit;
use crate::core::random::mix;
use crate::worker::Traced;
use parallax_exec::sites::SiteMap;
use parallax_trace::path::{Choice, Decision};

/// One time that a condition was decided, or that something was put out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The same in both versions: what is decided, and through which calls it was come to.
    pub name: u64,
    /// The first thing decided, or the call that puts out; of what happens in a model of a library function, the call of that
    /// function.
    pub site: SiteId,
    pub what: What,
    /// How many decisions of the path come before it.
    pub position: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Decisions of the path, by index, and where they led together; `None` if something else had to be decided, too, that does
    /// not depend on the input.
    Condition {
        decisions: Vec<usize>,
        exit: Option<Exit>,
    },
    /// Labels of the values, 0 for those that do not depend on the input.
    Output { labels: Vec<Label> },
}

/// Where a condition leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Block(To),
    /// Of a conditional expression, which leads nowhere.
    Value(u128),
}

/// A block that a condition leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct To {
    /// The same in both versions.
    pub name: u64,
    pub in_both: bool,
    /// If it is not: the block of both that it comes to.
    pub landing: Option<u64>,
    /// Whether it could have led to a block that both have.
    pub beside: bool,
    /// Common name of the block that decided it, and how.
    pub by: u64,
    pub side: u32,
}

impl Exit {
    /// Whether the versions go on in different code.
    pub fn parts_from(self, other: Exit) -> bool {
        let (a, b) = match (self, other) {
            (Exit::Block(a), Exit::Block(b)) => (a, b),
            _ => return self != other,
        };
        if a.name == b.name {
            return false;
        }
        if a.in_both && b.in_both {
            return true;
        }
        let landing = |to: To| {
            if to.in_both {
                Some(to.name)
            } else {
                to.landing
            }
        };
        let apart = landing(a).is_some_and(|a| landing(b).is_some_and(|b| a != b));
        match a.by == b.by {
            // Code that was added or changed on one side of the same decision.
            true => a.side != b.side || apart,
            false => a.in_both != b.in_both || apart,
        }
    }

    /// Whether it leads to code that only one version has, from code that both have. Inside of added code everything does, whichever
    /// way it goes.
    pub fn is_alone(self) -> bool {
        matches!(self, Exit::Block(to) if !to.in_both && to.beside)
    }
}

/// Decisions of a run that are looked at: who goes round that often does nothing new.
pub const MOST_DECISIONS: usize = Limit::Decisions.value() as usize;

/// The visits of a run, in order.
pub fn visits(traced: &Traced, sites: &SiteMap, places: &Places) -> Vec<Visit> {
    let mut reader = Reader {
        traced,
        sites,
        places,
        stacks: FxHashMap::default(),
        decided: FxHashMap::default(),
        open: FxHashMap::default(),
        visits: Vec::new(),
    };
    let looked_at = &traced.decisions[..traced.decisions.len().min(MOST_DECISIONS)];
    let mut outputs = traced.trace.events_of(EventKind::Output).peekable();
    for (position, decision) in looked_at.iter().enumerate() {
        while let Some((_, output)) = outputs.next_if(|(number, _)| *number < decision.event) {
            reader.output(output, position);
        }
        reader.decision(position);
    }
    if looked_at.len() < MOST_DECISIONS {
        for (_, output) in outputs {
            reader.output(output, looked_at.len());
        }
    }
    reader.visits
}

struct Reader<'r> {
    traced: &'r Traced,
    sites: &'r SiteMap,
    places: &'r Places,
    /// Names of calling contexts, by context and site (a site can be an inlined copy), with the program's own place.
    stacks: FxHashMap<(u32, SiteId), (u64, SiteId)>,
    /// What is to be said of a decision, by context, site and value: loops decide the same again and again.
    decided: FxHashMap<(u32, SiteId, u128), Decided>,
    /// Conditions that are not decided to the end: by calling context and group.
    open: FxHashMap<(u64, u64), usize>,
    visits: Vec<Visit>,
}

/// A decision under names that both versions share.
#[derive(Clone, Copy)]
struct Decided {
    name: u64,
    /// The program's own place.
    own: SiteId,
    /// Calling context and condition.
    key: (u64, u64),
    /// Whether the condition begins with it.
    begins: bool,
    exit: Option<Exit>,
    /// Whether it leads to another part of the same condition.
    goes_on: bool,
}

impl Reader<'_> {
    /// A common name of the calls that led to a site, and the site or the innermost of these calls that is in the program itself.
    /// Calls that only one version has do not count: code may have been taken out into a function of its own.
    fn stack(&mut self, context: u32, site: SiteId) -> (u64, SiteId) {
        if let Some(known) = self.stacks.get(&(context, site)) {
            return *known;
        }
        let calls = self.traced.trace.call_stack(context);
        let calls = self.sites.call_stack(&calls, site);
        let names = calls.iter().filter_map(|call| self.places.call(call.0));
        let name = names.fold(1, |sum, name| mix(sum ^ name));
        let mut outward = std::iter::once(site).chain(calls.iter().rev().copied());
        let own = outward.find(|place| !self.sites.is_model(*place));
        let found = (name, own.unwrap_or(site));
        self.stacks.insert((context, site), found);
        found
    }

    fn original(&self, site: SiteId) -> SiteId {
        self.sites.get(site).map_or(site, |view| view.original)
    }

    fn output(&mut self, event: &Event, position: usize) {
        let (site, label) = (SiteId(event.site), event.label);
        let original = self.original(site);
        let call = self.places.call(original.0).unwrap_or(mix(original.0));
        let (stack, own) = self.stack(event.context, site);
        let name = mix(stack ^ call);
        let argument = event.x as usize;
        // The further arguments of one call follow its first one.
        if let Some(last) = self.visits.last_mut()
            && (last.name, last.position) == (name, position)
            && let What::Output { labels } = &mut last.what
            && labels.len() <= argument
            && argument > 0
        {
            labels.resize(argument, 0);
            labels.push(label);
            return;
        }
        let mut labels = vec![0; argument];
        labels.push(label);
        self.visits.push(Visit {
            name,
            site: own,
            what: What::Output { labels },
            position,
        });
    }

    fn decision(&mut self, index: usize) {
        let decision = &self.traced.decisions[index];
        if !matches!(decision.choice, Choice::Side | Choice::Case) {
            return;
        }
        let Decided {
            name,
            own,
            key,
            begins,
            exit,
            goes_on,
        } = self.decided(decision);
        let open = match self.open.is_empty() {
            true => None,
            false => self.open.remove(&key),
        };
        let visit = match open {
            Some(visit) if !begins => visit,
            _ => {
                self.visits.push(Visit {
                    name,
                    site: own,
                    what: What::Condition {
                        decisions: Vec::new(),
                        exit: None,
                    },
                    position: index,
                });
                self.visits.len() - 1
            }
        };
        if let What::Condition {
            decisions,
            exit: last,
        } = &mut self.visits[visit].what
        {
            decisions.push(index);
            *last = exit.filter(|_| !goes_on);
        }
        if goes_on {
            self.open.insert(key, visit);
        }
    }

    fn decided(&mut self, decision: &Decision) -> Decided {
        let place = (decision.context, decision.site, decision.value);
        if let Some(known) = self.decided.get(&place) {
            return *known;
        }
        let original = self.original(decision.site);
        let unit = self.places.decision(original.0);
        let (stack, own) = self.stack(decision.context, decision.site);
        let (exit, goes_on) = self.exit(decision, original, unit.group);
        let found = Decided {
            name: mix(stack ^ unit.name),
            own,
            key: (stack, unit.group),
            begins: unit.first,
            exit,
            goes_on,
        };
        self.decided.insert(place, found);
        found
    }

    /// Where a decision leads, and whether that is another part of the same condition.
    fn exit(&self, decision: &Decision, original: SiteId, group: u64) -> (Option<Exit>, bool) {
        let value = Some(Exit::Value(decision.value));
        // Copies lead to copies; the original's blocks are the ones with names.
        let Some(view) = self.sites.get(original) else {
            return (value, false);
        };
        let side = match decision.choice {
            Choice::Case => {
                u64::try_from(decision.value).map_or(0, |value| view.successor_of(value))
            }
            _ => decision.value as u32,
        };
        let Some(block) = view.successors.get(side as usize) else {
            return (value, false);
        };
        let place = self.places.block(*block);
        let mut others = view.successors.iter().filter(|other| *other != block);
        let exit = Exit::Block(To {
            name: place.name,
            in_both: place.in_both,
            landing: place.landing,
            beside: others.any(|other| self.places.block(*other).in_both),
            by: self.places.decision(original.0).block,
            side,
        });
        (Some(exit), place.group == group && !place.begins)
    }
}
