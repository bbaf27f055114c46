//! The server's program, which `tilewright serve` starts.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use tilewright_app::Diagnostic;
use tilewright_protocol::Engine;
use tilewright_queue::{Database, Limits, Location};
use tilewright_report::{choice, plain};
use tilewright_runner::{Dist, Execute, Workers};
use tilewright_server::{
    Config, Doer, Runs, SeparateProcess, Served, Shared, problem_of, run_for_server, say,
    serve as run, work,
};

/// How long work that blocks gets to end once the server has ended.
const GRACE: Duration = Duration::from_millis(500);

/// Threads that read files and look at uploads.
const OTHERS: usize = 6;
/// How long runs get to be given back when a worker ends.
const CLOSE: Duration = Duration::from_secs(3);
/// Where runs and results lie unless someone says otherwise: beside what the server serves.
const QUEUE: &str = "queue.sqlite";
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
    #[command(flatten)]
    labour: Labour,
}

#[derive(Debug, Args)]
struct Labour {
    /// Emulated runs at a time
    #[arg(long, value_name = "N", default_value_t = 2,
          value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,
    /// What executes the firmware: `unicorn`, an independent emulator; `own`, the core that the page has too; or `both`,
    /// compared block by block. Counts and cycles are the same
    #[arg(long, default_value = "unicorn", value_parser = choice::<Engine>)]
    engine: Engine,
    /// Where runs and their results lie: a file of SQLite, postgres://USER@HOST/DATABASE for many machines, or
    /// `temporary`: gone when the program ends. Usually queue.sqlite in the folder of built things. Results are kept
    /// for 30 days after they were last asked for, 2048 MiB at most, and a model until its run is over
    #[arg(long, value_name = "URL")]
    queue: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Errand {
    /// Do runs of a queue that servers on this or other machines share
    Worker(Labour),
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
    let ended = match &options.errand {
        None => in_runtime(&options.labour, serve(&options)),
        Some(Errand::Worker(labour)) => in_runtime(labour, labour_only(labour)),
        Some(Errand::Pipeline { memory_limit }) => run_for_server(*memory_limit),
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

fn ours(error: std::io::Error) -> Diagnostic {
    Diagnostic::ours(format!("{error}."), "server")
}

fn in_runtime(
    labour: &Labour,
    what: impl Future<Output = Result<(), Diagnostic>>,
) -> Result<(), Diagnostic> {
    // Handlers do little: runs have threads of their own.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Runs, and a few to look at uploads: each thread costs memory that stays.
        .max_blocking_threads(usize::from(labour.workers) + OTHERS)
        .enable_all()
        .build()
        .map_err(ours)?;
    let ended = runtime.block_on(what);
    // Work that has not ended by now ends with the process.
    runtime.shutdown_timeout(GRACE);
    ended
}

/// Serves until Ctrl-C.
async fn serve(options: &Program) -> Result<(), Diagnostic> {
    // Before the address is bound, so that no Ctrl-C after the greeting is lost.
    let end = end_signal().map_err(ours)?;
    let served = Served::bind(&options.addr).await?;
    let dist = Dist::find()?;
    let doer = doer(&options.labour, &dist).await?;
    if let Err(problem) = doer.ready() {
        say(&format!("Plans cannot be run yet. {} {}", problem.what, problem.what_to_do));
    }
    if !dist.page().join("index.html").is_file() {
        say("The page has not been built: run `cargo xtask build`. The API works without.");
    }
    say(&format!("Tilewright listens at http://{}", served.address()));
    run(served, Shared::new(doer, tilewright_board::all()), end).await;
    Ok(())
}

/// Does runs of a queue until Ctrl-C.
async fn labour_only(labour: &Labour) -> Result<(), Diagnostic> {
    let end = end_signal().map_err(ours)?;
    let doer = doer(labour, &Dist::find()?).await?;
    doer.ready()?;
    say(&format!("This worker takes runs from {}", doer.queue().location()));
    let runs = Runs::new(Arc::new(doer));
    work(&runs, usize::from(labour.workers));
    end.await;
    runs.close(CLOSE).await;
    Ok(())
}

async fn doer(labour: &Labour, dist: &Dist) -> Result<Doer, Diagnostic> {
    let (workers, engine) = (usize::from(labour.workers), labour.engine);
    let config = Config { workers, engine, ..Config::default() };
    let (named, root, limits) = (labour.queue.clone(), dist.root().to_owned(), config.temporary());
    let opening = move || queue(named.as_deref(), &root, limits);
    // The client of PostgreSQL must not block where handlers run.
    let queue = tokio::task::spawn_blocking(opening)
        .await
        .unwrap_or_else(|_| Err(Diagnostic::ours("Opening it ended by a panic.", "queue")))?;
    let executor: Arc<dyn Execute> = Arc::new(Workers::new(dist).on(engine));
    let pipeline = Arc::new(SeparateProcess::new(PIPELINE)?);
    Ok(Doer::new(config, dist.clone(), executor, pipeline, Arc::new(queue)))
}

/// The queue that was named; else the file beside what is served, or a temporary one where no file can be made.
fn queue(named: Option<&str>, folder: &Path, temporary: Limits) -> Result<Database, Diagnostic> {
    let location = named.map(str::parse).transpose().map_err(|error| problem_of(&error))?;
    let opened = match location {
        Some(Location::Temporary) => Database::open(Location::Temporary, temporary),
        Some(location) => Database::open(location, Limits::default()),
        None => {
            let file = Location::File(folder.join(QUEUE));
            Database::open(file, Limits::default()).or_else(|error| {
                let problem = problem_of(&error);
                let only = "Runs are kept until the server ends only.";
                say(&format!("{only} {} {}", problem.what, problem.what_to_do));
                Database::open(Location::Temporary, temporary)
            })
        }
    };
    opened.map_err(|error| problem_of(&error))
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
