//! The plan: what a strategy decides, before it becomes bytes.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::gather::Gather;
use crate::kernel::Kernel;
use crate::op::Op;
use crate::sector_checksums::SectorChecksums;
use crate::sparse_cuts::SparseCuts;
use crate::step::{LaneKind, Step};
use crate::units::{Bytes, Micros};
use crate::view::{Space, Span, Tile, View};
use crate::window::Window;

/// Where the model's inputs live while they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputResidency {
    /// Whole in SRAM, counted in the arena.
    Resident,
    /// On a card, where they go through these bytes of SRAM while they arrive.
    OnCard(Window),
    /// In rows, which arrive while others are used: those alone are held, and counted in the arena.
    Streamed,
    /// In external memory.
    External,
}

impl InputResidency {
    /// The bytes of SRAM through which inputs go to a card, if they do.
    #[must_use]
    pub const fn window(self) -> Option<Window> {
        match self {
            Self::OnCard(window) => Some(window),
            Self::Resident | Self::External | Self::Streamed => None,
        }
    }
}

/// An activation tensor with its place and life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTensor {
    /// Index of the tensor in the model.
    pub tensor: u32,
    /// Its name.
    pub name: String,
    /// Height, width, channels; vectors have height and width 1.
    pub shape: [u32; 3],
    /// Its bytes (int8: one an element).
    pub bytes: Bytes,
    /// Memory that holds it.
    pub space: Space,
    /// Byte offset in that memory.
    pub offset: u64,
    /// Bytes from a row to the next and from a pixel to the next if it lies inside of another
    /// tensor, so that its rows or pixels do not follow each other; nothing if they do.
    pub pitch: Option<[u32; 2]>,
    /// Rows of its line buffer, if not all are held at once: row y lies where row y modulo this number does.
    pub ring: Option<u32>,
    /// Channels of its block, if not all are held at once: each block lies where the one before it did.
    pub block: Option<u32>,
    /// First layer (position in the order) that writes it; inputs of the model: 0. Of a
    /// depth-first group the first of all.
    pub first: u32,
    /// One past the last layer that uses it; outputs of the model live to the end. Of a
    /// depth-first group the last of all.
    pub end: u32,
}

/// What computes a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// This kernel does most of it.
    Kernel(Kernel),
    /// No kernel does: the plan is one of memory alone, and has no program.
    NoKernel {
        /// What users call the operator.
        op: String,
        /// Why.
        reason: String,
    },
}

impl Work {
    /// The kernel's name, or the operator's if none computes it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Kernel(kernel) => kernel.name(),
            Self::NoKernel { op, .. } => op,
        }
    }

    /// Whether its kernel prepares filters anew for each step.
    #[must_use]
    pub const fn prepares_filters(&self) -> bool {
        matches!(self, Self::Kernel(kernel) if kernel.spec().prepares_filters)
    }

    /// Why no kernel computes the layer.
    #[must_use]
    pub fn no_kernel(&self) -> Option<&str> {
        match self {
            Self::Kernel(_) => None,
            Self::NoKernel { reason, .. } => Some(reason),
        }
    }
}

/// A layer: one or several nodes of the model's graph, in the order of execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedLayer {
    /// Indices of its nodes in the model, each reading the one before; the last makes the layer's
    /// output, and what lies between is never stored.
    pub nodes: Vec<u32>,
    /// Its name: of several nodes their names, joined by ` + `.
    pub name: String,
    /// What computes it.
    pub work: Work,
    /// Multiply-accumulates, nominal (padding included).
    pub macs: u64,
    /// Activation tensors (indices into [`Plan::tensors`]) that it reads.
    pub reads: Vec<u32>,
    /// Activation tensors (indices into [`Plan::tensors`]) that it writes.
    pub writes: Vec<u32>,
}

/// What a constant block of the image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantRole {
    /// Weights of the node, packed for the op's kernel.
    Weights,
    /// Bias, multiplier and shift for each output channel.
    Channels,
    /// Values of a constant operand of the node, as they are.
    Operand {
        /// Index among the node's inputs.
        input: u8,
    },
    /// The node's results for each int8 value.
    Table,
    /// Factors of the node's sums of squares: 32-bit integers.
    Factors,
    /// Input row of each output row and input column of each output column of the node.
    Nearest,
    /// These parameters of a gather.
    Gather(Gather),
}

/// Some output channels of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelPart {
    /// The first; even where filters lie in pairs.
    pub start: u32,
    /// How many.
    pub channels: u32,
}

