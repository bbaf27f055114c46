//! Small ONNX files, written field by field (protocol buffers, onnx.proto3).

/// A message under construction.
#[derive(Clone, Debug, Default)]
pub struct Message(Vec<u8>);

impl Message {
    /// An empty message.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a number.
    #[must_use]
    pub fn int(mut self, field: u64, value: u64) -> Self {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    /// Adds bytes or a text.
    #[must_use]
    pub fn bytes(mut self, field: u64, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds a message.
    #[must_use]
    pub fn message(self, field: u64, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    /// The encoded bytes.
    #[must_use]
    pub fn encoded(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

/// One dimension of an input.
#[derive(Clone, Copy, Debug)]
pub enum Dim<'t> {
    /// Known.
    Fixed(u64),
    /// Named only.
    Named(&'t str),
}

fn float_tensor(shape: &[Dim<'_>]) -> Message {
    let dims = shape.iter().fold(Message::new(), |dims, dim| {
        dims.message(
            1,
            &match dim {
                Dim::Fixed(value) => Message::new().int(1, *value),
                Dim::Named(name) => Message::new().bytes(2, name),
            },
        )
    });
    let tensor = Message::new().int(1, 1).message(2, &dims);
    Message::new().message(1, &tensor)
}

/// A model of this graph, to which input `x` and output `y` of one shape are added.
fn model(graph: Message, output: &str, shape: &[Dim<'_>]) -> Vec<u8> {
    let typed = float_tensor(shape);
    let input = Message::new().bytes(1, "x").message(2, &typed);
    let output = Message::new().bytes(1, output).message(2, &typed);
    let graph = graph.bytes(2, "graph").message(11, &input).message(12, &output);
    let opset = Message::new().bytes(1, "").int(2, 17);
    Message::new().int(1, 8).message(7, &graph).message(8, &opset).encoded()
}

/// A float model of one node with one input `x` and one output `y`.
#[must_use]
pub fn one_node(op: &str, node: &str, shape: &[Dim<'_>]) -> Vec<u8> {
    let node = Message::new().bytes(1, "x").bytes(2, "y").bytes(3, node).bytes(4, op);
    model(Message::new().message(1, &node), "y", shape)
}

/// A float model of `count` nodes of one operator, one after the other.
#[must_use]
pub fn chain(op: &str, count: usize, shape: &[Dim<'_>]) -> Vec<u8> {
    let graph = (0..count).fold(Message::new(), |graph, index| {
        let input = if index == 0 { "x".to_owned() } else { format!("t{index}") };
        let node = Message::new()
            .bytes(1, input)
            .bytes(2, format!("t{}", index + 1))
            .bytes(3, format!("node{index}"))
            .bytes(4, op);
        graph.message(1, &node)
    });
    model(graph, &format!("t{count}"), shape)
}

/// A float model of `layers` convolutions of 3x3 one after the other, all with 16 channels of
/// `size` x `size`.
#[must_use]
pub fn convolutions(layers: usize, size: u64) -> Vec<u8> {
    const CHANNELS: u64 = 16;
    let count = (CHANNELS * CHANNELS * 9) as usize;
    let weights: Vec<u8> = (0..count)
        .map(|index| ((index * 7919 % 17) as f32 - 8.0) / 60.0)
        .flat_map(f32::to_le_bytes)
        .collect();
    let dims = [CHANNELS, CHANNELS, 3, 3];
    let tensor = dims.iter().fold(Message::new(), |tensor, dim| tensor.int(1, *dim));
    let tensor = tensor.int(2, 1).bytes(8, "w").bytes(9, weights);
    let ints = |name: &str, values: &[u64]| {
        let attribute = Message::new().bytes(1, name).int(20, 7);
        values.iter().fold(attribute, |attribute, value| attribute.int(8, *value))
    };
    let graph = (0..layers).fold(Message::new().message(5, &tensor), |graph, layer| {
        let input = if layer == 0 { "x".to_owned() } else { format!("t{layer}") };
        let node = Message::new()
            .bytes(1, input)
            .bytes(1, "w")
            .bytes(2, format!("t{}", layer + 1))
            .bytes(3, format!("conv{layer}"))
            .bytes(4, "Conv")
            .message(5, &ints("kernel_shape", &[3, 3]))
            .message(5, &ints("pads", &[1; 4]));
        graph.message(1, &node)
    });
    let shape = [1, CHANNELS, size, size].map(Dim::Fixed);
    model(graph, &format!("t{layers}"), &shape)
}
