//! How a depthwise convolution goes through a data cache: of a strip of pixels it reads four channels, then
//! writes each of them by itself, and comes back to the same lines for the next four. One strip is followed
//! line by line, which stands for all of them.

use tilewright_board::{Board, DataCache, Timing};
use tilewright_plan::{Cycles, View};

use super::access::{Outside, line_cycles};
use super::features::Strip;

/// Channels that are read at once.
const CHANNELS: u64 = 4;
/// Groups of channels that are followed, and how many of the last of these stand for those behind: a line
/// holds as many channels as so many groups have.
const FOLLOWED: u64 = 16;
const ALIKE: u64 = 8;
/// Parts of the time for a group in which the input is read, of all; outputs are written in the others.
const READING: [u64; 2] = [1, 4];

/// A cache in front of memories, and their bus.
struct Followed {
    line_bytes: u64,
    sets: u64,
    ways: usize,
    /// Lines by set and way, each with whether it has been written to.
    lines: Vec<(u64, bool)>,
    victims: Vec<usize>,
    now: u64,
    free: u64,
    waited: u64,
}

/// Where an operand outside of the chip lies: first byte, bytes to the next pixel down and across a strip,
/// cycles to bring a line and to write one back.
#[derive(Clone, Copy)]
struct Operand {
    start: u64,
    pitch: [u64; 2],
    cycles: [u64; 2],
}

impl Operand {
    fn of(view: &View, timing: Option<&Timing>, strip: &Strip, board: &Board) -> Option<Self> {
        let pitches = [view.row_pitch, view.column_pitch].map(u64::from);
        let timing = timing?;
        let write = timing.core_write.map_or(0, |access| line_cycles(access, board));
        Some(Self {
            // Memories are apart by more than any operand is long.
            start: u64::from(view.space) << 40 | u64::from(view.offset),
            pitch: [pitches[strip.down], pitches[1 - strip.down]],
            cycles: [line_cycles(timing.core_read, board), write],
        })
    }
}

impl Followed {
    /// A cache that holds what was written before, elsewhere.
    fn new(cache: &DataCache, written: bool) -> Self {
        let (line_bytes, ways) = (cache.line_bytes.max(1), cache.ways.max(1) as usize);
        let count = (cache.bytes as usize / line_bytes as usize / ways).max(1);
        Self {
            line_bytes: line_bytes.into(),
            sets: count as u64,
            ways,
            lines: vec![(u64::MAX, written); count * ways],
            victims: vec![0; count],
            now: 0,
            free: 0,
            waited: 0,
        }
    }

    /// An access of an operand; whether a line comes for it, and whether one leaves.
    fn access(&mut self, operand: &Operand, byte: u64, write: bool) -> [u64; 2] {
        let line = (operand.start + byte) / self.line_bytes;
        #[expect(clippy::cast_possible_truncation, reason = "each set has its victim in memory")]
        let set = (line % self.sets) as usize;
        let places = &mut self.lines[set * self.ways..(set + 1) * self.ways];
        if let Some(place) = places.iter_mut().find(|(held, _)| *held == line) {
            place.1 |= write;
            return [0; 2];
        }
        let victim = self.victims[set];
        self.victims[set] = (victim + 1) % self.ways;
        let (_, left) = std::mem::replace(&mut places[victim], (line, write));
        let start = self.free.max(self.now);
        let arrived = start + operand.cycles[0];
        // A store goes on while its line comes.
        let on = if write { start } else { arrived };
        self.waited += on - self.now;
        self.now = on;
        self.free = arrived + if left { operand.cycles[1] } else { 0 };
        [1, u64::from(left)]
    }
}

