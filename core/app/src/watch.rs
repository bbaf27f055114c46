//! What is read from the emulated memory while a plan image runs: outputs, and on request the
//! output of every layer.

mod made;

use std::ops::Range;

use tilewright_board::Board;
use tilewright_plan::image::LaneRecord;
use tilewright_plan::{Instruction, PlanImage, Space, View};
use tilewright_protocol::Watch;

use made::Made;
use tilewright_report::{Blame, Diagnostic};

/// Most bytes that all watches of a job may give.
pub const WATCHED_LIMIT: u64 = 64 << 20;

/// A layer's output (of an image whose card is sealed none that lies there): the bytes from the first to the last that its steps write, or that engines move
/// out of SRAM behind them, read when the last of these has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchedLayer {
    /// Position in the plan's order; those of later frames behind all of the first.
    pub layer: u32,
    /// Index into the job's watches.
    pub watch: usize,
    /// Memory that holds these bytes.
    pub space: Space,
    /// Offset of the first of them in it.
    pub start: u32,
}

/// The watches of a job, and what each is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watches {
    /// For the job.
    pub watches: Vec<Watch>,
    /// For each output of the program, its watches, end to end.
    pub outputs: Vec<Range<usize>>,
    /// Layers, if asked for.
    pub layers: Vec<WatchedLayer>,
}

impl Watches {
    /// The watches for the outputs of an entry of an image, and for its layers if `with_layers`. An output at which the
    /// run may end is read there.
    ///
    /// # Errors
    /// If the image has no program to run, or the outputs of the program and of its layers are larger
    /// than [`WATCHED_LIMIT`] together.
    pub fn of(
        image: &PlanImage<'_>,
        entry: usize,
        board: &Board,
        with_layers: bool,
    ) -> Result<Self, Diagnostic> {
        let bad = |error: &str| {
            Diagnostic::new(
                Blame::BadInput,
                error,
                "plan image",
                "Plan the model again with this version of Tilewright.",
            )
        };
        let entry =
            image.entries().get(entry).ok_or_else(|| bad("The plan image has no program."))?;
        let lanes = image.entry_lanes(entry);
        let core = lanes.first();
        let core = core.ok_or_else(|| bad("The program of the plan image has no lane."))?;
        let last = image
            .lane_steps(core)
            .rposition(|step| step.code == 0)
            .ok_or_else(|| bad("The program of the plan image computes nothing."))?;
        let mut this = Self::default();
        let mut total = 0;
        let exits: Vec<Option<Instruction>> =
            image.lane_steps(core).map(|record| Instruction::from_record(&record)).collect();
        let read_at = |output: usize| {
            let ends = |step: &Option<Instruction>| matches!(step, Some(Instruction::Exit { output: own, .. }) if usize::from(*own) == output);
            exits.iter().position(ends).unwrap_or(last)
        };
        for (number, output) in image.entry_outputs(entry).iter().enumerate() {
            let first = this.watches.len();
            if let Some(view) = image.view(output.view) {
                // Outputs may share bytes, so that their sum is not bounded by the memory.
                total += view.elements();
                if total > WATCHED_LIMIT {
                    return Err(bad("Its outputs take more bytes than are kept of a run."));
                }
                let space = view.space().filter(|space| space.is_writable());
                let base = space
                    .and_then(|space| base(board, space))
                    .ok_or_else(|| bad("An output lies where the core cannot read it."))?;
                this.watches.extend(runs_of(&view, base, read_at(number) as u32));
            }
            this.outputs.push(first..this.watches.len());
        }
        if with_layers {
            this.add_layers(image, board, lanes, total)?;
        }
        Ok(this)
    }

