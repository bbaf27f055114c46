//! `tilewright serve`.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use tilewright_server::{
    Apart, Config, Dist, Execute, Problem, Served, Shared, Workers, serve as run, walk_for_server,
};

use crate::Said;
use crate::args::Serve;

/// How long work that blocks gets to end once the server has ended.
const GRACE: Duration = Duration::from_millis(500);

/// Threads that read files and look at uploads.
const OTHERS: usize = 6;
/// The command that does what a server asks for.
const WALK: &str = "walk";

/// Does what a server asks for over standard input.
pub fn walk(memory_bytes: u64) -> Result<Said, Problem> {
    walk_for_server(memory_bytes)?;
    Ok(Said::well(String::new()))
}

/// Serves until Ctrl-C.
pub fn serve(options: &Serve) -> Result<Said, Problem> {
    let ours = |error: std::io::Error| Problem::ours(format!("{error}."), "server");
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
            greet(&format!("Plans cannot be run yet. {} {}", problem.error, problem.what_to_do));
        }
        if !dist.page().join("index.html").is_file() {
            greet("The page has not been built: run `cargo xtask build`. The API works without.");
        }
        greet(&format!("Tilewright listens at http://{}", served.address()));
        let shared = Shared::new(config, dist, boards, workers, Arc::new(Apart::new(WALK)?));
        run(served, shared, end).await;
        Ok(())
    });
    // Work that has not ended by now ends with the process.
    runtime.shutdown_timeout(GRACE);
    ended?;
    Ok(Said::well(String::new()))
}

/// Says something at once, on standard error: standard output may be a pipe that nobody reads.
fn greet(text: &str) {
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
