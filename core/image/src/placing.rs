//! The text that goes with an image: what the files are and where they go.

use std::fmt::Write;

use sha2::{Digest, Sha256};
use tilewright_board::Board;
use tilewright_plan::image::{
    AlignedBytes, Expected, FrameTooLong, PlanImage, arrivals, input_frame, input_frames,
};
use tilewright_plan::{Space, grouped};

use crate::FirmwareImage;

/// A file of an image.
#[derive(Clone, Debug)]
pub struct ImageFile<'f> {
    /// Its name.
    pub name: String,
    /// What it is, in words.
    pub what: &'static str,
    /// What it holds.
    pub bytes: &'f [u8],
    /// The space whose store image it is; nothing if it is none.
    pub store: Option<Space>,
}

/// The files of a firmware image named `stem`, in all forms, with its plan image and its stores.
#[must_use]
pub fn image_files<'f>(
    stem: &str,
    firmware: &'f FirmwareImage,
    hex: &'f str,
    plan: &'f [u8],
    stores: &'f [(Space, Vec<u8>)],
) -> Vec<ImageFile<'f>> {
    let file = |ending: &str, what, bytes| ImageFile {
        name: format!("{stem}.{ending}"),
        what,
        bytes,
        store: None,
    };
    let mut files = vec![
        file("elf", "firmware and plan, for debuggers", firmware.elf.as_slice()),
        file("bin", "the same as flash contents", &firmware.bin),
        file("hex", "the same as Intel HEX", hex.as_bytes()),
        file("plan", "the plan image alone", plan),
    ];
    let uf2 = firmware.uf2.as_deref();
    files.extend(uf2.map(|bytes| file("uf2", "the same as UF2, for the board's drive", bytes)));
    for (space, bytes) in stores {
        let (ending, what) = match space {
            Space::Card => ("card", "what the card holds, from its first block on"),
            _ => ("flash", "what external flash holds, from its first byte on"),
        };
        files.push(ImageFile { store: Some(*space), ..file(ending, what, bytes) });
    }
    files
}

/// How to bring an image onto its board: addresses, files with their SHA-256, and how to try it with
/// the file `input.bin` if that is among them.
#[must_use]
pub fn how_to_place(
    stem: &str,
    board: &Board,
    firmware: &FirmwareImage,
    plan: &[u8],
    files: &[ImageFile<'_>],
) -> String {
    let mut text = format!("{stem} on {}\n\nHow to flash\n", board.name);
    let (how, baud) = board
        .firmware
        .as_ref()
        .map_or(("", 0), |firmware| (firmware.how_to_flash.as_str(), firmware.console_baud));
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "  {how}\n\nAddresses\n  firmware    {:#010x}, {} bytes\n  plan image  {:#010x}, {} bytes\n",
        firmware.address,
        grouped(u64::from(firmware.firmware_bytes)),
        firmware.plan_address,
        grouped(plan.len() as u64),
    );
    for file in files {
        let Some(space) = file.store else { continue };
        let (name, bytes) = (&file.name, grouped(file.bytes.len() as u64));
        let _ = match space {
            Space::Card => writeln!(
                text,
                "  {name}    block 0 of the card, {bytes} bytes: write it raw, without a file \
                 system, from the first block on\n    {}On Linux, where `lsblk` shows the card as \
                 /dev/sdX (Windows and macOS have programs that write disk images):\n      \
                 sudo dd if={name} of=/dev/sdX bs=1M conv=fsync",
                used(plan, board).map_or_else(String::new, |bytes| format!(
                    "The program uses the first {} bytes of the card; what is there, a file system \
                     too, is lost.\n    ",
                    grouped(bytes)
                )),
            ),
            _ => {
                let address = board.external(space).and_then(|flash| flash.address).unwrap_or(0);
                let loaders = board.desk.as_ref().map_or(&[][..], |desk| &desk.loaders);
                let loaders = match loaders {
                    [] => String::new(),
                    loaders => format!(", {}", loaders.join(" or ")),
                };
                writeln!(
                    text,
                    "  {name}    {address:#010x}, {bytes} bytes: write it with STM32CubeProgrammer \
                     and the external loader of the flash that is on the board{loaders}"
                )
            }
        };
    }
    text.push_str(
        "\nFiles, with their SHA-256: `sha256sum -c` with the name of this file compares them (it warns of \
         the other lines)\n",
    );
    for ImageFile { name, what, bytes, .. } in files {
        for byte in Sha256::digest(bytes) {
            let _ = write!(text, "{byte:02x}");
        }
        let _ = write!(text, "  {name}\n    {what}, {} bytes\n", grouped(bytes.len() as u64));
    }
    if files.iter().any(|file| file.name == INPUT) {
        let _ = write!(
            text,
            "\nTry it\n  At reset the board writes to its console ({baud} baud) what it is and \
             `ready`. Send\n  {INPUT}; it answers with the cycles of each layer, the outputs and \
             `done`.\n"
        );
        if arrives_in_rows(plan, board) {
            text.push_str(
                "  The input arrives in rows: send the next bytes of the file each time the board says \
                 `ready`, 12 more\n  than it asks for, which are their frame.\n",
            );
        }
    }
    text
}

