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

/// A float model of one node with one input `x` and one output `y`.
#[must_use]
pub fn one_node(op: &str, node: &str, shape: &[Dim<'_>]) -> Vec<u8> {
    let node = Message::new().bytes(1, "x").bytes(2, "y").bytes(3, node).bytes(4, op);
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
    let typed = Message::new().message(1, &tensor);
    let input = Message::new().bytes(1, "x").message(2, &typed);
    let output = Message::new().bytes(1, "y").message(2, &typed);
    let graph =
        Message::new().message(1, &node).bytes(2, "graph").message(11, &input).message(12, &output);
    let opset = Message::new().bytes(1, "").int(2, 17);
    Message::new().int(1, 8).message(7, &graph).message(8, &opset).encoded()
}
