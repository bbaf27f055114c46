//! Writes small plan images, models and inputs into the fuzzers' corpora: `cargo run -p tilewright-tests --example
//! seed_corpus` in the project's folder.

use std::fs;
use std::path::Path;

use tilewright_planner::{Options, Strategy};
use tilewright_tests::onnx_file::{Dim, one_node};
use tilewright_tests::random_model::random_model;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new("fuzz/corpus/plan_image");
    fs::create_dir_all(folder)?;
    let board = tilewright_board::find("stm32f746g-disco")?;
    for seed in 0..12 {
        let model = random_model(seed);
        let planned =
            tilewright_planner::plan(&model, &board, Strategy::Resident, &Options::default())?;
        let image = tilewright_image::plan_image(&planned.plan, &model)?;
        if image.len() <= 6000 {
            fs::write(folder.join(format!("random-{seed}.twpi")), image)?;
        }
    }
    let folder = Path::new("fuzz/corpus/onnx_file");
    fs::create_dir_all(folder)?;
    for op in ["Relu", "Softmax", "GlobalAveragePool", "Flatten", "Identity", "Conv"] {
        let model = one_node(op, "node", &[1, 3, 6, 5].map(Dim::Fixed));
        fs::write(folder.join(format!("{op}.onnx")), model)?;
    }
    let open = [Dim::Named("batch"), Dim::Fixed(3), Dim::Named("height"), Dim::Fixed(8)];
    fs::write(folder.join("open-dimensions.onnx"), one_node("Relu", "relu", &open))?;
    let folder = Path::new("fuzz/corpus/input_file");
    fs::create_dir_all(folder)?;
    fs::copy("models/samples/fashion-1-pullover.png", folder.join("pullover.png"))?;
    let mut array = b"\x93NUMPY\x01\0\x46\0{'descr': '|u1', 'fortran_order': False, \
                      'shape': (1, 12, 10, 3), }        \n"
        .to_vec();
    array.extend([7; 360]);
    fs::write(folder.join("array.npy"), array)?;
    fs::write(folder.join("raw.bin"), [1; 360])?;
    Ok(())
}
