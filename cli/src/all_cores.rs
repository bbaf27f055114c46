//! Independent pieces of work on all cores of this computer.

use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tilewright_app::{Cancel, Diagnostic};

use crate::experiment::End;
use crate::progress::Teller;

/// Does the pieces 0 to `count`, each once, on as many threads as there are cores, and hands each result to `take`
/// as it comes; a piece without a result is passed over. Each thread has a state of its own. Ctrl-C ends it between
/// pieces, the first problem at once.
///
/// # Errors
/// The first problem of a piece, or of taking its result.
pub fn on_all_cores<S: Default, T: Send>(
    count: usize,
    cancel: &Cancel,
    what: &str,
    work: impl Fn(&mut S, usize) -> Result<Option<T>, Diagnostic> + Sync,
    take: impl FnMut(usize, T) -> Result<(), Diagnostic> + Send,
) -> Result<End, Diagnostic> {
    let next = AtomicUsize::new(0);
    let told = Mutex::new((Teller::new(), take, 0));
    let thread = || -> Result<(), Diagnostic> {
        let mut state = S::default();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= count || cancel.is_cancelled() {
                return Ok(());
            }
            let done = work(&mut state, piece);
            let Ok(mut told) = told.lock() else { return Ok(()) };
            let (teller, take, finished) = &mut *told;
            *finished += 1;
            let taken = done.and_then(|done| done.map_or(Ok(()), |result| take(piece, result)));
            if let Err(problem) = taken {
                next.store(count, Ordering::Relaxed);
                return if cancel.is_cancelled() { Ok(()) } else { Err(problem) };
            }
            teller.tell_step(*finished, count, what);
        }
    };
    let results = in_threads(count, thread);
    for result in results {
        result.map_err(|_| Diagnostic::ours("A thread ended by itself.", what))??;
    }
    Ok(if cancel.is_cancelled() { End::Cancelled } else { End::Whole })
}

/// Does the pieces 0 to `count`, each once, in any order, on all cores.
pub fn side_by_side(count: usize, work: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let results = in_threads(count, || {
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= count {
                return;
            }
            work(piece);
        }
    });
    // Whoever waits counts on all pieces.
    if let Some(panic) = results.into_iter().find_map(Result::err) {
        resume_unwind(panic);
    }
}

/// What as many threads give as there are cores, or pieces if these are fewer.
pub fn in_threads<T: Send>(pieces: usize, thread: impl Fn() -> T + Sync) -> Vec<thread::Result<T>> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(pieces.max(1));
    thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(&thread)).collect();
        started.into_iter().map(thread::ScopedJoinHandle::join).collect()
    })
}
