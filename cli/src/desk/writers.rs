//! What writes an image to a board, and the very commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_board::{Board, Desk, DriveTakes};
use tilewright_image::ImageForm;

use super::drives::{Drive, drives};
use super::image::{Image, base};
use super::tools;
use super::usb::{Usb, probes};
use crate::args::board::{Flashing, Writer};

/// How long a drive may take to say that it failed.
const DRIVE_SAYS_WITHIN: Duration = Duration::from_secs(8);

/// A way to write an image and to reset the board: nothing has been done yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// A tool: its words.
    Tool {
        /// Writes the image.
        write: Vec<String>,
        /// Resets the board.
        reset: Vec<String>,
    },
    /// A copy onto a drive, which resets the board.
    Copy { file: PathBuf, drive: PathBuf },
}

/// What there is to write with.
struct Found {
    probe_rs: bool,
    cube: bool,
    drives: Vec<Drive>,
    probes: Vec<Usb>,
}

impl Found {
    fn look() -> Self {
        let has = |name| tools::find(name).is_some();
        Self {
            probe_rs: has("probe-rs"),
            cube: has("STM32_Programmer_CLI"),
            drives: drives(),
            probes: probes(Path::new("/sys")),
        }
    }
}

/// The way to write an image that was asked for, or the first that there is.
///
/// # Errors
/// If there is none.
pub fn way(image: &Image, wish: &Flashing) -> Result<Way, Diagnostic> {
    let desk = desk_of(&image.board)?;
    let on_drive = match (image.form, desk.drive_takes) {
        (ImageForm::Bin, DriveTakes::Bin) => Some(image.path.clone()),
        (_, takes) => image.beside(takes.ending()),
    };
    let address = image.board.firmware.as_ref().map_or(0, |firmware| firmware.flash_address);
    let file =
        Written { path: &image.path, form: image.form, address, on_drive: on_drive.as_deref() };
    choose(&file, desk, base(&image.board.id), wish, &Found::look())
}

/// The way to reset a board by its probe.
///
/// # Errors
/// If no tool is there that can.
pub fn resetter(board: &Board, wish: &Flashing) -> Result<Way, Diagnostic> {
    let file = Written { path: Path::new(""), form: ImageForm::Elf, address: 0, on_drive: None };
    let found = Found { drives: Vec::new(), ..Found::look() };
    if wish.with == Some(Writer::Drive) || !(found.probe_rs || found.cube) {
        return Err(Diagnostic::new(
            Blame::BadInput,
            "A board is reset by probe-rs or STM32_Programmer_CLI, and neither is in PATH, or a drive was asked for.",
            "--reset",
            "Leave --reset out, and press the board's reset button when you are asked to.",
        ));
    }
    choose(&file, desk_of(board)?, base(&board.id), wish, &found)
}

fn desk_of(board: &Board) -> Result<&Desk, Diagnostic> {
    board.desk.as_ref().ok_or_else(|| {
        let how = board.firmware.as_ref().map_or("", |firmware| &firmware.how_to_flash);
        Diagnostic::new(
            Blame::BadInput,
            format!("Nothing is known of how {} is written to. {how}", board.id),
            "--board",
            "Give an image for another board.",
        )
    })
}

/// The file that is written.
struct Written<'f> {
    path: &'f Path,
    form: ImageForm,
    address: u32,
    on_drive: Option<&'f Path>,
}

fn choose(
    file: &Written<'_>,
    desk: &Desk,
    board: &str,
    wish: &Flashing,
    found: &Found,
) -> Result<Way, Diagnostic> {
    let missing = |what: &str, what_to_do: &str| {
        Err(Diagnostic::new(Blame::BadInput, what.to_owned(), "--with", what_to_do))
    };
    match wish.with {
        Some(Writer::ProbeRs) if !found.probe_rs => missing(
            "probe-rs is not in PATH.",
            "Install it: https://probe.rs/docs/getting-started.",
        ),
        Some(Writer::Cube) if !found.cube => missing(
            "STM32_Programmer_CLI is not in PATH.",
            "Install STM32CubeProgrammer and put its folder `bin` into PATH.",
        ),
        Some(Writer::Cube) if !desk.is_stm32() => missing(
            "STM32CubeProgrammer writes to an STM32 alone, which this board has not.",
            "Use probe-rs or the board's drive.",
        ),
        Some(Writer::ProbeRs) => Ok(probe_rs(file, desk, wish, &found.probes)),
        Some(Writer::Cube) => Ok(cube(file, wish)),
        Some(Writer::Drive) => copy(file, desk, board, wish, found),
        None if found.probe_rs => Ok(probe_rs(file, desk, wish, &found.probes)),
        None if found.cube && desk.is_stm32() => Ok(cube(file, wish)),
        None if !found.drives.is_empty() => copy(file, desk, board, wish, found),
        None if !desk.is_stm32() => missing(
            "probe-rs is not in PATH, and no board's drive is mounted.",
            "Install probe-rs (https://probe.rs), or plug the board in and open its drive.",
        ),
        None => missing(
            "There is neither probe-rs nor STM32_Programmer_CLI in PATH, and no board's drive is mounted.",
            "Install probe-rs (https://probe.rs), or plug the board in and open its drive.",
        ),
    }
}

