//! How much code the kernels are.

use object::{Object, ObjectSymbol, SymbolKind};
use tilewright_board::Board;
use tilewright_tests::emulated;

/// Most bytes of small kernels.
pub const SMALL: u64 = 20 << 10;
/// Most bytes of fast ones.
pub const FAST: u64 = 48 << 10;

/// Bytes of the functions of the kernels' crate in a board's firmware. What was inlined into the
/// functions of other crates is not among them.
///
/// # Errors
/// If the firmware is not built or is no ELF file.
pub fn kernel_bytes(board: &Board) -> Result<u64, String> {
    let bytes = emulated::firmware(board)?;
    let file = object::File::parse(bytes.as_slice()).map_err(|e| e.to_string())?;
    let of_kernels = |symbol: &object::Symbol<'_, '_>| {
        symbol.kind() == SymbolKind::Text
            && symbol.name().is_ok_and(|name| name.contains("tilewright_kernels"))
    };
    Ok(file.symbols().filter(of_kernels).map(|symbol| symbol.size()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_kernels_fit() {
        for board in emulated::of_every_core() {
            let bytes = kernel_bytes(&board).unwrap();
            assert!((SMALL..=FAST).contains(&bytes), "{}: {bytes} of {FAST} bytes", board.id);
        }
    }

    #[test]
    fn small_kernels_are_small() {
        let boards = emulated::of_every_core();
        let small: Vec<Board> = boards.iter().filter_map(Board::small).collect();
        assert!(small.len() >= 2);
        for board in small {
            let bytes = kernel_bytes(&board).unwrap();
            assert!((1024..=SMALL).contains(&bytes), "{}: {bytes} of {SMALL} bytes", board.id);
        }
    }
}
