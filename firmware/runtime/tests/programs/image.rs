//! Builds plan images by hand.

use tilewright_plan::image::{
    ALIGNMENT, CRC, EntryRecord, FIRMWARE_ABI, Header, IoRecord, LaneRecord, LayerRecord, MAGIC,
    STORE_ALIGNMENT, STORE_MAGIC, STORE_VERSION, STORE_WEIGHTS, Section, SectionRecord,
    StoreHeader, VERSION, pack,
};
use tilewright_plan::{
    After, Instruction, Kernel, LaneKind, Op, RowOrder, Space, Span, Step, StepRecord, Tile, View,
};
use zerocopy::IntoBytes;

/// Board id of images that name no other.
pub const BOARD: &str = "stm32f746g-disco";

/// Plan id of all images here.
const PLAN_ID: [u8; 32] = [7; 32];

/// The tables of an image. The names of layers and tensors are made up.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    pub board: Option<&'static str>,
    pub entries: Vec<EntryRecord>,
    pub lanes: Vec<LaneRecord>,
    pub steps: Vec<StepRecord>,
    pub ops: Vec<Op>,
    pub tiles: Vec<Tile>,
    pub views: Vec<View>,
    pub spans: Vec<Span>,
    pub io: Vec<IoRecord>,
    pub layers: Vec<LayerRecord>,
    pub constants: Vec<u8>,
    pub weights: Vec<u8>,
    pub sums: Vec<u32>,
    pub names: Vec<String>,
    pub arena_bytes: u32,
    pub external_ram_bytes: u32,
    pub external_flash_bytes: u32,
    pub card_bytes: u32,
}

impl Tables {
    pub fn name(&mut self, name: &str) -> u16 {
        self.names.push(name.to_owned());
        self.names.len() as u16 - 1
    }

    /// A view of `bytes` in the weights section.
    pub fn weights(&mut self, bytes: &[u8]) -> View {
        let view = View::bytes(Space::Weights, self.weights.len() as u32, bytes.len() as u32);
        self.weights.extend_from_slice(bytes);
        view
    }

    /// A view of `bytes` in the constants section.
    pub fn constants(&mut self, bytes: &[u8]) -> View {
        let view = View::bytes(Space::Constants, self.constants.len() as u32, bytes.len() as u32);
        self.constants.extend_from_slice(bytes);
        view
    }

    fn board_id(&self) -> [u8; 24] {
        let (name, mut id) = (self.board.unwrap_or(BOARD), [0; 24]);
        id[..name.len()].copy_from_slice(name.as_bytes());
        id
    }

    /// A layer of one compute step over the whole output, and its mark. Convolutions append their
    /// weights and constants to `operands`.
    pub fn layer(&mut self, name: &str, op: Op, operands: &[View]) {
        let roles = op.kernel().expect("tests name kernels").roles();
        let output = roles.iter().position(|role| *role == tilewright_plan::Role::Output);
        let (input, output) = (operands[0], operands[output.expect("kernels have outputs")]);
        let tile = Tile {
            output_start: [0; 2],
            output_size: [output.h, output.w],
            channel_start: 0,
            channels: output.c,
            valid_start: [0; 2],
            valid_size: [input.h, input.w],
        };
        self.tiled_layer(name, op, &[(tile, operands.to_vec())]);
    }

    /// A layer of a compute step for each tile.
    pub fn tiled_layer(&mut self, name: &str, op: Op, tiles: &[(Tile, Vec<View>)]) {
        let layer = self.layers.len() as u16;
        let name = self.name(name);
        self.layers.push(LayerRecord { name, kernel: op.kernel, macs: 0 });
        let op_index = self.ops.len() as u32;
        self.ops.push(op);
        for (tile, operands) in tiles {
            let instruction = Instruction::Compute {
                op: op_index,
                tile: self.tiles.len() as u32,
                first_view: self.views.len() as u32,
                order: RowOrder::Whole,
            };
            self.tiles.push(*tile);
            self.views.extend_from_slice(operands);
            self.step(layer, instruction);
        }
    }

    pub fn step(&mut self, layer: u16, instruction: Instruction) {
        let step = Step { after: [None; 3], frame: 0, layer, instruction };
        self.steps.push(step.to_record());
    }

    /// A copy, as a step of an engine's lane.
    pub fn copy(
        &mut self,
        source: Span,
        destination: Span,
        after: [Option<After>; 3],
    ) -> StepRecord {
        let first = self.spans.len() as u32;
        self.spans.extend([source, destination]);
        let instruction = Instruction::Copy { source: first, destination: first + 1, sum: None };
        Step { after, frame: 0, layer: 0, instruction }.to_record()
    }

    /// Adds a lane of these steps to the last program.
    pub fn lane(&mut self, kind: LaneKind, steps: &[StepRecord]) {
        let (step_first, step_count) = (self.steps.len() as u32, steps.len() as u32);
        self.steps.extend_from_slice(steps);
        self.lanes.push(LaneRecord { kind: kind as u16, reserved: 0, step_first, step_count });
        self.entries.last_mut().expect("a program was added").lane_count += 1;
    }

    /// An input or output.
    pub fn io(&mut self, view: View, labels: &[&str]) {
        let name = self.name("tensor");
        let label_first = self.names.len() as u16;
        for label in labels {
            self.name(label);
        }
        self.views.push(view);
        self.io.push(IoRecord {
            view: self.views.len() as u32 - 1,
            scale_bits: 1f32.to_bits(),
            zero: 0,
            name,
            label_first,
            label_count: labels.len() as u16,
        });
    }

