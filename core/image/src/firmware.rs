//! Firmware + plan image → what is run and what is downloaded.

use ihex::Record;
use object::build::elf::{Builder, SectionData};
use object::elf;
use thiserror::Error;
use tilewright_board::Board;

use crate::{size, uf2};

/// Bytes of an Intel HEX data record.
const HEX_RECORD_BYTES: usize = 16;
/// What erased flash reads as.
const ERASED: u8 = 0xff;

/// Why firmware and plan do not make an image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FirmwareError {
    /// The board has no firmware.
    #[error("board '{0}' is for planning only: there is no firmware for it")]
    NoFirmware(String),
    /// The ELF file cannot be read or written.
    #[error("firmware ELF of board '{board}': {reason}; run `cargo xtask build` to make it anew")]
    Elf {
        /// The board.
        board: String,
        /// What is wrong.
        reason: String,
    },
    /// Firmware or plan is larger than its part of the flash.
    #[error("{what} takes {needed} bytes of flash, {had} are there")]
    TooLarge {
        /// `firmware` or `plan image`.
        what: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes had.
        had: u64,
    },
}

/// The firmware of a board with a plan: one set of bytes, in the forms that tools ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirmwareImage {
    /// The ELF file: what the emulator runs.
    pub elf: Vec<u8>,
    /// Flash contents from [`Self::address`] on.
    pub bin: Vec<u8>,
    /// Address of the first byte of `bin`.
    pub address: u32,
    /// Address of the plan image.
    pub plan_address: u32,
    /// Bytes of flash that the firmware itself takes.
    pub firmware_bytes: u32,
    /// The same as UF2, if the board takes such files.
    pub uf2: Option<Vec<u8>>,
}

impl FirmwareImage {
    /// Joins the firmware's ELF file with a plan image.
    ///
    /// # Errors
    /// [`FirmwareError`]; the plan image itself is not looked at.
    pub fn new(firmware: &[u8], plan_image: &[u8], board: &Board) -> Result<Self, FirmwareError> {
        let (Some(place), Some(plan_address)) = (&board.firmware, board.plan_address()) else {
            return Err(FirmwareError::NoFirmware(board.id.clone()));
        };
        let had = board.plan_bytes().0;
        if plan_image.len() as u64 > had {
            let needed = plan_image.len() as u64;
            return Err(FirmwareError::TooLarge { what: "plan image", needed, had });
        }
        let elf_error = |error: object::build::Error| FirmwareError::Elf {
            board: board.id.clone(),
            reason: error.to_string(),
        };
        let mut builder = Builder::read(firmware).map_err(elf_error)?;
        let mut bin: Vec<u8> = Vec::new();
        let firmware_end = place.flash_bytes.0;
        for segment in builder.segments.iter().filter(|s| s.p_type == elf::PT_LOAD) {
            let Some(start) = segment.p_paddr.checked_sub(u64::from(place.flash_address)) else {
                continue;
            };
            for section in segment.sections.iter().map(|id| builder.sections.get(*id)) {
                let SectionData::Data(data) = &section.data else { continue };
                if data.is_empty() {
                    continue;
                }
                let offset = start + section.sh_addr.wrapping_sub(segment.p_vaddr);
                let end = offset.saturating_add(data.len() as u64);
                if end > firmware_end {
                    let had = firmware_end;
                    return Err(FirmwareError::TooLarge { what: "firmware", needed: end, had });
                }
                let range = size(offset)..size(end);
                bin.resize(bin.len().max(range.end), ERASED);
                bin[range].copy_from_slice(data);
            }
        }
        let firmware_bytes = u32::try_from(bin.len()).map_err(|_| past_4_gib(&board.id))?;
        bin.resize(size(firmware_end), ERASED);
        bin.extend_from_slice(plan_image);
        add_plan(&mut builder, plan_image, plan_address);
        let mut elf = Vec::new();
        builder.write(&mut elf).map_err(elf_error)?;
        let address = place.flash_address;
        let uf2 = place.uf2_family.map(|family| uf2::of(&bin, address, family));
        let uf2 = uf2.map(|file| file.ok_or_else(|| past_4_gib(&board.id))).transpose()?;
        Ok(Self { elf, bin, address, plan_address, firmware_bytes, uf2 })
    }

