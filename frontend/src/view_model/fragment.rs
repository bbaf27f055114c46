//! The state that a link carries, in the fragment of the page's address.
//!
//! `#model=lenet5&board=stm32f746g-disco&strategy=resident&sram=65536&calibration=mse&view=memory`

use serde::Serialize;
use serde::de::DeserializeOwned;
use tilewright_report::{PlanSettings, choice, word};

use super::lessons::LessonPlace;
use crate::state::{ExploreSpec, Quantising, Samples, View};

/// What a link says. Everything may be missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fragment {
    /// Example's id, `zoo:` and the name of a network, `https:` and the rest of an address, or `sha256:` and the digits of
    /// a file that the person must give.
    pub model: Option<String>,
    /// Name and length of that file, for the person who looks for it.
    pub file: Option<NamedFile>,
    /// Board, strategy and budget.
    pub settings: PlanSettings,
    /// The view that is maximised.
    pub view: View,
    /// Whether that view is all of the page: it stands within a page of somebody else.
    pub is_embedded: bool,
    /// How ranges follow from values; empty for the usual.
    pub calibration: String,
    /// The range in which the network takes pixels; empty for what its file says.
    pub pixels: String,
    /// Whether the model is quantised on made-up samples, though others came with it.
    pub is_random: bool,
    /// Groups of weights that become zero, in thousandths of all.
    pub sparsity: u16,
    /// Milliseconds from one frame to the next.
    pub period_ms: Option<u64>,
    /// The lesson that is open, and its step.
    pub lesson: Option<LessonPlace>,
    /// What view Explore combines.
    pub explore: Option<ExploreSpec>,
}

/// A file that a link's model is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedFile {
    pub name: String,
    /// Its length; 0 if it is not known.
    pub bytes: u64,
}

/// Whether a link's model is an address.
#[must_use]
pub fn is_address(model: &str) -> bool {
    model.starts_with("https://") || model.starts_with("http://")
}

/// Most frames that a schedule is made of, and most hertz and bytes a second.
pub const MOST_FRAMES: u32 = 64;
const MOST_RATE: u64 = 2_000_000_000;
/// Most milliseconds from one frame to the next: a day.
pub const LONGEST_PERIOD_MS: u64 = 86_400_000;

/// Most groups of weights that are pruned, in thousandths of all.
pub const MOST_SPARSITY: u16 = 950;

/// The word for made-up samples.
const RANDOM: &str = "random";
/// The word for plans without memory outside of the chip.
const INSIDE: &str = "chip";
/// The word for an input that may arrive in rows.
pub const STREAMED: &str = "rows";

impl Fragment {
    /// How the model becomes int8.
    #[must_use]
    pub fn quantising(&self) -> Quantising {
        let samples = if self.is_random { Samples::Random } else { Samples::Given };
        Quantising {
            rule: self.calibration.clone(),
            samples,
            pixels: self.pixels.clone(),
            sparsity: self.sparsity,
        }
    }

