//! `tilewright image`.

use std::path::Path;

use tilewright_board::Board;
use tilewright_image::{FirmwareImage, input_frame};
use tilewright_plan::Space;
use tilewright_server::pipeline::{Package, bytes_of, checked_plan, plan_file};
use tilewright_server::{Dist, Problem, hexadecimal, sha256};

use crate::args::Image;
use crate::text::{Side, Table, number};
use crate::{Said, files, load, progress};

/// Writes what is flashed, and what goes with it.
pub fn image(options: &Image) -> Result<Said, Problem> {
    let cancel = load::cancelled_by_ctrl_c()?;
    let mut teller = progress::Teller::new();
    let mut tell = |p| teller.tell(&p);
    let board = load::board(&options.on.board)?;
    let dist = Dist::find()?;
    let prepared = load::prepared(&options.on.quantised, &mut tell, &cancel)?;
    let choices = load::options(&options.on, &board)?;
    let planned =
        checked_plan(&prepared.model, &board, options.strategy, &choices, &mut tell, &cancel)?;
    let plan = plan_file(&planned, &prepared.model, &board)?;
    let firmware = Package::new(&dist, &board, &plan)?.image()?;
    drop(teller);
    let hex = firmware.hex().map_err(|error| Problem::ours(format!("{error}."), "Intel HEX"))?;
    let frame = input_frame(&bytes_of(&prepared.first))
        .map_err(|error| Problem::ours(format!("{error}."), "input frame"))?;

    let stem = load::stem(&options.on.quantised.file)?;
    let mut written = vec![
        (format!("{stem}.elf"), "firmware and plan, for debuggers", firmware.elf.as_slice()),
        (format!("{stem}.bin"), "the same as flash contents", &firmware.bin),
        (format!("{stem}.hex"), "the same as Intel HEX", hex.as_bytes()),
        (format!("{stem}.plan"), "the plan image alone", plan.bytes()),
        ("input.bin".to_owned(), "a sample input as the console takes it", &frame),
    ];
    if !plan.external_flash().is_empty() {
        let what = "what external flash holds, from its first byte on";
        written.push((format!("{stem}.flash"), what, plan.external_flash()));
    }
    files::make_folder(&options.output)?;
    for (name, _, bytes) in &written {
        files::write(&options.output.join(name), bytes)?;
    }
    let readme = readme(&stem, &board, &firmware, plan.bytes(), &written);
    files::write(&options.output.join("README.txt"), readme.as_bytes())?;
    Ok(Said::well(said(&options.output, &written)))
}

type Written<'w> = (String, &'static str, &'w [u8]);

fn said(folder: &Path, written: &[Written<'_>]) -> String {
    let mut table =
        Table::new(&[("file", Side::Left), ("bytes", Side::Right), ("what", Side::Left)]);
    for (name, what, bytes) in written {
        table.row([name.clone(), number(bytes.len() as u64), (*what).to_owned()]);
    }
    table.row(["README.txt".to_owned(), String::new(), "how to flash it".to_owned()]);
    format!("{}\n{}", folder.display(), table.print())
}

/// The text that goes with an image.
fn readme(
    stem: &str,
    board: &Board,
    firmware: &FirmwareImage,
    plan: &[u8],
    written: &[Written<'_>],
) -> String {
    let mut text = format!("{stem} on {}\n\nHow to flash\n", board.name);
    let (how, baud) = board
        .firmware
        .as_ref()
        .map_or(("", 0), |firmware| (firmware.how_to_flash.as_str(), firmware.console_baud));
    text.push_str(&format!("  {how}\n\nAddresses\n"));
    text.push_str(&format!(
        "  firmware    {:#010x}, {} bytes\n  plan image  {:#010x}, {} bytes\n",
        firmware.address,
        number(u64::from(firmware.firmware_bytes)),
        firmware.plan_address,
        number(plan.len() as u64),
    ));
    if let Some((name, _, bytes)) = written.iter().find(|(name, ..)| name.ends_with(".flash")) {
        let flash = board.external(Space::ExternalFlash);
        let address = flash.and_then(|flash| flash.address).unwrap_or(0);
        text.push_str(&format!(
            "  {name}    {address:#010x}, {} bytes: write it with STM32CubeProgrammer and the \
             board's external loader\n",
            number(bytes.len() as u64),
        ));
    }
    text.push_str("\nFiles, with their SHA-256\n");
    for (name, what, bytes) in written {
        let sum = hexadecimal(&sha256(bytes));
        let size = number(bytes.len() as u64);
        text.push_str(&format!("  {name}: {what}, {size} bytes\n    {sum}\n"));
    }
    text.push_str(&format!(
        "\nTry it\n  At reset the board writes to its console ({baud} baud) what it is and \
         `ready`. Send\n  input.bin; it answers with the cycles of each layer, the outputs and \
         `done`.\n"
    ));
    text
}
