//! A host that talks with the board while it runs: bytes come in as they arrive, and virtual time does not run ahead of
//! the host's clock while the core sleeps. Otherwise a second of silence inside a frame would pass at once.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use tilewright_devices::Time;
use tilewright_machine::Waited;

/// Virtual time may be so far ahead: waking the thread for each byte would make the port slow.
const AHEAD: Duration = Duration::from_millis(1);
/// Emulation that is further behind than this goes on from where it is.
const BEHIND: Duration = Duration::from_millis(20);
const NANOSECONDS: u128 = 1_000_000_000;

/// A moment on both clocks.
#[derive(Clone, Copy, Debug)]
struct Moment {
    wall: Instant,
    time: Time,
}

/// The host's end of the console.
#[derive(Debug)]
pub struct Host {
    bytes: Receiver<Vec<u8>>,
    hertz: u64,
    known: Moment,
}

impl Host {
    /// A host whose bytes come from there, of a board with this clock.
    pub fn new(bytes: Receiver<Vec<u8>>, hertz: u64) -> Self {
        Self { bytes, hertz, known: Moment { wall: Instant::now(), time: Time(0) } }
    }

    /// Virtual time at a moment of the host's clock.
    fn time_at(&self, wall: Instant) -> Time {
        let passed = wall.saturating_duration_since(self.known.wall).as_nanos();
        let cycles = passed * u128::from(self.hertz) / NANOSECONDS;
        self.known.time.after(u64::try_from(cycles).unwrap_or(u64::MAX))
    }

    /// What is left until then.
    fn left_until(&self, time: Time) -> Duration {
        let cycles = u128::from(time.since(self.known.time));
        let nanoseconds = cycles * NANOSECONDS / u128::from(self.hertz.max(1));
        let passes = Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX));
        passes.saturating_sub(self.known.wall.elapsed())
    }

    /// Takes both clocks as they are, if emulation has fallen behind.
    fn look_at_clock(&mut self, now: Time) {
        let wall = Instant::now();
        let behind = self.time_at(wall).since(now);
        if u128::from(behind) * NANOSECONDS > BEHIND.as_nanos() * u128::from(self.hertz) {
            self.known = Moment { wall, time: now };
        }
    }

    /// Bytes that arrive before `event`; nothing once it is due.
    fn receive(&self, event: Option<Time>) -> Result<Option<Vec<u8>>, Gone> {
        let Some(event) = event else { return self.bytes.recv().map(Some).map_err(|_| Gone) };
        let left = self.left_until(event);
        if left <= AHEAD {
            return Ok(self.bytes.try_recv().ok());
        }
        match self.bytes.recv_timeout(left) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(left);
                Ok(None)
            }
        }
    }
}

/// Nobody will send anything any more.
struct Gone;

impl tilewright_machine::Host for Host {
    fn arrived(&mut self) -> Option<Vec<u8>> {
        self.bytes.try_recv().ok()
    }

    fn wait(&mut self, now: Time, due: Option<Time>) -> Waited {
        self.look_at_clock(now);
        match (self.receive(due), due) {
            (Ok(Some(bytes)), due) => {
                let at = self.time_at(Instant::now()).0.max(now.0);
                let at = Time(due.map_or(at, |due| at.min(due.0)));
                Waited::Arrived { bytes, at }
            }
            (Ok(None), Some(due)) => Waited::Due(due),
            (Ok(None) | Err(Gone), _) => Waited::Gone,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn virtual_time_passes_as_the_clock_does() {
        let (_sender, bytes) = channel();
        let host = Host::new(bytes, 216_000_000);
        let later = host.known.wall + Duration::from_secs(2);
        assert_eq!(host.time_at(later), Time(432_000_000));
        let left = host.left_until(Time(216_000_000));
        assert!(left <= Duration::from_secs(1) && left > Duration::from_millis(900), "{left:?}");
        assert_eq!(host.left_until(Time(0)), Duration::ZERO);
    }

    #[test]
    fn emulation_that_is_behind_goes_on_from_where_it_is() {
        let (_sender, bytes) = channel();
        let mut host = Host::new(bytes, 1_000_000);
        host.known.wall -= Duration::from_millis(15);
        host.look_at_clock(Time(0));
        assert_eq!(host.known.time, Time(0));
        assert!(host.known.wall.elapsed() >= Duration::from_millis(15), "a little is caught up");
        host.known.wall -= Duration::from_secs(1);
        host.look_at_clock(Time(10));
        assert_eq!(host.known.time, Time(10));
        assert!(host.known.wall.elapsed() < Duration::from_millis(500));
    }

    #[test]
    fn bytes_end_a_wait() {
        let (sender, bytes) = channel();
        let host = Host::new(bytes, 1_000_000);
        sender.send(vec![1]).unwrap();
        let waited = host.receive(Some(Time(60_000_000))).ok().flatten();
        assert_eq!(waited, Some(vec![1]));
        assert!(host.receive(Some(Time(30_000))).ok().flatten().is_none());
        assert!(host.known.wall.elapsed() >= Duration::from_millis(29));
        drop(sender);
        assert!(host.receive(None).is_err());
    }
}