fn words<'w>(words: impl IntoIterator<Item = &'w str>) -> Vec<String> {
    words.into_iter().map(str::to_owned).collect()
}

fn probe_rs(file: &Written<'_>, desk: &Desk, wish: &Flashing, probes: &[Usb]) -> Way {
    let mut at = words(["--chip", &desk.chip]);
    if let Some(probe) = &wish.probe {
        at.extend(["--probe".to_owned(), selector(probe, probes)]);
    }
    let mut write = words(["probe-rs", "download"]);
    write.extend(at.iter().cloned());
    if file.form == ImageForm::Bin {
        let address = format!("{:#010x}", file.address);
        write.extend(words(["--binary-format", "bin", "--base-address", &address]));
    }
    write.push(file.path.display().to_string());
    let mut reset = words(["probe-rs", "reset"]);
    reset.extend(at);
    Way::Tool { write, reset }
}

/// A probe as probe-rs names it: vendor, product and serial number.
fn selector(probe: &str, probes: &[Usb]) -> String {
    if probe.contains(':') {
        return probe.to_owned();
    }
    match probes.iter().find(|usb| usb.serial.as_deref() == Some(probe)) {
        Some(usb) => format!("{:04x}:{:04x}:{probe}", usb.vendor, usb.product),
        // Most boards of this project have an ST-LINK/V2-1.
        None => format!("0483:374b:{probe}"),
    }
}

fn cube(file: &Written<'_>, wish: &Flashing) -> Way {
    let mut at = words(["STM32_Programmer_CLI", "-c", "port=SWD"]);
    at.extend(wish.probe.iter().map(|probe| format!("sn={probe}")));
    let mut write = at.clone();
    write.extend(["-w".to_owned(), file.path.display().to_string()]);
    if file.form == ImageForm::Bin {
        write.push(format!("{:#010x}", file.address));
    }
    write.push("-v".to_owned());
    at.push("-rst".to_owned());
    Way::Tool { write, reset: at }
}

fn copy(
    file: &Written<'_>,
    desk: &Desk,
    board: &str,
    wish: &Flashing,
    found: &Found,
) -> Result<Way, Diagnostic> {
    let wrong = |error: String, what_to_do: &str| {
        Err(Diagnostic::new(Blame::BadInput, error, "--with drive", what_to_do))
    };
    let is_probes = |drive: &&Drive| {
        let serial = drive.usb.as_ref().and_then(|usb| usb.serial.as_ref());
        wish.probe.is_none() || serial == wish.probe.as_ref()
    };
    let is_boards = |drive: &&Drive| drive.board.as_deref() == Some(board);
    let drives: Vec<&Drive> = found.drives.iter().filter(is_boards).filter(is_probes).collect();
    let Some(copied) = file.on_drive else {
        let ending = desk.drive_takes.ending();
        return wrong(
            format!("The drive takes .{ending} files, and there is none beside the image."),
            "Keep all files together that `tilewright image` writes.",
        );
    };
    match drives.as_slice() {
        [drive] => Ok(Way::Copy { file: copied.to_owned(), drive: drive.folder.clone() }),
        [] if !found.drives.is_empty() => wrong(
            format!("The drive that is mounted is another board's than the image's, {board}."),
            "Plug the image's board in, or make an image for this one.",
        ),
        [] => wrong(
            format!(
                "No drive of a {board} is mounted ({} it is called).",
                desk.drives.join(" or ")
            ),
            "Plug the board in, and open its drive in a file manager so that it is mounted.",
        ),
        _ => wrong(
            "Several such boards are plugged in.".to_owned(),
            "Name one with --probe SERIAL; `tilewright board list` shows the numbers.",
        ),
    }
}

impl Way {
    /// Writes the image; `tell` hears the command before it runs.
    ///
    /// # Errors
    /// If the tool fails, or the drive says that it does.
    pub fn write(&self, tell: &mut dyn FnMut(&str), cancel: &Cancel) -> Result<(), Diagnostic> {
        cancel.check()?;
        match self {
            Self::Tool { write, .. } => run(write, tell),
            Self::Copy { file, drive } => {
                let paths = [file, drive].map(|path| path.display().to_string());
                tell(&format!("cp {}", typed(&paths)));
                copy_onto(file, drive, cancel)
            }
        }
    }

