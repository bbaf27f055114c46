//! The steps of frames whose last layers are made together: what the core does in which order, what
//! must have come from the card before, what leaves for it, and which buffers that takes.

use std::ops::Range;

use super::Part;
use super::groups::{Group, pitch};
use super::network::{BLOCK, LINE, Network, row_bytes, volume};

/// Bytes of a buffer.
#[derive(Clone, Debug)]
pub struct Access {
    /// The buffer.
    pub buffer: usize,
    /// The bytes in it.
    pub bytes: Range<u64>,
}

/// A buffer with its life, in steps of the core.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its size.
    pub bytes: u64,
    /// The first step before which it must be free.
    pub first: u32,
    /// One past the last step that needs it.
    pub end: u32,
    /// The layer, in the plan's order, and what of it lies there.
    pub of: (u16, Part),
}

/// A step of the core.
#[derive(Clone, Debug)]
pub struct Task {
    /// The layer, in the plan's order.
    pub layer: u16,
    /// The frame, of those of the batch.
    pub frame: u32,
    /// What it takes.
    pub cycles: u64,
    /// What it reads.
    pub reads: Vec<Access>,
    /// What it writes.
    pub writes: Vec<Access>,
    /// Weights that it needs: indices of loads.
    pub weights: Range<usize>,
}

/// Where a load goes.
#[derive(Clone, Debug)]
pub enum Into {
    /// To any place that is free until its last use.
    Anywhere,
    /// To a buffer, once the core has done all steps before this one.
    Buffer(Vec<Access>, u32),
}

/// A read of the card.
#[derive(Clone, Debug)]
pub struct Load {
    /// The layer, in the plan's order.
    pub layer: u16,
    /// The frame, of those of the batch.
    pub frame: u32,
    /// First byte on the card, of the first frame.
    pub card: u64,
    /// Bytes; blocks are read whole.
    pub bytes: u64,
    /// First and last step of the core that needs it.
    pub uses: [u32; 2],
    /// Where it goes.
    pub into: Into,
    /// Bytes on the card from that of a frame to that of the next; 0 if frames share it.
    pub each: u64,
    /// Whether it was written before.
    pub is_back: bool,
}

/// A write to the card.
#[derive(Clone, Debug)]
pub struct Store {
    /// The layer, in the plan's order.
    pub layer: u16,
    /// The frame, of those of the batch.
    pub frame: u32,
    /// The step of the core that makes the last of it.
    pub made: u32,
    /// The step of the core before which it must be planned, since that may write there again.
    pub before: u32,
    /// First byte on the card, of the first frame.
    pub card: u64,
    /// Bytes on the card from that of a frame to that of the next.
    pub each: u64,
    /// Bytes.
    pub bytes: u64,
    /// What is written.
    pub from: Vec<Access>,
}

/// The steps of a batch.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The core's steps.
    pub tasks: Vec<Task>,
    /// Reads in the order of their first use.
    pub loads: Vec<Load>,
    /// Writes in the order in which they are made.
    pub stores: Vec<Store>,
    /// Buffers.
    pub buffers: Vec<Buffer>,
    /// Bytes of the card.
    pub card: u64,
}

/// Where things lie on the card.
struct Places {
    /// Weights of each layer.
    weights: Vec<u64>,
    /// Output of each layer.
    outputs: Vec<u64>,
    /// Inputs of the model: of each operand of each layer.
    inputs: Vec<Vec<u64>>,
}

struct Builder<'n> {
    network: &'n Network,
    places: Places,
    /// For each layer the bytes that its weights are cut to.
    parts: Vec<u64>,
    /// The buffer of each layer's output of each frame.
    outputs: Vec<Vec<Option<usize>>>,
    batch: Batch,
}

impl Batch {
    /// The batch of `together` of all `frames` in these groups: those of a frame, then those of all
    /// frames of the batch.
    pub fn new(
        network: &Network,
        [front, back]: [&[Group]; 2],
        [together, frames]: [u32; 2],
    ) -> Self {
        let groups = front.iter().chain(back);
        let parts: Vec<u64> =
            groups.flat_map(|group| group.layers.clone().map(|_| group.part)).collect();
        let (places, card) = places(network, &parts, frames);
        let mut builder = Builder {
            network,
            places,
            parts,
            outputs: vec![vec![None; network.layers.len()]; together as usize],
            batch: Self { card, ..Self::default() },
        };
        for frame in 0..together {
            for group in front {
                builder.group(group, frame..frame + 1);
            }
        }
        for group in back {
            builder.group(group, 0..together);
        }
        let end = builder.now();
        for (layer, last) in network.last_use.iter().enumerate() {
            if *last > network.layers.len() {
                for buffer in builder.outputs.iter().filter_map(|of_frame| of_frame[layer]) {
                    builder.batch.buffers[buffer].end = end;
                }
            }
        }
        builder.batch
    }