/// What is to be known of a plan image, if it can be read.
fn of_image<T>(plan: &[u8], board: &Board, known: impl Fn(&PlanImage<'_>) -> T) -> Option<T> {
    let plan = AlignedBytes::copy_of(plan);
    let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
    Some(known(&PlanImage::read(plan.bytes(), &expected).ok()?))
}

/// Bytes of the card that the program of a plan image uses, if it can be read.
fn used(plan: &[u8], board: &Board) -> Option<u64> {
    of_image(plan, board, |image| image.space_bytes(Space::Card))
}

fn arrives_in_rows(plan: &[u8], board: &Board) -> bool {
    of_image(plan, board, |image| !arrivals(image).is_empty()).unwrap_or(false)
}

/// A sample input (all inputs of the program one behind the other, int8, NHWC) as the console takes it with a plan
/// image: its frames, one behind the other.
///
/// # Errors
/// [`FrameTooLong`] past 4 GiB.
pub fn sample_input(plan: &[u8], board: &Board, payload: &[u8]) -> Result<Vec<u8>, FrameTooLong> {
    match of_image(plan, board, |image| input_frames(image, payload)) {
        Some(frames) => Ok(frames?.concat()),
        None => input_frame(payload),
    }
}

/// Name of the file with a sample input, as the console takes it.
pub const INPUT: &str = "input.bin";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_named_with_its_place_and_sum() {
        let board = tilewright_board::find("stm32f746g-disco").unwrap();
        let firmware = FirmwareImage {
            elf: vec![1],
            bin: vec![2, 3],
            address: 0x0800_0000,
            plan_address: 0x0804_0000,
            firmware_bytes: 12_345,
            uf2: None,
        };
        let stores = [(Space::ExternalFlash, vec![0; 2048])];
        let files = image_files("net", &firmware, ":00", &[9; 1024], &stores);
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["net.elf", "net.bin", "net.hex", "net.plan", "net.flash"]);
        let text = how_to_place("net", &board, &firmware, &[9; 1024], &files);
        assert!(text.contains("firmware    0x08000000, 12,345 bytes"), "{text}");
        assert!(text.contains("net.flash    0x90000000, 2,048 bytes"), "{text}");
        assert!(text.contains("N25Q128A_STM32F746G-DISCO.stldr or W25Q128JVEIQ_"), "{text}");
        // The SHA-256 of 2048 zeros, as `sha256sum` gives it.
        let sum = "e5a00aa9991ac8a5ee3109844d84a55583bd20572ad3ffcd42792f3c36b183ad";
        assert!(text.contains(&format!("\n{sum}  net.flash\n")), "as sha256sum reads it: {text}");
        assert!(!text.contains("Try it"), "there is no input");
    }
}
