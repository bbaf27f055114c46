//! What compute steps cost on a core: linear formulas whose coefficients come from emulated runs.
//!
//! The files in `costs/` are written by `cargo xtask calibrate`; nothing in them is typed in by
//! hand, but for those of others' kernels, which boards may name and whose features are in
//! [`nominal`]. The build script reads them and embeds them encoded.

mod access;
mod cache;
mod features;
mod file;
mod flash;
mod nominal;
mod swept;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::OnceLock;

use tilewright_board::{Board, CoreKind};
use tilewright_plan::pieces::Pieces;
use tilewright_plan::rows::{self, Row};
use tilewright_plan::{
    Cycles, Instruction, Kernel, Lane, Op, Plan, Role, RowOrder, Step, Tile, View, domain,
};

pub use access::{OUTSIDE, Outside, role_name, word_cycles};
pub use cache::CostCache;
pub use features::{Feature, features};
pub use file::{Costs, Flash, KernelCost, OutsideCost};

/// Cycles of a piece of what a step writes over, apart from its kernel's and those for its bytes: an estimate, with which
/// 32 pieces of an addition are predicted 2 % below what the emulated STM32F746G-DISCO takes.
const PIECE_CYCLES: u64 = 200;

/// The name under which costs of convolutions with transformed weights stand.
pub const TRANSFORMED: &str = "conv_transformed";

/// The name under which costs of convolutions and fully connected layers with sparse weights stand.
pub const SPARSE: &str = "conv_sparse";

/// The name under which the costs of an op's kernel stand.
fn name(op: &Op) -> Option<&'static str> {
    if op.is_sparse() {
        return Some(SPARSE);
    }
    if op.is_transformed() { Some(TRANSFORMED) } else { op.kernel().map(Kernel::name) }
}

/// What ran before a step, and may have left lines of its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Another kernel, or nothing that is known.
    Other,
    /// The same kernel.
    Same,
}

impl Before {
    /// What ran before a step of an op, where `last` holds the name of what ran last, which it takes the place of.
    fn step(op: &Op, last: &mut Option<&'static str>) -> Self {
        let name = name(op);
        if mem::replace(last, name) == name && name.is_some() { Self::Same } else { Self::Other }
    }
}

/// A step of the core: its op, tile and operands.
type Computed<'a> = (&'a Op, &'a Tile, &'a [View]);

/// What a step costs, and waits for what lies outside of the chip.
type Each<'a> = dyn Fn(Computed<'_>, RowOrder, Before) -> (Cycles, Outside) + 'a;

impl Costs {
    /// The costs of the project's kernels on a core, where nothing waits for flash.
    #[must_use]
    pub fn of(core: CoreKind) -> Self {
        all().get(core.id()).cloned().expect("every core is calibrated, which a test holds")
    }

    /// The costs on a board: of the kernels that it names, else of the project's on its core, with what the
    /// board's flash makes these wait.
    #[must_use]
    pub fn on(board: &Board) -> Self {
        let named = board.core.costs.as_ref().and_then(|name| all().get(name).cloned());
        let costs = named.unwrap_or_else(|| Self::of(board.core.kind));
        Self { flash: Flash::of(board, &costs), ..costs }
    }

    /// What a compute step costs behind one of another kernel; in rows, the sum of its rows.
    #[must_use]
    pub fn step(&self, op: &Op, tile: &Tile, operands: &[View], order: RowOrder) -> Cycles {
        self.step_behind(op, tile, operands, order, Before::Other)
    }

    fn step_behind(
        &self,
        op: &Op,
        tile: &Tile,
        operands: &[View],
        order: RowOrder,
        before: Before,
    ) -> Cycles {
        if order == RowOrder::Whole {
            return self.whole(op, tile, operands, before);
        }
        let rows = rows::sequence(tile, order).filter_map(|y| Row::of(op, tile, operands, y));
        rows.enumerate().fold(Cycles::default(), |sum, (index, row)| {
            let before = if index == 0 { before } else { Before::Same };
            let row = self.whole(op, &row.tile, row.operands(), before);
            sum + row
        })
    }