    /// Resets the board, unless the drive has; `tell` hears the command before it runs.
    ///
    /// # Errors
    /// If the tool fails.
    pub fn reset(&self, tell: &mut dyn FnMut(&str), cancel: &Cancel) -> Result<(), Diagnostic> {
        cancel.check()?;
        match self {
            Self::Tool { reset, .. } => run(reset, tell),
            Self::Copy { .. } => Ok(()),
        }
    }
}

/// Words as a shell takes them.
fn typed(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=+,@%".contains(c);
    let word = |word: &String| {
        if !word.is_empty() && word.chars().all(is_plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn run(command: &[String], tell: &mut dyn FnMut(&str)) -> Result<(), Diagnostic> {
    let line = typed(command);
    tell(&line);
    let failed = |error: String| {
        Diagnostic::new(
            Blame::BadInput,
            error,
            line.clone(),
            "What the tool says above is the reason. Look at the cable, whether another debugger has the \
             probe, and name it with --probe SERIAL if there are several; or write with another tool: \
             --with probe-rs, cube or drive.",
        )
    };
    let Some((program, arguments)) = command.split_first() else { return Ok(()) };
    let status = Command::new(program).args(arguments).status();
    let status = status.map_err(|error| failed(format!("It does not start: {error}.")))?;
    if status.success() { Ok(()) } else { Err(failed(format!("It failed: {status}."))) }
}

fn copy_onto(file: &Path, drive: &Path, cancel: &Cancel) -> Result<(), Diagnostic> {
    let failed = |error: String, what_to_do: &str| {
        Diagnostic::new(Blame::BadInput, error, drive.display().to_string(), what_to_do)
    };
    let said = drive.join("FAIL.TXT");
    let before = fs::read_to_string(&said).ok();
    let name = file.file_name().unwrap_or_default();
    let copied = fs::read(file).and_then(|bytes| {
        use std::io::Write;
        let mut to = fs::File::create(drive.join(name))?;
        to.write_all(&bytes)?;
        to.sync_all()
    });
    copied.map_err(|error| {
        failed(
            format!("The copy failed: {error}."),
            "Plug the board in again and open its drive, or write with probe-rs: --with probe-rs.",
        )
    })?;
    // The drive goes away while it writes, and comes back with this file if it failed.
    let until = Instant::now() + DRIVE_SAYS_WITHIN;
    while Instant::now() < until {
        cancel.check()?;
        let now = fs::read_to_string(&said).ok();
        if let Some(text) = now.filter(|text| before.as_ref() != Some(text)) {
            return Err(failed(
                format!("The drive says that writing failed: {}", text.trim()),
                "Plug the board in again, update its ST-LINK's firmware, or write with probe-rs.",
            ));
        }
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// What is to be done by hand beside the image: its stores, each with its command.
#[must_use]
pub fn by_hand(image: &Image) -> Vec<String> {
    let mut lines = Vec::new();
    let desk = image.board.desk.as_ref();
    if let Some(store) = image.beside("flash") {
        let space = tilewright_plan::Space::ExternalFlash;
        let address = image.board.external(space).and_then(|flash| flash.address).unwrap_or(0);
        lines.push(format!(
            "Weights lie in external flash: write {} as well, with the loader of the flash that is on the board. \
             STM32CubeProgrammer wants the ending .bin, so copy the file before:",
            store.display()
        ));
        let loaders = desk.map_or(&[][..], |desk| &desk.loaders);
        for loader in loaders {
            let file = store.with_extension("flash.bin").display().to_string();
            let address = format!("{address:#010x}");
            lines.push(format!(
                "  {}",
                typed(&words([
                    "STM32_Programmer_CLI",
                    "-c",
                    "port=SWD",
                    "-el",
                    loader,
                    "-w",
                    &file,
                    &address,
                    "-v",
                ]))
            ));
        }
    }
    if let Some(store) = image.beside("card") {
        lines.push(format!(
            "Weights lie on a card: write {} raw, from the card's first block on (what is there is lost), then \
             put the card into the board:",
            store.display()
        ));
        lines.push(format!(
            "  sudo dd if={} of=/dev/sdX bs=1M conv=fsync      # /dev/sdX as `lsblk` shows the card",
            typed(&[store.display().to_string()])
        ));
    }
    lines
}

#[cfg(test)]
#[path = "writers_tests.rs"]
mod tests;
