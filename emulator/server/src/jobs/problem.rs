//! Problems of the queue, and problems that lie in it.

use tilewright_app::{Blame, Diagnostic};
use tilewright_queue::{JobState, JobView, QueueError};
use tilewright_report::sentence;

/// A problem of the queue, for clients.
#[must_use]
pub fn problem_of(error: &QueueError) -> Diagnostic {
    let kind = match error {
        QueueError::Away { .. }
        | QueueError::Locked { .. }
        | QueueError::NoRoom { .. }
        | QueueError::Full { .. } => Blame::Busy,
        QueueError::Address { .. }
        | QueueError::OtherVersion { .. }
        | QueueError::ReadOnly { .. } => Blame::BadInput,
        QueueError::Content { .. } => Blame::NotFound,
        QueueError::Unreadable(_) | QueueError::Database { .. } => Blame::Ours,
    };
    Diagnostic::new(kind, sentence(&error.to_string()), "queue", error.what_to_do())
}

/// That a job is none that this program writes.
#[must_use]
pub fn unreadable(why: &str) -> Diagnostic {
    Diagnostic::new(
        Blame::BadInput,
        sentence(&format!("The job in the queue cannot be read: {why}")),
        "queue",
        "Start it again; see who else writes into the queue.",
    )
}

/// Why a job that is over has no result.
#[must_use]
pub fn said(view: &JobView, id: &str) -> Diagnostic {
    if let Ok(problem) = serde_json::from_slice(&view.problem) {
        return problem;
    }
    if view.state == JobState::Cancelled {
        return Diagnostic::cancelled("The run was cancelled.");
    }
    Diagnostic::new(
        Blame::TooLarge,
        format!("Its workers ended without a word, {} times.", view.lost),
        format!("run {id}"),
        "Look for what ended them: memory, or someone who stopped them. Then start the run again.",
    )
}
