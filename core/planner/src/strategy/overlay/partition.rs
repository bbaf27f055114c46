//! How operators are cut into tiles: the thesis' algorithm 3.

use crate::narrow::narrow;
use std::collections::BTreeMap;

use super::Overlaid;
use crate::schedule::operator::{Operator, fetched};
use crate::strategy::external::LINE;
use tilewright_plan::{Op, Role, Tile, View};
use tilewright_report::Outputs;

/// How the operators are cut.
#[derive(Clone, Debug)]
pub struct Partition {
    /// Bytes of a buffer for tiles of inputs.
    pub tiny: u64,
    /// How many of them there are: two, and two more for second inputs.
    pub inputs: u64,
    /// Bytes of a buffer for tiles of outputs; 0: the core writes them where they belong.
    pub output: u64,
    /// Bytes of the buffers for biases and quantisation parameters.
    pub parameters: u64,
    /// Of each operator the factor that it is cut by; nothing if its inputs stay where they are.
    pub factors: Vec<Option<u16>>,
}

/// Sizes of tiles that were computed before, by what they are of.
#[derive(Default)]
pub struct TileSizes(BTreeMap<Cut, Vec<[u64; 2]>>);

/// All that the sizes of an operator's tiles depend on.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Cut {
    op: Op,
    tile: Tile,
    views: Vec<View>,
    is_staged: bool,
}

impl Cut {
    fn of(operator: &Operator<'_>, outputs: Outputs) -> Self {
        let view = |view: &View| View { offset: view.offset % narrow::<u32>(LINE), ..*view };
        let views = operator.views.iter().map(view).collect();
        let is_staged = outputs == Outputs::Staged;
        Self { op: *operator.record(), tile: operator.tile(), views, is_staged }
    }
}

/// Sizes of an operator's tiles for every factor, computed when they are first asked for.
struct Sizes<'o, 'p> {
    operator: &'o Operator<'p>,
    known: Vec<[u64; 2]>,
    least: Option<[u64; 2]>,
}

impl Sizes<'_, '_> {
    fn at(&mut self, factor: u16, alignment: u64, outputs: Outputs) -> [u64; 2] {
        let factor = factor.clamp(1, self.operator.most());
        for next in (1..=factor).skip(self.known.len()) {
            self.known.push(sizes(self.operator, next, alignment, outputs));
        }
        self.known[usize::from(factor) - 1]
    }

    /// The least that any factor makes of each.
    fn least(&mut self, alignment: u64, outputs: Outputs) -> [u64; 2] {
        if let Some(least) = self.least {
            return least;
        }
        self.at(u16::MAX, alignment, outputs);
        let of = |which: usize| self.known.iter().map(|bytes| bytes[which]).min().unwrap_or(0);
        *self.least.insert([of(0), of(1)])
    }
}

/// Algorithm 3: the smallest factor by which all operators can be cut so that their tiles fit
/// `budget` bytes, of which there are so many for inputs at once, then for each the smallest with which
/// it fits the buffers.
pub fn partition(
    operators: &[Operator<'_>],
    [budget, inputs]: [u64; 2],
    alignment: u64,
    overlaid: Overlaid,
    known: &mut TileSizes,
) -> Partition {
    let outputs = overlaid.outputs;
    let parameters = operators.iter().map(|o| o.bytes(Role::Constants)).max().unwrap_or(0);
    let parameters = if overlaid.parameters && parameters <= budget { parameters } else { 0 };
    let mut sizes: Vec<Sizes<'_, '_>> = operators
        .iter()
        .map(|operator| {
            let known = known.0.remove(&Cut::of(operator, outputs)).unwrap_or_default();
            Sizes { operator, known, least: None }
        })
        .collect();
    let mut taken: Vec<bool> = operators
        .iter()
        .map(|operator| {
            let is_staged = overlaid.outputs == Outputs::Staged;
            let leaves = is_staged && operator.operands(Role::Output).next().is_some();
            overlaid.inputs && (leaves || operator.inputs().next().is_some())
        })
        .collect();
    let most = operators.iter().map(Operator::most).max().unwrap_or(1);
    let [tiny, output] = loop {
        let found = (1..=most).find_map(|factor| {
            let mut largest = [0; 2];
            for (sizes, _) in sizes.iter_mut().zip(&taken).filter(|(_, taken)| **taken) {
                let bytes = sizes.at(factor, alignment, outputs);
                largest = [largest[0].max(bytes[0]), largest[1].max(bytes[1])];
            }
            let total = inputs * largest[0] + 2 * largest[1] + parameters;
            (total <= budget).then_some(largest)
        });
        if let Some(found) = found {
            break found;
        }
        // The operator whose least tile is largest stays outside; so do others as long as not even the
        // least tiles of all fit, whatever the factor.
        loop {
            let least = |sizes: &mut Sizes<'_, '_>| {
                let [input, output] = sizes.at(u16::MAX, alignment, outputs);
                2 * input + output
            };
            let candidates = sizes.iter_mut().enumerate().filter(|(index, _)| taken[*index]);
            match candidates.map(|(index, sizes)| (least(sizes), index)).max() {
                Some((_, index)) => taken[index] = false,
                None => break,
            }
            let left = sizes.iter_mut().zip(&taken).filter(|(_, taken)| **taken);
            let least = left.fold([0; 2], |largest, (sizes, _)| {
                let bytes = sizes.least(alignment, outputs);
                [largest[0].max(bytes[0]), largest[1].max(bytes[1])]
            });
            if inputs * least[0] + 2 * least[1] + parameters <= budget {
                break;
            }
        }
        if !taken.contains(&true) {
            break [0; 2];
        }
    };
    // Staged outputs are moved while the next tile is made: with one tile nothing overlaps.
    let first = if outputs == Outputs::Staged { 2 } else { 1 };
    let factors = sizes.iter_mut().zip(taken).map(|(sizes, taken)| {
        let fits = |factor: &u16| {
            let bytes = sizes.at(*factor, alignment, outputs);
            bytes[0] <= tiny && bytes[1] <= output
        };
        taken.then(|| (first..=most.max(first)).find(fits)).flatten()
    });
    let factors = factors.collect();
    known.0.extend(sizes.into_iter().map(|sizes| (Cut::of(sizes.operator, outputs), sizes.known)));
    Partition { tiny, inputs, output, parameters, factors }
}

/// Bytes of the largest tile of an input, and of the output if that is staged.
fn sizes(operator: &Operator<'_>, factor: u16, alignment: u64, outputs: Outputs) -> [u64; 2] {
    let mut largest = [0; 2];
    for tiny in operator.tiles(factor).iter().filter_map(|rows| operator.among(rows)) {
        for input in operator.inputs() {
            let bytes = fetched(&tiny.views[input], alignment);
            largest[0] = largest[0].max((bytes.end - bytes.start).next_multiple_of(LINE));
        }
        if outputs == Outputs::Staged && operator.can_stage(&tiny, alignment) {
            let output = operator.operands(Role::Output).map(|index| tiny.views[index].extent());
            largest[1] = largest[1].max(output.sum::<u64>().next_multiple_of(LINE));
        }
    }
    largest
}
