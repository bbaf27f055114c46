//! The project's own commands, run as `cargo xtask <command>`.
//!
//! Each command first installs what it needs and does not find, so that a fresh machine with git,
//! a C compiler and rustup needs no other step. This crate depends on none of the project's
//! crates: it is compiled first, and it must work when they do not.

mod behind;
mod bench;
mod build;
mod ci;
mod lock;
mod process;
mod progress;
mod project;
mod readme;
mod rules;
mod serve;
mod setup;
mod steps;
mod summary;
mod terminal;
mod test;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use build::{Part, Selection};
use project::Project;
use setup::Need;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about, version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What the project can be asked to do.
#[derive(Subcommand)]
enum Command {
    /// Install every tool that is missing (the other commands do so by themselves)
    Setup,
    /// Build everything: firmware, emulator worker, page, JavaScript package, command line, server
    Build {
        /// Build this part only; may be given several times
        #[arg(long)]
        only: Vec<Part>,
        /// Build what `serve` begins with: no small WASM programs, no command line
        #[arg(long)]
        quick: bool,
    },
    /// Build the page with firmware, models and emulator as one folder, for any static host
    Site,
    /// Build page and server, serve them, and build the emulator behind them
    Serve {
        /// Address to listen on
        #[arg(long, default_value = "127.0.0.1:8080")]
        addr: String,
        /// Do not open a browser
        #[arg(long)]
        no_open: bool,
    },
    /// Build, then run all tests, or those whose name contains FILTER
    Test {
        /// Part of the tests' names
        filter: Option<String>,
    },
    /// Everything that a change must pass: formatting, lints, rules, tests
    Ci,
    /// Check who depends on whom, and the rules for files (a part of ci)
    Rules,
    /// Run the benchmarks of speed, size and memory, or one by its name
    Bench {
        /// Passed on to the benchmark program
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Write the kernels' cost tables from emulated runs
    Calibrate {
        /// Passed on to the benchmark program
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Record plans before a change of the planner, and compare them behind it
    Plans {
        /// `record`, or `compare` with the least likeness that is asked for
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run the README's commands that are marked as tests
    Readme {
        /// Part of the commands to run
        filter: Option<String>,
    },
}

fn main() -> ExitCode {
    if let Some(code) = build::become_rustc() {
        return code;
    }
    match run(Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            terminal::note(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

/// Runs one command; `false` means that it ran but something it checked has failed.
fn run(cli: Cli) -> Result<bool> {
    let project = Project::find()?;
    match cli.command {
        Command::Setup => {
            setup::ensure(&project, &Need::ALL)?;
            terminal::note("everything needed is installed");
            Ok(true)
        }
        Command::Build { only, quick } => {
            let selection = if quick { Selection::Rest } else { Selection::Product };
            build::build(&project, &only, selection)?;
            Ok(true)
        }
        Command::Site => {
            build::build(&project, &[Part::Page], Selection::Product)?;
            let page = project.dist().join("page");
            terminal::note(&format!(
                "{} is the site: serve that folder under any host and path, for example by \
                 `python3 -m http.server --directory {0}`",
                page.display()
            ));
            Ok(true)
        }
        Command::Serve { addr, no_open } => serve::serve(&project, &addr, !no_open),
        Command::Test { filter } => test::test(&project, filter.as_deref()),
        Command::Ci => ci::ci(&project),
        Command::Rules => {
            let mut steps = steps::Steps::new();
            rules::check(&project, &mut steps);
            Ok(steps.finish())
        }
        Command::Bench { args } => bench::bench(&project, &args),
        Command::Calibrate { args } => bench::bench(&project, &named("calibrate", args)),
        Command::Plans { args } => bench::bench(&project, &named("plans", args)),
        Command::Readme { filter } => {
            build::build(&project, &[], Selection::Product)?;
            let summary = readme::run(&project, filter.as_deref(), terminal::line)?;
            terminal::line(&summary.to_string());
            Ok(summary.failed == 0)
        }
    }
}

/// Arguments of the benchmark program behind the name of its command.
fn named(name: &str, args: Vec<String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(args).collect()
}
