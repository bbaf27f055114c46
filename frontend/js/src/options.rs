//! What JavaScript gives: options as an object, bytes, numbers, words.

use std::num::NonZeroU32;

use js_sys::{ArrayBuffer, Object, Uint8Array};
use tilewright_app::Diagnostic;
use tilewright_board::Board;
use tilewright_model::quantise::{QuantiseOptions, RangeRule};
use tilewright_model::tiling::{Grid, Tiling};
use tilewright_plan::{Bytes, Micros};
use tilewright_planner::{Integrity, Objective, Options, Overlaid, Packing, Strategy};
use wasm_bindgen::{JsCast, JsValue};

use crate::work::wrong;

/// Most frames that are simulated: timelines of more would fill memory.
const MOST_FRAMES: u64 = 1000;
/// The largest whole number that JavaScript writes exactly.
const LARGEST: f64 = 9_007_199_254_740_991.0;

/// A value, as far as options need it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `undefined` or `null`: as if it had not been given.
    Nothing,
    /// A word.
    Text(String),
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// A Uint8Array or an ArrayBuffer.
    Bytes(Vec<u8>),
    /// An object's own entries.
    Entries(Vec<(String, Value)>),
    /// Anything else.
    Other,
}

impl Value {
    /// The value of this name in JavaScript.
    pub fn of(value: &JsValue) -> Self {
        if value.is_undefined() || value.is_null() {
            Self::Nothing
        } else if let Some(text) = value.as_string() {
            Self::Text(text)
        } else if let Some(number) = value.as_f64() {
            Self::Number(number)
        } else if let Some(flag) = value.as_bool() {
            Self::Flag(flag)
        } else if let Some(bytes) = value.dyn_ref::<Uint8Array>() {
            Self::Bytes(bytes.to_vec())
        } else if let Some(buffer) = value.dyn_ref::<ArrayBuffer>() {
            Self::Bytes(Uint8Array::new(buffer).to_vec())
        } else if let Some(object) = value.dyn_ref::<Object>() {
            let entry = |entry: JsValue| {
                let entry = js_sys::Array::from(&entry);
                Some((entry.get(0).as_string()?, Self::of(&entry.get(1))))
            };
            Self::Entries(Object::entries(object).iter().filter_map(entry).collect())
        } else {
            Self::Other
        }
    }

    fn text(self, option: &str) -> Result<String, Diagnostic> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(wrong(option, "this is no text", "Give a string.")),
        }
    }

    fn flag(self, option: &str) -> Result<bool, Diagnostic> {
        match self {
            Self::Flag(flag) => Ok(flag),
            _ => Err(wrong(option, "this is neither true nor false", "Give true or false.")),
        }
    }

    fn number(self, option: &str) -> Result<f64, Diagnostic> {
        match self {
            Self::Number(number) if number.is_finite() => Ok(number),
            _ => Err(wrong(option, "this is no number", "Give a number.")),
        }
    }

    fn whole(self, option: &str) -> Result<u64, Diagnostic> {
        match self {
            Self::Number(number) if number.fract() == 0.0 && (0.0..=LARGEST).contains(&number) => {
                Ok(number as u64)
            }
            _ => Err(wrong(option, "this is no whole number", "Give a whole number from 0 on.")),
        }
    }

    fn bytes(self, option: &str) -> Result<Vec<u8>, Diagnostic> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(wrong(option, "these are no bytes", "Give a Uint8Array or an ArrayBuffer.")),
        }
    }

    fn entries(self, option: &str) -> Result<Vec<(String, Self)>, Diagnostic> {
        match self {
            Self::Entries(entries) => Ok(entries),
            _ => Err(wrong(option, "this is no object", "Give an object of names and values.")),
        }
    }
}

/// The word of an option that knows some.
fn word<T: Copy>(value: Value, option: &str, words: &[(&str, T)]) -> Result<T, Diagnostic> {
    let text = value.text(option)?;
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        wrong(option, &format!("\"{text}\" is unknown"), &format!("Give {}.", known.join(" or ")))
    })
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// The model file's name.
    pub name: String,
    /// Sizes of dimensions that the file leaves open.
    pub dims: Vec<(String, usize)>,
    /// Files that the model's weights lie in, by name.
    pub data: Vec<(String, Vec<u8>)>,
    /// A .npy file to quantise on.
    pub samples: Option<Vec<u8>>,
    /// Strategy.
    pub strategy: Strategy,
    /// Time from one frame to the next, for wear.
    pub period: Option<Micros>,
    calibration: Option<RangeRule>,
    board: Option<String>,
    is_small: bool,
    card: Option<String>,
    tiles: Option<Grid>,
    threshold: Option<u16>,
    choices: Options,
}