/// A block of constants: image building fills it from the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Node of the model whose weights or channel constants these are.
    pub node: u32,
    /// What of the node.
    pub role: ConstantRole,
    /// The op that reads them: decides the packing.
    pub op: u32,
    /// Copies of the node in other tiles, which read the same bytes.
    pub copies: Vec<Reader>,
    /// Output channels whose weights or channel constants these are; nothing: of all.
    pub part: Option<ChannelPart>,
    /// Where weights are cut, if they are sparse.
    pub cuts: Option<SparseCuts>,
    /// Memory that holds the block.
    pub space: Space,
    /// Byte offset in that memory.
    pub offset: u64,
    /// Length.
    pub bytes: Bytes,
}

impl Constant {
    /// All that read the block, each a node with its op.
    pub fn readers(&self) -> impl Iterator<Item = Reader> {
        let Self { node, op, .. } = *self;
        core::iter::once(Reader { node, op }).chain(self.copies.iter().copied())
    }

    /// Whether a node reads the block by an op.
    #[must_use]
    pub fn is_read_by(&self, node: u32, op: u32) -> bool {
        self.readers().any(|reader| reader == Reader { node, op })
    }
}

/// A node that reads a block of constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader {
    /// The node.
    pub node: u32,
    /// Its op.
    pub op: u32,
}

/// An input or output of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Io {
    /// Index into [`Plan::tensors`].
    pub tensor: u32,
    /// Index into [`Plan::views`].
    pub view: u32,
    /// Real value = scale × (q − zero).
    pub scale: f32,
    /// Zero point.
    pub zero: i16,
    /// Class labels; empty if the model has none.
    pub labels: Vec<String>,
}

/// A lane of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// What runs it.
    pub kind: LaneKind,
    /// Its steps, in order.
    pub steps: Vec<Step>,
}

/// Lists of steps, one per lane, for a run: at start, of one frame, or of several that share what comes from
/// outside and overlap.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Name of the program; `main` if there is only one.
    pub name: String,
    /// Frames that a run works on, 1 to [`MAX_FRAMES`](crate::step::MAX_FRAMES).
    pub frames: u16,
    /// The lanes; lane 0 is the core.
    pub lanes: Vec<Lane>,
    /// Inputs: those of the model, as often as there are frames.
    pub inputs: Vec<Io>,
    /// Outputs, likewise.
    pub outputs: Vec<Io>,
}

impl Program {
    /// How many inputs each frame has.
    #[must_use]
    pub fn inputs_of_frame(&self) -> u16 {
        self.of_frame(&self.inputs)
    }

    /// How many outputs each frame has.
    #[must_use]
    pub fn outputs_of_frame(&self) -> u16 {
        self.of_frame(&self.outputs)
    }

    fn of_frame(&self, all: &[Io]) -> u16 {
        u16::try_from(all.len() / usize::from(self.frames.max(1))).unwrap_or(u16::MAX)
    }
}

/// A program that may run instead of the main one: it makes some outputs of the model from some of its inputs, and
/// computes nothing that these do not need. Of a network with exits each makes one output.
#[derive(Clone, Debug, PartialEq)]
pub struct Subnetwork {
    /// Numbers of its inputs among the model's.
    pub inputs: Range<u16>,
    /// Numbers of its outputs among the model's.
    pub outputs: Range<u16>,
    /// Its predicted latency, by which a limit chooses it; nothing if none does.
    pub latency: Option<Micros>,
    /// The program.
    pub program: Program,
}

impl Subnetwork {
    /// Its predicted latency in whole microseconds, rounded up, at least one; 0 if no limit chooses it.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time is above zero, and one of an hour and more is 2^32 - 1"
    )]
    pub fn latency_us(&self) -> u32 {
        let Some(Micros(latency)) = self.latency else { return 0 };
        let whole = latency as u32;
        let is_less = f64::from(whole) < latency || whole == 0;
        whole.saturating_add(is_less.into())
    }
}