    /// What a step without an order of rows costs; of the project's kernels, one that writes over an
    /// operand costs the sum of its pieces, each of which is copied first.
    fn whole(&self, op: &Op, tile: &Tile, operands: &[View], before: Before) -> Cycles {
        let pieces = op.kernel().filter(|_| !self.im2col).and_then(|kernel| {
            let shared = domain::in_place(kernel, operands)?;
            let output = kernel.operand(Role::Output)?;
            let inputs = kernel.roles().iter().zip(operands).enumerate();
            let mut others =
                inputs.filter(|(at, (role, _))| **role == Role::Input && *at != shared);
            let other = others.next().map(|(_, (_, view))| view);
            Pieces::of(tile, operands.get(output)?, other)
        });
        let Some(pieces) = pieces else { return self.at_once(op, tile, operands, before) };
        let mut known: Option<([usize; 2], Cycles)> = None;
        let mut before = Some(before);
        pieces.iter().fold(Cycles::default(), |sum, piece| {
            let of = |before| {
                let views: Vec<View> = operands.iter().map(|view| piece.view(view)).collect();
                self.at_once(op, &piece.tile(), &views, before)
            };
            let cost = match before.take() {
                // It may be the first of its kernel.
                Some(before) => of(before),
                // All others but the last are alike.
                None => {
                    let alike = known.filter(|(size, _)| *size == piece.size());
                    let cost = alike.map_or_else(|| of(Before::Same), |(_, cost)| cost);
                    known = Some((piece.size(), cost));
                    cost
                }
            };
            let [columns, channels] = piece.size();
            let bytes = (columns * channels) as u64;
            sum + cost + Cycles(PIECE_CYCLES + bytes / 4)
        })
    }

    /// As [`CostCache::lane`], where what a step by itself costs, and waits, is asked of `each`.
    fn lane_by(&self, plan: &Plan, lane: &Lane, each: &Each<'_>) -> Vec<(Cycles, Outside)> {
        let mut met = BTreeSet::new();
        let mut last = None;
        let mut cost = |step: &Step| {
            let Instruction::Compute { op, tile, first_view, order } = step.instruction else {
                return Default::default();
            };
            let (operands, tile) = (plan.operands(op, first_view), plan.tiles.get(tile as usize));
            let (Some((op, views)), Some(tile)) = (operands, tile) else {
                return Default::default();
            };
            let before = Before::step(op, &mut last);
            let (cost, outside) = each((op, tile, views), order, before);
            let first = Cycles(op.kernel().map_or(0, |kernel| self.first_cycles(kernel, &mut met)));
            (cost + outside.waits + first, outside)
        };
        lane.steps.iter().map(&mut cost).collect()
    }

    /// What the core loses where it meets a kernel, after those that it met.
    fn first_cycles(&self, kernel: Kernel, met: &mut BTreeSet<Kernel>) -> u64 {
        let first =
            |kernel: Kernel| self.kernels.get(kernel.name()).map_or(0, |cost| cost.first_cycles);
        let alike = |other: &Kernel| other.roles() == kernel.roles();
        let way_is_known = !met.is_empty();
        if !met.insert(kernel) {
            return 0;
        }
        let way = Kernel::ALL.into_iter().filter(alike).map(first).min().unwrap_or(0);
        first(kernel) - if way_is_known { way } else { 0 }
    }

    fn at_once(&self, op: &Op, tile: &Tile, operands: &[View], before: Before) -> Cycles {
        let Some(cost) = name(op).and_then(|name| self.kernels.get(name)) else {
            return Cycles::default();
        };
        let features = all_features(op, tile, operands);
        let waits = self.flash.map_or(0, |flash| {
            flash.code(cost, &features, self.code_miss, before)
                + flash.constants(op, operands, &features)
        });
        Cycles(cost.cycles(&features) + waits)
    }
}