impl Default for Wishes {
    fn default() -> Self {
        Self {
            name: "model".to_owned(),
            dims: Vec::new(),
            data: Vec::new(),
            samples: None,
            strategy: Strategy::Resident,
            period: None,
            calibration: None,
            board: None,
            is_small: false,
            card: None,
            tiles: None,
            threshold: None,
            choices: Options::default(),
        }
    }
}

impl Wishes {
    /// The wishes of an options object.
    ///
    /// # Errors
    /// If an option is unknown, or its value is not as it must be.
    pub fn of(options: &JsValue) -> Result<Self, Diagnostic> {
        Self::read(Value::of(options))
    }

    /// The wishes of an options object, or of a file's name alone.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn of_name(name: &JsValue) -> Result<Self, Diagnostic> {
        match Value::of(name) {
            Value::Text(name) => Ok(Self { name, ..Self::default() }),
            options => Self::read(options),
        }
    }

    fn read(options: Value) -> Result<Self, Diagnostic> {
        let entries = match options {
            Value::Nothing => Vec::new(),
            Value::Entries(entries) => entries,
            _ => return Err(wrong("", "the options are no object", "Give an object.")),
        };
        let mut wishes = Self::default();
        for (option, value) in entries.into_iter().filter(|(_, value)| *value != Value::Nothing) {
            wishes.set(&option, value)?;
        }
        Ok(wishes)
    }

    fn set(&mut self, option: &str, value: Value) -> Result<(), Diagnostic> {
        let choices = &mut self.choices;
        match option {
            "name" => self.name = value.text(option)?,
            "board" => self.board = Some(value.text(option)?),
            "strategy" => {
                let parsed = value.text(option)?.parse::<Strategy>();
                self.strategy =
                    parsed.map_err(|e| wrong(option, &e.to_string(), "Choose one of them."))?;
            }
            "sram_bytes" => choices.sram = Some(Bytes(value.whole(option)?)),
            "buffer_bytes" => choices.buffer = Some(Bytes(value.whole(option)?)),
            "frames" => {
                let frames = value.whole(option)?;
                let some = u32::try_from(frames).ok().and_then(NonZeroU32::new);
                let some = some.filter(|_| frames <= MOST_FRAMES).ok_or_else(|| {
                    let what_to_do = format!("Give a number from 1 to {MOST_FRAMES}.");
                    wrong(option, "there are no or too many frames", &what_to_do)
                })?;
                choices.frames = some;
            }
            "card" => self.card = Some(value.text(option)?),
            "kernels" => self.is_small = word(value, option, &[("fast", false), ("small", true)])?,
            "objective" => {
                let words = [("latency", Objective::Latency), ("memory", Objective::Memory)];
                choices.objective = word(value, option, &words)?;
            }
            "inside" => choices.is_inside = value.flag(option)?,
            "packing" => {
                let words = [
                    ("auto", Packing::Auto),
                    ("plain", Packing::Plain),
                    ("fast", Packing::Fast),
                    ("sparse", Packing::Sparse),
                ];
                choices.packing = word(value, option, &words)?;
            }
            "outputs" => {
                let words = [("direct", Overlaid::THESIS), ("staged", Overlaid::ALL)];
                choices.overlaid = word(value, option, &words)?;
            }
            "stream_input" => choices.streams_input = value.flag(option)?,
            "tiles" => {
                let parsed = value.text(option)?.parse::<Grid>();
                let parsed = parsed.map_err(|e| {
                    wrong(option, &e.to_string(), "Give rows by columns, such as \"2x2\".")
                });
                self.tiles = Some(parsed?);
            }
            "threshold" => match value.number(option)? {
                part if (0.0..=1.0).contains(&part) => {
                    self.threshold = Some((part * 1000.0).round() as u16);
                }
                _ => return Err(wrong(option, "this is no part of one", "Give 0 to 1.")),
            },
            "integrity" => {
                let is_checked = value.flag(option)?;
                choices.integrity =
                    if is_checked { Integrity::Checked } else { Integrity::Trusted };
            }
            "period_us" => match value.number(option)? {
                period if period > 0.0 => self.period = Some(Micros(period)),
                _ => return Err(wrong(option, "this is no time above zero", "Leave it out.")),
            },
            "calibration" => {
                let parsed = value.text(option)?.parse::<RangeRule>();
                let parsed = parsed
                    .map_err(|e| wrong(option, &e.to_string(), "Choose another calibration."));
                self.calibration = Some(parsed?);
            }
            "samples" => self.samples = Some(value.bytes(option)?),
            "dims" => {
                for (dim, size) in value.entries(option)? {
                    let size = usize::try_from(size.whole(option)?).unwrap_or(usize::MAX);
                    self.dims.push((dim, size));
                }
            }
            "data" => {
                for (file, bytes) in value.entries(option)? {
                    self.data.push((file, bytes.bytes(option)?));
                }
            }
            _ => {
                let what_to_do = "Leave it out; the types of the package list the options.";
                return Err(wrong(option, "there is no such option", what_to_do));
            }
        }
        Ok(())
    }

    /// The board with the firmware that is asked for.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn board(&self) -> Result<Board, Diagnostic> {
        let lists = "`boards()` lists the boards.";
        let Some(name) = &self.board else {
            return Err(wrong("board", "a plan is for a board", lists));
        };
        let board = tilewright_board::find(&name.to_lowercase())
            .map_err(|error| wrong("board", &error.to_string(), lists))?;
        if !self.is_small {
            return Ok(board);
        }
        board.small().ok_or_else(|| {
            let what = format!("there is no firmware with small kernels for '{}'", board.id);
            wrong("kernels", &what, "Leave it out.")
        })
    }

    /// The planner's choices.
    ///
    /// # Errors
    /// If there is no such card, the board has no place for one, or a threshold has no tiles.
    pub fn choices(&self, board: &Board) -> Result<Options, Diagnostic> {
        let card = match &self.card {
            Some(_) if board.slot.is_none() => {
                let what = format!("{} has no place for a card", board.id);
                return Err(wrong("card", &what, "`boards()` says which boards have one."));
            }
            Some(id) => Some(tilewright_board::find_card(id).map_err(|error| {
                let what_to_do = "Leave it out for the card that goes with the board.";
                wrong("card", &error.to_string(), what_to_do)
            })?),
            None => None,
        };
        if self.threshold.is_some() && self.tiles.is_none() {
            return Err(wrong("threshold", "a threshold is of tiles", "Give `tiles` too."));
        }
        let threshold = self.threshold.unwrap_or(Tiling::PUBLISHED.threshold);
        let tiling = self.tiles.map(|grid| Tiling { grid, threshold });
        Ok(Options { card, tiling, ..self.choices.clone() })
    }

    /// How a float model is quantised.
    pub fn quantising(&self) -> QuantiseOptions {
        let mut options = QuantiseOptions::default();
        options.rule = self.calibration.unwrap_or(options.rule);
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(entries: &[(&str, Value)]) -> Result<Wishes, Diagnostic> {
        let entries = entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        Wishes::read(Value::Entries(entries.collect()))
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[test]
    fn options_are_the_command_lines() {
        let wishes = read(&[
            ("board", text("STM32F746G-DISCO")),
            ("strategy", text("auto")),
            ("objective", text("memory")),
            ("sram_bytes", Value::Number(65_536.0)),
            ("tiles", text("2x3")),
            ("threshold", Value::Number(0.5)),
            ("frames", Value::Nothing),
        ])
        .unwrap();
        let board = wishes.board().unwrap();
        assert_eq!(board.id, "stm32f746g-disco");
        let choices = wishes.choices(&board).unwrap();
        assert_eq!(choices.sram, Some(Bytes(65_536)));
        assert_eq!(choices.objective, Objective::Memory);
        assert_eq!(choices.tiling.map(|tiling| tiling.threshold), Some(500));
        assert_eq!(wishes.strategy.name(), "auto");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = [
            ("sram", Value::Number(1.0)),
            ("sram_bytes", Value::Number(1.5)),
            ("sram_bytes", text("64KiB")),
            ("strategy", text("best")),
            ("frames", Value::Number(0.0)),
            ("frames", Value::Number(1001.0)),
            ("tiles", text("2")),
            ("threshold", Value::Number(2.0)),
            ("samples", text("random")),
            ("inside", Value::Number(1.0)),
            ("packing", text("tight")),
            ("calibration", text("x")),
        ];
        for (option, value) in wrong {
            let problem = read(&[(option, value)]).unwrap_err();
            assert_eq!(problem.place, format!("options.{option}"));
            assert!(problem.what.ends_with('.'), "{}", problem.what);
        }
        let board = read(&[]).unwrap().board().unwrap_err();
        assert_eq!(board.place, "options.board");
    }
}
