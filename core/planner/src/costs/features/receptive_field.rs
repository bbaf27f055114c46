//! What kernels see of their inputs, value by value: for small kernels, which hold little together.

use super::{Feature, Step};
use tilewright_plan::{Kernel, Op, Tile, View};

/// Of all windows, or areas: rows that see input as `seen_rows`, taps as `seen_taps`, and values of all channels as
/// `seen_values`; rows of all channels, where each is computed by itself, as `seen_channel_rows`; products of
/// transposed convolutions as `seen_products`.
pub fn receptive_field(op: &Op, tile: &Tile, operands: &[View]) -> Vec<Feature> {
    let step = Step::new(op, tile, operands);
    let of_channels = |each: u64| each.saturating_mul(step.channels);
    let windows = |[rows, columns, across]: [u64; 3]| {
        let [rows, taps] = [across, columns].map(|columns| rows.saturating_mul(columns));
        [rows, taps, of_channels(rows), of_channels(taps)]
    };
    match op.kernel() {
        Some(Kernel::AveragePool | Kernel::MaxPool) => {
            let [rows, columns] = step.taps();
            let [rows, taps, _, values] = windows([rows.all, columns.all, columns.positions]);
            vec![("seen_rows", rows), ("seen_taps", taps), ("seen_values", values)]
        }
        Some(Kernel::Depthwise) => {
            let [rows, columns] = step.taps();
            let [.., rows, values] = windows([rows.all, columns.all, columns.positions]);
            vec![("seen_channel_rows", rows), ("seen_values", values)]
        }
        Some(Kernel::TransposeConv) => {
            let [rows, columns] = step.reached();
            let [.., rows, values] = windows([rows, columns, tile.output_size[1].into()]);
            let products = values.saturating_mul(step.input.c.into());
            vec![("seen_channel_rows", rows), ("seen_values", values), ("seen_products", products)]
        }
        Some(Kernel::Mean) => vec![("seen_values", step.input.elements())],
        _ => Vec::new(),
    }
}
