//! A queue in a database: one connection, which is made anew when it was lost.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::driver::{Driver, connect, whole};
use crate::error::QueueError;
use crate::location::Location;
use crate::queue::Limits;
use crate::schema::prepare;

/// A queue in a database.
pub struct Database {
    location: Location,
    pub(crate) limits: Limits,
    state: Mutex<State>,
}

struct State {
    driver: Option<Box<dyn Driver>>,
    /// When claims that have ended were looked for.
    looked: Option<Instant>,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "Database({})", self.location)
    }
}

impl Database {
    /// Opens a queue; makes one if there is none.
    ///
    /// # Errors
    /// If it cannot be reached or written, or is of another version.
    pub fn open(location: Location, limits: Limits) -> Result<Self, QueueError> {
        let state = Mutex::new(State { driver: None, looked: None });
        let this = Self { location, limits, state };
        this.with(|_| Ok(()))?;
        Ok(this)
    }

    /// Where it lies.
    #[must_use]
    pub const fn location(&self) -> &Location {
        &self.location
    }

    /// What is kept, and for how long.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    // A panic drops a change that is under way: the connection is made anew then.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            let mut state = poisoned.into_inner();
            state.driver = None;
            self.state.clear_poison();
            state
        })
    }

    /// Whether claims that have ended are to be looked for: not before `pause` has passed.
    pub(crate) fn is_due(&self, pause: std::time::Duration) -> bool {
        let mut state = self.state();
        let is_due = state.looked.is_none_or(|last| last.elapsed() >= pause);
        if is_due {
            state.looked = Some(Instant::now());
        }
        is_due
    }

    /// Does something with the connection. A temporary queue lives as long as its connection, which is never lost.
    pub(crate) fn with<T>(
        &self,
        what: impl FnOnce(&mut dyn Driver) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        let mut state = self.state();
        if state.driver.as_ref().is_none_or(|driver| driver.is_lost()) {
            state.driver = None;
            let mut driver = connect(&self.location)?;
            prepare(driver.as_mut(), &self.location.to_string())?;
            state.driver = Some(driver);
        }
        let driver = state.driver.as_mut().expect("it was connected");
        what(driver.as_mut())
    }

    /// Does something that holds as a whole or not at all: beside others, or alone.
    pub(crate) fn whole<T>(
        &self,
        alone: bool,
        what: impl FnOnce(&mut dyn Driver) -> Result<T, QueueError>,
    ) -> Result<T, QueueError> {
        self.with(|driver| whole(driver, alone, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Content, Job, Queue};

    #[test]
    fn a_disk_that_is_full_is_told_and_the_queue_goes_on_behind_it() {
        let queue = Database::open(Location::Temporary, Limits::default()).unwrap();
        let bytes = vec![7; 1 << 20];
        let word = || "a".to_owned();
        let job = Job { id: word(), kind: word(), payload: Vec::new(), key: word(), owner: word() };
        let submit = || Content::with(&bytes, |content| queue.submit(&job, &[content]));
        queue.with(|driver| driver.all("PRAGMA max_page_count = 60")).unwrap();
        let error = submit().unwrap_err();
        assert!(matches!(error, QueueError::NoRoom { .. }) && error.may_pass(), "{error}");
        assert_eq!(queue.kept().unwrap(), (0, 0));
        queue.with(|driver| driver.all("PRAGMA max_page_count = 6000")).unwrap();
        submit().unwrap();
        assert!(queue.claim("w", &["a"]).unwrap().is_some());
    }

    #[test]
    fn a_change_that_cannot_be_kept_is_undone() {
        let queue = Database::open(Location::Temporary, Limits::default()).unwrap();
        let strict = "PRAGMA foreign_keys = ON; CREATE TABLE strict (id TEXT REFERENCES jobs (id) \
                      DEFERRABLE INITIALLY DEFERRED);";
        queue.with(|driver| driver.all(strict)).unwrap();
        let wrong = "INSERT INTO strict VALUES ('none')";
        assert!(queue.whole(true, |driver| driver.all(wrong)).is_err());
        queue.sweep().unwrap();
    }
}
