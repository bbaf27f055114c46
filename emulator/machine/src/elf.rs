//! The ELF file: what is loaded where, and the names of functions.

use object::elf::{EM_ARM, PT_LOAD};
use object::read::elf::{ElfFile32, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, Object as _, ObjectSymbol as _, SymbolKind};
use thiserror::Error;

/// Name of the function that firmware calls to say how far it is.
const MARK: &str = "tilewright_mark";
const COMPUTE: &str = "tilewright_compute";

/// Why a file is no firmware.
#[derive(Debug, Error)]
pub enum ElfError {
    /// No ELF file, or a broken one.
    #[error("not a readable 32-bit little-endian ELF file: {0}")]
    Malformed(#[from] object::read::Error),
    /// An ELF file for another processor.
    #[error("the ELF file is for machine {0}, not for Arm (40)")]
    Machine(u16),
}

/// What is loaded and known of its functions.
#[derive(Clone, Debug, Default)]
pub struct Firmware {
    /// Bytes by the address at which they are stored.
    pub segments: Vec<(u32, Vec<u8>)>,
    /// Functions by address: start, end, name.
    pub functions: Vec<(u32, u32, String)>,
    /// Address of `tilewright_mark`.
    pub mark: Option<u32>,
    /// Address of `tilewright_compute`.
    pub compute: Option<u32>,
}

impl Firmware {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// [`ElfError`] if it cannot be read or is for another processor.
    pub fn from_elf(bytes: &[u8]) -> Result<Self, ElfError> {
        let file = ElfFile32::<LittleEndian>::parse(bytes)?;
        let endian = file.endian();
        let machine = file.elf_header().e_machine(endian);
        if machine != EM_ARM {
            return Err(ElfError::Machine(machine));
        }
        let mut firmware = Self::default();
        for header in file.elf_program_headers() {
            if header.p_type(endian) != PT_LOAD {
                continue;
            }
            let data = header.data(endian, bytes).unwrap_or(&[]);
            if !data.is_empty() {
                firmware.segments.push((header.p_paddr(endian), data.to_vec()));
            }
        }
        for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
            let Ok(name) = symbol.name() else { continue };
            // Bit 0 says that the function is Thumb code.
            let start = symbol.address() as u32 & !1;
            match name {
                MARK => firmware.mark = Some(start),
                COMPUTE => firmware.compute = Some(start),
                _ => {}
            }
            // Mapping symbols ($t, $d) name no function.
            if !name.is_empty() && !name.starts_with('$') {
                let end = start.saturating_add(symbol.size() as u32);
                firmware.functions.push((
                    start,
                    end,
                    format!("{:#}", rustc_demangle::demangle(name)),
                ));
            }
        }
        firmware.functions.sort();
        Ok(firmware)
    }

    /// Name of the function that an address lies in, with the offset.
    #[must_use]
    pub fn function(&self, address: u32) -> String {
        let after = self.functions.partition_point(|(start, _, _)| *start <= address);
        match after.checked_sub(1).and_then(|index| self.functions.get(index)) {
            // Functions in assembly have no size.
            Some((start, end, name)) if address < *end || start == end => match address - start {
                0 => name.clone(),
                offset => format!("{name} + 0x{offset:x}"),
            },
            _ => String::new(),
        }
    }

    /// The bytes from an address on, as far as one segment holds them.
    #[must_use]
    pub fn bytes_at(&self, address: u32) -> Option<&[u8]> {
        self.segments.iter().find_map(|(start, bytes)| {
            let offset = address.checked_sub(*start)? as usize;
            bytes.get(offset..).filter(|rest| !rest.is_empty())
        })
    }
}
