//! Reads `boards/*.toml`, with what `chips/*.toml` say of boards, and `boards/cards/*.toml`, and encodes them for the library: a malformed file
//! fails the build.

#[allow(dead_code, reason = "the library uses the rest")]
#[path = "src/board.rs"]
mod board;
#[path = "src/card.rs"]
mod card;
#[allow(dead_code, reason = "the library uses the rest")]
#[path = "src/desk.rs"]
mod desk;
#[path = "src/engine.rs"]
mod engine;
#[path = "src/file.rs"]
mod file;
#[path = "src/power.rs"]
mod power;
#[allow(dead_code, reason = "the library uses the rest")]
#[path = "src/timing.rs"]
mod timing;
#[allow(dead_code, reason = "the library uses the rest")]
#[path = "src/wiring.rs"]
mod wiring;

use std::path::Path;
use std::{env, fs};

/// Names of the files, in the order in which boards are offered.
const BOARDS: &[&str] = &[
    "stm32f746g-disco",
    "stm32f469i-disco",
    "stm32l552e-ev",
    "nucleo-f746zg",
    "nucleo-f767zi",
    "nucleo-l4r5zi",
    "nrf52840-dk",
    "pico-2",
    "weact-h743",
    "paper-swapnn-512k",
    "paper-swapnn-1m",
    "paper-swapnn-2m",
    "paper-swapnn-4m",
    "paper-swapnn-8m",
    "paper-tinyops-l552",
    "paper-tinyops-f469",
    "paper-tinyops-f746",
    "paper-sparse-f767",
    "bench-cortex-m33",
];

/// Names of the files, in the order in which cards are offered.
const CARDS: &[&str] = &["sd-class10", "paper-swapnn"];

fn main() {
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    let folder = Path::new(&folder).join("../../boards");
    let chips = folder.join("../chips");
    let chip = |name: &str| read(&chips.join(name).with_extension("toml"));
    let boards = read_all(&folder, BOARDS, |id, text| file::parse(id, text, chip));
    write("boards.postcard", &boards);
    let cards = read_all(&folder.join("cards"), CARDS, file::parse_card);
    write("cards.postcard", &cards);
    println!("cargo::rerun-if-changed=build.rs");
}

fn read_all<T>(
    folder: &Path,
    ids: &[&str],
    parse: impl Fn(&str, &str) -> Result<T, String>,
) -> Vec<T> {
    let value = |id: &&str| {
        let path = folder.join(id).with_extension("toml");
        match read(&path).and_then(|text| parse(id, &text)) {
            Ok(value) => Some(value),
            Err(reason) => {
                println!("cargo::error={}: {reason}", path.display());
                None
            }
        }
    };
    ids.iter().filter_map(value).collect()
}

/// Reads a file that this depends on.
fn read(path: &Path) -> Result<String, String> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).map_err(|error| error.to_string())
}

fn write<T: serde::Serialize>(name: &str, values: &[T]) {
    let bytes = postcard::to_allocvec(values).expect("boards and cards are plain values");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join(name), bytes).expect("OUT_DIR can be written");
}
