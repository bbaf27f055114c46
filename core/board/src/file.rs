//! Board files, as `boards/*.toml` hold them. The build script reads them, so that programs need
//! no parser.

use crate::board::{Board, MemoryKind};

/// Reads the board file that is named `id`.
///
/// # Errors
/// What is wrong, with the place in the text.
pub fn parse(id: &str, text: &str) -> Result<Board, String> {
    let board: Board = toml::from_str(text).map_err(|error| error.to_string())?;
    if board.id != id {
        return Err(format!("its id is '{}'", board.id));
    }
    if board.id.len() > 24 {
        return Err("an id has at most 24 bytes".to_owned());
    }
    if let Some(firmware) = &board.firmware {
        let arena = (u64::from(firmware.arena_address), firmware.arena_bytes.0);
        let image = (u64::from(firmware.flash_address), firmware.flash_bytes.0);
        if !board.holds(arena.0, arena.1, |k| matches!(k, MemoryKind::Dtcm | MemoryKind::Sram)) {
            return Err("the arena lies outside internal SRAM".to_owned());
        }
        if !board.holds(image.0, image.1, |k| k == MemoryKind::Flash) {
            return Err("the firmware lies outside internal flash".to_owned());
        }
    }
    Ok(board)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "stm32f746g-disco";
    const TEXT: &str = include_str!("../../../boards/stm32f746g-disco.toml");

    #[test]
    fn what_programs_see_is_what_the_file_says() {
        assert_eq!(parse(ID, TEXT), Ok(crate::find(ID).unwrap()));
    }

    #[test]
    fn an_arena_outside_of_sram_is_refused() {
        let text = TEXT.replace("arena_address = 0x2000_4000", "arena_address = 0x2000_4020");
        assert!(parse(ID, &text).unwrap_err().contains("outside internal SRAM"));
    }

    #[test]
    fn a_name_or_a_field_that_is_wrong_is_named() {
        assert!(parse("another", TEXT).unwrap_err().contains(ID));
        let error = parse(ID, &TEXT.replace("console_baud", "consle_baud")).unwrap_err();
        assert!(error.contains("consle_baud"), "{error}");
    }
}
