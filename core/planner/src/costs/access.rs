//! What the core waits for operands that lie outside of the chip.
//!
//! How often kernels load what of each operand follows from how the field's kernels are made
//! (CMSIS-NN: words of four int8 values, blocks of two pixels by two channels, windows gathered once
//! a pixel). Without a cache each load waits for its memory; with one, each line that is not there.
//! Stores wait only as far as they take longer than the computation: they are buffered. On a core without a
//! cache calibration counts the project's kernels instead.
//!
//! The project's depthwise convolution visits a strip of pixels for each four channels, and writes each
//! channel by itself: where lines hold more channels they come, and leave, again and again, which is
//! followed line by line ([`swept`]).

use tilewright_board::{Access, Board, DataCache, Timing};
use tilewright_plan::{Cycles, Kernel, Op, Role, Space, Tile, View};

use super::Feature;
use super::features::{features, strip};
use super::file::Costs;
use super::nominal::nominal;
use super::swept::swept;

/// Bytes of a load.
const WORD: u64 = 4;
/// Picoseconds of a second.
const SECOND_PS: u128 = 1_000_000_000_000;

/// Loads of an operand, or of scratch memory, during a step.
#[derive(Clone, Copy, Debug, Default)]
struct Loads {
    words: u64,
    /// Bytes that are loaded at least once.
    bytes: u64,
    /// Bytes that are loaded between two loads of the same.
    reuse: u64,
    /// As `reuse` if loads of the same row are meant, which are fewer; loads of other rows come
    /// again `rows` times.
    row_reuse: u64,
    rows: u64,
}

impl Loads {
    /// Each of `bytes` once.
    const fn once(bytes: u64) -> Self {
        Self { words: bytes.div_ceil(WORD), bytes, reuse: 0, row_reuse: 0, rows: 1 }
    }

    /// `words` loads of a block of `bytes`, all of it again and again.
    const fn again(words: u64, bytes: u64) -> Self {
        Self { words, bytes, reuse: bytes, row_reuse: bytes, rows: 1 }
    }

    /// Lines that come from memory through a cache, half of which is taken to hold other things.
    fn lines(&self, cache: &DataCache) -> u64 {
        let (line, room) = (u64::from(cache.line_bytes.max(1)), u64::from(cache.bytes / 2));
        let all = (self.words * WORD).div_ceil(line);
        let least = self.bytes.div_ceil(line);
        let found = match (self.reuse <= room, self.row_reuse <= room) {
            (true, _) => least,
            (false, true) => least * self.rows,
            (false, false) => all,
        };
        found.min(all.max(least))
    }
}

/// The spaces outside of the chip that the core addresses.
pub const OUTSIDE: [Space; 2] = [Space::ExternalRam, Space::ExternalFlash];

/// What a step's accesses outside of the chip cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// What the core waits for them while nothing else uses these memories.
    pub waits: Cycles,
    /// How many of each space of [`OUTSIDE`] wait for a burst of an engine that uses it too.
    pub accesses: [u64; 2],
    /// How long they use the bus of each.
    pub used: [Cycles; 2],
}

impl Outside {
    /// Accesses of a space, each of which uses its bus for some picoseconds.
    fn add(&mut self, space: Option<Space>, accesses: u64, each_ps: u128, board: &Board) {
        self.add_cycles(space, accesses, cycles(u128::from(accesses) * each_ps, board));
    }

    /// Accesses of a space that use its bus for some cycles in all.
    pub fn add_cycles(&mut self, space: Option<Space>, accesses: u64, used: Cycles) {
        if let Some(at) = OUTSIDE.iter().position(|outside| Some(*outside) == space) {
            self.accesses[at] += accesses;
            self.used[at] += used;
        }
    }
}

