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
use tilewright_plan::spec::Quantum;
use tilewright_plan::{Cycles, Filter, Kernel, Op, Pass, Role, Space, Tile, View};

use super::Feature;
use super::features::{Strip, features, strips};
use super::file::Costs;
use super::nominal::nominal;
use super::swept::swept;

/// Bytes of a load.
const WORD: u64 = 4;
/// Pixels that convolutions of the project make together.
const FOUR: u64 = 4;
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
    /// Bytes that are loaded one behind the other, if fewer than a line has.
    run: u64,
}

impl Loads {
    /// Each of `bytes` once.
    const fn once(bytes: u64) -> Self {
        Self { words: bytes.div_ceil(WORD), bytes, reuse: 0, row_reuse: 0, rows: 1, run: u64::MAX }
    }

    /// `words` loads of a block of `bytes`, all of it again and again.
    const fn again(words: u64, bytes: u64) -> Self {
        Self { words, bytes, reuse: bytes, row_reuse: bytes, rows: 1, run: u64::MAX }
    }

    /// Lines that come from memory through a cache. Others' kernels are taken to find half of it full of other
    /// things; of the project's so many bytes come between two loads of the same, and of the same row.
    fn lines(&self, cache: &DataCache, between: Option<[u64; 2]>) -> u64 {
        let line = u64::from(cache.line_bytes.max(1));
        let all = (self.words * WORD).div_ceil(line.min(self.run));
        let least = self.bytes.div_ceil(line);
        let Some([between, between_rows]) = between else {
            let room = u64::from(cache.bytes / 2);
            let found = match (self.reuse <= room, self.row_reuse <= room) {
                (true, _) => least,
                (false, true) => least * self.rows,
                (false, false) => all,
            };
            return found.min(all.max(least));
        };
        let again = |loads: u64, more: u64, between: u64| {
            loads + more.saturating_sub(loads) * lost_permille(cache, between) / 1000
        };
        let rows = again(least, (least * self.rows).min(all), between);
        again(rows, all, between_rows)
    }
}

