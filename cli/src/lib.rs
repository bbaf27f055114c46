//! The `tilewright` program, which two programs share: `tilewright`, and `tilewright-float`, which
//! links tract besides.
//!
//! Commands give their whole output as text, which is printed at the end, and problems as values,
//! which become a message on standard error and an exit code.
#![allow(missing_docs, reason = "a program: nothing else uses its items")]

mod all_cores;
mod args;
mod beside;
mod columns;
mod commands;
mod desk;
mod energy_and_wear;
mod exits;
mod experiment;
mod files;
mod hot;
mod interrupt;
mod labelled;
mod load;
mod memory;
mod outputs;
mod progress;
mod report;
mod schedule;
mod several;
mod text;
mod topology;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;
use tilewright_app::{Blame, CompareFloat, Diagnostic};
use tilewright_report::plain;

use args::{Arguments, Command};
use text::{BOLD, DIM, obeyed};

/// What a command has to say.
#[derive(Debug)]
struct Said {
    /// For standard output.
    pub text: String,
    /// Exit code: 0, or 1 for a plan that does not fit, 2 for a run whose card fails, 3 for one that is not as it should be, 4
    /// for what is not known within the budget.
    pub code: u8,
}

impl Said {
    /// All is well.
    #[must_use]
    pub const fn well(text: String) -> Self {
        Self { text, code: 0 }
    }
}

/// Does what the arguments say. `compare` is there in the program that can compare a model with its
/// float form; the other one becomes that program.
#[must_use]
pub fn run(compare: Option<CompareFloat>) -> ExitCode {
    let said = match Arguments::parse().command {
        Command::Boards { all, json } => commands::boards::boards(all, json.json),
        Command::Zoo(options) => commands::zoo::zoo(&options),
        Command::Inspect(options) => commands::inspect::inspect(&options),
        Command::Plan(options) => commands::plan::plan(&options),
        Command::Overlay(options) => commands::overlay::overlay(&options),
        Command::Check(options) => commands::check::check(&options),
        Command::Papers(options) => commands::papers::papers(&options),
        Command::Prune(options) => commands::prune::prune(&options),
        Command::Train(options) => commands::train::train(&options),
        Command::Tile(options) => commands::tile::tile(&options),
        Command::Export(options) => commands::export::export(&options),
        Command::Explore(options) => commands::explore::explore(&options),
        Command::Run(options) => commands::run::run(&options),
        Command::Verify(options) => commands::verify::verify(&options, compare),
        Command::Image(options) => commands::image::image(&options),
        Command::Board(options) => commands::board::board(&options),
        Command::Order(options) => commands::order::order(&options),
        Command::Allocate(options) => commands::allocate::allocate(&options),
        Command::Serve(options) => commands::serve::serve(&options),
        Command::Worker(options) => commands::serve::worker(&options),
    };
    match said {
        Ok(said) => print(&said),
        Err(problem) => {
            complain(&problem);
            ExitCode::from(problem.kind.exit_code())
        }
    }
}

fn print(said: &Said) -> ExitCode {
    let mut to = anstream::stdout().lock();
    match to.write_all(obeyed(&said.text).as_bytes()).and_then(|()| to.flush()) {
        Ok(()) => ExitCode::from(said.code),
        // The reader has seen enough: `tilewright boards | head -1`.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(said.code),
        Err(error) => {
            let problem = Diagnostic::new(
                Blame::BadInput,
                format!("The output cannot be written: {error}."),
                "standard output",
                "Give it somewhere to go: a terminal, a pipe, or a file on a disk with room.",
            );
            complain(&problem);
            ExitCode::from(problem.kind.exit_code())
        }
    }
}

fn complain(problem: &Diagnostic) {
    let [what, place, what_to_do] =
        [&problem.what, &problem.place, &problem.what_to_do].map(|text| plain(text));
    let text = format!(
        "{BOLD}error:{BOLD:#} {what}\n  {DIM}where:{DIM:#} {place}\n  \
         {DIM}what to do:{DIM:#} {what_to_do}\n"
    );
    // There is nowhere left to complain to.
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}
