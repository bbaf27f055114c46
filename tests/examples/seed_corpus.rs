//! Writes small plan images into the fuzzers' corpus: `cargo run -p tilewright-tests --example
//! seed_corpus` in the project's folder.

use std::fs;
use std::path::Path;

use tilewright_planner::{Options, Strategy};
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
    Ok(())
}
