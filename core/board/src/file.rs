//! Board files, as `boards/*.toml` hold them, with what `chips/*.toml` say of every board with a chip; and files of cards,
//! as `boards/cards/*.toml` do. The build script reads them, so that programs need no parser.

use toml::{Table, Value};

use crate::board::{Board, MemoryKind};
use crate::card::Card;
use crate::power::Draw;
use crate::timing::{Access, FlashLines};

/// Reads the board file that is named `id`, with the files of chips, by name.
///
/// # Errors
/// What is wrong.
pub fn parse(
    id: &str,
    text: &str,
    chip: impl FnOnce(&str) -> Result<String, String>,
) -> Result<Board, String> {
    let mut file: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    if let Some(name) = file.get("chip").and_then(Value::as_str) {
        let told = |error: &dyn std::fmt::Display| format!("chips/{name}.toml: {error}");
        let text = chip(name).map_err(|error| told(&error))?;
        let mut chip: Table = toml::from_str(&text).map_err(|error| told(&error))?;
        if let Some(Value::Table(said)) = chip.remove("board") {
            file = merged(file, said);
        }
    }
    let board: Board = file.try_into().map_err(|error: toml::de::Error| error.to_string())?;
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
    for memory in &board.memory {
        if let Some(waits) = &memory.waits {
            let none = |lines: &FlashLines| {
                lines.ways == 0 || lines.lines < lines.ways || !lines.line_bytes.is_power_of_two()
            };
            if memory.kind != MemoryKind::Flash || none(&waits.code) || none(&waits.constants) {
                return Err(format!("'{}' keeps no lines of flash", memory.name));
            }
        }
        let Some(timing) = &memory.timing else { continue };
        let accesses = [timing.core_write, timing.dma_read, timing.dma_write];
        let stands = |access: &Access| access.bytes_per_second == 0;
        if accesses.iter().flatten().chain([&timing.core_read]).any(stands) {
            return Err(format!("accesses to '{}' never end", memory.name));
        }
    }
    for engine in &board.engine {
        let least = [engine.alignment, engine.burst_bytes, engine.queue].into_iter().min();
        if least == Some(0) || engine.largest_bytes.0 < u64::from(engine.burst_bytes) {
            return Err(format!("engine '{}' moves nothing", engine.name));
        }
    }
    if board.slot.as_ref().is_some_and(|slot| slot.bytes_per_second == 0) {
        return Err("the slot carries nothing".to_owned());
    }
    if let Some(power) = &board.power {
        let others = [power.outside.as_ref(), power.brought.as_ref()];
        [Some(&power.inside)].into_iter().chain(others).flatten().try_for_each(ordered)?;
    }
    Ok(board)
}

/// What a board's file says and what its chip's says of every board: the board's own values count, its lists go on
/// behind the chip's.
fn merged(mut own: Table, said: Table) -> Table {
    for (key, said) in said {
        let value = match (own.remove(&key), said) {
            (None, said) => said,
            (Some(Value::Table(own)), Value::Table(said)) => Value::Table(merged(own, said)),
            (Some(Value::Array(own)), Value::Array(mut said)) => {
                said.extend(own);
                Value::Array(said)
            }
            (Some(own), _) => own,
        };
        own.insert(key, value);
    }
    own
}

/// Reads the file of a class of cards that is named `id`.
///
/// # Errors
/// What is wrong, with the place in the text.
pub fn parse_card(id: &str, text: &str) -> Result<Card, String> {
    let card: Card = toml::from_str(text).map_err(|error| error.to_string())?;
    if card.id != id {
        return Err(format!("its id is '{}'", card.id));
    }
    if card.read.bytes_per_second == 0 || card.write.bytes_per_second == 0 {
        return Err("commands never end".to_owned());
    }
    if let Some(endurance) = &card.endurance {
        let [least, most] = endurance.cycles;
        if least == 0 || most < least || endurance.program_bytes == 0 {
            return Err("its endurance is no range above zero".to_owned());
        }
    }
    card.power.iter().try_for_each(ordered)?;
    Ok(card)
}

fn ordered(draw: &Draw) -> Result<(), String> {
    if draw.most_mw < draw.least_mw {
        let Draw { least_mw, most_mw, .. } = draw;
        return Err(format!("a power of {least_mw} to {most_mw} mW is no range"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "stm32f746g-disco";
    const TEXT: &str = include_str!("../../../boards/stm32f746g-disco.toml");
    const CHIP: &str = include_str!("../../../chips/stm32f746xg.toml");

    fn parse(id: &str, text: &str) -> Result<Board, String> {
        super::parse(id, text, |_| Ok(CHIP.to_owned()))
    }

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
    fn a_memory_that_never_answers_is_refused() {
        let text = TEXT.replace("bytes_per_second = 54_000_000", "bytes_per_second = 0");
        assert!(parse(ID, &text).unwrap_err().contains("never end"));
        let text = include_str!("../../../boards/cards/paper-swapnn.toml");
        assert!(parse_card("paper-swapnn", text).is_ok());
        let text = text.replace("bytes_per_second = 5_000_000", "bytes_per_second = 0");
        assert!(parse_card("paper-swapnn", &text).unwrap_err().contains("never end"));
    }

    #[test]
    fn flash_without_lines_is_refused() {
        for lines in
            ["line_bytes = 32, lines = 1, ways = 2", "line_bytes = 24, lines = 128, ways = 2"]
        {
            let chip = CHIP.replace("line_bytes = 32, lines = 128, ways = 2", lines);
            let told = super::parse(ID, TEXT, |_| Ok(chip)).unwrap_err();
            assert!(told.contains("keeps no lines"), "{told}");
        }
    }

    #[test]
    fn ranges_that_are_none_are_refused() {
        let text = TEXT.replace("most_mw = 770", "most_mw = 76");
        assert!(parse(ID, &text).unwrap_err().contains("770 to 76 mW"));
        let text = include_str!("../../../boards/cards/sd-class10.toml");
        let text = text.replace("cycles = [300, ", "cycles = [0, ");
        assert!(parse_card("sd-class10", &text).unwrap_err().contains("endurance"));
    }

    #[test]
    fn a_board_adds_to_its_chip_and_changes_it() {
        let own = "[core]\nclock = { hertz = 200_000_000, source = \"slower\" }\n";
        let board = parse(ID, &format!("{TEXT}\n{own}")).unwrap();
        assert_eq!((board.core.clock.hertz.0, board.core.kind.id()), (200_000_000, "cortex-m7"));
        let kinds: Vec<_> = board.memory.iter().map(|memory| memory.kind).collect();
        assert_eq!((kinds[0], kinds[5]), (MemoryKind::Itcm, MemoryKind::Sdram));
        let told = super::parse(ID, TEXT, |_| Err("gone".to_owned())).unwrap_err();
        assert_eq!(told, "chips/stm32f746xg.toml: gone");
    }

    #[test]
    fn a_name_or_a_field_that_is_wrong_is_named() {
        assert!(parse("another", TEXT).unwrap_err().contains(ID));
        let error = parse(ID, &TEXT.replace("console_baud", "consle_baud")).unwrap_err();
        assert!(error.contains("consle_baud"), "{error}");
    }
}
