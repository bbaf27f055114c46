//! From a plan's settings to board, strategy and the planner's choices.

use std::num::NonZeroU32;

use tilewright_board::Board;
use tilewright_model::tiling::{Grid, Tiling};
use tilewright_plan::{Bytes, Hertz};
use tilewright_planner::{Confidence, ExitError, Exits, Options, Overlaid, Strategy};
use tilewright_report::{Blame, Diagnostic, Kernels, MOST_FRAMES, Outputs, PlanSettings, sentence};

/// What settings name, looked up.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The board with the firmware that is asked for.
    pub board: Board,
    /// The way to plan.
    pub strategy: Strategy,
    /// The planner's choices.
    pub options: Options,
}

/// The board with the firmware that is asked for, at the clock that is asked for.
///
/// # Errors
/// [`Blame::BadInput`] at `board` or `kernels`.
pub fn board_of(settings: &PlanSettings) -> Result<Board, Diagnostic> {
    let lists = "Choose a board of the list of boards.";
    let board = tilewright_board::find(&settings.board.to_lowercase())
        .map_err(|error| wrong("board", &error.to_string(), lists))?;
    let mut board = match settings.kernels {
        Kernels::Fast => board,
        Kernels::Small => board.small().ok_or_else(|| {
            let what = format!("there is no firmware with small kernels for '{}'", board.id);
            wrong("kernels", &what, "Leave out the small kernels.")
        })?,
    };
    if let Some(clock) = settings.clock_hz {
        board.core.clock.hertz = Hertz(clock.max(1));
    }
    Ok(board)
}

/// Board, strategy and choices.
///
/// # Errors
/// [`Blame::BadInput`] whose place is the key of the setting that is wrong.
pub fn resolve(settings: &PlanSettings) -> Result<Resolved, Diagnostic> {
    let board = board_of(settings)?;
    let strategy = match settings.strategy.as_str() {
        "" => Strategy::Resident,
        name => name
            .parse()
            .map_err(|error| of_word("strategy", &error, "Choose one of the strategies."))?,
    };
    let frames = NonZeroU32::new(settings.frames.unwrap_or(1)).filter(|n| n.get() <= MOST_FRAMES);
    let frames = frames.ok_or_else(|| {
        let what = format!("a plan is of 1 to {MOST_FRAMES} frames");
        wrong("frames", &what, "Give a number in that range.")
    })?;
    if let Some(card) = &settings.card {
        if board.slot.is_none() {
            let what = format!("{} has no place for a card", board.id);
            return Err(wrong("card", &what, "Choose a board that has one."));
        }
        let what_to_do = "Leave it out for the card that goes with the board.";
        tilewright_board::find_card(card).map_err(|error| of_word("card", &error, what_to_do))?;
    }
    let options = Options {
        sram: settings.sram_bytes.map(Bytes),
        buffer: settings.buffer_bytes.map(Bytes),
        frames,
        card: settings.card(&board),
        objective: settings.objective,
        is_inside: settings.inside,
        integrity: settings.integrity,
        packing: settings.packing,
        tiling: tiling(settings)?,
        streams_input: settings.stream_input,
        exits: exits(settings)?,
        overlaid: match settings.outputs {
            Outputs::Direct => Overlaid::THESIS,
            Outputs::Staged => Overlaid::ALL,
        },
        ..Options::default()
    };
    Ok(Resolved { board, strategy, options })
}

fn exits(settings: &PlanSettings) -> Result<Exits, Diagnostic> {
    let confidence = match settings.exit_confidence {
        None => None,
        Some(number) => Some(Confidence::new(number).ok_or_else(|| {
            let error = ExitError::NoConfidence(number.to_string());
            of_word("exit_confidence", &error, "Give a number such as 0.9.")
        })?),
    };
    Ok(Exits { subnetworks: settings.exits, confidence })
}

fn tiling(settings: &PlanSettings) -> Result<Option<Tiling>, Diagnostic> {
    let threshold = match settings.threshold {
        None => Tiling::PUBLISHED.threshold,
        Some(_) if settings.tiles.is_none() => {
            return Err(wrong("threshold", "a threshold is of tiles", "Choose tiles too."));
        }
        Some(part) if (0.0..=1.0).contains(&part) => (part * 1000.0).round() as u16,
        Some(_) => return Err(wrong("threshold", "this is no part of one", "Give 0 to 1.")),
    };
    let grid = settings.tiles.as_ref().map(|text| text.parse::<Grid>()).transpose();
    let grid =
        grid.map_err(|error| of_word("tiles", &error, "Give rows by columns, such as 2x2."))?;
    Ok(grid.map(|grid| Tiling { grid, threshold }))
}

fn wrong(key: &str, what: &str, what_to_do: &str) -> Diagnostic {
    Diagnostic::new(Blame::BadInput, sentence(what), key, what_to_do)
}

fn of_word(key: &str, error: &dyn std::fmt::Display, what_to_do: &str) -> Diagnostic {
    wrong(key, &error.to_string(), what_to_do)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> PlanSettings {
        PlanSettings { board: "STM32F746G-DISCO".to_owned(), ..PlanSettings::default() }
    }

    #[test]
    fn nothing_given_is_the_planners_usual() {
        let Resolved { board, strategy, options } = resolve(&settings()).unwrap();
        assert_eq!(board.id, "stm32f746g-disco");
        assert_eq!(strategy, Strategy::Resident);
        let card = tilewright_board::find_card(&board.slot.unwrap().card).ok();
        assert_eq!(options, Options { card, ..Options::default() });
    }

    #[test]
    fn wrong_settings_are_named() {
        let text = |text: &str| Some(text.to_owned());
        let wrong = [
            ("board", PlanSettings { board: "pdp-11".to_owned(), ..settings() }),
            ("strategy", PlanSettings { strategy: "best".to_owned(), ..settings() }),
            ("frames", PlanSettings { frames: Some(0), ..settings() }),
            ("frames", PlanSettings { frames: Some(MOST_FRAMES + 1), ..settings() }),
            ("card", PlanSettings { card: text("floppy"), ..settings() }),
            ("tiles", PlanSettings { tiles: text("2"), ..settings() }),
            ("threshold", PlanSettings { threshold: Some(0.5), ..settings() }),
            ("threshold", PlanSettings { tiles: text("2x2"), threshold: Some(2.0), ..settings() }),
            ("exit_confidence", PlanSettings { exit_confidence: Some(1.5), ..settings() }),
            ("kernels", PlanSettings::default().on_board("stm32l552e-ev-small")),
        ];
        for (key, settings) in wrong {
            let problem = resolve(&settings).unwrap_err();
            assert_eq!((problem.kind, problem.place.as_str()), (Blame::BadInput, key));
            assert!(problem.what.ends_with('.'), "{}", problem.what);
        }
    }

    #[test]
    fn small_kernels_are_a_firmware_of_the_same_board() {
        let small = PlanSettings { kernels: Kernels::Small, ..settings() };
        assert_eq!(board_of(&small).unwrap().id, small.board_id());
        assert_ne!(small.board_id(), settings().board_id());
    }
}
