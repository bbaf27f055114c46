//! Depth-first groups: in which order their layers make rows, and how many of each tensor are held at once.
//!
//! A layer makes some rows as soon as they are needed, and the layers before it what it reads for them.
//! Of a tensor that only these layers use, the rows are held that were made and are yet to be read: in a
//! line buffer, a ring in which no step's output wraps. What comes from layers before them, or goes to layers behind,
//! is held whole; what goes may lie over what has been read of what comes.
//!
//! Or a layer makes some channels of all pixels, and those behind it what they make of them ([`channels`]).
//!
//! Rows that are ahead follow from going through the order once; several groups follow each other in `strategy/stream/groups`.

mod arriving;
mod borders;
mod channels;
mod from_card;
mod order;

use crate::narrow::narrow;
use std::cell::OnceCell;
use std::ops::Range;

pub use from_card::Moved;
use order::Order;

use super::cut::{Fineness, Strip};
use super::operator::Operator;
use crate::aliasing::{AllowedOverlap, Held, Parts, single_steps};
use crate::lower::{self, Layer};
use tilewright_model::{Model, TensorId};
use tilewright_plan::{Bytes, Plan, PlannedTensor, Space, View};

/// Most layers of a depth-first group.
pub const MOST_LAYERS: usize = 40;

/// A layer that is one step.
struct Made<'p> {
    operator: &'p Operator<'p>,
    /// Operands that are activations, each with its tensor.
    inputs: Vec<(usize, usize)>,
    /// The tensor that it makes.
    output: usize,
    rows: u16,
    row_bytes: u64,
    /// Whether it can be made in rows.
    makes_rows: bool,
    /// Of each row of its output the rows of each of its inputs that it is made from, one row after the other;
    /// nothing where there are none.
    read: OnceCell<Vec<Option<Range<u16>>>>,
}

/// The layers of a network as far as they can be made in rows.
pub struct Network<'p> {
    layers: Vec<Option<Made<'p>>>,
    tensors: &'p [PlannedTensor],
    /// The layers that read each tensor, and whether programs take or give it.
    readers: Vec<Vec<usize>>,
    is_given: Vec<bool>,
    /// The tensors that are frames.
    frames: Vec<usize>,
    /// The tensors that programs give: nothing is written over them.
    outputs: Vec<usize>,
    /// The tensors whose bytes reshapes give other names to.
    reshaped: Vec<usize>,
    /// The memory of tensors outside of SRAM.
    outside: Space,
    /// Whether the frame arrives in rows while it is used, so that some of them alone are held.
    arrives: bool,
}

/// A tensor of which some rows are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineBuffer {
    /// The tensor.
    pub tensor: usize,
    /// Rows that are held.
    pub rows: u32,
}

/// A tensor of which some channels are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The tensor.
    pub tensor: usize,
    /// Channels that are held.
    pub channels: u32,
}

/// Layers that make rows as they are needed, and what they hold.
#[derive(Clone, Debug)]
pub struct DepthFirstGroup {
    /// The layers.
    pub layers: Range<usize>,
    /// How fine rows are made.
    pub fineness: Fineness,
    /// What is made, one after the other.
    pub made: Vec<Strip>,
    /// The line buffers of tensors of which only some rows are held.
    pub line_buffers: Vec<LineBuffer>,
    /// The blocks of tensors of which only some channels are held.
    pub blocks: Vec<Block>,
    /// All tensors that the layers use, with their bytes.
    pub held: Vec<Held>,
    /// Which of them may overlap.
    pub overlaps: Vec<AllowedOverlap>,
    /// Tensors that lie outside of SRAM.
    pub outside: Vec<usize>,
    /// Bytes of SRAM for the rows of these that a step needs, if the core cannot reach them where they lie.
    pub staged: u64,
}

