//! A pseudo-terminal at which a program stands in for a board.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// Most bytes that a line holds between two ends, as a port's FIFO does.
const HELD: usize = 16;

/// How often a write that finds no room looks whether it is wanted still.
const LOOK: Duration = Duration::from_millis(20);

/// A pseudo-terminal.
pub struct Pseudo {
    controller: OwnedFd,
    path: PathBuf,
}

/// What comes from the program at the port.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    Bytes(Vec<u8>),
    /// Nothing within the time.
    Nothing,
    /// It has left.
    Left,
}

impl Pseudo {
    /// A new one that no program has opened.
    ///
    /// # Errors
    /// If the system has none left.
    pub fn open() -> io::Result<Self> {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&controller)?;
        unlockpt(&controller)?;
        let name = ptsname(&controller, Vec::new())?;
        let path = PathBuf::from(OsStr::from_bytes(name.as_bytes()));
        // Only one that was closed says that it is closed.
        let flags = OFlags::NOCTTY.bits().cast_signed();
        drop(OpenOptions::new().read(true).write(true).custom_flags(flags).open(&path)?);
        Ok(Self { controller, path })
    }

    /// The port that programs open.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What holds of these within a time.
    fn wait_for(&self, flags: PollFlags, within: Duration) -> PollFlags {
        let mut waits = [PollFd::new(&self.controller, flags)];
        let within = Timespec::try_from(within).ok();
        match poll(&mut waits, within.as_ref()) {
            Ok(_) => waits[0].revents(),
            // Interrupted.
            Err(_) => PollFlags::empty(),
        }
    }

    /// Whether a program has the port open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.wait_for(PollFlags::IN, Duration::ZERO).contains(PollFlags::HUP)
    }

    /// Lets bytes pass as they are, and none back.
    ///
    /// # Errors
    /// Never while it is open.
    pub fn make_raw(&self) -> io::Result<()> {
        let mut settings = tcgetattr(&self.controller)?;
        settings.make_raw();
        tcsetattr(&self.controller, OptionalActions::Now, &settings)?;
        Ok(())
    }

    /// What the program sends, a few bytes at a time: it can take back what was not read yet.
    #[must_use]
    pub fn read(&self, within: Duration) -> Heard {
        let state = self.wait_for(PollFlags::IN, within);
        if state.contains(PollFlags::IN) {
            let mut buffer = [0; HELD];
            return match rustix::io::read(&self.controller, &mut buffer) {
                Ok(0) => Heard::Left,
                Ok(count) => Heard::Bytes(buffer[..count].to_vec()),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Heard::Nothing,
                Err(_) => Heard::Left,
            };
        }
        if state.contains(PollFlags::HUP) { Heard::Left } else { Heard::Nothing }
    }

    /// Sends to the program, unless `off` says that nobody wants to any more.
    pub fn write(&self, mut bytes: &[u8], off: &AtomicBool) {
        while !bytes.is_empty() && !off.load(Ordering::Relaxed) {
            if !self.wait_for(PollFlags::OUT, LOOK).contains(PollFlags::OUT) {
                continue;
            }
            // A piece for which there is room, so that this does not block.
            let piece = &bytes[..bytes.len().min(64)];
            match rustix::io::write(&self.controller, piece) {
                Ok(written) => bytes = &bytes[written..],
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_come_and_go() {
        let pseudo = Pseudo::open().unwrap();
        assert!(!pseudo.is_open());
        assert_eq!(pseudo.read(Duration::ZERO), Heard::Left);
        for _ in 0..2 {
            let port = serial2::SerialPort::open(pseudo.path(), 115_200).unwrap();
            assert!(pseudo.is_open());
            pseudo.make_raw().unwrap();
            assert_eq!(pseudo.read(Duration::from_millis(1)), Heard::Nothing);
            let off = AtomicBool::new(false);
            pseudo.write(b"ready\r\n", &off);
            let mut bytes = [0; 7];
            port.read_exact(&mut bytes).unwrap();
            assert_eq!(&bytes, b"ready\r\n");
            port.write_all(&[0, 3, 10, 13, 255]).unwrap();
            assert_eq!(pseudo.read(Duration::from_secs(1)), Heard::Bytes(vec![0, 3, 10, 13, 255]));
            drop(port);
            assert!(!pseudo.is_open());
        }
    }

    #[test]
    fn a_program_that_reads_nothing_blocks_nobody() {
        let pseudo = Pseudo::open().unwrap();
        let _port = serial2::SerialPort::open(pseudo.path(), 115_200).unwrap();
        pseudo.make_raw().unwrap();
        let off = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| pseudo.write(&[b'x'; 1 << 20], &off));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!writer.is_finished(), "there is not so much room");
            off.store(true, Ordering::Relaxed);
        });
    }
}
