//! `parallax`: tests patches to C programs. Called as `parallax-cc` or `parallax-c++` it is the
//! compiler wrapper that makes programs ready for it.

#[cfg(test)]
mod book;
mod commands;
mod console;
mod events;
mod exit;
mod interrupt;
mod screen;
mod size;

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use parallax_capture::{Compiler, driver};

use commands::{
    accept, amplify, analyse, annotate, build, cc, check, clean, completions, cover, coverage,
    diverge, doctor, explore, graph, init, interact, man, record, replay, scenario, scenarios,
    schema, targets, tests, trace, variant, why,
};
use console::Palette;
use exit::Exit;
use parallax_campaign::Failure;

/// Tests patches to C programs
///
/// Build the program with parallax-cc instead of cc; it stays the ordinary program, and Parallax can derive
/// from it what it needs.
#[derive(Debug, Parser)]
#[command(name = "parallax", version, after_help = exit::HELP, max_term_width = 100)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Arguments),
    Build(build::Arguments),
    Record(record::Arguments),
    Check(Box<check::Arguments>),
    Accept(accept::Arguments),
    Tests(tests::Arguments),
    Amplify(Box<amplify::Arguments>),
    Explore(Box<explore::Arguments>),
    Cover(Box<cover::Arguments>),
    Diverge(Box<diverge::Arguments>),
    Interact(Box<interact::Arguments>),
    Graph(graph::Arguments),
    Annotate(annotate::Arguments),
    Scenarios(scenarios::Arguments),
    #[command(subcommand)]
    Scenario(scenario::Command),
    Replay(Box<replay::Arguments>),
    Report(commands::report::Arguments),
    Trace(trace::Arguments),
    Coverage(coverage::Arguments),
    Targets(targets::Arguments),
    Why(why::Arguments),
    Doctor(doctor::Arguments),
    Variant(variant::Arguments),
    #[command(hide = true)]
    Analyse(analyse::Arguments),
    Schema(schema::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
    Cc(cc::Arguments),
    Clean(clean::Arguments),
}

fn main() -> ExitCode {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    if let Some(compiler) = Compiler::from_program_name(Path::new(&name)) {
        return driver::run(compiler, words.collect());
    }
    match dispatch(CommandLine::parse().command) {
        Ok(code) => code,
        Err(failure) => {
            console::print_error(&failure.render(&Palette));
            failure.exit.into()
        }
    }
}

fn dispatch(command: Command) -> Result<ExitCode, Failure> {
    if let Command::Cc(arguments) = command {
        return Ok(cc::run(arguments));
    }
    interrupt::end_at_once();
    outlive_signals();
    let exit = match command {
        Command::Init(arguments) => init::run(&arguments),
        Command::Build(arguments) => build::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Accept(arguments) => accept::run(&arguments),
        Command::Tests(arguments) => tests::run(&arguments),
        Command::Amplify(arguments) => amplify::run(&arguments),
        Command::Explore(arguments) => explore::run(&arguments),
        Command::Cover(arguments) => cover::run(&arguments),
        Command::Diverge(arguments) => diverge::run(&arguments),
        Command::Interact(arguments) => interact::run(&arguments),
        Command::Graph(arguments) => graph::run(&arguments),
        Command::Annotate(arguments) => annotate::run(&arguments),
        Command::Scenarios(arguments) => scenarios::run(&arguments),
        Command::Scenario(command) => scenario::run(command),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Record(arguments) => record::run(&arguments),
        Command::Schema(arguments) => schema::run(arguments),
        Command::Trace(arguments) => trace::run(arguments),
        Command::Coverage(arguments) => coverage::run(arguments),
        Command::Doctor(arguments) => doctor::run(arguments),
        Command::Variant(arguments) => variant::run(arguments),
        Command::Targets(arguments) => targets::run(&arguments),
        Command::Why(arguments) => why::run(&arguments),
        Command::Analyse(arguments) => analyse::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
        Command::Clean(arguments) => clean::run(&arguments),
        Command::Cc(_) => Ok(Exit::Clean),
    }?;
    Ok(exit.into())
}

/// What our surroundings do with signals must not keep us from saying what is wrong.
fn outlive_signals() {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: the handler touches nothing. What we start does not inherit it, as it would that a signal is ignored.
    unsafe {
        // A shell that ignores it would take away from us how our children ended.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        // A write past `ulimit -f` is to fail and to be told of, instead of killing us.
        let handler = nothing as *const () as libc::sighandler_t;
        if libc::signal(libc::SIGXFSZ, handler) == libc::SIG_IGN {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        }
    }
}
