//! Memory maps as comma-separated values.

use tilewright_planner::Planned;
use tilewright_report::{MemoryMap, PlacedTensor, TensorUse, csv_row};

/// The memory maps of plans: one row an operator.
pub fn csv(plans: &[&Planned]) -> String {
    let head = [
        "strategy",
        "position",
        "name",
        "op",
        "input_bytes",
        "output_bytes",
        "other_bytes",
        "weight_bytes",
        "scratch_bytes",
        "shared_bytes",
        "reserved_bytes",
        "live_bytes",
        "is_peak",
        "tensors",
    ];
    let mut text = csv_row(&head.map(str::to_owned));
    for planned in plans {
        let (memory, placed) = (&planned.memory, PlacedTensor::of(&planned.plan));
        for (position, row) in memory.rows.iter().enumerate() {
            let bytes = [
                row.input_bytes,
                row.output_bytes,
                row.other_bytes,
                row.weight_bytes,
                row.scratch_bytes,
                row.shared_bytes,
                row.reserved_bytes,
                row.live_bytes,
            ];
            let mut fields = vec![
                planned.report.strategy.clone(),
                position.to_string(),
                row.name.clone(),
                row.op.clone(),
            ];
            fields.extend(bytes.map(|bytes| bytes.0.to_string()));
            fields.push((position == memory.peak_row).to_string());
            fields.push(tensors(memory, position, &placed));
            text.push_str(&csv_row(&fields));
        }
    }
    text
}

/// The live tensors of a row: `name@offset+bytes(use)`, separated by blanks.
fn tensors(memory: &MemoryMap, position: usize, tensors: &[PlacedTensor]) -> String {
    let words = memory.live_at(position, tensors).map(|(index, why)| {
        let PlacedTensor { name, offset, bytes, .. } = &tensors[index];
        format!("{name}@{offset}+{bytes}({})", word(why))
    });
    words.collect::<Vec<_>>().join(" ")
}

const fn word(why: TensorUse) -> &'static str {
    match why {
        TensorUse::Input => "input",
        TensorUse::Output => "output",
        TensorUse::Other => "other",
    }
}