    /// Steps of both lanes.
    pub fn steps(&self) -> u64 {
        (self.tasks.len() + self.loads.len() + self.stores.len()) as u64
    }
}

impl Builder<'_> {
    fn now(&self) -> u32 {
        u32::try_from(self.batch.tasks.len()).unwrap_or(u32::MAX)
    }

    fn buffer(&mut self, bytes: u64, index: usize, part: Part) -> usize {
        let (first, end) = (self.now(), self.now() + 1);
        let bytes = bytes.next_multiple_of(LINE);
        let of = (self.network.layers[index].layer, part);
        self.batch.buffers.push(Buffer { bytes, first, end, of });
        self.batch.buffers.len() - 1
    }

    /// Adds the steps of a group.
    fn group(&mut self, group: &Group, frames: Range<u32>) {
        let network = self.network;
        let row = |place: usize| {
            let bytes = network.layers[group.layers.start + place].row_bytes();
            if group.leaves[place] { pitch(bytes) } else { bytes }
        };
        for frame in frames.clone() {
            for (place, layer) in group.layers.clone().enumerate() {
                let is_result = group.leaves[place] || network.readers[layer].is_empty();
                let part = if is_result { Part::Result } else { Part::Output };
                let buffer = self.buffer(u64::from(group.rows[place]) * row(place), layer, part);
                self.outputs[frame as usize][layer] = Some(buffer);
            }
        }
        let inflows: Vec<Vec<usize>> = frames
            .clone()
            .map(|_| {
                let bytes = |inflow: &super::groups::Inflow| {
                    let operand = &network.layers[inflow.reader.0].operands[inflow.reader.1];
                    u64::from(inflow.rows) * pitch(row_bytes(operand.shape))
                };
                let buffer = |inflow: &super::groups::Inflow| {
                    let (reader, bytes) = (inflow.reader.0, bytes(inflow));
                    self.buffer(bytes, reader, Part::Operand)
                };
                group.inflows.iter().map(buffer).collect()
            })
            .collect();
        let strips = group.ends[0].len();
        let mut starts: Vec<u32> = Vec::with_capacity(strips);
        let mut kept: Vec<Range<usize>> = vec![0..0; group.layers.len()];
        let mut unsent = Vec::new();
        for strip in 0..strips {
            starts.push(self.now());
            // What went out two strips ago may be written over now.
            for store in std::mem::take(&mut unsent) {
                let store: usize = store;
                let stores = &mut self.batch.stores;
                let now = starts[strip];
                if strip >= 2 && stores[store].made < starts[strip - 1] {
                    stores[store].before = now;
                } else {
                    unsent.push(store);
                }
            }
            for (place, index) in group.layers.clone().enumerate() {
                let made = |at: usize| group.ends[place][at];
                let before = strip.checked_sub(1).map_or(0, made);
                let rows = before..made(strip);
                if rows.is_empty() {
                    continue;
                }
                for (nth, frame) in frames.clone().enumerate() {
                    for (inflow, buffer) in group.inflows.iter().zip(&inflows[nth]) {
                        if inflow.reader.0 == index {
                            // A strip's rows may come while the strip before is computed.
                            let free = starts[strip.saturating_sub(1)];
                            self.inflow(inflow, *buffer, strip, frame, free);
                        }
                    }
                }
                if group.keeps[place] && strip == 0 {
                    kept[place] = self.load_all(index);
                }
                let operands = Operands { group, index, place, strip, inflows: &inflows };
                self.layer(&operands, rows.clone(), frames.clone(), kept[place].clone());
                if group.leaves[place] {
                    for frame in frames.clone() {
                        unsent.push(self.store(index, rows.clone(), group.rows[place], frame));
                    }
                }
            }
        }
        let end = self.now();
        for store in unsent {
            self.batch.stores[store].before = end;
        }
        for load in kept.into_iter().flatten() {
            self.batch.loads[load].uses[1] = end.saturating_sub(1);
        }
        self.live(group, frames, &inflows, end);
    }

    /// Lets all buffers that the group uses live until its end.
    fn live(&mut self, group: &Group, frames: Range<u32>, inflows: &[Vec<usize>], end: u32) {
        let network = self.network;
        for frame in frames {
            for layer in group.layers.clone() {
                let operands = network.layers[layer].operands.iter();
                let read = operands.filter_map(|operand| operand.producer);
                for output in read.chain(std::iter::once(layer)) {
                    if let Some(buffer) = self.outputs[frame as usize][output] {
                        self.batch.buffers[buffer].end = end;
                    }
                }
            }
            // What is on the card is in SRAM no more.
            for (place, layer) in group.layers.clone().enumerate() {
                if group.leaves[place] {
                    self.outputs[frame as usize][layer] = None;
                }
            }
        }
        for buffer in inflows.iter().flatten() {
            self.batch.buffers[*buffer].end = end;
        }
    }

    /// Rows of an operand that come for a strip.
    fn inflow(
        &mut self,
        inflow: &super::groups::Inflow,
        buffer: usize,
        strip: usize,
        frame: u32,
        free: u32,
    ) {
        let (layer, number) = inflow.reader;
        let operand = &self.network.layers[layer].operands[number];
        let rows = strip.checked_sub(1).map_or(0, |before| inflow.ends[before])..inflow.ends[strip];
        if rows.is_empty() {
            return;
        }
        let row = row_bytes(operand.shape);
        let place = match operand.producer {
            None => self.places.inputs[layer][number],
            Some(producer) => self.places.outputs[producer],
        };
        let into = ring(buffer, rows.clone(), inflow.rows, pitch(row));
        let now = self.now();
        self.batch.loads.push(Load {
            layer: self.network.layers[layer].layer,
            frame,
            card: place + u64::from(rows.start) * row,
            bytes: u64::from(rows.end - rows.start) * row,
            uses: [now; 2],
            into: Into::Buffer(into, free),
            each: volume(operand.shape).next_multiple_of(BLOCK),
            is_back: operand.producer.is_some(),
        });
    }

    /// All parts of a layer's weights.
    fn load_all(&mut self, index: usize) -> Range<usize> {
        let first = self.batch.loads.len();
        for part in self.network.layers[index].parts(self.parts[index]) {
            self.load(index, &part);
        }
        first..self.batch.loads.len()
    }

    /// A part of a layer's weights.
    fn load(&mut self, index: usize, part: &Range<u64>) {
        let layer = &self.network.layers[index];
        let bytes = (part.end - part.start).next_multiple_of(BLOCK);
        // Parts begin at blocks.
        let size = layer.part(self.parts[index]);
        let number = part.start / size.max(1);
        let card = self.places.weights[index] + number * size.next_multiple_of(BLOCK);
        let now = self.now();
        self.batch.loads.push(Load {
            layer: layer.layer,
            frame: 0,
            card,
            bytes,
            uses: [now; 2],
            into: Into::Anywhere,
            each: 0,
            is_back: false,
        });
    }

    /// Rows of a layer's output go out.
    fn store(&mut self, index: usize, rows: Range<u32>, held: u32, frame: u32) -> usize {
        let layer = &self.network.layers[index];
        let row = layer.row_bytes();
        let buffer = self.outputs[frame as usize][index].unwrap_or(0);
        let made = self.now() - 1;
        self.batch.stores.push(Store {
            layer: layer.layer,
            frame,
            made,
            before: made + 1,
            card: self.places.outputs[index] + u64::from(rows.start) * row,
            each: layer.bytes().next_multiple_of(BLOCK),
            bytes: u64::from(rows.end - rows.start) * row,
            from: ring(buffer, rows, held, pitch(row)),
        });
        self.batch.stores.len() - 1
    }

    /// The core's steps for rows of a layer.
    fn layer(
        &mut self,
        operands: &Operands<'_>,
        rows: Range<u32>,
        frames: Range<u32>,
        kept: Range<usize>,
    ) {
        let layer = &self.network.layers[operands.index];
        let height = u64::from(layer.output[0].max(1));
        let (start, end) = (u64::from(rows.start), u64::from(rows.end));
        let is_cut = kept.is_empty() && layer.weights > 0;
        let weights = if is_cut { layer.weights } else { 1 };
        let parts = layer.parts(self.parts[operands.index]).filter(|_| is_cut);
        let all = std::iter::once(0..weights).filter(|_| !is_cut);
        for part in parts.chain(all) {
            let loads = if !is_cut {
                kept.clone()
            } else {
                self.load(operands.index, &part);
                self.batch.loads.len() - 1..self.batch.loads.len()
            };
            // Parts of rows before, and of these rows.
            let at = |weights_done: u64| {
                let volume = u128::from(start) * u128::from(weights)
                    + u128::from(end - start) * u128::from(weights_done);
                let whole = u128::from(height) * u128::from(weights);
                u64::try_from(u128::from(layer.cycles) * volume / whole).unwrap_or(u64::MAX)
            };
            let cycles = at(part.end) - at(part.start);
            for (nth, frame) in frames.clone().enumerate() {
                let reads = operands.reads(self, nth, frame);
                let buffer = self.outputs[frame as usize][operands.index].unwrap_or(0);
                let leaves = operands.group.leaves[operands.place];
                let row = layer.row_bytes();
                let row = if leaves { pitch(row) } else { row };
                let held = operands.group.rows[operands.place];
                let writes = ring(buffer, rows.clone(), held, row);
                let now = self.now();
                for load in loads.clone() {
                    let uses = &mut self.batch.loads[load].uses;
                    uses[1] = uses[1].max(now);
                }
                self.batch.tasks.push(Task {
                    layer: layer.layer,
                    frame,
                    cycles,
                    reads,
                    writes,
                    weights: loads.clone(),
                });
            }
        }
    }
}

