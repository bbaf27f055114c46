//! Benchmarks and calibration: `cargo xtask bench [NAME]` and `cargo xtask calibrate`.

mod allocate;
mod auto;
mod beyond;
mod calibrate;
mod campaign;
mod clock;
mod counted;
mod driver_overhead;
mod emulation;
mod faults;
mod figures;
mod firmware;
mod goals;
mod kernels;
mod networks;
mod order;
mod page;
mod page_explore;
mod page_models;
mod page_runs;
mod page_smoothness;
mod peers;
mod plans;
mod queue;
mod reference;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Benchmarks and calibration.
#[derive(Parser)]
struct Arguments {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    /// Put the figures into bench/goals.toml, and make docs/results.md of it
    #[arg(long)]
    write: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Clone, Subcommand)]
enum Command {
    /// Those of the page, the emulator, the idle server and the reference interpreter
    All,
    /// Sizes of the page's downloads; opening, importing, planning and drawing in the browser
    Page,
    /// Emulated instructions a second, beside bare Unicorn
    Emulation,
    /// A thousand plans in view Explore in the browser: part of `page`
    PageExplore,
    /// Runs that the page does itself: from the click to a result that is verified
    PageRuns,
    /// Planning a large network for a card in the browser: part of `page`
    PageCard,
    /// Resident memory of the idle server
    Server,
    /// 10,000 jobs of a millisecond through the queue, on SQLite and PostgreSQL, workers killed or not; and its tests on
    /// PostgreSQL, which must be installed
    Queue,
    /// Multiply-accumulates a second of the int8 reference interpreter on one core
    Reference,
    /// Place the buffers of files <name>.<bytes>.csv, such as MiniMalloc's hard instances
    Allocate {
        /// Folder of the files
        folder: PathBuf,
    },
    /// Orders of least peak: the zoo's networks, and a folder of topologies
    Order {
        /// Topologies as `tilewright order` takes them
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
    /// Counted instructions and modelled cycles of kernels, on each core that is emulated
    Kernels {
        /// Also write bench/counted.toml, which a test compares with
        #[arg(long)]
        record: bool,
        /// Instead, layers at each tenth of zeros: from how many on they are faster without them
        #[arg(long, conflicts_with = "record")]
        break_even: bool,
    },
    /// The same of the networks of MLPerf Tiny: from ../shared/models, else the zoo's
    Networks,
    /// Rules of the cores' pipelines: loops on the emulated boards, by their own cycle counter
    Clock {
        /// What a real board said after its reset, to compare
        #[arg(long, value_name = "FILE")]
        log: Option<PathBuf>,
    },
    /// Firmware of others on an emulated board: what its console says, instructions and cycles, until it sleeps for
    /// ever; constants that flash makes it wait for lie behind the board's own firmware
    Firmware {
        /// The ELF file
        file: PathBuf,
        /// Board that it is for
        #[arg(long)]
        board: String,
    },
    /// Make docs/results.md of bench/goals.toml
    Results,
    /// Least tensor arenas beside what msf-CNN, MCUNetV2, ST and Vela publish, and a quarter of `resident` for
    /// sequential networks
    Peers,
    /// `auto` under half of the SRAM that `resident` needs, on boards with external memory
    Beyond,
    /// Random programs with random faults of their cards: right, or told with copy, layer and sector
    Faults {
        /// Number of the first case: the same number is the same case
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        first: u64,
        /// How many
        #[arg(long, value_name = "COUNT", default_value_t = 300)]
        cases: u64,
        /// Networks of thousands of reads, up to AlexNet, with small buffers
        #[arg(long)]
        large: bool,
    },
    /// Every model file of a folder under every strategy and many options: what is proved must run, bit-equal
    Campaign(campaign::Options),
    /// Whether `auto` is never worse than another strategy, nor slower with more memory
    Auto(auto::Options),
    /// Record plans before a change of the planner, and compare them behind it: `cargo xtask plans`
    Plans(plans::Options),
    /// What the core takes between steps and around copies, and predictions of whole frames beside them
    DriverOverhead {
        /// Also write it to the boards' files
        #[arg(long)]
        write: bool,
    },
    /// Run every kernel over its geometries in the emulator and write costs/<core>.toml
    Calibrate {
        /// Compare with the file in the repository instead of writing it; fails if they differ
        #[arg(long)]
        check: bool,
        /// Only this core, such as cortex-m4; may be repeated
        #[arg(long = "core", value_name = "NAME")]
        cores: Vec<String>,
        /// Only this kernel, the others' costs being kept; may be repeated
        #[arg(long = "kernel", value_name = "NAME")]
        kernels: Vec<String>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let found = run(arguments.command.unwrap_or(Command::All), arguments.json);
    let done = found.and_then(|figures| {
        if arguments.write && figures.is_empty() {
            return Err("this benchmark reports no goals: edit bench/goals.toml".to_owned());
        }
        if arguments.write { goals::write(&figures) } else { Ok(()) }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a benchmark; the figures of goals that it reports.
fn run(command: Command, json: bool) -> Result<Vec<goals::Figure>, String> {
    let none = |()| Vec::new();
    let mut measured = Vec::new();
    match command {
        Command::Calibrate { check, cores, kernels } => {
            return calibrate::calibrate(check, &cores, &kernels).map(none);
        }
        Command::Kernels { break_even: true, .. } => return kernels::break_even(json).map(none),
        Command::Kernels { record, .. } => return kernels::kernels(record, json),
        Command::Networks => return networks::networks(json).map(none),
        Command::Clock { log } => return clock::clock(log.as_deref(), json).map(none),
        Command::Firmware { file, board } => {
            return firmware::firmware(&file, &board, json).map(none);
        }
        Command::Allocate { folder } => measured.extend(allocate::folder(&folder)?),
        Command::Order { folder } => return order::orders(folder.as_deref(), json),
        Command::Results => return goals::render().map(none),
        Command::Peers => return peers::peers(json),
        Command::Beyond => return beyond::beyond(json),
        Command::Faults { first, cases, large } => {
            return faults::faults(first, cases, large, json).map(none);
        }
        Command::Campaign(options) => return campaign::campaign(&options, json).map(none),
        Command::Auto(options) => return auto::auto(&options).map(none),
        Command::Plans(options) => return plans::plans(&options).map(none),
        Command::DriverOverhead { write } => {
            return driver_overhead::driver_overhead(write, json).map(none);
        }
        Command::Page => {
            measured.extend(page::sizes()?);
            measured.extend(page::opening()?);
            measured.extend(page_runs::figures()?);
            measured.extend(page_smoothness::figures()?);
            measured.extend(page_models::figures()?);
            measured.extend(page_models::for_card()?);
            measured.extend(page_explore::figures()?);
        }
        Command::PageExplore => measured.extend(page_explore::figures()?),
        Command::PageRuns => measured.extend(page_runs::figures()?),
        Command::PageCard => measured.extend(page_models::for_card()?),
        Command::Emulation => {
            measured.extend(emulation::speed()?);
            measured.extend(emulation::kernels()?);
        }
        Command::Server => measured.extend(emulation::idle_server()?),
        Command::Queue => measured.extend(queue::figures()?),
        Command::Reference => measured.extend(reference::speed()?),
        Command::All => {
            measured.extend(reference::speed()?);
            measured.extend(page::sizes()?);
            measured.extend(page::opening()?);
            measured.extend(page_runs::figures()?);
            measured.extend(page_smoothness::figures()?);
            measured.extend(page_models::figures()?);
            measured.extend(page_models::for_card()?);
            measured.extend(page_explore::figures()?);
            measured.extend(emulation::speed()?);
            measured.extend(emulation::kernels()?);
            measured.extend(emulation::idle_server()?);
        }
    }
    figures::print(&measured, json)?;
    Ok(measured.iter().map(figures::Measured::figure).collect())
}