    fn add_layers(
        &mut self,
        image: &PlanImage<'_>,
        board: &Board,
        lanes: &[LaneRecord],
        mut total: u64,
    ) -> Result<(), Diagnostic> {
        for (layer, made) in made::outputs(image, lanes) {
            let Made { lane, step, space, range, .. } = made;
            if space == Space::Card
                && image.sector_checksums().is_some_and(|checksums| checksums.sealed)
            {
                continue;
            }
            let Some(base) = base(board, space) else { continue };
            let bytes = range.end - range.start;
            total += bytes;
            let address = u32::try_from(u64::from(base) + range.start);
            let (Ok(address), Ok(row_bytes), Ok(start)) =
                (address, u32::try_from(bytes), u32::try_from(range.start))
            else {
                continue;
            };
            if total > WATCHED_LIMIT {
                return Err(Diagnostic::new(
                    Blame::TooLarge,
                    format!(
                        "The outputs of all layers take more than the {WATCHED_LIMIT} bytes that \
                         are kept of a run."
                    ),
                    "watch",
                    "Run without `watch=layers`.",
                ));
            }
            self.layers.push(WatchedLayer { layer, watch: self.watches.len(), space, start });
            let on_card = space == Space::Card;
            let pitch = row_bytes;
            self.watches.push(Watch { lane, step, on_card, address, rows: 1, row_bytes, pitch });
        }
        Ok(())
    }
}

/// Address at which a space starts on the board; bytes of a card count from its first.
fn base(board: &Board, space: Space) -> Option<u32> {
    match space {
        Space::Arena => board.firmware.as_ref().map(|firmware| firmware.arena_address),
        Space::ExternalRam => board.external(Space::ExternalRam)?.address,
        Space::Card => Some(0),
        Space::Weights | Space::Constants | Space::ExternalFlash => None,
    }
}

/// The runs of bytes that a view covers, in the order of its elements. The image's reader has
/// proved that they lie inside their space.
fn runs_of(view: &View, base: u32, step: u32) -> Vec<Watch> {
    let at = |offset: u32| base.saturating_add(view.offset).saturating_add(offset);
    let watch = |address, rows, row_bytes, pitch| Watch {
        step,
        address,
        rows,
        row_bytes,
        pitch,
        ..Watch::default()
    };
    let (h, w) = (u32::from(view.h), u32::from(view.w));
    if view.is_contiguous() {
        let bytes = h * w * view.c;
        return vec![watch(at(0), 1, bytes, bytes)];
    }
    let ring = u32::from(view.ring_rows).max(1);
    (0..h)
        .map(|row| {
            let address = at(((row + u32::from(view.first_row)) % ring) * view.row_pitch);
            if view.column_pitch == view.c {
                let row_bytes = w * view.c;
                watch(address, 1, row_bytes, row_bytes)
            } else {
                watch(address, w, view.c, view.column_pitch)
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that watches read from a memory that starts at address 0.
    fn read(memory: &[u8], watches: &[Watch]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for watch in watches {
            for row in 0..watch.rows {
                let start = (watch.address + row * watch.pitch) as usize;
                bytes.extend_from_slice(&memory[start..start + watch.row_bytes as usize]);
            }
        }
        bytes
    }

    #[test]
    fn runs_give_the_elements_of_any_view_in_order() {
        let memory: Vec<u8> = (0..=255).collect();
        let whole = View::whole(Space::Arena, 3, 4, 5, 2);
        let narrow = View { w: 3, c: 1, ..whole };
        let ring = View { h: 3, ring_rows: 4, first_row: 2, ..whole };
        for view in [whole, narrow, ring] {
            let mut expected = Vec::new();
            for y in 0..u32::from(view.h) {
                for x in 0..u32::from(view.w) {
                    for c in 0..view.c {
                        let row = (y + u32::from(view.first_row)) % u32::from(view.ring_rows);
                        let at = view.offset + row * view.row_pitch + x * view.column_pitch + c;
                        expected.push(memory[at as usize]);
                    }
                }
            }
            assert_eq!(read(&memory, &runs_of(&view, 0, 0)), expected, "{view:?}");
        }
    }
}
