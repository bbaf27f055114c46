//! Elements in any order and as often as wanted.

use tilewright_model::{Data, float};

use super::build::Attribute::Int;
use super::build::{Attribute, File};
use super::{against_tract, names};
use crate::{Limits, open};

const IMAGE: &[&[usize]] = &[&[2, 4, 9, 7]];

/// One node over an image, with constant integers as its second operand.
fn one(op: &str, ints: &[i64], attributes: &[(&str, Attribute)]) -> File {
    File::new()
        .input("x", &["2", "4", "9", "7"])
        .ints("n", ints)
        .node("Relu", &["x"], "r", &[])
        .node(op, &["r", "n"], "y", attributes)
        .output("y")
}

/// The result of a file on these values, or what is said of the file.
fn run(file: &File, values: &[f32]) -> Result<Vec<f32>, String> {
    let model = open("x", &file.bytes(), &Limits::default(), &[]).map_err(|e| e.to_string())?;
    let result = float::run(&model, &[Data::F32(values.to_vec())], &mut |_, _| {}).unwrap();
    Ok(result[0].as_f32().unwrap().to_vec())
}

#[test]
fn elements_in_any_order() {
    let file = one("Gather", &[3, 0, 1, 1, 2], &[("axis", Int(1))]);
    let model = against_tract(&file.bytes(), IMAGE);
    assert_eq!(names(&model), ["ReLU", "Slice", "Slice", "Slice", "Concat"]);
    let many: Vec<i64> = (0..200).map(|index| index * index % 7).collect();
    let error = run(&one("Gather", &many, &[("axis", Int(3))]), &[]).unwrap_err();
    assert!(error.contains("more than 64 runs"), "{error}");
}

#[test]
fn the_same_again_and_again() {
    let model = against_tract(&one("Tile", &[1, 3, 1, 2], &[]).bytes(), IMAGE);
    assert_eq!(names(&model), ["ReLU", "Concat", "Concat"]);
    assert!(run(&one("Tile", &[1, 1, 1, 1 << 40], &[]), &[]).unwrap_err().contains("64 times"));
    assert!(run(&one("Tile", &[1, 2], &[]), &[]).unwrap_err().contains("repeats [1, 2]"));
    let file = File::new()
        .input("x", &["1", "3", "1", "4"])
        .ints("n", &[2, 1, 5, 1])
        .node("Expand", &["x", "n"], "y", &[])
        .output("y");
    let model = against_tract(&file.bytes(), &[&[1, 3, 1, 4]]);
    // Parts that have a batch of two, and a dimension of 1 that goes before it.
    assert_eq!(names(&model), ["Concat", "Reshape", "Concat"]);
}

#[test]
fn constants_again_and_again() {
    let file = |op: &str, ints: &[i64]| {
        File::new()
            .input("x", &["2", "4"])
            .floats("c", &[1, 2], vec![1.0, 2.0])
            .ints("n", ints)
            .node(op, &["c", "n"], "d", &[])
            .node("Add", &["x", "d"], "y", &[])
            .output("y")
    };
    let tiled = run(&file("Tile", &[2, 2]), &[0.0; 8]).unwrap();
    assert_eq!(tiled, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    assert!(run(&file("Tile", &[1 << 40, 1 << 40]), &[0.0; 8]).is_err());
    assert!(run(&file("Expand", &[1 << 40, 2]), &[0.0; 8]).is_err());
    let mut wide = file("Expand", &[2, 1]);
    wide.graph().input[0] = File::new().input("x", &["2", "2"]).graph().input[0].clone();
    assert_eq!(run(&wide, &[0.0; 4]).unwrap(), [1.0, 2.0, 1.0, 2.0]);
}

#[test]
fn means_of_several_operands() {
    let file = File::new()
        .input("x", &["1", "3"])
        .floats("c", &[1, 3], vec![3.0, 0.0, 6.0])
        .node("Mean", &["x", "c", "x"], "y", &[])
        .output("y");
    assert_eq!(run(&file, &[0.0, 3.0, -3.0]).unwrap(), [1.0, 2.0, 0.0]);
}

/// The grid of a detector with open sizes: numbers in a row, compared, chosen and added.
#[test]
fn arithmetic_of_grids() {
    let file = File::new()
        .input("x", &["2", "4"])
        .node("Shape", &["x"], "s", &[])
        .ints("zero", &[0])
        .ints("one", &[1])
        .ints("two", &[2])
        .node("Gather", &["s", "one"], "columns", &[])
        .node("Range", &["zero", "columns", "one"], "at", &[])
        .node("Less", &["at", "two"], "near", &[])
        .node("Not", &["near"], "far", &[])
        .node("Where", &["far", "at", "two"], "chosen", &[])
        .node("Cast", &["chosen"], "grid", &[("to", Int(1))])
        .node("Add", &["x", "grid"], "y", &[])
        .output("y");
    assert_eq!(run(&file, &[0.0; 8]).unwrap(), [2.0, 2.0, 2.0, 3.0, 2.0, 2.0, 2.0, 3.0]);
    for (bounds, words) in [([0, i64::MAX, 1], "no such many"), ([0, 5, 0], "no such many")] {
        let range = one_of_constants("Range", bounds);
        assert!(run(&range, &[0.0; 504]).unwrap_err().contains(words), "{bounds:?}");
    }
    // What the model computes is not compared.
    let computed = File::new()
        .input("x", &["2", "4"])
        .floats("c", &[1], vec![0.0])
        .node("Greater", &["x", "c"], "y", &[])
        .output("y");
    assert!(run(&computed, &[]).unwrap_err().contains("of values that the model computes"));
}

fn one_of_constants(op: &str, [a, b, c]: [i64; 3]) -> File {
    File::new()
        .input("x", &["2", "4", "9", "7"])
        .ints("a", &[a])
        .ints("b", &[b])
        .ints("c", &[c])
        .node(op, &["a", "b", "c"], "r", &[])
        .node("Cast", &["r"], "f", &[("to", Int(1))])
        .node("Add", &["x", "f"], "y", &[])
        .output("y")
}

/// Few bytes cannot ask for any number of computed constants.
#[test]
fn constants_that_grow_are_refused() {
    let grid = File::new()
        .input("x", &["1"])
        .floats("a", &[5000, 1], vec![0.0; 5000])
        .floats("b", &[1, 5000], vec![0.0; 5000])
        .node("Equal", &["a", "b"], "e", &[])
        .node("Cast", &["e"], "f", &[("to", Int(1))])
        .node("Add", &["x", "f"], "y", &[])
        .output("y");
    let numbers = one_of_constants("Range", [0, 1 << 24, 1]);
    for file in [grid, numbers] {
        let error = run(&file, &[]).unwrap_err();
        assert!(error.contains("too large: elements of constants that nodes compute"), "{error}");
    }
}
