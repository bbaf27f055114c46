//! The right to bring a run: a place in the queue, and memory for what is uploaded.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::{Blame, Problem};

/// Places and memory for runs that wait or are under way.
#[derive(Debug)]
pub struct Gate {
    places: Arc<Semaphore>,
    count: usize,
    held: Arc<AtomicUsize>,
    bytes: usize,
}

/// The right to bring one run; held until the run is over.
#[derive(Debug)]
pub struct Admission {
    _place: OwnedSemaphorePermit,
    held: Arc<AtomicUsize>,
    limit: usize,
    own: usize,
}

fn busy(error: String) -> Problem {
    Problem::new(Blame::Busy, error, "queue", "Try again in a few seconds.")
}

impl Gate {
    /// A gate for `count` runs whose uploads take `bytes` together.
    pub fn new(count: usize, bytes: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(count)), count, held: Arc::default(), bytes }
    }

    /// A place.
    ///
    /// # Errors
    /// [`Blame::Busy`] if there is none.
    pub fn admit(&self) -> Result<Admission, Problem> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| {
            busy(format!("The queue is full: {} runs are under way or wait.", self.count))
        })?;
        Ok(Admission { _place: place, held: Arc::clone(&self.held), limit: self.bytes, own: 0 })
    }

    /// Places that are taken.
    pub fn taken(&self) -> usize {
        self.count - self.places.available_permits()
    }

    /// Waits until all places are free.
    pub async fn all_left(&self) {
        // The semaphore is never closed, and there are far fewer places than 2^32.
        let _ = self.places.acquire_many(self.count as u32).await;
    }
}

impl Admission {
    /// Memory for more bytes of the upload.
    ///
    /// # Errors
    /// [`Blame::Busy`] if other uploads hold too much.
    pub fn hold(&mut self, bytes: usize) -> Result<(), Problem> {
        self.own += bytes;
        let all = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if all <= self.limit {
            return Ok(());
        }
        Err(busy(format!("Uploads under way take more than {} bytes together.", self.limit)))
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.held.fetch_sub(self.own, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_bytes_come_back() {
        let gate = Gate::new(2, 100);
        let mut first = gate.admit().unwrap();
        let mut second = gate.admit().unwrap();
        assert_eq!(gate.admit().unwrap_err().kind, Blame::Busy);
        assert_eq!(gate.taken(), 2);
        first.hold(60).unwrap();
        second.hold(40).unwrap();
        assert_eq!(second.hold(1).unwrap_err().kind, Blame::Busy);
        drop(second);
        let mut third = gate.admit().unwrap();
        third.hold(40).unwrap();
        drop((first, third));
        assert_eq!(gate.taken(), 0);
        gate.admit().unwrap().hold(100).unwrap();
    }
}