/// The features of a step by which any cost file may tell what it takes: those of the project's kernels, and
/// those that do not depend on how kernels are made, by which small kernels are calibrated too.
#[must_use]
pub fn all_features(op: &Op, tile: &Tile, operands: &[View]) -> Vec<Feature> {
    let mut features = features(op, tile, operands);
    features.extend(nominal::nominal(op, tile, operands));
    features.extend(features::receptive_field(op, tile, operands));
    features
}

/// All cost files, by name; decoded once.
fn all() -> &'static BTreeMap<String, Costs> {
    static ALL: OnceLock<BTreeMap<String, Costs>> = OnceLock::new();
    ALL.get_or_init(|| {
        postcard::from_bytes(include_bytes!(concat!(env!("OUT_DIR"), "/costs.postcard")))
            .expect("the build script encoded these very types")
    })
}

impl KernelCost {
    /// Cycles of a step with these features, waits for flash left out.
    #[must_use]
    pub fn cycles(&self, features: &[Feature]) -> u64 {
        total(&self.milli_cycles, features)
    }

    /// Cycles that a step with these features waits for code, where it was calibrated.
    #[must_use]
    pub fn code_waits(&self, features: &[Feature], before: Before) -> u64 {
        let milli = match before {
            Before::Other => &self.milli_code_waits,
            Before::Same => &self.milli_code_waits_again,
        };
        total(milli, features)
    }
}

impl OutsideCost {
    /// Loads of a role's operands by a step with these features; nothing of a role that has none.
    #[must_use]
    pub fn loads(&self, role: Role, features: &[Feature]) -> Option<u64> {
        Some(total(self.milli_loads.get(role_name(role))?, features))
    }

    /// Cycles that stores of a step with these features wait, and that its loads wait for them, where
    /// calibration stored.
    #[must_use]
    pub fn store_waits(&self, features: &[Feature]) -> [u64; 2] {
        [&self.milli_store_waits, &self.milli_waits_between].map(|milli| total(milli, features))
    }
}

