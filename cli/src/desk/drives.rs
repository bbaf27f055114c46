//! Drives that boards show: their probes', or their boot ROMs'.

use std::fs;
use std::path::{Path, PathBuf};

use tilewright_board::Board;

use super::usb::Usb;

/// A drive that a board shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drive {
    /// Where it is mounted.
    pub folder: PathBuf,
    /// The board whose it is; nothing if it is another's than those of this project.
    pub board: Option<String>,
    /// The device that shows it, if that is known.
    pub usb: Option<Usb>,
}

/// A place where a drive may be.
struct Mounted {
    device: Option<PathBuf>,
    folder: PathBuf,
}

/// Boards' drives that are mounted. On Windows none are found.
#[must_use]
pub fn drives() -> Vec<Drive> {
    let found = mounted().into_iter().filter_map(|Mounted { device, folder }| {
        let board = board_of(&folder)?;
        let usb = device.as_deref().and_then(device_of);
        Some(Drive { board: board.id(), folder, usb })
    });
    found.collect()
}

#[cfg(target_os = "linux")]
fn mounted() -> Vec<Mounted> {
    let text = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let mounted = text.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (device, folder) = (words.next()?, words.next()?);
        let is_drive = words.next()? == "vfat";
        is_drive.then(|| Mounted { device: Some(device.into()), folder: unescaped(folder).into() })
    });
    mounted.collect()
}

#[cfg(not(target_os = "linux"))]
fn mounted() -> Vec<Mounted> {
    let volumes = fs::read_dir("/Volumes").into_iter().flatten().flatten();
    volumes.map(|volume| Mounted { device: None, folder: volume.path() }).collect()
}

/// A path as `/proc/mounts` writes it: spaces and the like are three octal digits.
#[cfg(target_os = "linux")]
fn unescaped(path: &str) -> String {
    let mut text = String::new();
    let mut rest = path;
    while let Some((before, behind)) = rest.split_once('\\') {
        text.push_str(before);
        let code = behind.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                text.push(char::from(code));
                rest = &behind[3..];
            }
            None => {
                text.push('\\');
                rest = behind;
            }
        }
    }
    text + rest
}

fn device_of(device: &Path) -> Option<Usb> {
    Usb::above(&Path::new("/sys/class/block").join(device.file_name()?))
}

/// Whose drive a folder is.
#[derive(Debug, PartialEq, Eq)]
enum Whose {
    /// A board's of this project.
    Board(String),
    /// Another board's.
    Other,
}

impl Whose {
    fn id(self) -> Option<String> {
        match self {
            Self::Board(id) => Some(id),
            Self::Other => None,
        }
    }
}

/// Whose drive it is; nothing if it is no board's.
fn board_of(folder: &Path) -> Option<Whose> {
    let page = fs::read_to_string(folder.join("MBED.HTM"));
    let page = page.or_else(|_| fs::read_to_string(folder.join("mbed.htm"))).ok();
    let label = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    whose(page.as_deref(), &label.unwrap_or_default(), &tilewright_board::all())
}

fn whose(page: Option<&str>, label: &str, boards: &[Board]) -> Option<Whose> {
    let code = page.and_then(|page| page.split("code=").nth(1)?.get(..4));
    let desks = || boards.iter().filter_map(|board| Some((board, board.desk.as_ref()?)));
    let by_code = desks().find(|(_, desk)| code.is_some() && code == desk.mbed_code.as_deref());
    // Some systems put a number behind a label that is taken.
    let is_number = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == ' ');
    let labelled = |known: &String| label.strip_prefix(known.as_str()).is_some_and(is_number);
    let by_label = || desks().find(|(_, desk)| desk.drives.iter().any(labelled));
    match by_code.or_else(|| by_label().filter(|_| code.is_none())) {
        Some((board, _)) => Some(Whose::Board(board.id.clone())),
        None => page.map(|_| Whose::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_is_known_by_its_code_and_else_by_its_label() {
        let boards = tilewright_board::all();
        let page =
            |code: &str| format!("<meta content=\"url=http://mbed.org/device/?code={code}\">");
        let whose = |page: Option<&str>, label: &str| whose(page, label, &boards);
        let ours = |id: &str| Some(Whose::Board(id.to_owned()));
        assert_eq!(whose(Some(&page("0815022168")), "X"), ours("stm32f746g-disco"));
        assert_eq!(whose(Some(&page("0816022168")), "DIS_F746NG"), ours("nucleo-f746zg"));
        assert_eq!(whose(Some(&page("0720022168")), "DIS_F746NG"), Some(Whose::Other));
        assert_eq!(whose(Some("no code"), "DIS_F469NI"), ours("stm32f469i-disco"));
        assert_eq!(whose(None, "NODE_F767ZI1"), ours("nucleo-f767zi"));
        assert_eq!(whose(None, "RP2350"), ours("pico-2"));
        assert_eq!(whose(None, "RP2040"), None);
        assert_eq!(whose(None, "holidays"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn spaces_in_paths_are_read() {
        assert_eq!(unescaped("/media/a\\040b\\134c"), "/media/a b\\c");
    }
}