/// What accesses outside of the chip cost a step that computes for `compute` cycles if none waits.
pub fn outside(
    costs: &Costs,
    board: &Board,
    op: &Op,
    tile: &Tile,
    operands: &[View],
    compute: Cycles,
) -> Outside {
    let roles = op.kernel().map_or(&[][..], Kernel::roles);
    if !operands.iter().any(|view| timing(board, view).is_some()) {
        return Outside::default();
    }
    let cache = board.core.data_cache.as_ref();
    let features = features(op, tile, operands);
    if cache.is_none()
        && let Some(found) = counted(costs, board, op, operands, &features)
    {
        return found;
    }
    let mut found = Outside::default();
    let strip = if costs.im2col { None } else { strip(op, tile, operands) };
    let strip = strip.zip(cache).zip(operands.first().zip(operands.get(1)));
    if let Some(((strip, cache), (input, output))) = &strip {
        let sides = [*input, *output].map(|view| (view, timing(board, view)));
        found = swept(strip, cache, board, sides, compute);
    }
    let (mut reads, mut writes) = (0, 0);
    for (index, (role, view)) in roles.iter().zip(operands).enumerate() {
        let Some(timing) = timing(board, view) else { continue };
        if strip.is_some() && matches!(role, Role::Input | Role::Output) {
            continue;
        }
        if *role == Role::Output {
            writes += stored(timing, cache, view);
            // A line comes before it is written to, and leaves later.
            let brought = cache.map_or(0, |cache| one(timing.core_read, cache.line_bytes.into()));
            let left = timing.core_write.map_or(0, |access| one(access, unit(cache, 1)));
            let stores = view.elements().div_ceil(unit(cache, 1));
            found.add(view.space(), stores, brought + left, board);
            continue;
        }
        let loads = loads(op, tile, operands, *role, view);
        let count = cache.map_or(loads.words, |cache| loads.lines(cache));
        found.add(view.space(), count, one(timing.core_read, unit(cache, WORD)), board);
        reads += loaded(timing, cache, &loads);
        if index == 0 && costs.im2col && op.kernel() == Some(Kernel::Conv) {
            reads += loaded(timing, cache, &scratch(op, tile, operands));
        }
    }
    found.waits = found.waits + cycles(reads, board) + (cycles(writes, board) - compute);
    found
}

/// What is known of the memory outside of the chip that a view lies in; nothing of one inside.
fn timing<'b>(board: &'b Board, view: &View) -> Option<&'b Timing> {
    let space = view.space().filter(|space| OUTSIDE.contains(space))?;
    board.external(space)?.timing.as_ref()
}

/// Bytes of an access that reaches memory: a line if there is a cache.
fn unit(cache: Option<&DataCache>, bytes: u64) -> u64 {
    cache.map_or(bytes, |cache| u64::from(cache.line_bytes.max(1)))
}

/// Core cycles, rounded up.
fn cycles(ps: u128, board: &Board) -> Cycles {
    let cycles = (ps * u128::from(board.core.clock.hertz.0)).div_ceil(SECOND_PS);
    Cycles(u64::try_from(cycles).unwrap_or(u64::MAX))
}

