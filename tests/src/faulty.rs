//! Built things whose firmware has a fault.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol};

use crate::emulated::dist;

/// The instruction `udf #0`, which every Arm core refuses.
const UNDEFINED: [u8; 2] = [0x00, 0xde];

/// Lays out built things in `folder` as in `dist`, but for one instruction of the board's firmware:
/// the first of its max pooling is undefined.
///
/// # Panics
/// If something is not built, or the firmware has no such kernel.
pub fn lay_out(folder: &Path, board: &str) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder.join("firmware")).unwrap_or_else(|e| panic!("{e}"));
    for name in ["bin", "page"] {
        symlink(dist().join(name), folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    let name = Path::new("firmware").join(board).with_extension("elf");
    let mut elf =
        fs::read(dist().join(&name)).unwrap_or_else(|e| panic!("{e}: run `cargo xtask build`"));
    let at = place_of(&elf, "max_pool").unwrap_or_else(|| panic!("{board} has no max pooling"));
    elf[at..at + 2].copy_from_slice(&UNDEFINED);
    fs::write(folder.join(&name), elf).unwrap_or_else(|e| panic!("{e}"));
}

/// Where in the file the longest kernel function lies whose name holds `name`, pools that are fused
/// with convolutions aside.
fn place_of(elf: &[u8], name: &str) -> Option<usize> {
    let file = object::File::parse(elf).ok()?;
    let symbol = file
        .symbols()
        .filter(|symbol| {
            let is = |part: &str| symbol.name().is_ok_and(|name| name.contains(part));
            is("kernels") && is(name) && !is("conv_max_pool")
        })
        .max_by_key(ObjectSymbol::size)?;
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let (start, _) = section.file_range()?;
    // The lowest bit of a function's address says that it is Thumb code.
    let offset = (symbol.address() & !1).checked_sub(section.address())?;
    usize::try_from(start + offset).ok()
}