/// A complete plan for one model on one board.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name of the model.
    pub model: String,
    /// Id of the board.
    pub board: String,
    /// Name of the strategy.
    pub strategy: String,
    /// Where the input lives.
    pub input: InputResidency,
    /// Layers in the order of execution.
    pub layers: Vec<PlannedLayer>,
    /// Activation tensors.
    pub tensors: Vec<PlannedTensor>,
    /// Op table.
    pub ops: Vec<Op>,
    /// Tile table.
    pub tiles: Vec<Tile>,
    /// View table.
    pub views: Vec<View>,
    /// Span table.
    pub spans: Vec<Span>,
    /// Constant blocks.
    pub constants: Vec<Constant>,
    /// What runs once at start, over these tables; nothing if nothing is loaded.
    pub boot: Option<Program>,
    /// What runs for each frame, or for as many as it takes; nothing if a layer has no kernel.
    pub main: Option<Program>,
    /// What may run instead of that, over the same tables and in the same memory.
    pub subnetworks: Vec<Subnetwork>,
    /// Bytes used in each space, by the space's number.
    pub space_bytes: [Bytes; 6],
    /// Checksums or tags of what programs write to a card; nothing if none are kept.
    pub sector_checksums: Option<SectorChecksums>,
}

impl PlannedTensor {
    /// Bytes from its first element to the end of its last, of those that are held at once.
    #[must_use]
    pub fn extent(&self) -> u64 {
        let [h, w, c] = self.shape.map(u64::from);
        let rows = self.ring.map_or(h, |rows| h.min(rows.into()));
        match self.pitch.map(|pitch| pitch.map(u64::from)) {
            Some([row, pixel]) => rows.saturating_sub(1) * row + w.saturating_sub(1) * pixel + c,
            None => self.held().0,
        }
    }

    /// Bytes of the elements that are held at once.
    #[must_use]
    pub fn held(&self) -> Bytes {
        let [h, w, c] = self.shape.map(u64::from);
        match (self.ring, self.block) {
            (None, None) => self.bytes,
            (rows, channels) => {
                let rows = rows.map_or(h, |rows| h.min(rows.into()));
                let channels = channels.map_or(c, |channels| c.min(channels.into()));
                Bytes(rows * w * channels).min(self.bytes)
            }
        }
    }

    /// Whether some of its elements alone are held at once.
    #[must_use]
    pub const fn is_part(&self) -> bool {
        self.ring.is_some() || self.block.is_some()
    }
}

impl Plan {
    /// Bytes used in a space.
    #[must_use]
    pub fn space(&self, space: Space) -> Bytes {
        self.space_bytes[space as usize]
    }

    /// All programs; the main one is the first.
    pub fn programs(&self) -> impl Iterator<Item = &Program> + Clone {
        let subnetworks = self.subnetworks.iter().map(|subnetwork| &subnetwork.program);
        self.main.iter().chain(&self.boot).chain(subnetworks)
    }

    /// All programs, to be changed.
    pub fn programs_mut(&mut self) -> impl Iterator<Item = &mut Program> {
        let subnetworks = self.subnetworks.iter_mut().map(|subnetwork| &mut subnetwork.program);
        self.main.iter_mut().chain(&mut self.boot).chain(subnetworks)
    }

    /// The plan as if a sub-network were its main program, and its only one beside that which boots: whatever
    /// looks at the main program looks at it. Nothing if there is none of this number.
    #[must_use]
    pub fn of_subnetwork(&self, index: usize) -> Option<Self> {
        let program = self.subnetworks.get(index)?.program.clone();
        Some(Self { main: Some(program), subnetworks: Vec::new(), ..self.clone() })
    }

    /// The number of the entry that a sub-network has in the plan's image: behind the main program and the one that
    /// boots.
    #[must_use]
    pub fn entry_of_subnetwork(&self, index: usize) -> usize {
        index + 1 + usize::from(self.boot.is_some())
    }

    /// The sub-network of an entry; nothing if it is another program.
    #[must_use]
    pub fn subnetwork_of_entry(&self, entry: u32) -> Option<usize> {
        (entry as usize).checked_sub(self.entry_of_subnetwork(0))
    }

    /// Frames that a run of the main program works on; 1 without one.
    #[must_use]
    pub fn frames(&self) -> u16 {
        self.main.as_ref().map_or(1, |program| program.frames.max(1))
    }

    /// How often the main program runs for so many frames.
    #[must_use]
    pub fn runs(&self, frames: u32) -> u32 {
        frames.div_ceil(self.frames().into())
    }

    /// The operands of a compute step whose op and first view are given; nothing if they point
    /// outside the tables.
    #[must_use]
    pub fn operands(&self, op: u32, first_view: u32) -> Option<(&Op, &[View])> {
        let op = self.ops.get(op as usize)?;
        let first = first_view as usize;
        let views = self.views.get(first..first.checked_add(op.kernel()?.roles().len())?)?;
        Some((op, views))
    }
}
