//! Files of the library, and plans that it cannot run.

use tilewright_planner::{Integrity, Objective, Options, Strategy};

use super::*;
use crate::{Silent, checked_plan, plan_file};

fn plan_of(options: &Options, strategy: Strategy, board: &Board) -> PlanFile {
    let model = tilewright_zoo::network("lenet5").unwrap().int8().unwrap();
    let host = Silent::default();
    let planned = checked_plan(&model, board, strategy, options, &host).unwrap();
    plan_file(&planned, &model, board, Integrity::Trusted, &host).unwrap()
}

fn text<'f>(files: &'f [PackagedFile], name: &str) -> &'f str {
    let file = files.iter().find(|file| file.name == name).unwrap();
    std::str::from_utf8(&file.bytes).unwrap()
}

#[test]
fn the_source_holds_the_plan_image_and_the_header_its_sizes() {
    let board = tilewright_board::find("weact-h743").unwrap();
    let plan = plan_of(&Options::default(), Strategy::Resident, &board);
    let files = library("net*/", &board, b"!<arch>\n", &plan).unwrap();
    let source = text(&files, "model.c");
    let words = source.split('{').nth(1).unwrap().trim().trim_end_matches("};");
    let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
    let word = |word: &str| u32::from_str_radix(word.strip_prefix("0x").unwrap(), 16).unwrap();
    let bytes: Vec<u8> = words.flat_map(|text| word(text).to_le_bytes()).collect();
    assert_eq!(bytes[..plan.bytes().len()], *plan.bytes());

    let header = text(&files, "model.h");
    assert!(header.starts_with("/* net__ on weact-h743: made by"), "{header}");
    let defines = |name: &str, value: &str| {
        let line = format!("#define TILEWRIGHT_MODEL_{name} {value}\n");
        assert!(header.contains(&line), "{line}{header}");
    };
    defines("BOARD", "\"weact-h743\"");
    defines("PLAN_BYTES", &plan.bytes().len().to_string());
    defines("INPUT_0_BYTES", "1024");
    defines("INPUT_0_HEIGHT", "32");
    defines("OUTPUTS", "1");
    defines("INPUT_0_ZERO_POINT", "(-128)");
    assert!(text(&files, "README.txt").contains("-mcpu=cortex-m7 "));
    assert!(text(&files, "tilewright.h").contains("int tilewright_invoke(tilewright *model);"));
}

#[test]
fn what_the_library_cannot_run_is_refused() {
    let board = tilewright_board::find("nucleo-f767zi").unwrap();
    let options =
        Options { objective: Objective::Memory, streams_input: true, ..Options::default() };
    let plan = plan_of(&options, Strategy::Auto, &board);
    let refused = library("net", &board, b"", &plan).unwrap_err();
    assert_eq!(refused.kind, Blame::BadInput);
    let what = "The library cannot run this plan: the input arrives in rows while the plan runs.";
    assert_eq!(refused.what, what);
}
