//! The serial port: opened for one program alone, and a talk over it.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_desk::{Action, Outcome, Session, Trouble};
use tilewright_report::plain;

use crate::text::obeyed;

/// How long a read waits while something is to be sent, and else.
const WAIT_SENDING: Duration = Duration::from_millis(5);
const WAIT: Duration = Duration::from_millis(40);
/// Bytes that are handed to the system at once: what was handed over cannot be taken back.
const PIECE: usize = 256;

/// An open port.
pub struct Port {
    path: PathBuf,
    port: serial2::SerialPort,
}

impl Port {
    /// Opens a port at a baud rate, 8N1.
    ///
    /// # Errors
    /// If it is not there, may not be opened, or another program has it.
    pub fn open(path: &Path, baud: u32) -> Result<Self, Diagnostic> {
        let wrong = |error| cannot_open(path, &error);
        let port = serial2::SerialPort::open(path, baud).map_err(wrong)?;
        alone(&port).map_err(wrong)?;
        Ok(Self { path: path.to_owned(), port })
    }

    /// Forgets what the board has said: what it holds is about to change, or it is about to be reset.
    ///
    /// # Errors
    /// If the port has gone away.
    pub fn forget(&mut self) -> Result<(), Diagnostic> {
        let forgotten = self.port.discard_input_buffer();
        forgotten.map_err(|error| gone(&self.path, &Sending::default(), &error))
    }

    fn read(&mut self, wait: Duration, buffer: &mut [u8]) -> io::Result<usize> {
        self.port.set_read_timeout(wait)?;
        match self.port.read(buffer) {
            // The other end is closed.
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Err(error) if is_soon(&error) => Ok(0),
            result => result,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.port.set_write_timeout(WAIT_SENDING)?;
        match self.port.write(bytes) {
            Err(error) if is_soon(&error) => Ok(0),
            result => result,
        }
    }
}

fn is_soon(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Keeps other programs from the port.
#[cfg(target_os = "linux")]
fn alone(port: &serial2::SerialPort) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    // Other terminals take this lock; those that do not are refused by the system from now on.
    flock(port, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| io::Error::from(ErrorKind::ResourceBusy))?;
    rustix::termios::ioctl_tiocexcl(port)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps, reason = "as on Linux")]
fn alone(_port: &serial2::SerialPort) -> io::Result<()> {
    Ok(())
}

fn cannot_open(path: &Path, error: &io::Error) -> Diagnostic {
    // ENOTTY has no kind of its own.
    const NOT_A_PORT: i32 = 25;
    let place = path.display().to_string();
    let problem = |error: String, what_to_do: &str| {
        Diagnostic::new(Blame::BadInput, error, place.clone(), what_to_do)
    };
    match error.kind() {
        ErrorKind::NotFound => problem(
            "There is no such port.".to_owned(),
            "Plug the board in; `tilewright board list` shows the ports.",
        ),
        ErrorKind::PermissionDenied => problem(
            "You may not open this port.".to_owned(),
            "On Linux join the group that owns it and log in again: `sudo usermod -aG dialout $USER` (on \
             Arch `uucp`). Or another program has it: close that.",
        ),
        ErrorKind::ResourceBusy => problem(
            "Another program has the port.".to_owned(),
            "Close the terminal that shows it. On Linux ModemManager talks to ports as well: `sudo \
             systemctl stop ModemManager`.",
        ),
        _ if cfg!(unix) && error.raw_os_error() == Some(NOT_A_PORT) => problem(
            "This is no serial port.".to_owned(),
            "`tilewright board list` shows the ports.",
        ),
        _ => problem(
            format!("The port cannot be opened: {error}."),
            "`tilewright board list` shows the ports; plug the board in again.",
        ),
    }
}

/// What is being sent.
#[derive(Default)]
struct Sending {
    bytes: Vec<u8>,
    sent: usize,
}

impl Sending {
    fn is_over(&self) -> bool {
        self.sent >= self.bytes.len()
    }
}

