//! Serial ports, and which of them is a board's.

use std::path::{Path, PathBuf};

use tilewright_app::{Blame, Diagnostic};
use tilewright_board::Board;
use tilewright_desk::PortKind;

use super::drives::Drive;
use super::usb::Usb;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerialPort {
    /// Its path or name.
    pub path: PathBuf,
    /// The device on USB that it is a part of, if that is known: on Linux alone.
    pub usb: Option<Usb>,
}

/// Which board a device may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Likely {
    pub boards: Vec<String>,
    /// Whether it is that board: its drive says so.
    pub is_sure: bool,
}

impl Likely {
    /// In words; empty for none.
    #[must_use]
    pub fn words(&self) -> String {
        match self.boards.as_slice() {
            [] => String::new(),
            [board] if self.is_sure => board.clone(),
            boards => format!("perhaps {}", boards.join(" or ")),
        }
    }
}

/// The serial ports, those on USB first.
#[must_use]
pub fn ports() -> Vec<SerialPort> {
    let mut ports: Vec<SerialPort> = serial2::SerialPort::available_ports()
        .unwrap_or_default()
        .into_iter()
        .map(|path| SerialPort { usb: usb_of(Path::new("/sys"), &path), path })
        .collect();
    ports.sort_by(|one, other| {
        let key = |port: &SerialPort| (port.usb.is_none(), port.path.clone());
        key(one).cmp(&key(other))
    });
    ports
}

/// The device on USB that a port is a part of.
fn usb_of(sys: &Path, port: &Path) -> Option<Usb> {
    // A name that is given may be a link to the device's own, as those below /dev/serial are.
    let real = port.canonicalize().ok();
    let name = real.as_deref().unwrap_or(port).file_name()?;
    Usb::above(&sys.join("class/tty").join(name).join("device"))
}

/// What a port is.
#[must_use]
pub fn kind_of(path: &Path) -> PortKind {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match usb_of(Path::new("/sys"), path) {
        Some(usb) => PortKind::Usb { vendor: usb.vendor, product: usb.product },
        None if is_pseudo(&real) => PortKind::Pseudo,
        None => PortKind::Serial,
    }
}

/// Whether a program serves a port: pseudo-terminals of Linux, the BSDs and macOS.
fn is_pseudo(path: &Path) -> bool {
    let path = path.to_string_lossy();
    let name = path.rsplit('/').next().unwrap_or_default();
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let old = name.strip_prefix("tty").filter(|rest| rest.len() == 2 || rest.len() == 4);
    let is_old = |rest: &str| {
        rest.starts_with(|c: char| matches!(c, 'p'..='z' | 'a'..='e'))
            && digits(rest.get(1..).unwrap_or_default())
    };
    path.starts_with("/dev/pts/") || old.is_some_and(is_old)
}

/// Which board of this project a device may be.
#[must_use]
pub fn likely(usb: &Usb, drives: &[Drive], boards: &[Board]) -> Likely {
    let own = drives.iter().find(|drive| drive.usb.as_ref().is_some_and(|of| of.is(usb)));
    if let Some(drive) = own {
        return Likely { boards: drive.board.iter().cloned().collect(), is_sure: true };
    }
    // All boards with a desk have an ST-LINK on them.
    let all = boards.iter().filter(|board| board.desk.is_some() && usb.is_st_link());
    Likely { boards: all.map(|board| board.id.clone()).collect(), is_sure: false }
}

/// The port that is meant.
///
/// # Errors
/// If none is named, and not exactly one is a board's.
pub fn choose(named: Option<&str>) -> Result<PathBuf, Diagnostic> {
    match named {
        Some(path) => Ok(path.into()),
        None => only(&ports()),
    }
}

fn only(ports: &[SerialPort]) -> Result<PathBuf, Diagnostic> {
    let is_boards = |port: &&SerialPort| port.usb.as_ref().is_some_and(|usb| usb.what().is_some());
    let candidates: Vec<&SerialPort> = ports.iter().filter(is_boards).collect();
    let wrong = |error: String, what_to_do: &str| {
        Err(Diagnostic::new(Blame::BadInput, error, "--port", what_to_do))
    };
    match candidates.as_slice() {
        [port] => Ok(port.path.clone()),
        [] => wrong(
            "No serial port of a board was found.".to_owned(),
            "Plug the board in at its ST-LINK's socket, or name a port with --port; `tilewright board \
             list` shows what is there.",
        ),
        several => {
            let names: Vec<_> =
                several.iter().map(|port| port.path.display().to_string()).collect();
            wrong(
                format!("Several boards are plugged in: {}.", names.join(", ")),
                "Name one with --port.",
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_ports_are_told_from_devices() {
        for path in ["/dev/pts/3", "/dev/ttyp0", "/dev/ttysa", "/dev/ttys001", "/dev/ttyze"] {
            assert!(is_pseudo(Path::new(path)), "{path}");
        }
        for path in ["/dev/ttyACM0", "/dev/ttyUSB1", "/dev/ttyS0", "COM3", "/dev/cu.usbmodem1"] {
            assert!(!is_pseudo(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn one_board_needs_no_name() {
        let none = only(&[SerialPort { path: "/dev/ttyS0".into(), usb: None }]).unwrap_err();
        assert!(none.what.contains("No serial port"), "{none}");
        assert_eq!(choose(Some("/dev/ttyACM7")).unwrap(), PathBuf::from("/dev/ttyACM7"));
    }

    #[test]
    #[cfg(unix)]
    fn of_several_boards_one_must_be_named() {
        let folder = tempfile::tempdir().unwrap();
        let port = |name: &str, product: &str| {
            let device = folder.path().join(name);
            std::fs::create_dir_all(&device).unwrap();
            std::fs::write(device.join("idVendor"), "0483").unwrap();
            std::fs::write(device.join("idProduct"), product).unwrap();
            SerialPort { path: format!("/dev/{name}").into(), usb: Usb::above(&device) }
        };
        let (one, other) = (port("ttyACM0", "374b"), port("ttyACM1", "374e"));
        // A port of an STM32's own is not one of ours.
        let own = port("ttyACM2", "5740");
        assert_eq!(only(&[own.clone(), one.clone()]).unwrap(), one.path);
        let problem = only(&[one.clone(), other, own]).unwrap_err();
        assert!(problem.what.contains("/dev/ttyACM0, /dev/ttyACM1."), "{problem}");

        let boards = tilewright_board::all();
        let usb = one.usb.unwrap();
        let unsure = likely(&usb, &[], &boards);
        assert!(unsure.boards.len() > 3 && !unsure.is_sure, "{unsure:?}");
        assert!(unsure.words().starts_with("perhaps "), "{}", unsure.words());
        let board = Some("nucleo-f767zi".to_owned());
        let drive = Drive { folder: "/x".into(), board, usb: Some(usb.clone()) };
        assert_eq!(likely(&usb, &[drive], &boards).words(), "nucleo-f767zi");
    }
}
