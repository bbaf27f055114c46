//! The right to bring a run: room for what is uploaded, and then a place in the queue. Who is still
//! sending takes no place from those who have sent all.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tilewright_app::{Blame, Diagnostic};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::peer::Peer;

/// Uploads of more bytes leave a quarter of the room to others.
const LARGE: usize = 8 << 20;

/// Places and room for runs that wait or are under way.
#[derive(Debug)]
pub struct Gate {
    places: Arc<Semaphore>,
    count: usize,
    of_peers: Arc<Mutex<BTreeMap<Peer, usize>>>,
    held: Arc<AtomicUsize>,
    bytes: usize,
}

/// Room for an upload; held until its run is over.
#[derive(Debug)]
pub struct Room {
    held: Arc<AtomicUsize>,
    limit: usize,
    own: usize,
}

/// The right to bring one run; held until the run is over.
#[derive(Debug)]
pub struct Admission {
    _place: OwnedSemaphorePermit,
    _room: Room,
    peer: Peer,
    of_peers: Arc<Mutex<BTreeMap<Peer, usize>>>,
}

fn busy(error: String) -> Diagnostic {
    Diagnostic::new(Blame::Busy, error, "queue", "Try again in a few seconds.")
}

// A table that was poisoned is still a whole one: nothing can panic under its lock.
fn table(of_peers: &Mutex<BTreeMap<Peer, usize>>) -> MutexGuard<'_, BTreeMap<Peer, usize>> {
    of_peers.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gate {
    /// A gate for `count` runs whose uploads take `bytes` together.
    pub fn new(count: usize, bytes: usize) -> Self {
        let (of_peers, held) = (Arc::default(), Arc::default());
        Self { places: Arc::new(Semaphore::new(count)), count, of_peers, held, bytes }
    }

    /// Room for an upload, none of it taken.
    pub fn room(&self) -> Room {
        Room { held: Arc::clone(&self.held), limit: self.bytes, own: 0 }
    }

    /// A place for the run of an upload. No peer has more than three quarters of them.
    ///
    /// # Errors
    /// [`Blame::Busy`] if there is none.
    pub fn admit(&self, peer: Peer, room: Room) -> Result<Admission, Diagnostic> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| {
            busy(format!("The queue is full: {} runs are under way or wait.", self.count))
        })?;
        let mut peers = table(&self.of_peers);
        let own = peers.entry(peer).or_default();
        let most = self.count - self.count / 4;
        if *own >= most {
            return Err(busy(format!("{most} runs of yours are under way or wait.")));
        }
        *own += 1;
        let of_peers = Arc::clone(&self.of_peers);
        Ok(Admission { _place: place, _room: room, peer, of_peers })
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

impl Room {
    /// Room for more bytes of the upload.
    ///
    /// # Errors
    /// [`Blame::Busy`] if other uploads take too much.
    pub fn hold(&mut self, bytes: usize) -> Result<(), Diagnostic> {
        self.own += bytes;
        let all = self.held.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let kept_free = if self.own > LARGE { self.limit / 4 } else { 0 };
        if all <= self.limit - kept_free {
            return Ok(());
        }
        Err(busy(format!("Uploads under way take more than {} bytes together.", self.limit)))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.held.fetch_sub(self.own, Ordering::Relaxed);
    }
}

impl Admission {
    /// Whose it is.
    pub const fn peer(&self) -> Peer {
        self.peer
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut peers = table(&self.of_peers);
        if let Some(own) = peers.get_mut(&self.peer) {
            *own -= 1;
            if *own == 0 {
                peers.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn places_and_room_come_back() {
        let gate = Gate::new(2, 100);
        let (mut first, mut second) = (gate.room(), gate.room());
        first.hold(60).unwrap();
        second.hold(40).unwrap();
        assert_eq!(second.hold(1).unwrap_err().kind, Blame::Busy);
        drop(second);
        let mut third = gate.room();
        third.hold(40).unwrap();
        let first = gate.admit(Peer::default(), first).unwrap();
        let third = gate.admit(Peer::default(), third).unwrap();
        assert_eq!(gate.admit(Peer::default(), gate.room()).unwrap_err().kind, Blame::Busy);
        assert_eq!(gate.taken(), 2);
        drop((first, third));
        assert_eq!(gate.taken(), 0);
        gate.room().hold(100).unwrap();
    }

    #[test]
    fn a_quarter_is_left_to_other_peers_and_to_small_uploads() {
        let gate = Gate::new(8, 4 * LARGE);
        let peers = ["10.0.0.1", "10.0.0.2"];
        let [one, other] = peers.map(|text| Peer::from(text.parse::<IpAddr>().unwrap()));
        let taken: Vec<Admission> = (0..6).map(|_| gate.admit(one, gate.room()).unwrap()).collect();
        assert_eq!(gate.admit(one, gate.room()).unwrap_err().kind, Blame::Busy);
        let another = gate.admit(other, gate.room()).unwrap();
        drop(taken);
        let again = gate.admit(one, gate.room()).unwrap();
        drop((another, again));
        let (mut large, mut small) = (gate.room(), gate.room());
        large.hold(3 * LARGE).unwrap();
        assert_eq!(large.hold(1).unwrap_err().kind, Blame::Busy);
        small.hold(LARGE - 1).unwrap();
    }
}
