//! What was found, in the file of a board: the lines of its figures are replaced, all others stay.

use super::Found;

/// Where a figure stands: the table with its lane, if it has one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Between,
    DriverOverhead(Lane),
    Elsewhere,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    Dma,
    Card,
    Other,
}

/// The file with these figures.
///
/// # Errors
/// If it has no place for one of them.
pub fn with(text: &str, found: &Found) -> Result<String, String> {
    let (mut place, mut lane) = (Place::Elsewhere, Lane::Other);
    let mut written = Vec::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.trim() {
            "[[engine]]" => (place, lane) = (Place::Elsewhere, Lane::Other),
            "lane = \"dma\"" => lane = Lane::Dma,
            "lane = \"card\"" => lane = Lane::Card,
            "[engine.driver_overhead]" => place = Place::DriverOverhead(lane),
            "[firmware.between]" => place = Place::Between,
            header if header.starts_with('[') => place = Place::Elsewhere,
            _ => {}
        }
        let figure =
            line.split_once(" = ").and_then(|(key, _)| Some((key, figure(place, key, found)?)));
        lines.push(match figure {
            Some((key, value)) => {
                written.push((place, key));
                format!("{key} = {value}")
            }
            None => line.to_owned(),
        });
    }
    let wanted = [
        (Place::Between, "step_cycles", "[firmware.between]"),
        (
            Place::DriverOverhead(Lane::Dma),
            "begin_cycles",
            "[engine.driver_overhead] of the DMA engine",
        ),
        (
            Place::DriverOverhead(Lane::Card),
            "begin_cycles",
            "[engine.driver_overhead] of the card's engine",
        ),
    ];
    match wanted.iter().find(|(place, key, _)| !written.contains(&(*place, key))) {
        Some((_, key, table)) => Err(format!("no {key} in {table}")),
        None => Ok(lines.join("\n") + "\n"),
    }
}

/// The figure of a key; nothing if it stays. Beginning and end of a copy are taken to be halves.
fn figure(place: Place, key: &str, found: &Found) -> Option<u64> {
    let copy = match place {
        Place::Between => return (key == "step_cycles").then_some(found.step / 1000),
        Place::DriverOverhead(Lane::Dma) => found.copy / 1000,
        Place::DriverOverhead(Lane::Card) => found.card_copy / 1000,
        Place::DriverOverhead(Lane::Other) | Place::Elsewhere => return None,
    };
    match key {
        "begin_cycles" => Some(copy.div_ceil(2)),
        "end_cycles" => Some(copy / 2),
        "piece_cycles" if place == Place::DriverOverhead(Lane::Dma) => {
            found.piece.map(|piece| piece / 1000)
        }
        "line_millicycles" => Some(found.line),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "id = \"b\"\n[[engine]]\nlane = \"dma\"\n[engine.driver_overhead]\nbegin_cycles = 1\nend_cycles = 2\n\
        piece_cycles = 3\nline_millicycles = 4\nsource = \"s\"\n[[engine]]\nlane = \"card\"\n\
        [engine.driver_overhead]\nbegin_cycles = 5\nend_cycles = 6\npiece_cycles = 7\nline_millicycles = 8\n\
        [slot]\nbegin_cycles = 9\n[firmware.between]\nstep_cycles = 10\n";

    const FOUND: Found = Found {
        board: "b",
        step: 700_900,
        copy: 1_131_000,
        piece: None,
        line: 1624,
        card_copy: 3_063_106,
    };

    #[test]
    fn figures_go_where_they_stand_and_nothing_else_changes() {
        let written = with(FILE, &FOUND).expect("it has all places");
        let expected = FILE
            .replace("begin_cycles = 1\n", "begin_cycles = 566\n")
            .replace("end_cycles = 2\n", "end_cycles = 565\n")
            .replace("line_millicycles = 4", "line_millicycles = 1624")
            .replace("begin_cycles = 5\n", "begin_cycles = 1532\n")
            .replace("end_cycles = 6\n", "end_cycles = 1531\n")
            .replace("line_millicycles = 8", "line_millicycles = 1624")
            .replace("step_cycles = 10\n", "step_cycles = 700\n");
        assert_eq!(written, expected);
        let many = with(FILE, &Found { piece: Some(800_400), ..FOUND }).expect("likewise");
        assert!(many.contains("piece_cycles = 800\n") && many.contains("piece_cycles = 7\n"));
        assert_eq!(with(&written, &FOUND), Ok(written), "the same once more");
    }

    #[test]
    fn a_file_without_a_place_is_told() {
        let without = FILE.replace("step_cycles = 10\n", "");
        assert_eq!(with(&without, &FOUND), Err("no step_cycles in [firmware.between]".to_owned()));
        let without = FILE.replace("lane = \"card\"", "lane = \"other\"");
        let told = with(&without, &FOUND).expect_err("no card");
        assert!(told.contains("the card's engine"), "{told}");
    }
}