fn total(milli: &BTreeMap<String, u64>, features: &[Feature]) -> u64 {
    // Fewer features cost something than there are.
    let costs = milli.iter().flat_map(|(costly, each)| {
        let own = features.iter().filter(move |(name, _)| *name == costly.as_str());
        own.map(move |(_, value)| u128::from(*each) * u128::from(*value))
    });
    u64::try_from(costs.sum::<u128>() / 1000).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::Space;

    #[test]
    fn each_cost_file_knows_every_kernel() {
        for (name, costs) in all() {
            for kernel in Kernel::ALL {
                assert!(costs.kernels.contains_key(kernel.name()), "{name}: {}", kernel.name());
            }
        }
    }

    #[test]
    fn every_board_names_costs_that_exist() {
        for board in tilewright_board::all() {
            let name = board.core.costs.as_deref().unwrap_or_else(|| board.core.kind.id());
            assert!(all().contains_key(name), "{name}");
        }
    }

    #[test]
    fn others_kernels_cost_by_products_and_results() {
        let op =
            Op { kernel: Kernel::Depthwise as u16, window: [3, 3], groups: 1, ..Op::default() };
        let tile = Tile { output_size: [10, 10], channels: 8, ..Tile::default() };
        let views =
            [View::whole(Space::Arena, 0, 12, 12, 8), View::whole(Space::Arena, 2048, 10, 10, 8)];
        let board = tilewright_board::find("paper-swapnn-512k").unwrap();
        let cost = Costs::on(&board).step(&op, &tile, &views, RowOrder::Whole);
        assert_eq!(cost, Cycles(10 * 10 * 8 * 9 * 17 / 2));
    }

    #[test]
    fn no_two_features_of_a_step_have_one_name() {
        for kernel in Kernel::ALL {
            let op = Op {
                kernel: kernel as u16,
                window: [3, 3],
                stride: [1, 1],
                dilation: [1, 1],
                groups: 1,
                scalars: [1 << 30, -5, 0, 0, 0, 0, 0],
                ..Op::default()
            };
            let tile = Tile { output_size: [8, 8], channels: 40, ..Tile::default() };
            let view = |at| View::whole(Space::Arena, at * 4096, 8, 8, 40);
            let views: Vec<View> = (0u32..).zip(kernel.roles()).map(|(at, _)| view(at)).collect();
            let mut names: Vec<&str> =
                all_features(&op, &tile, &views).into_iter().map(|(name, _)| name).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "{}: {names:?}", kernel.name());
        }
    }

    #[test]
    fn a_pixel_by_itself_is_taken_four_times() {
        let op = Op {
            kernel: Kernel::Conv as u16,
            window: [3, 3],
            stride: [1, 1],
            dilation: [1, 1],
            padding: [1, 1],
            groups: 1,
            ..Op::default()
        };
        let tile =
            Tile { output_size: [1, 1], channels: 64, valid_size: [1, 1], ..Tile::default() };
        let view = |at, c| View::whole(Space::Arena, at, 1, 1, c);
        let features = features(&op, &tile, &[view(0, 128), view(1024, 64)]);
        let value = |name| features.iter().find(|(known, _)| *known == name).map(|(_, v)| *v);
        // Two blocks of sums, for each of which four windows of 288 words are filled, of which one tap is seen.
        assert_eq!(value("filled_words"), Some(2 * 4 * 288));
        assert_eq!(value("single_words"), Some(2 * 4 * 32));
        assert_eq!([value("single_runs"), value("single_taps")], [Some(2 * 4), None]);
        // Of channels of a group each tap is a run.
        let group = View { column_pitch: 256, row_pitch: 256, ..view(0, 128) };
        let features = super::features::features(&op, &tile, &[group, view(1024, 64)]);
        let value = |name| features.iter().find(|(known, _)| *known == name).map(|(_, v)| *v);
        assert_eq!([value("single_runs"), value("single_taps")], [None, Some(2 * 4)]);
    }

    #[test]
    fn a_convolution_counts_turns_of_its_inner_loops() {
        let op = Op {
            kernel: Kernel::Conv as u16,
            window: [5, 5],
            stride: [1, 1],
            dilation: [1, 1],
            padding: [2, 2],
            groups: 1,
            // Weights with a zero point lie in their natural order.
            input_zero: [0, 1],
            ..Op::default()
        };
        let tile =
            Tile { output_size: [32, 32], channels: 6, valid_size: [32, 32], ..Tile::default() };
        let views =
            [View::whole(Space::Arena, 0, 32, 32, 1), View::whole(Space::Arena, 1024, 32, 32, 6)];
        let features = features(&op, &tile, &views);
        let value = |name| features.iter().find(|(known, _)| *known == name).map(|(_, v)| *v);
        // Of six channels the last two are a block too.
        assert_eq!(value("block_macs"), Some(32 * 32 * 2 * 25));
        // 28 of 32 rows see all five taps, the others one or two fewer.
        assert_eq!(value("copied"), Some((28 * 5 + 2 * 3 + 2 * 4) * (28 * 5 + 2 * 3 + 2 * 4)));
        assert_eq!(value("border_parts"), Some(32 * 32 - 28 * 28));
        let features = super::features::features(&Op { input_zero: [0; 2], ..op }, &tile, &views);
        let value = |name| features.iter().find(|(known, _)| *known == name).map(|(_, v)| *v);
        // In pairs, a filter of 25 values takes seven quads, and runs are no whole words.
        assert_eq!(value("quads"), Some(32 * 32 / 4 * 3 * 7));
        // All fours of rows that see five taps are expanded at once, but the first and the last.
        assert_eq!(value("swift"), Some(28 * 8 - 2));
        // The two, each 17 taps in five rows, and four rows of 14 taps in all; columns at the sides of
        // fours are counted by their mean.
        let seen: u64 = 2 * 17 * 5 + 14 * (28 * 5 + 2 * 3 + 2 * 4);
        assert!(value("patch_bytes").is_some_and(|bytes| seen.abs_diff(bytes) <= 15));
        assert_eq!(value("block_macs"), None);
    }
}
