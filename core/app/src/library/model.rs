//! A plan image as C source: words, which any compiler for Arm takes and aligns, at about three bytes of text for each.

use std::fmt::Write;

use tilewright_plan::image::IoRecord;
use tilewright_plan::{PlanImage, Space};

use crate::plan_file::PlanFile;
use crate::result::main_entry;

/// Bytes of a sector of a card.
const SECTOR: u64 = 512;
/// Words on a line.
const ON_A_LINE: usize = 8;

/// `model.h`.
pub fn header(stem: &str, plan: &PlanFile) -> String {
    let image = plan.image();
    let mut text = format!(
        "/* {} on {}: made by `tilewright image --library`. */\n\
         #ifndef TILEWRIGHT_MODEL_H\n#define TILEWRIGHT_MODEL_H\n\n#include \"tilewright.h\"\n\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
        plain(stem),
        image.board()
    );
    let mut define = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#define TILEWRIGHT_MODEL_{name} {value}");
    };
    define("BOARD", format!("\"{}\"", image.board()));
    define("PLAN_BYTES", plan.bytes().len().to_string());
    define("ARENA_BYTES", image.space_bytes(Space::Arena).to_string());
    define("EXTERNAL_RAM_BYTES", image.space_bytes(Space::ExternalRam).to_string());
    define("EXTERNAL_FLASH_BYTES", plan.external_flash().len().to_string());
    define("CARD_SECTORS", image.space_bytes(Space::Card).div_ceil(SECTOR).to_string());
    define("LAYERS", image.layers().len().to_string());
    if let Some(program) = main_entry(image) {
        define("FRAMES", program.frames.to_string());
        for (name, all) in
            [("INPUT", image.entry_inputs(program)), ("OUTPUT", image.entry_outputs(program))]
        {
            define(&format!("{name}S"), all.len().to_string());
            for (index, io) in all.iter().enumerate() {
                tensor(image, &format!("{name}_{index}"), io, &mut define);
            }
        }
    }
    let programs: Vec<_> =
        image.entries().iter().enumerate().filter(|(_, entry)| entry.kind == 0).collect();
    if programs.len() > 1 {
        text.push_str("\n/* What tilewright_select takes; sizes above are the first one's.\n");
        for (index, entry) in programs {
            let name = plain(image.name(entry.name));
            let _ =
                writeln!(text, " * TILEWRIGHT_PROGRAM({index}): {name}, {} us", entry.latency_us);
        }
        text.push_str(" */\n");
    }
    let words = words(plan);
    let _ = write!(
        text,
        "\n/* The plan image, TILEWRIGHT_MODEL_PLAN_BYTES of it. */\n\
         extern const uint32_t tilewright_model_plan[{words}];\n\n\
         #ifdef __cplusplus\n}}\n#endif\n\n#endif\n"
    );
    text
}

/// What is to be known of an input or output.
fn tensor(image: &PlanImage<'_>, name: &str, io: &IoRecord, define: &mut impl FnMut(&str, String)) {
    let view = image.view(io.view).unwrap_or_default();
    define(&format!("{name}_BYTES"), view.elements().to_string());
    define(&format!("{name}_HEIGHT"), view.h.to_string());
    define(&format!("{name}_WIDTH"), view.w.to_string());
    define(&format!("{name}_CHANNELS"), view.c.to_string());
    // Digits enough to give the same float again.
    define(&format!("{name}_SCALE"), format!("{:e}f", f32::from_bits(io.scale_bits)));
    define(&format!("{name}_ZERO_POINT"), format!("({})", io.zero));
}

fn words(plan: &PlanFile) -> usize {
    plan.bytes().len().div_ceil(4)
}

/// `model.c`.
pub fn source(plan: &PlanFile) -> String {
    let words = words(plan);
    let mut text = String::with_capacity(words * 12 + 512);
    // A section of its own, so that linker scripts can say where it lies.
    let _ = write!(
        text,
        "/* The plan image: made by `tilewright image --library`. */\n#include \"model.h\"\n\n\
         __attribute__((section(\".rodata.tilewright_model_plan\")))\n\
         TILEWRIGHT_ALIGNED const uint32_t tilewright_model_plan[{words}] = {{"
    );
    for (index, bytes) in plan.bytes().chunks(4).enumerate() {
        let word = bytes.iter().rev().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        text.push_str(if index.is_multiple_of(ON_A_LINE) { "\n" } else { "" });
        let _ = write!(text, "0x{word:x},");
    }
    text.push_str("\n};\n");
    text
}

/// A name without what could end a comment.
pub fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " _-.,:()[]".contains(c);
    name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}