/// A layer of a group in a strip.
struct Operands<'g> {
    group: &'g Group,
    index: usize,
    place: usize,
    strip: usize,
    inflows: &'g [Vec<usize>],
}

impl Operands<'_> {
    /// What the layer reads for a strip of a frame.
    fn reads(&self, builder: &Builder<'_>, nth: usize, frame: u32) -> Vec<Access> {
        let layer = &builder.network.layers[self.index];
        let made = &self.group.ends[self.place];
        let from = self.strip.checked_sub(1).map_or(0, |before| made[before]);
        let mut reads = Vec::new();
        for (number, operand) in layer.operands.iter().enumerate() {
            let height = operand.shape[0].max(1);
            let needed = layer.rows.map_or(0..height, |rows| {
                rows.first(from, height)..rows.end(made[self.strip], height)
            });
            let reader = (self.index, number);
            let inflow = self.group.inflows.iter().position(|inflow| inflow.reader == reader);
            let row = row_bytes(operand.shape);
            if let Some(inflow) = inflow {
                let held = self.group.inflows[inflow].rows;
                reads.extend(ring(self.inflows[nth][inflow], needed, held, pitch(row)));
                continue;
            }
            let Some(producer) = operand.producer else { continue };
            let Some(buffer) = builder.outputs[frame as usize][producer] else { continue };
            let place = producer.checked_sub(self.group.layers.start);
            let inside = place.filter(|place| *place < self.group.layers.len());
            let held = inside.map_or(height, |place| self.group.rows[place]);
            let leaves = inside.is_some_and(|place| self.group.leaves[place]);
            let row = if leaves { pitch(row) } else { row };
            reads.extend(ring(buffer, needed, held, row));
        }
        reads
    }
}