    /// Reads a fragment, with or without `#`. What it does not know it ignores.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut fragment = Self::default();
        for pair in text.trim_start_matches('#').split('&') {
            let Some((key, value)) = pair.split_once('=') else { continue };
            let value = decode(value);
            match key {
                "model" if !value.is_empty() => fragment.model = Some(value),
                "file" if !value.is_empty() => {
                    fragment.file.get_or_insert_default().name = value;
                }
                "bytes" => {
                    fragment.file.get_or_insert_default().bytes = value.parse().unwrap_or(0);
                }
                // Of links in which a board's id tells its kernels too.
                "board" => {
                    let named = PlanSettings::default().on_board(&value);
                    (fragment.settings.board, fragment.settings.kernels) =
                        (named.board, named.kernels);
                }
                "strategy" => fragment.settings.strategy = value,
                "sram" => fragment.settings.sram_bytes = value.parse().ok(),
                "buffer" => fragment.settings.buffer_bytes = value.parse().ok(),
                "frames" => fragment.settings.frames = within(&value, MOST_FRAMES.into()),
                "kernels" => fragment.settings.kernels = known(&value),
                "objective" => fragment.settings.objective = known(&value),
                "inside" => fragment.settings.inside = value == INSIDE,
                "packing" => fragment.settings.packing = known(&value),
                "outputs" => fragment.settings.outputs = known(&value),
                "tiles" if !value.is_empty() => fragment.settings.tiles = Some(value),
                "input" => fragment.settings.stream_input = value == STREAMED,
                "exits" => set_exits(&mut fragment.settings, &value),
                "clock" => fragment.settings.clock_hz = within(&value, MOST_RATE),
                "card" => fragment.settings.card_bytes_per_second = within(&value, MOST_RATE),
                "integrity" => fragment.settings.integrity = known(&value),
                "period" => fragment.period_ms = within(&value, LONGEST_PERIOD_MS),
                "calibration" => fragment.calibration = value,
                "pixels" => fragment.pixels = value,
                "samples" => fragment.is_random = value == RANDOM,
                "sparsity" => {
                    fragment.sparsity = within(&value, MOST_SPARSITY.into()).unwrap_or_default();
                }
                "lesson" => fragment.lesson = LessonPlace::parse(&value),
                "explore" => fragment.explore = Some(ExploreSpec::parse(&value)),
                "view" | "embed" => {
                    fragment.view = View::from_id(&value).unwrap_or_default();
                    fragment.is_embedded = key == "embed";
                }
                _ => {}
            }
        }
        fragment
    }

    /// The fragment's text, without `#`.
    #[must_use]
    pub fn text(&self) -> String {
        let mut pairs = Vec::new();
        let mut push = |key: &str, value: &str| {
            if !value.is_empty() {
                pairs.push(format!("{key}={}", encode(value)));
            }
        };
        push("model", self.model.as_deref().unwrap_or_default());
        if let Some(file) = &self.file {
            push("file", &file.name);
            push("bytes", &file.bytes.to_string());
        }
        push("board", &self.settings.board);
        push("strategy", &self.settings.strategy);
        let text = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        push("sram", &text(self.settings.sram_bytes));
        push("buffer", &text(self.settings.buffer_bytes));
        push("frames", &text(self.settings.frames.map(u64::from)));
        push("kernels", &unusual(self.settings.kernels));
        push("objective", &unusual(self.settings.objective));
        push("inside", if self.settings.inside { INSIDE } else { "" });
        push("packing", &unusual(self.settings.packing));
        push("outputs", &unusual(self.settings.outputs));
        push("tiles", self.settings.tiles.as_deref().unwrap_or_default());
        push("input", if self.settings.stream_input { STREAMED } else { "" });
        push("exits", &exits_word(&self.settings));
        push("clock", &text(self.settings.clock_hz));
        push("card", &text(self.settings.card_bytes_per_second));
        push("integrity", &unusual(self.settings.integrity));
        push("period", &text(self.period_ms));
        push("calibration", &self.calibration);
        push("pixels", &self.pixels);
        push("samples", if self.is_random { RANDOM } else { "" });
        push("sparsity", &text(Some(self.sparsity).filter(|s| *s > 0).map(u64::from)));
        push("lesson", &self.lesson.map(LessonPlace::text).unwrap_or_default());
        push("explore", &self.explore.as_ref().map(ExploreSpec::text).unwrap_or_default());
        if self.is_embedded {
            push("embed", self.view.id());
        } else if self.view != View::default() {
            push("view", self.view.id());
        }
        pairs.join("&")
    }
}

/// The word for exits by latency.
pub const BY_LATENCY: &str = "latency";

