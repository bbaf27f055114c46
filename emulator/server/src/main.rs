//! The server's program, which `tilewright serve` starts.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, Subcommand};
use tilewright_app::Diagnostic;
use tilewright_report::plain;
use tilewright_runner::{Dist, Execute, Workers};
use tilewright_server::{Config, SeparateProcess, Served, Shared, run_for_server, serve as run};

/// How long work that blocks gets to end once the server has ended.
const GRACE: Duration = Duration::from_millis(500);

/// Threads that read files and look at uploads.
const OTHERS: usize = 6;
/// The command that does what a server asks for.
const PIPELINE: &str = "pipeline";

/// Large uploads come and go between results that are kept. This allocator has a thread of its own
/// that gives memory back to the system: others do so when the thread that used it works again.
#[cfg(unix)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Serve the page with its emulator
#[derive(Debug, Parser)]
#[command(name = "tilewright serve", bin_name = "tilewright serve", version)]
struct Program {
    #[command(subcommand)]
    errand: Option<Errand>,
    /// Address to listen at; other machines can reach the server only if you say so
    #[arg(long, default_value = "127.0.0.1:8080")]
    addr: String,
    /// Emulated runs at a time
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Errand {
    /// Do what a server asks for over standard input: it starts this for each run
    #[command(hide = true)]
    Pipeline {
        /// Bytes of address space that it may take
        #[arg(long, value_name = "BYTES")]
        memory_limit: u64,
    },
}

fn main() -> ExitCode {
    let options = Program::parse();
    let ended = match options.errand {
        None => serve(&options),
        Some(Errand::Pipeline { memory_limit }) => run_for_server(memory_limit),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let [what, place, what_to_do] =
                [&problem.what, &problem.place, &problem.what_to_do].map(|text| plain(text));
            say(&format!("error: {what}\n  where: {place}\n  what to do: {what_to_do}"));
            ExitCode::from(problem.kind.exit_code())
        }
    }
}

/// Serves until Ctrl-C.
fn serve(options: &Program) -> Result<(), Diagnostic> {
    let ours = |error: std::io::Error| Diagnostic::ours(format!("{error}."), "server");
    // Handlers do little: runs have threads of their own.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Runs, and a few to look at uploads: each thread costs memory that stays.
        .max_blocking_threads(usize::from(options.workers) + OTHERS)
        .enable_all()
        .build()
        .map_err(ours)?;
    let ended = runtime.block_on(async {
        // Before the address is bound, so that no Ctrl-C after the greeting is lost.
        let end = end_signal().map_err(ours)?;
        let served = Served::bind(&options.addr).await?;
        let dist = Dist::find()?;
        let boards = tilewright_board::all();
        let config = Config { workers: usize::from(options.workers), ..Config::default() };
        let workers: Arc<dyn Execute> = Arc::new(Workers::new(&dist));
        if let Err(problem) = workers.ready() {
            say(&format!("Plans cannot be run yet. {} {}", problem.what, problem.what_to_do));
        }
        if !dist.page().join("index.html").is_file() {
            say("The page has not been built: run `cargo xtask build`. The API works without.");
        }
        say(&format!("Tilewright listens at http://{}", served.address()));
        let shared =
            Shared::new(config, dist, boards, workers, Arc::new(SeparateProcess::new(PIPELINE)?));
        run(served, shared, end).await;
        Ok(())
    });
    // Work that has not ended by now ends with the process.
    runtime.shutdown_timeout(GRACE);
    ended
}

/// Says something at once, on standard error: standard output may be a pipe that nobody reads.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

#[cfg(unix)]
fn end_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn end_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
