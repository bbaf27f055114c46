//! A plan image of two layers, and a firmware that is only a valid ELF file.

use std::sync::OnceLock;

use tilewright_model::{
    Activation, DType, Model, Node, Op, Padding, Quantisation, Shape, Tensor, Window,
};
use tilewright_planner::{Options, Strategy, plan};

use super::BOARD;

/// Bytes of the model's input: 4 × 4 × 2.
pub const INPUT_BYTES: usize = 32;
/// Bytes of its output: 2 × 2 × 2.
pub const OUTPUT_BYTES: usize = 8;

fn tensor(name: &str, dims: &[usize], scale: f32, zero: i32) -> Tensor {
    Tensor {
        name: name.to_owned(),
        shape: Shape::new(dims),
        dtype: DType::I8,
        quantisation: Some(Quantisation::per_tensor(scale, zero)),
        source: None,
    }
}

/// Largest of 2 × 2, then softmax.
pub fn model() -> Model {
    let mut model = Model { name: "two".to_owned(), ..Model::default() };
    model.metadata.insert("labels".to_owned(), "cat,dog,eel,fox,gnu,hen,ibis,jay".to_owned());
    let input = model.add_tensor(tensor("in", &[1, 4, 4, 2], 0.1, 0));
    let middle = model.add_tensor(tensor("pooled", &[1, 2, 2, 2], 0.1, 0));
    let output = model.add_tensor(tensor("out", &[1, 2, 2, 2], 1.0 / 256.0, -128));
    let window =
        Window { size: [2, 2], stride: [2, 2], dilation: [1, 1], padding: Padding::default() };
    model.nodes.push(Node {
        name: "pool".to_owned(),
        op: Op::MaxPool { window, activation: Activation::None },
        inputs: vec![input],
        outputs: vec![middle],
    });
    model.nodes.push(Node {
        name: "softmax".to_owned(),
        op: Op::Softmax,
        inputs: vec![middle],
        outputs: vec![output],
    });
    model.inputs.push(input);
    model.outputs.push(output);
    model.verify().unwrap();
    model
}

/// The model's plan image.
pub fn image() -> Vec<u8> {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    IMAGE
        .get_or_init(|| {
            let board = tilewright_board::find(BOARD).unwrap();
            let model = model();
            let planned = plan(&model, &board, Strategy::Resident, &Options::default()).unwrap();
            tilewright_image::plan_image(&planned.plan, &model).unwrap()
        })
        .clone()
}

/// The smallest ELF file that has a loadable segment at the board's flash address.
pub fn elf() -> Vec<u8> {
    let code = [0x70, 0x47, 0x70, 0x47];
    let names = b"\0.text\0.shstrtab\0";
    let (code_at, names_at, sections_at) = (0x54u32, 0x58u32, 0x6cu32);
    let mut elf = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let half = |elf: &mut Vec<u8>, values: &[u16]| {
        elf.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    };
    let word = |elf: &mut Vec<u8>, values: &[u32]| {
        elf.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    };
    half(&mut elf, &[2, 40]);
    word(&mut elf, &[1, 0x0800_0001, 0x34, sections_at, 0x0500_0000]);
    half(&mut elf, &[0x34, 0x20, 1, 0x28, 3, 2]);
    word(&mut elf, &[1, code_at, 0x0800_0000, 0x0800_0000, 4, 4, 5, 4]);
    elf.extend(code);
    elf.extend(names);
    elf.resize(sections_at as usize, 0);
    word(&mut elf, &[0; 10]);
    word(&mut elf, &[1, 1, 6, 0x0800_0000, code_at, 4, 0, 0, 4, 0]);
    word(&mut elf, &[7, 3, 0, 0, names_at, names.len() as u32, 0, 0, 1, 0]);
    elf
}