/// Of a thousand lines of a cache those that are gone when so many bytes have come one after the other: of the
/// lines of a set that has more of them than ways, all.
fn lost_permille(cache: &DataCache, bytes: u64) -> u64 {
    let (line, ways) = (u64::from(cache.line_bytes.max(1)), u64::from(cache.ways.max(1)));
    let sets = (u64::from(cache.bytes) / line / ways).max(1);
    let lines = bytes.div_ceil(line);
    match (lines / sets).cmp(&ways) {
        std::cmp::Ordering::Less => 0,
        std::cmp::Ordering::Equal => (lines % sets) * (ways + 1) * 1000 / lines.max(1),
        std::cmp::Ordering::Greater => 1000,
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

impl std::ops::Add for Outside {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self {
            waits: self.waits + more.waits,
            accesses: std::array::from_fn(|at| self.accesses[at] + more.accesses[at]),
            used: std::array::from_fn(|at| self.used[at] + more.used[at]),
        }
    }
}

impl Outside {
    /// Accesses of a space, each of which uses its bus for some picoseconds.
    fn add_ps(&mut self, space: Option<Space>, accesses: u64, each_ps: u128, board: &Board) {
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
    let Some(kernel) = op.kernel() else { return Outside::default() };
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
    let strips: Vec<Strip> = match cache {
        Some(_) if !costs.im2col => strips(op, tile, operands),
        _ => Vec::new(),
    };
    if let (Some(cache), [input, output, ..]) = (cache, operands) {
        let sides = [input, output].map(|view| (view, timing(board, view)));
        let pixels = strips.iter().map(|strip| strip.pixels).sum::<u64>().max(1);
        for strip in &strips {
            let compute = u128::from(compute.0) * u128::from(strip.pixels) / u128::from(pixels);
            let compute = Cycles(u64::try_from(compute).unwrap_or(u64::MAX));
            found = found + swept(strip, cache, board, sides, compute);
        }
    }
    let meanwhile = (!costs.im2col).then(|| Meanwhile::of(board, kernel, op, tile, operands));
    let (mut reads, mut writes) = (0, 0);
    for (index, (role, view)) in kernel.roles().iter().zip(operands).enumerate() {
        let Some(timing) = timing(board, view) else { continue };
        if !strips.is_empty() && matches!(role, Role::Input | Role::Output) {
            continue;
        }
        if *role == Role::Output {
            writes += stored(timing, cache, view);
            if let Some(cache) = cache.filter(|_| !costs.im2col && kernel.spec().quantum.pixels > 1)
            {
                reads += stored_by_fours(timing, cache, view);
            }
            // A line comes before it is written to, and leaves later.
            let brought = cache.map_or(0, |cache| one(timing.core_read, cache.line_bytes.into()));
            let left = timing.core_write.map_or(0, |access| one(access, unit(cache, 1)));
            let stores = view.elements().div_ceil(unit(cache, 1));
            found.add_ps(view.space(), stores, brought + left, board);
            continue;
        }
        let loads = loads(costs, kernel, op, tile, operands, *role, view);
        let loads = match strips.iter().map(|strip| strip.strips).sum() {
            0 => loads,
            // Filters are expanded once for each strip.
            strips => Loads::again(strips * view.elements().div_ceil(WORD), view.elements()),
        };
        let between = meanwhile.as_ref().map(|meanwhile| meanwhile.between(*role, &loads));
        let count = cache.map_or(loads.words, |cache| loads.lines(cache, between));
        let each = one(timing.core_read, unit(cache, WORD));
        found.add_ps(view.space(), count, each, board);
        reads += u128::from(count) * each;
        if index == 0 && costs.im2col && kernel.spec().has_scratch {
            reads += loaded(timing, cache, &scratch(op, tile, operands));
        }
    }
    found.waits = found.waits + cycles(reads, board) + (cycles(writes, board) - compute);
    found
}

/// Bytes from outside of the chip that a kernel of the project goes through while it makes four pixels, by
/// what they belong to.
struct Meanwhile {
    input: u64,
    output: u64,
    filters: u64,
    /// Of a row of the output.
    output_row: u64,
}

impl Meanwhile {
    fn of(board: &Board, kernel: Kernel, op: &Op, tile: &Tile, operands: &[View]) -> Self {
        let of = |wanted: &[Role], bytes: &dyn Fn(&View) -> u64| -> u64 {
            let there = kernel
                .roles()
                .iter()
                .zip(operands)
                .filter(|(role, view)| wanted.contains(role) && timing(board, view).is_some());
            there.map(|(_, view)| bytes(view)).sum()
        };
        let [down, across] = op.window.map(|side| u64::from(side).max(1));
        let [_, step] = op.stride.map(|step| u64::from(step).max(1));
        let channels = u64::from(tile.channels);
        let Quantum { pixels, channels: together } = kernel.spec().quantum;
        let seen = down * (across + (pixels - 1) * step);
        let input = of(&[Role::Input], &|view| seen * u64::from(view.c));
        let made = pixels * together.unwrap_or(channels);
        // Fully connected kernels go through the filters of what they make together alone.
        let filters = |view: &View| match kernel.spec().filter {
            Some(Filter::Input) => view.elements() * made / channels.max(1),
            _ => view.elements(),
        };
        Self {
            input,
            output: of(&[Role::Output], &|_| made),
            filters: of(&[Role::Weights, Role::Constants], &filters),
            output_row: of(&[Role::Output], &|view| u64::from(view.row_pitch)),
        }
    }

    /// What comes between two loads of the same of an operand, and of the same row.
    fn between(&self, role: Role, loads: &Loads) -> [u64; 2] {
        let four = self.input + self.output + self.filters;
        match role {
            Role::Input if loads.reuse > 0 => [loads.reuse + self.filters + self.output_row, four],
            Role::Input => [0, four],
            _ => [four; 2],
        }
    }
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
                let stores = view.elements() / kernel.spec().stored;
                found.add_ps(view.space(), stores, one(access, WORD), board);
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
            found.add_ps(view.space(), share, one(timing.core_read, WORD), board);
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
fn loads(
    costs: &Costs,
    kernel: Kernel,
    op: &Op,
    tile: &Tile,
    operands: &[View],
    role: Role,
    view: &View,
) -> Loads {
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
        run: u64::MAX,
    };
    let of_all = || pixels * down * across * u64::from(view.c);
    let passes = kernel.spec().passes;
    let pass = match role {
        Role::Weights => passes.weights,
        Role::Constants => passes.constants,
        Role::Input | Role::Output => passes.input,
    };
    match pass {
        Pass::Once => Loads::once(bytes),
        Pass::Bytes => Loads { words: bytes, ..Loads::once(bytes) },
        Pass::Thrice => Loads { words: 3 * bytes, ..Loads::again(0, bytes) },
        Pass::Windows => {
            windows((macs / u64::from(tile.channels).max(1)).max(bytes).div_ceil(WORD))
        }
        Pass::ChannelWindows => windows(macs / WORD),
        Pass::PartWindows if costs.im2col => windows(of_all().div_ceil(WORD)),
        Pass::PartWindows => {
            let run = kernel.spec().quantum.channels.unwrap_or(u64::MAX);
            Loads { run, rows: 1, ..windows(of_all().div_ceil(WORD)) }
        }
        // Three words for each channel.
        Pass::Fours if role == Role::Constants => {
            let served = if costs.im2col { 2 } else { FOUR };
            Loads::again(3 * results.div_ceil(served), bytes)
        }
        // A word of weights serves two pixels, four in the project's kernels.
        Pass::Fours if costs.im2col => Loads::again((macs / (2 * WORD)).max(bytes / WORD), bytes),
        Pass::Fours => Loads::again(bytes.div_ceil(WORD) * pixels.div_ceil(FOUR), bytes),
        Pass::Results(words) => Loads::again(u64::from(words) * results, bytes),
        Pass::Products(served) => Loads::again(macs / u64::from(served), bytes),
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
            u128::from(loads.lines(cache, None))
                * one(timing.core_read, u64::from(cache.line_bytes))
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

/// Picoseconds that the core waits where four pixels are written through a cache one behind the other: a line
/// comes for each of them, if pixels do not share it, and one leaves for it.
fn stored_by_fours(timing: &Timing, cache: &DataCache, view: &View) -> u128 {
    let line = u64::from(cache.line_bytes.max(1));
    let moved = one(timing.core_read, line) + timing.core_write.map_or(0, |write| one(write, line));
    let shared = line / u64::from(view.c).clamp(1, line);
    u128::from(view.elements().div_ceil(line) / shared) * moved
}

/// Picoseconds of an access of `bytes`.
fn one(access: Access, bytes: u64) -> u128 {
    let rate = u128::from(access.bytes_per_second.max(1));
    u128::from(access.latency_ps) + u128::from(bytes) * SECOND_PS / rate
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A convolution that sees one of ten by ten pixels at a time.
    fn of_a_pixel(channels: u32) -> (Op, Tile) {
        let op = Op {
            kernel: Kernel::Conv as u16,
            window: [1, 1],
            stride: [1, 1],
            dilation: [1, 1],
            groups: 1,
            ..Op::default()
        };
        let tile =
            Tile { output_size: [10, 10], channels, valid_size: [10, 10], ..Tile::default() };
        (op, tile)
    }

    fn pointwise(space: Space) -> (Op, Tile, Vec<View>) {
        let (op, tile) = of_a_pixel(64);
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
    fn lines_are_lost_where_their_set_is_full() {
        // 32 sets of four lines of 32 bytes.
        let cache = DataCache { bytes: 4096, line_bytes: 32, ways: 4, source: String::new() };
        let lost = |bytes| lost_permille(&cache, bytes);
        assert_eq!([0, 2304, 4096].map(lost), [0; 3]);
        // One set of 32 has five lines, then half of them have.
        assert_eq!(lost(4096 + 32), 5 * 1000 / 129);
        assert_eq!(lost(4096 + 16 * 32), 80 * 1000 / 144);
        assert_eq!([5120, 100_000].map(lost), [1000; 2]);
    }

    /// Lines of weights that come for a hundred pixels, four at a time.
    #[test]
    fn weights_that_stay_come_once() {
        let board = tilewright_board::find("stm32f746g-disco").unwrap();
        let found = |channels: u32| {
            let (op, tile) = of_a_pixel(channels);
            let bytes = channels * 32;
            let views = vec![
                View::whole(Space::Arena, 0, 10, 10, 32),
                View::whole(Space::Arena, 4096, 10, 10, channels),
                View::bytes(Space::ExternalRam, 0, bytes),
                View::bytes(Space::Arena, 0, channels * 12),
            ];
            let costs = Costs::on(&board);
            outside(&costs, &board, &op, &tile, &views, Cycles(u64::MAX)).accesses[0]
        };
        assert_eq!(found(64), 64);
        assert_eq!(found(256), 256 * 25);
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
