//! What a run gave: cycles of layers, output bytes, best classes.

use super::cycles::{Marker, Recorder};
use super::text::Port;
use super::{ConsoleError, LAYER_SLOTS};
use crate::memory::Memory;
use embedded_io_async::Write;
use tilewright_plan::image::EntryRecord;
use tilewright_plan::{PlanImage, View};

/// Classes that are told.
const BEST: usize = 10;

pub async fn layers<P: Write, M: Marker>(
    port: &mut Port<'_, P>,
    image: &PlanImage<'_>,
    recorder: &Recorder<'_, M>,
) -> Result<(), ConsoleError<P::Error>> {
    let layers = image.layers();
    for (index, (layer, cycles)) in layers.iter().zip(recorder.layers()).enumerate() {
        port.text(format_args!("layer {index} {cycles} ")).await?;
        port.name(image.name(layer.name)).await?;
        if index == LAYER_SLOTS - 1 && layers.len() > LAYER_SLOTS {
            let more = layers.len() - LAYER_SLOTS;
            port.text(format_args!(" and the {more} layers that follow")).await?;
        }
        port.line(format_args!("")).await?;
    }
    Ok(())
}

/// The program that runs from now on.
pub async fn program<P: Write>(
    port: &mut Port<'_, P>,
    image: &PlanImage<'_>,
    entry: usize,
) -> Result<(), ConsoleError<P::Error>> {
    let Some(program) = image.entries().get(entry) else { return Ok(()) };
    port.text(format_args!("program {entry} {} ", program.latency_us)).await?;
    port.name(image.name(program.name)).await?;
    port.line(format_args!("")).await
}

/// Outputs of a program that ran to its end, or to the exit with an output.
pub async fn outputs<P: Write>(
    port: &mut Port<'_, P>,
    image: &PlanImage<'_>,
    program: &EntryRecord,
    exit: Option<u16>,
    memory: &Memory<'_>,
) -> Result<(), ConsoleError<P::Error>> {
    let mut outputs = image.entry_outputs(program);
    if let Some(exit) = exit {
        port.line(format_args!("exit {exit}")).await?;
        outputs = outputs.get(..=usize::from(exit)).unwrap_or(outputs);
    }
    for (index, output) in outputs.iter().enumerate() {
        let Some(elements) = Elements::of(image, memory, output.view) else { continue };
        port.text(format_args!("output {index} ")).await?;
        let mut digits = [0; 64];
        let mut used = 0;
        for value in elements {
            let byte = value as u8;
            for nibble in [byte >> 4, byte & 15] {
                if let Some(digit) = digits.get_mut(used) {
                    *digit = b"0123456789abcdef".get(usize::from(nibble)).copied().unwrap_or(b'?');
                }
                used += 1;
            }
            if used == digits.len() {
                port.bytes(&digits).await?;
                used = 0;
            }
        }
        port.bytes(digits.get(..used).unwrap_or(&[])).await?;
        port.line(format_args!("")).await?;
    }
    for output in outputs.iter().filter(|output| output.label_count > 0) {
        let Some(elements) = Elements::of(image, memory, output.view) else { continue };
        let best = Best::of(elements.take(usize::from(output.label_count)));
        for (class, value) in best.classes() {
            port.text(format_args!("score {class} {value} ")).await?;
            port.name(image.name(output.label_first.wrapping_add(*class))).await?;
            port.line(format_args!("")).await?;
        }
    }
    Ok(())
}

/// The elements of a view, in NHWC order.
struct Elements<'a> {
    bytes: &'a [u8],
    view: View,
    next: [u32; 3],
}

impl<'a> Elements<'a> {
    fn of(image: &PlanImage<'a>, memory: &'a Memory<'_>, view: u32) -> Option<Self> {
        let view = image.view(view)?;
        Some(Self { bytes: memory.bytes(image, &view).ok()?, view, next: [0; 3] })
    }
}

impl Iterator for Elements<'_> {
    type Item = i8;

    fn next(&mut self) -> Option<i8> {
        let [y, x, c] = self.next;
        if y >= u32::from(self.view.h) {
            return None;
        }
        let row = (y + u32::from(self.view.first_row)) % u32::from(self.view.ring_rows).max(1);
        let offset = u64::from(row) * u64::from(self.view.row_pitch)
            + u64::from(x) * u64::from(self.view.column_pitch)
            + u64::from(c);
        self.next = if c + 1 < self.view.c {
            [y, x, c + 1]
        } else if x + 1 < u32::from(self.view.w) {
            [y, x + 1, 0]
        } else {
            [y + 1, 0, 0]
        };
        self.bytes.get(usize::try_from(offset).ok()?).map(|byte| *byte as i8)
    }
}

/// The best classes, best first; of equal ones the first.
struct Best {
    classes: [(u16, i8); BEST],
    count: usize,
}

impl Best {
    fn of(values: impl Iterator<Item = i8>) -> Self {
        let mut best = Self { classes: [(0, 0); BEST], count: 0 };
        for (class, value) in (0u16..).zip(values) {
            let place = best.classes().iter().position(|(_, other)| *other < value);
            let place = place.unwrap_or(best.count);
            if place >= BEST {
                continue;
            }
            best.count = (best.count + 1).min(BEST);
            if let Some(from) = best.classes.get_mut(place..best.count) {
                from.rotate_right(1);
                if let Some(first) = from.first_mut() {
                    *first = (class, value);
                }
            }
        }
        best
    }

    fn classes(&self) -> &[(u16, i8)] {
        self.classes.get(..self.count).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_ten_come_in_order() {
        let values = [3, -5, 127, 3, -128, 90, 3, 4, 5, 6, 7, 8, 127];
        let best = Best::of(values.into_iter());
        let classes: Vec<_> = best.classes().to_vec();
        assert_eq!(
            classes,
            [
                (2, 127),
                (12, 127),
                (5, 90),
                (11, 8),
                (10, 7),
                (9, 6),
                (8, 5),
                (7, 4),
                (0, 3),
                (3, 3)
            ]
        );
        assert_eq!(Best::of([1, 2].into_iter()).classes(), [(1, 2), (0, 1)]);
    }
}
