//! What pools and searches see of their inputs, value by value: for small kernels, which hold nothing
//! together.

use super::{Feature, Step};
use tilewright_plan::{Kernel, Op, Tile, View};

/// Taps of all windows that see input as `seen_taps`, rows of them as `seen_rows`, values of all channels as
/// `seen_values`; of searches along rows, values as `seen_down`.
pub fn seen(op: &Op, tile: &Tile, operands: &[View]) -> Vec<Feature> {
    let step = Step::new(op, tile, operands);
    match op.kernel() {
        Some(Kernel::AveragePool | Kernel::MaxPool) => {
            let [rows, columns] = step.taps();
            let taps = rows.all.saturating_mul(columns.all);
            vec![
                ("seen_taps", taps),
                ("seen_rows", rows.all.saturating_mul(columns.positions)),
                ("seen_values", taps.saturating_mul(step.channels)),
            ]
        }
        Some(Kernel::ArgMax) if op.over()[0] => vec![("seen_down", step.input.elements())],
        _ => Vec::new(),
    }
}