/// What a depthwise convolution waits for input and output, which computes for `compute` cycles; each with
/// what is known of its memory if it lies outside of the chip.
pub fn swept(
    strip: &Strip,
    cache: &DataCache,
    board: &Board,
    [input, output]: [(&View, Option<&Timing>); 2],
    compute: Cycles,
) -> Outside {
    let operands = [input, output].map(|(view, timing)| Operand::of(view, timing, strip, board));
    let mut followed = Followed::new(cache, operands[1].is_some());
    let groups = strip.groups.max(1);
    let each = compute.0 / (strip.strips * groups).max(1);
    let reads = (strip.seen[0] * strip.seen[1]).max(1);
    let writes = (strip.size[0] * strip.size[1]).max(1);
    // Lines that come and leave for input and output, and cycles that are waited.
    let mut found = [[0; 5]; 2];
    for group in 0..groups.min(FOLLOWED) {
        let found = &mut found[usize::from(group >= FOLLOWED - ALIKE)];
        let (begin, before) = (followed.now, followed.waited);
        let reading = each * READING[0] / READING[1];
        if let [Some(input), _] = &operands {
            for pixel in 0..reads {
                let (down, across) = (pixel / strip.seen[1].max(1), pixel % strip.seen[1].max(1));
                let byte = down * input.pitch[0] + across * input.pitch[1] + group * CHANNELS;
                let moved = followed.access(input, byte, false);
                found[0] += moved[0];
                found[1] += moved[1];
                followed.now = (begin + reading * (pixel + 1) / reads + followed.waited - before)
                    .max(followed.now);
            }
        }
        let begin = begin + reading;
        if let [_, Some(output)] = &operands {
            let all = writes * CHANNELS;
            for index in 0..all {
                let (channel, pixel) = (index / writes, index % writes);
                let (down, across) = (pixel / strip.size[1].max(1), pixel % strip.size[1].max(1));
                let channel = group * CHANNELS + channel;
                let byte = down * output.pitch[0] + across * output.pitch[1] + channel;
                followed.now = (begin + (each - reading) * index / all + followed.waited - before)
                    .max(followed.now);
                let moved = followed.access(output, byte, true);
                found[2] += moved[0];
                found[3] += moved[1];
            }
        }
        followed.now = followed.now.max(begin + each - reading + followed.waited - before);
        found[4] += followed.waited - before;
    }
    let behind = groups.saturating_sub(FOLLOWED - ALIKE);
    let alike = groups.min(FOLLOWED).saturating_sub(FOLLOWED - ALIKE).max(1);
    // All strips, by the pixels that they have.
    let all = |first: u64, last: u64| {
        let of_strip =
            u128::from(first) + u128::from(last) * u128::from(behind) / u128::from(alike);
        let whole = of_strip * u128::from(strip.pixels) / u128::from(writes);
        u64::try_from(whole).unwrap_or(u64::MAX)
    };
    let [brought, left, made, gone, waits] =
        std::array::from_fn(|at| all(found[0][at], found[1][at]));
    let mut outside = Outside { waits: Cycles(waits), ..Outside::default() };
    let sides = [(input.0, operands[0], [brought, left]), (output.0, operands[1], [made, gone])];
    for (view, operand, [read, written]) in sides {
        let Some(Operand { cycles, .. }) = operand else { continue };
        outside.add_cycles(view.space(), read, Cycles(read * cycles[0] + written * cycles[1]));
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::Space;

    /// Lines of an output of `side` by `side` pixels of 32 channels that come, and what is waited, where it
    /// takes so many cycles to compute.
    fn followed(side: u16, compute: u64) -> (u64, u64) {
        let board = tilewright_board::find("stm32f746g-disco").unwrap();
        let cache = board.core.data_cache.as_ref().unwrap();
        let timing = board.external(Space::ExternalRam).and_then(|memory| memory.timing.as_ref());
        let size = [u64::from(side); 2];
        let strip = Strip {
            size,
            seen: [u64::from(side) + 2; 2],
            down: 0,
            strips: 1,
            groups: 8,
            pixels: size[0] * size[1],
        };
        let view = |space| View::whole(space, 0, side, side, 32);
        let sides = [(&view(Space::Arena), None), (&view(Space::ExternalRam), timing)];
        let found = swept(&strip, cache, &board, sides, Cycles(compute));
        (found.accesses[0], found.waits.0)
    }

    #[test]
    fn lines_that_stay_come_once_and_others_for_each_channel() {
        assert_eq!(followed(8, 1 << 30), (64, 0));
        // 256 lines where 128 have room; stores wait for the line before, and for one that leaves.
        assert_eq!(followed(16, 1 << 30), (256 * 32, 0));
        let (lines, waits) = followed(16, 0);
        assert!(waits > lines * 136 && waits < lines * 142, "{waits}");
    }
}