/// What the core waits without a cache, by the loads and stores that calibration counted; nothing of a
/// kernel where it did not.
fn counted(
    costs: &Costs,
    board: &Board,
    op: &Op,
    operands: &[View],
    features: &[Feature],
) -> Option<Outside> {
    let kernel = op.kernel()?;
    let cost = costs.kernels.get(kernel.name())?.outside.as_ref()?;
    let roles = || kernel.roles().iter().zip(operands);
    let (mut waits, mut stores) = (0, 0);
    let mut found = Outside::default();
    // Loads, and those of them that go to where the output lies.
    let (mut loads, mut beside) = (0, 0);
    let to = roles().find(|(role, _)| **role == Role::Output).map(|(_, view)| view.space);
    for (role, view) in roles() {
        let timing = timing(board, view);
        if *role == Role::Output {
            if let Some(access) = timing.and_then(|timing| timing.core_write) {
                stores = word_cycles(access, board);
                // The project's convolutions store two channels at once.
                let each = if kernel == Kernel::Conv { 2 } else { 1 };
                found.add(view.space(), view.elements() / each, one(access, WORD), board);
            }
            continue;
        }
        // Operands of one role were counted together.
        let all = roles().filter(|(other, _)| *other == role).map(|(_, view)| view.elements());
        let all = u128::from(all.sum::<u64>().max(1));
        let share = u128::from(cost.loads(*role, features).unwrap_or(0))
            * u128::from(view.elements())
            / all;
        let share = u64::try_from(share).unwrap_or(u64::MAX);
        loads += share;
        if let Some(timing) = timing {
            waits += share * word_cycles(timing.core_read, board);
            found.add(view.space(), share, one(timing.core_read, WORD), board);
            beside += if Some(view.space) == to { share } else { 0 };
        }
    }
    if stores > 0 {
        let [alone, between] = cost.store_waits(features);
        let between = u128::from(between) * u128::from(beside) / u128::from(loads.max(1));
        let stored = alone + u64::try_from(between).unwrap_or(u64::MAX);
        waits += stored * stores / costs.store_cycles.max(1);
    }
    found.waits = Cycles(waits);
    Some(found)
}

/// A role's name in cost files.
#[must_use]
pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::Input => "input",
        Role::Weights => "weights",
        Role::Constants => "constants",
        Role::Output => "output",
    }
}

/// Core cycles of an access of a word.
#[must_use]
pub fn word_cycles(access: Access, board: &Board) -> u64 {
    cycles(one(access, WORD), board).0
}

/// Core cycles of an access of a line of the data cache.
pub fn line_cycles(access: Access, board: &Board) -> u64 {
    cycles(one(access, unit(board.core.data_cache.as_ref(), WORD)), board).0
}

/// Loads of an operand.
fn loads(op: &Op, tile: &Tile, operands: &[View], role: Role, view: &View) -> Loads {
    let [(_, macs), (_, results), _] = nominal(op, tile, operands);
    let bytes = view.elements();
    let pixels = results / u64::from(tile.channels).max(1);
    let [down, across] = op.window.map(|side| u64::from(side).max(1));
    // Windows of the input: its rows come again with each row of the window, unless they are still
    // there.
    let windows = |words: u64| Loads {
        words,
        bytes,
        reuse: if down * across == 1 { 0 } else { down * u64::from(view.row_pitch) },
        row_reuse: down * across * u64::from(view.c),
        rows: down,
    };
    let kernel = op.kernel();
    match (role, kernel) {
        (Role::Weights, Some(Kernel::Depthwise)) => Loads::again(macs / WORD, bytes),
        (Role::Weights, Some(Kernel::FullyConnected)) => Loads::once(bytes),
        // A word of weights serves two pixels.
        (Role::Weights, _) => Loads::again((macs / (2 * WORD)).max(bytes / WORD), bytes),
        (Role::Constants, Some(Kernel::Depthwise)) => Loads::again(3 * results, bytes),
        (Role::Constants, Some(Kernel::Conv | Kernel::ConvMaxPool | Kernel::TransposeConv)) => {
            Loads::again(3 * results.div_ceil(2), bytes)
        }
        (Role::Constants, Some(Kernel::Lut)) => Loads::again(results, bytes),
        (_, Some(Kernel::Depthwise)) => windows(macs / WORD),
        (_, Some(Kernel::Conv | Kernel::ConvMaxPool | Kernel::TransposeConv)) => {
            let gathered = macs / u64::from(tile.channels).max(1);
            windows(gathered.max(bytes).div_ceil(WORD))
        }
        // A word of the input serves four channels.
        (_, Some(Kernel::FullyConnected)) => Loads::again(macs / (4 * WORD), bytes),
        (_, Some(Kernel::MaxPool | Kernel::AveragePool)) => {
            windows((pixels * down * across * u64::from(view.c)).div_ceil(WORD))
        }
        (_, Some(Kernel::Gather)) => Loads { words: bytes, ..Loads::once(bytes) },
        // The largest value, the sum, the results.
        (_, Some(Kernel::Softmax | Kernel::LogSoftmax)) => {
            Loads { words: 3 * bytes, ..Loads::again(0, bytes) }
        }
        _ => Loads::once(bytes),
    }
}