    /// The flash contents as Intel HEX.
    ///
    /// # Errors
    /// [`FirmwareError::Elf`] if the contents reach past 4 GiB.
    pub fn hex(&self) -> Result<String, FirmwareError> {
        let mut records = Vec::with_capacity(self.bin.len() / HEX_RECORD_BYTES + 32);
        let mut upper = None;
        for (index, chunk) in self.bin.chunks(HEX_RECORD_BYTES).enumerate() {
            if chunk.iter().all(|byte| *byte == ERASED) {
                continue;
            }
            let address = u32::try_from(index * HEX_RECORD_BYTES).ok();
            let address = address.and_then(|offset| self.address.checked_add(offset));
            let [upper_high, high, upper_low, low] =
                address.ok_or_else(|| past_4_gib(""))?.to_be_bytes();
            let [high, low] = [[upper_high, high], [upper_low, low]].map(u16::from_be_bytes);
            if upper != Some(high) {
                records.push(Record::ExtendedLinearAddress(high));
                upper = Some(high);
            }
            records.push(Record::Data { offset: low, value: chunk.to_vec() });
        }
        records.push(Record::EndOfFile);
        let mut text = String::new();
        for record in &records {
            let line = record.to_record_string().map_err(|error| FirmwareError::Elf {
                board: String::new(),
                reason: error.to_string(),
            })?;
            text.push_str(&line);
            text.push('\n');
        }
        Ok(text)
    }
}

/// Flash contents that no address reaches.
fn past_4_gib(board: &str) -> FirmwareError {
    FirmwareError::Elf { board: board.to_owned(), reason: "it reaches past 4 GiB".to_owned() }
}

/// Room made for one more program header: a multiple of every alignment that flash sections have.
const HEADER_ROOM: u64 = 4096;

/// Adds a loadable section `.plan` that holds the plan image.
fn add_plan(builder: &mut Builder<'_>, plan_image: &[u8], address: u32) {
    for segment in builder.segments.iter_mut() {
        segment.p_offset += HEADER_ROOM;
    }
    for section in builder.sections.iter_mut() {
        section.sh_offset += HEADER_ROOM;
    }
    let section = builder.sections.add();
    section.name = b".plan"[..].into();
    section.sh_type = elf::SHT_PROGBITS;
    section.sh_flags = u64::from(elf::SHF_ALLOC);
    section.sh_addralign = tilewright_plan::image::ALIGNMENT as u64;
    section.sh_size = plan_image.len() as u64;
    section.data = SectionData::Data(plan_image.to_vec().into());
    let segment =
        builder.segments.add_load_segment(elf::PF_R, tilewright_plan::image::ALIGNMENT as u64);
    segment.p_offset = segment.p_offset.next_multiple_of(HEADER_ROOM);
    segment.p_vaddr = u64::from(address);
    segment.p_paddr = u64::from(address);
    segment.append_section(section);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_past_4_gib_have_no_intel_hex() {
        let with = |address| FirmwareImage {
            elf: Vec::new(),
            bin: vec![0; 2 * HEX_RECORD_BYTES],
            address,
            plan_address: address,
            firmware_bytes: 0,
            uf2: None,
        };
        let text = with(0xffff_ffe0).hex().unwrap();
        assert!(text.starts_with(":02000004FFFFFC\n:10FFE000"), "{text}");
        let error = with(0xffff_fff0).hex().unwrap_err();
        assert!(error.to_string().contains("past 4 GiB"), "{error}");
    }
}
