//! Benchmarks and calibration: `cargo xtask bench [NAME]` and `cargo xtask calibrate`.

mod calibrate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Benchmarks and calibration.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every kernel over its geometries in the emulator and write costs/<core>.toml
    Calibrate {
        /// Compare with the file in the repository instead of writing it; fails if they differ
        #[arg(long)]
        check: bool,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Calibrate { check } => calibrate::calibrate(check),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
