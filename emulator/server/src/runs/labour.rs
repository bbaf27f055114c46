//! The workers of this process: each takes the next job of the queue, does it, and says how it ended.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tilewright_app::{Diagnostic, Progress};
use tilewright_explore::ROW_KIND;
use tilewright_queue::{Beat, Claim, Queue, QueueError};

use super::run::Run;
use super::store::Runs;
use crate::jobs::{KIND, Performed, problem_of};
use crate::say_problem;

/// How often a worker that has nothing to do looks for jobs of other processes.
const LOOK: Duration = Duration::from_secs(1);
/// How often a worker gives a sign of life.
const BEAT: Duration = Duration::from_secs(1);
/// How often the same trouble of the queue is told.
const TELL: Duration = Duration::from_secs(60);

/// Begins `count` workers, until the server ends. Call within a tokio runtime.
pub fn work(runs: &Arc<Runs>, count: usize) {
    for number in 0..count {
        tokio::spawn(worker(Arc::clone(runs), number));
    }
}

async fn worker(runs: Arc<Runs>, number: usize) {
    let name = format!("{} {number}", std::process::id());
    let mut told: Option<Instant> = None;
    while !runs.is_closing() {
        let changed = runs.changed.notified();
        let (asking, name) = (Arc::clone(&runs), name.clone());
        let claimed = tokio::task::spawn_blocking(move || claim(&asking, &name)).await;
        match claimed {
            Ok(Ok(Some(claim))) => {
                told = None;
                labour(&runs, claim).await;
                continue;
            }
            Ok(Ok(None)) | Err(_) => {}
            Ok(Err(error)) => {
                if told.is_none_or(|told| told.elapsed() > TELL) {
                    say_problem(&problem_of(&error));
                    told = Some(Instant::now());
                }
            }
        }
        let _ = tokio::time::timeout(LOOK, changed).await;
    }
}

fn claim(runs: &Runs, name: &str) -> Result<Option<Claim>, QueueError> {
    if runs.is_closing() {
        return Ok(None);
    }
    // What cannot be run here is left to others, or until it can.
    let can_run = runs.doer.executor.ready().is_ok();
    let kinds = if can_run { &[KIND, ROW_KIND][..] } else { &[ROW_KIND] };
    let claimed = runs.doer.queue.claim(name, kinds)?;
    match &claimed {
        None => runs.doer.rows.forget(),
        Some(claim) if claim.kind != KIND => {}
        Some(claim) => {
            // Before anyone is told that those behind it have moved on.
            let (_, run) = runs.begin(&claim.id);
            if let Some(run) = run {
                run.start(claim.attempt);
            }
            runs.renumber();
        }
    }
    Ok(claimed)
}

/// Does a claimed job.
async fn labour(runs: &Arc<Runs>, claim: Claim) {
    let (cancel, run) = runs.begin(&claim.id);
    let claim = Arc::new(claim);
    // News come to the run if this server knows it, and with each beat to the queue for those who ask another.
    let seen = run.clone().unwrap_or_else(|| Arc::new(Run::new(claim.id.clone(), String::new())));
    seen.start(claim.attempt);
    let (doer, doing, seeing, ending) =
        (Arc::clone(&runs.doer), Arc::clone(&claim), Arc::clone(&seen), cancel.clone());
    let mut job = tokio::task::spawn_blocking(move || {
        doer.perform(&doing, &mut |news: Progress| seeing.news(&news), &ending)
    });
    let performed = loop {
        let beating = tokio::time::sleep(BEAT);
        tokio::select! {
            performed = &mut job => break performed,
            () = beating => {
                let (runs, claim, seen) = (Arc::clone(runs), Arc::clone(&claim), Arc::clone(&seen));
                let beat = tokio::task::spawn_blocking(move || beat(&runs, &claim, &seen)).await;
                // A queue that is away may come back before the claim has ended.
                if matches!(beat, Ok(Ok(Beat::Cancelled | Beat::Lost))) {
                    cancel.cancel();
                }
            }
        }
    };
    let performed =
        performed.unwrap_or_else(|_| Err(Diagnostic::ours("The run ended by a panic.", "run")));
    let ending = Arc::clone(runs);
    let _ =
        tokio::task::spawn_blocking(move || end(&ending, &claim, performed, run.as_deref())).await;
}

fn beat(runs: &Runs, claim: &Claim, seen: &Run) -> Result<Beat, QueueError> {
    let news = serde_json::to_vec(&seen.progress()).unwrap_or_default();
    runs.doer.queue.beat(claim, &news)
}

/// Tells the queue, and then the run, how a job ended.
fn end(runs: &Runs, claim: &Claim, performed: Result<Performed, Diagnostic>, run: Option<&Run>) {
    let is_given_back = runs.is_closing() && runs.lasts();
    let patience = Instant::now() + runs.doer.queue.limits().lease;
    let ended = loop {
        match runs.doer.finish(claim, &performed, is_given_back) {
            Err(error) if error.may_pass() && Instant::now() < patience && !runs.is_closing() => {
                std::thread::sleep(LOOK);
            }
            ended => break ended,
        }
    };
    if !runs.lasts() {
        runs.sweep();
    }
    let is_ours = match &ended {
        Ok(is_ours) => *is_ours,
        Err(error) => {
            say_problem(&problem_of(error));
            false
        }
    };
    // Else the job has gone on without this worker, and is looked at as one that another has.
    if let Some(run) = run
        && is_ours
        && !(is_given_back && performed.is_err())
    {
        match performed {
            Ok(Performed::New { kept, .. }) => run.end(Ok(kept)),
            Ok(Performed::Known(key)) => {
                // Else it is looked at as one that another has done.
                if let Ok(Some(hash)) = runs.doer.queue.result(&key) {
                    run.is_known();
                    run.end(runs.doer.kept(&hash));
                }
            }
            Ok(Performed::Row { .. }) => {}
            Err(problem) => run.end(Err(problem)),
        }
        runs.release(run);
        runs.evict();
    }
    runs.leave(&claim.id);
}
