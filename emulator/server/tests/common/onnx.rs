//! A model that keeps an interpreter busy: convolutions that share one constant (protocol buffers,
//! onnx.proto3), and samples for it.

/// Channels of all convolutions; the image is as many pixels high and wide.
pub const CHANNELS: usize = 64;

fn varint(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn int(to: &mut Vec<u8>, field: u64, value: u64) {
    varint(to, field << 3);
    varint(to, value);
}

fn field(to: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    varint(to, number << 3 | 2);
    varint(to, bytes.len() as u64);
    to.extend(bytes);
}

/// `name`, floats of these dimensions.
fn port(name: &str, dims: &[usize]) -> Vec<u8> {
    let mut shape = Vec::new();
    for size in dims {
        let mut dim = Vec::new();
        int(&mut dim, 1, *size as u64);
        field(&mut shape, 1, &dim);
    }
    let (mut tensor, mut kind, mut port) = (Vec::new(), Vec::new(), Vec::new());
    int(&mut tensor, 1, 1);
    field(&mut tensor, 2, &shape);
    field(&mut kind, 1, &tensor);
    field(&mut port, 1, name.as_bytes());
    field(&mut port, 2, &kind);
    port
}

/// Convolutions 3 × 3, one behind the other, each of [`MACS_EACH`].
pub fn convolutions(count: usize) -> Vec<u8> {
    let mut graph = Vec::new();
    let mut name = "x".to_owned();
    for index in 0..count {
        let result = format!("y{index}");
        let (mut node, mut pads) = (Vec::new(), Vec::new());
        field(&mut node, 1, name.as_bytes());
        field(&mut node, 1, b"w");
        field(&mut node, 2, result.as_bytes());
        field(&mut node, 4, b"Conv");
        field(&mut pads, 1, b"pads");
        (0..4).for_each(|_| int(&mut pads, 8, 1));
        int(&mut pads, 20, 7);
        field(&mut node, 5, &pads);
        field(&mut graph, 1, &node);
        name = result;
    }
    let mut weights = Vec::new();
    [CHANNELS, CHANNELS, 3, 3].iter().for_each(|size| int(&mut weights, 1, *size as u64));
    int(&mut weights, 2, 1);
    field(&mut weights, 8, b"w");
    let values = (0..CHANNELS * CHANNELS * 9).map(|index| (index % 7) as f32 * 0.0005);
    field(&mut weights, 9, &values.flat_map(f32::to_le_bytes).collect::<Vec<u8>>());
    field(&mut graph, 2, b"busy");
    field(&mut graph, 5, &weights);
    let dims = [1, CHANNELS, CHANNELS, CHANNELS];
    field(&mut graph, 11, &port("x", &dims));
    field(&mut graph, 12, &port(&name, &dims));
    file(&graph)
}

/// A node without attributes.
fn node(op: &str, inputs: &[&str], output: &str) -> Vec<u8> {
    let mut node = Vec::new();
    inputs.iter().for_each(|input| field(&mut node, 1, input.as_bytes()));
    field(&mut node, 2, output.as_bytes());
    field(&mut node, 4, op.as_bytes());
    node
}

/// A product with weights of zeros that the file does not hold.
pub fn zeros(inputs: usize, outputs: usize) -> Vec<u8> {
    let (mut graph, mut shape) = (Vec::new(), Vec::new());
    field(&mut graph, 1, &node("ConstantOfShape", &["s"], "w"));
    field(&mut graph, 1, &node("MatMul", &["x", "w"], "y"));
    field(&mut graph, 2, b"zeros");
    int(&mut shape, 1, 2);
    int(&mut shape, 2, 7);
    field(&mut shape, 8, b"s");
    let sizes = [inputs, outputs].map(|size| (size as u64).to_le_bytes());
    field(&mut shape, 9, sizes.as_flattened());
    field(&mut graph, 5, &shape);
    field(&mut graph, 11, &port("x", &[1, inputs]));
    field(&mut graph, 12, &port("y", &[1, outputs]));
    file(&graph)
}

fn file(graph: &[u8]) -> Vec<u8> {
    let (mut opset, mut model) = (Vec::new(), Vec::new());
    int(&mut opset, 2, 13);
    int(&mut model, 1, 8);
    field(&mut model, 7, graph);
    field(&mut model, 8, &opset);
    model
}

/// Multiply-accumulates of one of [`convolutions`].
pub const MACS_EACH: u64 = (CHANNELS * CHANNELS * CHANNELS * CHANNELS * 9) as u64;

/// A .npy file of 8-bit images for [`convolutions`].
pub fn samples(count: usize) -> Vec<u8> {
    bytes(&[count, CHANNELS, CHANNELS, CHANNELS])
}

/// A .npy file of bytes.
pub fn bytes(dims: &[usize]) -> Vec<u8> {
    let shape: String = dims.iter().map(|dim| format!("{dim}, ")).collect();
    let dict = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape}), }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((dict.len() as u16).to_le_bytes());
    file.extend(dict.as_bytes());
    let values = (0..dims.iter().product::<usize>()).map(|index| (index * 31 % 251) as u8);
    file.extend(values);
    file
}