impl DepthFirstGroup {
    /// The least bytes that the layers hold, where nothing but what may overlap does.
    pub fn least_bytes(&self) -> u64 {
        let bytes = |tensor: usize| {
            let held = self.held.iter().find(|held| held.tensor == tensor);
            held.map_or(0, |held| held.bytes.0)
        };
        let saved = self.overlaps.iter().map(|overlap| {
            let [read, written] = [overlap.read, overlap.written].map(bytes);
            (read + written).saturating_sub(written.max(overlap.below + read))
        });
        let all: u64 = self.held.iter().map(|held| held.bytes.0).sum();
        all - saved.max().unwrap_or(0).min(all) + self.staged
    }
}

impl<'p> Network<'p> {
    /// The network of a plan with one step a layer, and its operators.
    pub fn new(
        model: &Model,
        layers: &[Layer],
        plan: &'p Plan,
        operators: &'p [Operator<'p>],
        outside: Space,
    ) -> Self {
        let tensors = plan.tensors.as_slice();
        let singles = single_steps(model, layers, &Parts::none(), plan);
        let mut readers = vec![Vec::new(); tensors.len()];
        for (number, layer) in plan.layers.iter().enumerate() {
            for tensor in &layer.reads {
                readers[*tensor as usize].push(number);
            }
        }
        let mut is_given = vec![false; tensors.len()];
        for io in plan.programs().flat_map(|p| p.inputs.iter().chain(&p.outputs)) {
            is_given[io.tensor as usize] = true;
        }
        let mut found: Vec<Option<Made<'p>>> = Vec::with_capacity(plan.layers.len());
        for (number, single) in singles.into_iter().enumerate() {
            let own = |operator: &&Operator<'p>| usize::from(operator.step.layer) == number;
            let operator = operators.iter().find(own);
            let made = single.zip(operator).filter(|(single, _)| !single.is_first_of_several());
            let made = made.and_then(|(single, operator)| {
                let reads = plan.layers[number].reads.iter().map(|tensor| *tensor as usize);
                Made::of(operator, single.inputs, reads, single.output, tensors)
            });
            found.push(made);
        }
        let programs = || plan.programs();
        let mut frames: Vec<usize> =
            programs().flat_map(|p| &p.inputs).map(|io| io.tensor as usize).collect();
        frames.dedup();
        let outputs = programs().flat_map(|p| &p.outputs).map(|io| io.tensor as usize).collect();
        let roots = lower::roots(model);
        let is_reshaped = |tensor: &PlannedTensor| {
            let root = TensorId(tensor.tensor as usize);
            roots.iter().enumerate().any(|(id, of)| *of == root && TensorId(id) != root)
        };
        let reshaped = (0..tensors.len()).filter(|tensor| is_reshaped(&tensors[*tensor]));
        let reshaped = reshaped.collect();
        Self {
            layers: found,
            tensors,
            readers,
            is_given,
            frames,
            outputs,
            reshaped,
            outside,
            arrives: false,
        }
    }

    /// The same with a frame that arrives in rows while it is used, if there is one alone.
    #[must_use]
    pub fn arriving(mut self, arrives: bool) -> Self {
        self.arrives = arrives && self.frames.len() == 1;
        self
    }

    /// Whether a layer can be made in rows.
    pub fn makes_rows(&self, layer: usize) -> bool {
        self.in_rows(layer).is_some()
    }

    /// A layer, if it can be made in rows.
    fn in_rows(&self, layer: usize) -> Option<&Made<'p>> {
        self.layers.get(layer)?.as_ref().filter(|made| made.makes_rows)
    }

    /// The memory of tensors outside of SRAM.
    pub const fn outside(&self) -> Space {
        self.outside
    }

    /// The tensors that are frames.
    pub fn frames(&self) -> &[usize] {
        &self.frames
    }

    /// The tensors that programs take, or give and no layer in rows makes.
    pub fn taken(&self) -> impl Iterator<Item = usize> {
        let in_rows = || (0..self.layers.len()).filter_map(|layer| self.in_rows(layer));
        let made = move |tensor: usize| in_rows().any(|made| made.output == tensor);
        (0..self.tensors.len()).filter(move |tensor| self.is_given[*tensor] && !made(*tensor))
    }

    /// Bytes of a layer's weights on the card.
    pub fn weights(&self, layer: usize) -> u64 {
        let made = self.layers.get(layer).and_then(Option::as_ref);
        let views = made.into_iter().flat_map(|made| made.operator.views);
        let on_card = views.filter(|view| view.space() == Some(Space::Card));
        on_card.filter(|view| view.is_contiguous()).map(View::extent).sum()
    }

    /// Bytes of a tensor.
    pub fn bytes(&self, tensor: usize) -> u64 {
        self.tensors[tensor].bytes.0
    }

    /// The depth-first group of these layers, with these tensors outside of SRAM; nothing if some cannot be made in
    /// rows.
    pub fn depth_first(
        &self,
        layers: Range<usize>,
        fineness: Fineness,
        outside: &[usize],
    ) -> Option<DepthFirstGroup> {
        if let Some(each) = fineness.channels {
            return self.in_channels(layers, fineness, each.get()).filter(|_| outside.is_empty());
        }
        let own: Option<Vec<&Made<'p>>> = layers.clone().map(|layer| self.in_rows(layer)).collect();
        let own = own.filter(|own| (1..=MOST_LAYERS).contains(&own.len()))?;
        let mut order = Order {
            first: layers.start,
            at_once: self.at_once(&layers, &own, fineness),
            done: vec![0; own.len()],
            made: Vec::new(),
            own,
        };
        for layer in layers.clone() {
            let output = order.own[layer - layers.start].output;
            let inside = self.readers[output].iter().any(|reader| layers.contains(reader));
            if !inside || self.stays(output, &layers) {
                order.make(layer, order.own[layer - layers.start].rows)?;
            }
        }
        // Rows that nothing reads belong to their layers too.
        for layer in layers.clone() {
            order.make(layer, order.own[layer - layers.start].rows)?;
        }
        let Order { mut made, own, at_once, .. } = order;
        if let Some(columns) = fineness.columns {
            made =
                from_card::across(own.first().filter(|_| own.len() == 1)?, &made, columns.get())?;
        }
        Some(self.held(layers, (made, fineness), (&own, &at_once), outside))
    }

    /// Whether something else than the layers uses a tensor.
    fn stays(&self, tensor: usize, layers: &Range<usize>) -> bool {
        self.is_given[tensor] || self.readers[tensor].iter().any(|reader| *reader >= layers.end)
    }

    /// Rows of each layer that are made at once.
    fn at_once(&self, layers: &Range<usize>, own: &[&Made<'p>], fineness: Fineness) -> Vec<u16> {
        let mut at_once = vec![0u16; own.len()];
        for (place, made) in own.iter().enumerate().rev() {
            let readers = self.readers[made.output].iter().filter(|reader| layers.contains(reader));
            let wanted = readers.filter_map(|reader| {
                let place = reader - layers.start;
                own[place].fresh(made.output, at_once[place])
            });
            let wanted = wanted.max().unwrap_or(fineness.rows);
            let most = narrow::<u16>(fineness.bytes / made.row_bytes.max(1));
            at_once[place] = wanted.min(most).clamp(1, made.rows);
        }
        at_once
    }

    /// What is held of each tensor while rows are made in this order.
    fn held(
        &self,
        layers: Range<usize>,
        (made, fineness): (Vec<Strip>, Fineness),
        (own, at_once): (&[&Made<'p>], &[u16]),
        outside: &[usize],
    ) -> DepthFirstGroup {
        let mut done = vec![0u16; own.len()];
        let mut most = vec![0u32; own.len()];
        for strip in &made {
            let place = strip.layer - layers.start;
            let output = own[place].output;
            let readers = self.readers[output].iter().filter(|reader| layers.contains(reader));
            let needed = readers.filter_map(|reader| {
                let reader = reader - layers.start;
                own[reader].needs(output, done[reader])
            });
            let first = needed.min().unwrap_or(strip.rows.start).min(strip.rows.start);
            most[place] = most[place].max(u32::from(strip.rows.end - first));
            done[place] = strip.rows.end;
        }
        let life = [layers.start, layers.end].map(narrow);
        let (mut line_buffers, mut held) = (Vec::new(), Vec::new());
        for ((made, most), at_once) in own.iter().zip(most).zip(at_once) {
            let tensor = &self.tensors[made.output];
            let rows = most.next_multiple_of((*at_once).into());
            let is_part = !self.stays(made.output, &layers) && rows < u32::from(made.rows);
            let bytes = if is_part { u64::from(rows) * made.row_bytes } else { tensor.bytes.0 };
            line_buffers.extend(is_part.then_some(LineBuffer { tensor: made.output, rows }));
            held.push(Held { tensor: made.output, bytes: Bytes(bytes), life });
        }
        let mut comes: Vec<usize> =
            own.iter().flat_map(|made| &made.inputs).map(|(_, tensor)| *tensor).collect();
        comes.sort_unstable();
        comes.dedup();
        comes.retain(|tensor| own.iter().all(|made| made.output != *tensor));
        comes.retain(|tensor| {
            let is_outside = outside.contains(tensor);
            let rows = self.arriving_rows(*tensor, &made, own, &layers).filter(|_| !is_outside);
            let Some(rows) = rows else { return true };
            let [_, columns, channels] = self.tensors[*tensor].shape.map(u64::from);
            let bytes = Bytes(u64::from(rows) * columns * channels);
            line_buffers.push(LineBuffer { tensor: *tensor, rows });
            held.push(Held { tensor: *tensor, bytes, life });
            false
        });
        let whole =
            |tensor: &usize| Held { tensor: *tensor, bytes: self.tensors[*tensor].bytes, life };
        held.extend(comes.iter().map(whole));
        let is_outside = |tensor: &usize| outside.contains(tensor);
        held.retain(|held: &Held| !is_outside(&held.tensor));
        let ends = comes.into_iter().filter(|tensor| !is_outside(tensor)).filter(|tensor| {
            let is_read = self.readers[*tensor].iter().any(|reader| *reader >= layers.end);
            !is_read && !self.outputs.contains(tensor)
        });
        let overlaps = ends.flat_map(|read| {
            let goes = own.iter().map(|made| made.output);
            let goes = goes.filter(|tensor| self.stays(*tensor, &layers) && !is_outside(tensor));
            goes.filter_map(|written| self.overlap(&made, own, layers.start, [read, written]))
                .collect::<Vec<_>>()
        });
        let overlaps = overlaps.collect();
        let staged =
            made.iter().map(|strip| self.staged(own[strip.layer - layers.start], strip, outside));
        let (staged, outside) = (staged.max().unwrap_or(0), outside.to_vec());
        let blocks = Vec::new();
        DepthFirstGroup {
            layers,
            fineness,
            made,
            line_buffers,
            blocks,
            held,
            overlaps,
            outside,
            staged,
        }
    }

    /// How far below a tensor that is read another one may begin that is written meanwhile.
    fn overlap(
        &self,
        made: &[Strip],
        own: &[&Made<'p>],
        first: usize,
        [read, written]: [usize; 2],
    ) -> Option<AllowedOverlap> {
        let bytes = |tensor: usize| {
            let [_, columns, channels] = self.tensors[tensor].shape.map(u64::from);
            columns * channels
        };
        let (mut lowest, mut distance) = (None::<u64>, 1u64);
        for strip in made.iter().rev() {
            let layer = own[strip.layer - first];
            if let Some(from) = layer.needs(read, strip.rows.start) {
                let from = u64::from(from) * bytes(read);
                lowest = Some(lowest.map_or(from, |lowest| lowest.min(from)));
            }
            if let Some(lowest) = lowest.filter(|_| layer.output == written) {
                let end = u64::from(strip.rows.end) * bytes(written);
                distance = distance.max(end.saturating_sub(lowest));
            }
        }
        let is_less = distance < self.tensors[written].bytes.0;
        is_less.then_some(AllowedOverlap { read, written, below: distance })
    }
}

impl<'p> Made<'p> {
    fn of(
        operator: &'p Operator<'p>,
        inputs: Vec<(usize, usize)>,
        mut reads: impl Iterator<Item = usize>,
        output: usize,
        tensors: &[PlannedTensor],
    ) -> Option<Self> {
        let size = |tensor: usize| tensors.get(tensor).map(|tensor| tensor.shape);
        let is_whole = |operand: usize, tensor: usize| {
            let view = operator.views.get(operand);
            let found = view.map(|view| [view.h.into(), view.w.into(), view.c]);
            found.is_some_and(|found| size(tensor) == Some(found))
        };
        let to = operator.output()?;
        let all_known = reads.all(|tensor| inputs.iter().any(|(_, known)| *known == tensor));
        let fits = all_known
            && is_whole(to, output)
            && inputs.iter().all(|(operand, tensor)| is_whole(*operand, *tensor));
        let [rows, columns, channels] = size(output)?;
        let rows = u16::try_from(rows).ok()?;
        let row_bytes = u64::from(columns) * u64::from(channels);
        let read = OnceCell::new();
        let makes_rows = operator.made(0..1).is_some();
        fits.then_some(Self { operator, inputs, output, rows, row_bytes, makes_rows, read })
    }

    /// The rows of its operands that rows of its output are made from.
    fn reads(&self, rows: Range<u16>) -> Option<Vec<(usize, Range<u16>)>> {
        let of_inputs = self.inputs.iter().enumerate();
        let reads: Option<Vec<_>> = of_inputs
            .map(|(input, (_, tensor))| {
                // What rows see moves one way, as they do.
                let first = self.read(input, rows.start)?;
                let last = self.read(input, rows.end.checked_sub(1)?)?;
                Some((*tensor, first.start..first.end.max(last.end)))
            })
            .collect();
        reads.or_else(|| self.looked_up(rows))
    }

    /// The rows of an input that a row of its output is made from, looked up once for all.
    fn read(&self, input: usize, row: u16) -> Option<Range<u16>> {
        let all = self.read.get_or_init(|| {
            let of_row = |row: u16| {
                let reads = self.looked_up(row..row + 1);
                let reads =
                    reads.map(|reads| reads.into_iter().map(|(_, rows)| Some(rows)).collect());
                reads.unwrap_or_else(|| vec![None; self.inputs.len()])
            };
            (0..self.rows).flat_map(of_row).collect()
        });
        all.get(usize::from(row) * self.inputs.len() + input)?.clone()
    }

    /// As [`Self::reads`], from the operator.
    fn looked_up(&self, rows: Range<u16>) -> Option<Vec<(usize, Range<u16>)>> {
        let tiny = self.operator.made(rows)?;
        let reads = self.inputs.iter().map(|(operand, tensor)| {
            let view = tiny.views.get(*operand)?;
            let first = u16::try_from(view.y0).ok()?;
            Some((*tensor, first..first.checked_add(view.h)?))
        });
        reads.collect()
    }

    /// The first row of a tensor that its output needs from row `from` on; nothing if it needs none.
    fn needs(&self, tensor: usize, from: u16) -> Option<u16> {
        if from >= self.rows {
            return None;
        }
        let mut least = None::<u16>;
        for (input, (_, read)) in self.inputs.iter().enumerate() {
            // Nothing is needed of any if it is not known of all.
            let rows = self.read(input, from)?;
            if *read == tensor {
                least = Some(least.map_or(rows.start, |least| least.min(rows.start)));
            }
        }
        least
    }

    /// Rows of a tensor that are no longer needed when so many more rows are made: in the middle.
    fn fresh(&self, tensor: usize, rows: u16) -> Option<u16> {
        let middle = self.rows / 2;
        let (from, to) = (self.needs(tensor, middle)?, middle.saturating_add(rows));
        Some(self.needs(tensor, to).map_or(u16::MAX, |next| next - from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::{
        InputResidency, Instruction, Kernel, Lane, LaneKind, Op, Program, Role, RowOrder, Step,
        Tile,
    };

    /// A plan of one step: rows of `output` from rows of `input`.
    fn of_one(kernel: Kernel, op: Op, [input, output]: [u16; 2]) -> Plan {
        let view = |role: &Role| match role {
            Role::Input => View::whole(Space::Arena, 0, input, 6, 4),
            Role::Output => View::whole(Space::Arena, 4096, output, 6, 4),
            Role::Weights => View::bytes(Space::Weights, 0, 64),
            Role::Constants => View::bytes(Space::Constants, 0, 64),
        };
        let tile = Tile {
            output_size: [output, 6],
            channels: 4,
            valid_size: [input, 6],
            ..Tile::default()
        };
        let order = RowOrder::Whole;
        let instruction = Instruction::Compute { op: 0, tile: 0, first_view: 0, order };
        let steps = vec![Step { after: [None; 3], frame: 0, layer: 0, instruction }];
        let program = Program {
            name: String::new(),
            frames: 1,
            lanes: vec![Lane { kind: LaneKind::Core, steps }],
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        Plan {
            model: String::new(),
            board: String::new(),
            strategy: String::new(),
            input: InputResidency::Resident,
            layers: Vec::new(),
            tensors: Vec::new(),
            ops: vec![Op { kernel: kernel as u16, ..op }],
            tiles: vec![tile],
            views: kernel.roles().iter().map(view).collect(),
            spans: Vec::new(),
            constants: Vec::new(),
            boot: None,
            main: Some(program),
            subnetworks: Vec::new(),
            space_bytes: [Bytes(0); 6],
            sector_checksums: None,
        }
    }

    #[test]
    fn rows_that_are_read_are_those_of_the_step_itself() {
        let window = |side: u16, stride: u16, dilation: u16, padding: u16| Op {
            window: [side; 2],
            stride: [stride; 2],
            dilation: [dilation; 2],
            padding: [padding; 2],
            groups: 1,
            ..Op::default()
        };
        let cases = [
            (Kernel::Conv, window(3, 1, 1, 1), [9, 9]),
            (Kernel::Conv, window(5, 2, 1, 2), [17, 9]),
            (Kernel::Depthwise, window(3, 2, 2, 2), [12, 6]),
            (Kernel::MaxPool, window(2, 2, 1, 0), [8, 4]),
            (Kernel::Add, Op::default(), [7, 7]),
        ];
        for (kernel, op, rows) in cases {
            let plan = of_one(kernel, op, rows);
            let operators = Operator::of(&plan);
            let roles = kernel.roles().iter().enumerate();
            let inputs: Vec<(usize, usize)> =
                roles.filter(|(_, role)| **role == Role::Input).map(|(at, _)| (at, at)).collect();
            let (read, [_, rows]) = (OnceCell::new(), rows);
            let made = Made {
                operator: &operators[0],
                inputs,
                output: 9,
                rows,
                row_bytes: 24,
                makes_rows: true,
                read,
            };
            for start in 0..rows {
                for end in start + 1..=rows {
                    let expected = made.looked_up(start..end);
                    assert!(expected.is_some(), "{kernel:?} {start}..{end}");
                    assert_eq!(made.reads(start..end), expected, "{kernel:?} {start}..{end}");
                }
                let one = made.looked_up(start..start + 1).unwrap();
                for (tensor, read) in one {
                    assert_eq!(made.needs(tensor, start), Some(read.start));
                }
            }
            assert_eq!((made.needs(0, rows), made.needs(8, 0)), (None, None));
        }
    }
}
