//! `parallax analyse`: what the static analyses make of a program, and what they cost. For developers.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use parallax_analysis::Program;
use parallax_analysis::calls::Calls;
use parallax_analysis::definitions::Definitions;
use parallax_analysis::distance::{Distances, OverCalls, Pruned};
use parallax_analysis::effects::Effects;
use parallax_analysis::graph::Graph;
use parallax_analysis::lines::Lines;
use parallax_analysis::pointsto::PointsTo;
use parallax_analysis::preconditions::Preconditions;
use parallax_capture::Variant;

use super::project::parse_place;
use crate::console;
use crate::events::context;
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::variants;

/// Show what the static analyses make of a captured program, and what they cost
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A program built with parallax-cc
    program: PathBuf,

    /// Measure distances to this line
    #[arg(long, value_name = "FILE:LINE", value_parser = parse_place)]
    at: Option<(String, u32)>,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let captured = variants::read(&arguments.program)?;
    let derived = variants::derive(&context(), &captured, Variant::Covered)?;
    let mut report = Report::default();

    let modules = report.timed("read", || variants::read_code(&derived))?;
    let program = report.timed("link", || Program::link(modules));
    let instructions = program.blocks.iter().map(|block| block.instructions.len());
    report.fact("functions", program.functions.len());
    report.fact("blocks", program.blocks.len());
    report.fact("instructions", instructions.sum());
    let lines = report.timed("lines", || Lines::new(&program));
    let points = report.timed("points-to", || PointsTo::analyse(&program));
    report.fact("cells of memory", points.cell_count());
    report.fact("indirect calls", points.resolution().indirect.len());
    report.fact("resolved by type alone", points.by_type_alone);
    report.fact("copies not followed", points.copies_left_out);
    report.fact("pointers to too much", points.too_wide);
    let (calls, graph) = report.timed("graph", || {
        let calls = Calls::new(&program, points.resolution());
        let graph = Graph::new(&program, &calls);
        (calls, graph)
    });
    report.fact("calls", calls.all().len());
    report.fact("unresolved calls", calls.unresolved().len());
    let widest = calls.all().iter().map(|call| call.callees.len()).max();
    report.fact("most callees of a call", widest.unwrap_or(0));

    if let Some((file, line)) = &arguments.at {
        let targets: Vec<_> = lines
            .files_named(file)
            .into_iter()
            .flat_map(|file| lines.blocks(file, *line).to_vec())
            .collect();
        report.fact("blocks of the target", targets.len());
        let measure = |pruned: &Pruned| {
            Distances::measure(&program, &graph, &targets, pruned, OverCalls::Free)
        };
        let plain = report.timed("distances", || measure(&Pruned::default()));
        let effects = report.timed("effects", || Effects::new(&program, &calls, &points));
        let conditions = report.timed("preconditions", || {
            Preconditions::analyse(&program, &graph, &calls, &effects, &targets, &plain)
        });
        let pruned = conditions.pruned();
        report.fact("pruned edges", pruned.sides.len() + pruned.calls.len());
        let distances = report.timed("distances, pruned", || measure(pruned));
        report.timed("definitions", || {
            Definitions::new(&program, &calls, &points, &effects)
        });
        let near = (0..graph.len()).filter(|node| distances.at_node(*node).is_some());
        report.fact("nodes that lead there", near.count());
        if let Some(main) = program.function_named("main")
            && let Some(entry) = program.function(main).entry()
        {
            let distance = distances.at(&graph, entry);
            let text = distance.map_or("unreachable".to_owned(), |length| length.to_string());
            let _ = writeln!(report.text, "{:>24}  {text}", "distance of main");
        }
    }
    let total = report.total;
    report.line("total", total);
    console::print(&report.text)?;
    Ok(Exit::Clean)
}

#[derive(Default)]
struct Report {
    text: String,
    total: Duration,
}

impl Report {
    fn timed<T>(&mut self, name: &str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let taken = start.elapsed();
        self.total += taken;
        self.line(name, taken);
        result
    }

    fn line(&mut self, name: &str, taken: Duration) {
        let _ = writeln!(self.text, "{name:>24}  {:.3} s", taken.as_secs_f64());
    }

    fn fact(&mut self, name: &str, count: usize) {
        let _ = writeln!(self.text, "{name:>24}  {count}");
    }
}