/// Has a talk over a port, and tells on standard error how it goes.
///
/// # Errors
/// If it comes to nothing, the port goes away, or `cancel` is asked.
pub fn talk(port: &mut Port, mut session: Session, cancel: &Cancel) -> Result<Outcome, Diagnostic> {
    let start = Instant::now();
    let mut sending = Sending::default();
    let mut teller = Teller::new();
    let mut buffer = [0; 4096];
    loop {
        cancel.check()?;
        if !sending.is_over() {
            let end = sending.bytes.len().min(sending.sent + PIECE);
            let written = port.write(&sending.bytes[sending.sent..end]);
            sending.sent += written.map_err(|error| gone(&port.path, &sending, &error))?;
            teller.sent(sending.sent, sending.bytes.len());
            if sending.is_over() {
                session.sent(start.elapsed());
            }
        }
        let wait = if sending.is_over() { WAIT } else { WAIT_SENDING };
        let heard =
            port.read(wait, &mut buffer).map_err(|error| gone(&port.path, &sending, &error))?;
        for action in session.hear(&buffer[..heard], start.elapsed()) {
            match action {
                Action::Send(bytes) => sending = Sending { bytes, sent: 0 },
                Action::Stop => {
                    sending = Sending::default();
                    // Not all drivers can; the board throws away what starts no frame.
                    let _ = port.port.discard_output_buffer();
                }
                Action::Tell(note) => teller.tell(&note.to_string()),
                Action::End(end) => {
                    teller.clear();
                    return end
                        .map(|outcome| *outcome)
                        .map_err(|trouble| failed(&port.path, &trouble));
                }
            }
        }
    }
}

fn failed(path: &Path, trouble: &Trouble) -> Diagnostic {
    let kind = match trouble {
        Trouble::Failed { .. } => Blame::Card,
        _ => Blame::BadInput,
    };
    Diagnostic::new(kind, trouble.to_string(), path.display().to_string(), trouble.remedy())
}

fn gone(path: &Path, sending: &Sending, error: &io::Error) -> Diagnostic {
    let (sent, of) = (sending.sent, sending.bytes.len());
    failed(path, &Trouble::WentAway { sent, of, error: error.to_string() })
}

/// Lines for the person at the desk, and a line that counts bytes.
struct Teller {
    is_terminal: bool,
    is_drawn: bool,
    percent: usize,
}

impl Teller {
    fn new() -> Self {
        Self { is_terminal: io::stderr().is_terminal(), is_drawn: false, percent: 0 }
    }

    fn tell(&mut self, text: &str) {
        self.clear();
        // Nobody need read it.
        let _ = writeln!(anstream::stderr().lock(), "{}", obeyed(&plain(text)));
    }

    fn sent(&mut self, sent: usize, of: usize) {
        let percent = sent * 100 / of.max(1);
        if !self.is_terminal || percent == self.percent {
            return;
        }
        (self.percent, self.is_drawn) = (percent, true);
        let mut to = io::stderr().lock();
        let _ = write!(to, "\r\x1b[Ksent {sent} of {of} bytes").and_then(|()| to.flush());
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            crate::progress::take_away();
        }
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_why_a_port_does_not_open_has_its_remedy() {
        let told = |kind: ErrorKind| cannot_open(Path::new("/dev/ttyACM0"), &kind.into());
        assert!(told(ErrorKind::NotFound).what_to_do.contains("board list"));
        assert!(told(ErrorKind::PermissionDenied).what_to_do.contains("dialout"));
        assert!(told(ErrorKind::ResourceBusy).what_to_do.contains("ModemManager"));
        let plain_file = Port::open(Path::new("Cargo.toml"), 115_200).err().unwrap();
        assert_eq!(plain_file.kind, Blame::BadInput);
        assert_eq!(plain_file.what, "This is no serial port.");
    }

    #[test]
    fn a_port_that_goes_away_says_how_far_it_came() {
        let told = |sent, all| {
            let sending = Sending { bytes: vec![0; all], sent };
            gone(Path::new("/dev/ttyACM0"), &sending, &ErrorKind::UnexpectedEof.into()).what
        };
        assert!(told(0, 0).starts_with("The port went away: "));
        assert!(told(7, 9).contains("7 of 9 bytes"));
        assert!(told(9, 9).contains("behind the input"));
    }
}