/// Loads and stores of the windows of two pixels as 16-bit integers, each of which serves two
/// channels.
fn scratch(op: &Op, tile: &Tile, operands: &[View]) -> Loads {
    let [(_, macs), ..] = nominal(op, tile, operands);
    let gathered = 2 * macs / u64::from(tile.channels).max(1);
    let pixels = tile.output_size.map(u64::from).iter().product::<u64>().max(1);
    Loads::again((macs + gathered).div_ceil(WORD), 2 * gathered / pixels)
}

/// Picoseconds of loads.
fn loaded(timing: &Timing, cache: Option<&DataCache>, loads: &Loads) -> u128 {
    match cache {
        Some(cache) => {
            u128::from(loads.lines(cache)) * one(timing.core_read, u64::from(cache.line_bytes))
        }
        None => u128::from(loads.words) * one(timing.core_read, WORD),
    }
}

/// Picoseconds of stores of a view's bytes, one by one; a cache writes whole lines.
fn stored(timing: &Timing, cache: Option<&DataCache>, view: &View) -> u128 {
    let Some(access) = timing.core_write else { return 0 };
    match cache {
        Some(cache) => {
            let line = u64::from(cache.line_bytes.max(1));
            u128::from(view.elements().div_ceil(line)) * one(access, line)
        }
        None => u128::from(view.elements()) * one(access, 1),
    }
}

/// Picoseconds of an access of `bytes`.
fn one(access: Access, bytes: u64) -> u128 {
    let rate = u128::from(access.bytes_per_second.max(1));
    u128::from(access.latency_ps) + u128::from(bytes) * SECOND_PS / rate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointwise(space: Space) -> (Op, Tile, Vec<View>) {
        let op = Op {
            kernel: Kernel::Conv as u16,
            window: [1, 1],
            stride: [1, 1],
            dilation: [1, 1],
            groups: 1,
            ..Op::default()
        };
        let tile =
            Tile { output_size: [10, 10], channels: 64, valid_size: [10, 10], ..Tile::default() };
        let views = vec![
            View::whole(space, 0, 10, 10, 32),
            View::whole(space, 4096, 10, 10, 64),
            View::bytes(space, 16_384, 2048),
            View::bytes(space, 32_768, 768),
        ];
        (op, tile, views)
    }

    fn waited(board: &str, space: Space) -> u64 {
        let board = tilewright_board::find(board).unwrap();
        let (op, tile, views) = pointwise(space);
        let costs = Costs::on(&board);
        outside(&costs, &board, &op, &tile, &views, Cycles(u64::MAX)).waits.0
    }

    #[test]
    fn each_word_waits_without_a_cache_and_each_line_with_one() {
        let macs = 10 * 10 * 64 * 32u64;
        // Weights, windows, scratch, constants: words of 14 cycles and a bit.
        let words = macs / 8 + 10 * 10 * 32 / 4 + (macs + 2 * 3200) / 4 + 3 * 6400 / 2;
        let found = waited("paper-tinyops-f469", Space::ExternalRam);
        assert!(found > 14 * words && found < 15 * words, "{found} for {words} words");
        let cached = waited("paper-tinyops-f746", Space::ExternalRam);
        let bytes = 3200 + 2048 + 768 + 128;
        assert!(cached >= 20 * bytes / 32 && cached < 100 * bytes / 32, "{cached}");
        assert_eq!(waited("paper-tinyops-f469", Space::Arena), 0);
    }
}