/// Where rows of a tensor lie in a buffer that holds `held` of them by turns.
fn ring(buffer: usize, rows: Range<u32>, held: u32, row: u64) -> Vec<Access> {
    if rows.is_empty() {
        return Vec::new();
    }
    let held = held.max(1);
    let access = |rows: Range<u32>| Access {
        buffer,
        bytes: u64::from(rows.start) * row..u64::from(rows.end) * row,
    };
    if rows.end.saturating_sub(rows.start) >= held {
        return vec![access(0..held)];
    }
    let (start, end) = (rows.start % held, rows.end % held);
    match start < end {
        true => vec![access(start..end)],
        false if end == 0 => vec![access(start..held)],
        false => vec![access(start..held), access(0..end)],
    }
}

/// Lays weights, then activations and inputs of all frames out on the card; gives all bytes too.
fn places(network: &Network, parts: &[u64], frames: u32) -> (Places, u64) {
    let mut end: u64 = 0;
    let mut next = |bytes: u64| {
        let start = end;
        end = end.saturating_add(bytes);
        start
    };
    let each = |bytes: u64| bytes.next_multiple_of(BLOCK).saturating_mul(frames.into());
    let layers = network.layers.iter().zip(parts);
    let weights = layers.map(|(layer, part)| next(layer.padded(*part))).collect();
    let outputs = network.layers.iter().map(|layer| next(each(layer.bytes()))).collect();
    let inputs = network.layers.iter().map(|layer| {
        let operands = layer.operands.iter().map(|operand| match operand.producer {
            None => next(each(volume(operand.shape))),
            Some(_) => 0,
        });
        operands.collect()
    });
    let inputs = inputs.collect();
    (Places { weights, outputs, inputs }, end)
}