    /// Another program behind the first, of the steps from `step_first` on, with the same input and this output.
    pub fn subnetwork(&mut self, name: &str, step_first: usize, latency_us: u32, output: View) {
        let (name, input) = (self.name(name), self.io[0]);
        let input_first = self.io.len() as u16;
        self.io.push(input);
        self.io(output, &[]);
        let lane_first = self.lanes.len() as u16;
        self.lanes.push(LaneRecord {
            kind: LaneKind::Core as u16,
            reserved: 0,
            step_first: step_first as u32,
            step_count: (self.steps.len() - step_first) as u32,
        });
        self.entries.push(EntryRecord {
            name,
            lane_first,
            lane_count: 1,
            input_first,
            input_count: 1,
            output_first: input_first + 1,
            output_count: 1,
            latency_us,
            frames: 1,
            ..EntryRecord::default()
        });
    }

    /// Ends a program: one core lane of all steps so far; the first IO is its input.
    pub fn program(&mut self) {
        let name = self.name("main");
        let lane = LaneRecord {
            kind: LaneKind::Core as u16,
            reserved: 0,
            step_first: 0,
            step_count: self.steps.len() as u32,
        };
        self.lanes.push(lane);
        self.entries.push(EntryRecord {
            name,
            lane_count: 1,
            input_count: 1,
            output_first: 1,
            output_count: self.io.len() as u16 - 1,
            frames: 1,
            ..EntryRecord::default()
        });
    }

    /// The store image of external flash that belongs to the image: a header, then these bytes.
    pub fn store(&self, bytes: &[u8]) -> Vec<u8> {
        self.store_for(Space::ExternalFlash, bytes)
    }

    /// The same of a space.
    pub fn store_for(&self, space: Space, bytes: &[u8]) -> Vec<u8> {
        let board = self.board_id();
        let mut table = [SectionRecord::default(); 8];
        table[0] = SectionRecord {
            kind: STORE_WEIGHTS,
            offset: STORE_ALIGNMENT as u32,
            bytes: bytes.len() as u32,
            crc: CRC.checksum(bytes),
        };
        let mut header = StoreHeader {
            magic: STORE_MAGIC,
            version: STORE_VERSION,
            sections: 1,
            space: space as u32,
            store_bytes: (STORE_ALIGNMENT + bytes.len()) as u32,
            board,
            plan_id: PLAN_ID,
            table,
            header_crc: 0,
            reserved: [0; 77],
        };
        header.header_crc = header.crc();
        [header.as_bytes(), bytes].concat()
    }

    /// The image, 32-byte aligned.
    pub fn build(&self) -> Image {
        let mut names = Vec::new();
        let mut offset = 4 + 8 * self.names.len() as u32;
        names.extend_from_slice(&(self.names.len() as u32).to_le_bytes());
        for name in &self.names {
            names.extend_from_slice([offset, name.len() as u32].as_bytes());
            offset += name.len() as u32;
        }
        for name in &self.names {
            names.extend_from_slice(name.as_bytes());
        }
        let (steps, tiles) = (pack(&self.steps), pack(&self.tiles));
        let (views, spans) = (pack(&self.views), pack(&self.spans));
        let sections: [(Section, &[u8]); 13] = [
            (Section::Entries, self.entries.as_bytes()),
            (Section::Lanes, self.lanes.as_bytes()),
            (Section::Steps, &steps),
            (Section::Ops, self.ops.as_bytes()),
            (Section::Tiles, &tiles),
            (Section::Views, &views),
            (Section::Spans, &spans),
            (Section::Io, self.io.as_bytes()),
            (Section::Layers, self.layers.as_bytes()),
            (Section::Constants, &self.constants),
            (Section::Weights, &self.weights),
            (Section::Sums, self.sums.as_bytes()),
            (Section::Names, &names),
        ];
        let mut offset = size_of::<Header>() + sections.len() * size_of::<SectionRecord>();
        let (mut records, mut body) = (Vec::new(), Vec::new());
        for (section, bytes) in sections {
            let start = offset.next_multiple_of(ALIGNMENT);
            body.resize(body.len() + start - offset, 0);
            body.extend_from_slice(bytes);
            offset = start + bytes.len();
            records.push(SectionRecord {
                kind: section as u32,
                offset: start as u32,
                bytes: bytes.len() as u32,
                crc: CRC.checksum(bytes),
            });
        }
        let board = self.board_id();
        let mut header = Header {
            magic: MAGIC,
            version: VERSION,
            sections: records.len() as u16,
            abi: FIRMWARE_ABI,
            image_bytes: offset as u32,
            space_bytes: [
                self.arena_bytes,
                self.weights.len() as u32,
                self.constants.len() as u32,
                self.external_ram_bytes,
                self.external_flash_bytes,
                self.card_bytes,
            ],
            board,
            plan_id: PLAN_ID,
            header_crc: 0,
            kept: [0; 3],
            sealed: 0,
            window: [0; 2],
            reserved: 0,
        };
        let mut digest = CRC.digest();
        digest.update(header.as_bytes());
        digest.update(records.as_bytes());
        header.header_crc = digest.finalize();
        Image::new(&[header.as_bytes(), records.as_bytes(), &body].concat())
    }
}

/// An image's bytes, aligned as the reader demands.
pub struct Image {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Image {
    fn new(image: &[u8]) -> Self {
        let mut bytes = vec![0; image.len() + ALIGNMENT];
        let start = bytes.as_ptr().align_offset(ALIGNMENT);
        bytes[start..start + image.len()].copy_from_slice(image);
        Self { bytes, start, length: image.len() }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

/// An op of a kernel with window 1, all values, zero points 0.
pub fn op(kernel: Kernel) -> Op {
    Op {
        kernel: kernel as u16,
        window: [1; 2],
        stride: [1; 2],
        dilation: [1; 2],
        groups: 1,
        clamp_min: -128,
        clamp_max: 127,
        ..Op::default()
    }
}