/// Which exits settings ask for, in a word: by latency, a confidence, or none.
#[must_use]
pub fn exits_word(settings: &PlanSettings) -> String {
    match settings.exit_confidence {
        Some(confidence) => confidence.to_string(),
        None if settings.exits => BY_LATENCY.to_owned(),
        None => String::new(),
    }
}

/// Lets settings ask for the exits of a word.
pub fn set_exits(settings: &mut PlanSettings, word: &str) {
    settings.exits = word == BY_LATENCY;
    settings.exit_confidence =
        word.parse().ok().filter(|confidence| (0.001..=1.0).contains(confidence));
}

/// A number from 1 to `most`.
fn within<T: TryFrom<u64>>(text: &str, most: u64) -> Option<T> {
    let value: u64 = text.parse().ok()?;
    T::try_from(value).ok().filter(|_| (1..=most).contains(&value))
}

/// The choice of a word, or the usual one.
fn known<T: Default + DeserializeOwned>(text: &str) -> T {
    choice(text).unwrap_or_default()
}

/// The word of a choice that is not the usual one.
fn unusual<T: Default + PartialEq + Serialize>(choice: T) -> String {
    if choice == T::default() { String::new() } else { word(&choice) }
}

fn encode(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:,;=".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

fn decode(value: &str) -> String {
    let bytes = value.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let digits = value.get(index + 1..index + 3);
        match digits.filter(|_| bytes[index] == b'%').map(|d| u8::from_str_radix(d, 16)) {
            Some(Ok(byte)) => {
                decoded.push(byte);
                index += 3;
            }
            _ => {
                decoded.push(bytes[index]);
                index += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use tilewright_report::{Integrity, Kernels, Objective, Outputs, Packing};

    use super::*;

    #[test]
    fn a_link_leads_back_to_its_state() {
        let fragment = Fragment {
            model: Some("sha256:00ff & more=%".to_owned()),
            file: Some(NamedFile { name: "my net.tflite".to_owned(), bytes: 1_234 }),
            settings: PlanSettings {
                board: "stm32f746g-disco".to_owned(),
                strategy: "resident".to_owned(),
                sram_bytes: Some(65_536),
                buffer_bytes: Some(16_384),
                frames: Some(10),
                clock_hz: Some(80_000_000),
                card_bytes_per_second: Some(5_000_000),
                kernels: Kernels::Small,
                objective: Objective::Wear,
                inside: true,
                packing: Packing::Plain,
                outputs: Outputs::Staged,
                tiles: Some("2x3".to_owned()),
                stream_input: true,
                integrity: Integrity::Sealed,
                ..PlanSettings::default()
            },
            view: View::Memory,
            is_embedded: false,
            calibration: "percentile=99.9".to_owned(),
            pixels: "127.5/128".to_owned(),
            is_random: true,
            sparsity: 805,
            period_ms: Some(10_000),
            lesson: LessonPlace::parse("swap:3"),
            explore: Some(ExploreSpec::parse("m:open,vww;b:a;s:auto;x:flash;per:board")),
        };
        assert_eq!(Fragment::parse(&format!("#{}", fragment.text())), fragment);
        let embedded = Fragment { is_embedded: true, ..fragment };
        assert!(embedded.text().ends_with("&embed=memory"), "{}", embedded.text());
        assert_eq!(Fragment::parse(&embedded.text()), embedded);
        assert_eq!(Fragment::parse(""), Fragment::default());
        assert_eq!(Fragment::default().text(), "");
    }

    #[test]
    fn nonsense_is_ignored() {
        let fragment = Fragment::parse(
            "#model=&sram=lots&frames=9999&clock=0&view=moon&%%%=%zz&board=%C3%A4%2",
        );
        assert_eq!(fragment.model, None);
        assert_eq!(fragment.settings.sram_bytes, None);
        assert_eq!((fragment.settings.frames, fragment.settings.clock_hz), (None, None));
        assert_eq!(fragment.view, View::All);
        assert_eq!(fragment.settings.board, "ä%2");
    }
}
