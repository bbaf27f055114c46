//! Networks stacked from cells have the sizes that Sadiq's thesis prints in table 3.4.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_model::{Model, Op, TensorId};
use tilewright_zoo::cells::published::Published;
use tilewright_zoo::cells::{Genotype, Operation};
use tilewright_zoo::{Applied, Network, Stack, network, of_genotype, of_operation};

/// A row of the table.
struct Row {
    cells: Published,
    /// In the zoo, with as many channels as make the parameters.
    name: &'static str,
    /// Millions, with scale and offset of batch normalisations.
    parameters: f64,
    /// Half of the last digit.
    rounding: f64,
    /// Milliards.
    macs: f64,
}

const TABLE_3_4: [Row; 6] = [
    row(Published::NasNetA, "nasnet-cells-c32", 3.1, 0.05, 0.624),
    row(Published::AmoebaNetA, "amoebanet-cells", 3.1, 0.05, 0.506),
    row(Published::Darts, "darts-cells", 3.3, 0.05, 0.547),
    row(Published::DeffArts001, "deff-arts-0.01", 2.3, 0.05, 0.376),
    row(Published::DeffArts002, "deff-arts-0.02", 1.6, 0.05, 0.262),
    row(Published::DeffArts004, "deff-arts-0.04", 1.45, 0.005, 0.242),
];

const fn row(
    cells: Published,
    name: &'static str,
    parameters: f64,
    rounding: f64,
    macs: f64,
) -> Row {
    Row { cells, name, parameters, rounding, macs }
}

fn elements(model: &Model, id: TensorId) -> u64 {
    model.tensor(id).shape.elements().unwrap() as u64
}

/// MACs as ptflops counts them in the authors' release: two for each normalised value, and one for each that is
/// rectified or pooled. The release rectifies anew for each operation, where one node does it here; a halving, whose
/// two slices read the same, rectifies once.
fn counted(network: &Network) -> u64 {
    let model = network.float();
    let reads = |id: TensorId, counts: fn(&Op) -> u64| -> u64 {
        let of_node = |node: &tilewright_model::Node| {
            counts(&node.op) * node.inputs.iter().filter(|input| **input == id).count() as u64
        };
        model.nodes.iter().map(of_node).sum()
    };
    let besides = model.nodes.iter().map(|node| {
        let (x, result) = (node.inputs[0], node.outputs[0]);
        match &node.op {
            Op::Conv { .. } | Op::DepthwiseConv { .. } if node.inputs.len() == 3 => {
                2 * elements(model, result)
            }
            Op::Activation(_) => {
                let halves = reads(result, |op| match op {
                    Op::Conv { .. } | Op::DepthwiseConv { .. } => 2,
                    Op::Slice { .. } => 1,
                    _ => 0,
                });
                elements(model, x) * halves / 2
            }
            Op::MaxPool { .. } | Op::AveragePool { .. } => {
                elements(model, x) * reads(result, |_| 1)
            }
            _ => 0,
        }
    });
    network.macs() + besides.sum::<u64>()
}

#[test]
fn sizes_are_those_of_table_3_4() {
    let mut wrong = Vec::new();
    for row in TABLE_3_4 {
        let (listed, name) = (network(row.name).unwrap(), row.name);
        let of_parameters = listed.entry.publications.iter().find(|p| p.parameters.is_some());
        let found = listed.parameters_as(of_parameters.unwrap()) as f64 / 1e6;
        if (found - row.parameters).abs() > row.rounding {
            wrong.push(format!("{name}: {found} M parameters instead of {}", row.parameters));
        }
        let made = of_genotype(&row.cells.genotype(), &Stack::CIFAR_10).unwrap();
        let found = counted(&made) as f64 / 1e9;
        if (found - row.macs).abs() > 0.0005 {
            wrong.push(format!("{name}: {found} G MACs instead of {}", row.macs));
        }
        println!("{name}: {found} G, {} M of convolutions", made.macs() as f64 / 1e6);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn names_of_the_zoo_are_stacks_of_the_published_cells() {
    for row in TABLE_3_4 {
        let base = row.name.trim_end_matches("-c32");
        let listed = network(&format!("{base}-r16-c8-n8")).unwrap();
        let stack = Stack { cells: 8, channels: 8, resolution: 16, ..Stack::CIFAR_10 };
        let made = of_genotype(&row.cells.genotype(), &stack).unwrap();
        assert_eq!(made.float().nodes, listed.float().nodes, "{base}");
        assert_eq!(made.name, "cells-r16-c8-n8");
        let output = made.float().tensor(made.float().outputs[0]);
        assert_eq!(output.shape.dims(), [1, 10], "{base}");
    }
}

fn complaint(genotype: &str, stack: Stack) -> String {
    let genotype: Genotype = genotype.parse().unwrap();
    of_genotype(&genotype, &stack).unwrap_err().to_string()
}

const SMALL: Stack = Stack { cells: 5, channels: 8, resolution: 16, colours: 1 };

#[test]
fn what_cannot_be_built_is_said() {
    let plain = "Genotype(normal=[('skip_connect', 0), ('none', 1)], reduce=[('none', 0), ('sep_conv_5x5', 1)])";
    for (stack, said) in [
        (Stack { cells: 0, ..SMALL }, "0 cells: give 1 to 64"),
        (Stack { cells: usize::MAX, ..SMALL }, "18446744073709551615 cells: give 1 to 64"),
        (Stack { channels: 7, ..SMALL }, "7 channels: give an even number"),
        (Stack { channels: usize::MAX, ..SMALL }, "channels: give 2 to 1024"),
        (Stack { resolution: 1 << 40, ..SMALL }, "pixels: give 4 to 1024"),
        (Stack { colours: 0, ..SMALL }, "0 colours: give 1 to 4"),
    ] {
        let found = complaint(plain, stack);
        assert!(found.contains(said), "{found}");
    }
    let unconnected = plain.replace("'sep_conv_5x5'", "'none'");
    let found = complaint(&unconnected, SMALL);
    assert!(found.contains("node 2 of the reduce cell has 'none' twice"), "{found}");
}

#[test]
fn any_genotype_that_connects_has_an_int8_form() {
    let names = |index: usize| {
        let operations = tilewright_zoo::cells::Operation::ALL;
        operations[1 + index % (operations.len() - 1)].name()
    };
    for seed in 0..24usize {
        let cell = |salt: usize| -> String {
            let edge = |step: usize, which: usize| {
                let mixed = (seed * 7 + salt * 13 + step * 5 + which * 3) * 2_654_435 / 977;
                format!("('{}', {})", names(mixed), mixed / 11 % (step + 2))
            };
            let edges = (0..4).flat_map(|step| [edge(step, 0), edge(step, 1)]);
            edges.collect::<Vec<_>>().join(", ")
        };
        let text = format!("Genotype(normal=[{}], reduce=[{}])", cell(1), cell(2));
        let genotype: Genotype = text.parse().unwrap();
        let cells = 1 + seed % 9;
        for resolution in [SMALL.resolution, 9] {
            let made = of_genotype(&genotype, &Stack { cells, resolution, ..SMALL }).unwrap();
            let int8 = made.int8().unwrap();
            assert!(int8.nodes.len() >= cells, "{text}");
        }
    }
}

#[test]
fn operations_alone_are_those_of_the_stack() {
    let stack = Stack { cells: 8, channels: 8, resolution: 16, ..Stack::CIFAR_10 };
    let genotype = Published::Darts.genotype();
    let applied = stack.applied(&genotype);
    assert_eq!(applied.len(), 8 * 8);
    let network = of_genotype(&genotype, &stack).unwrap();
    // What the cells multiply besides: two pointwise layers before each, stem and head.
    let mut in_cells = 0;
    let mut largest = 0;
    for one in applied {
        let Some(alone) = of_operation(one).unwrap() else {
            assert!(one.operation == Operation::Skip && !one.halves, "{one:?}");
            continue;
        };
        let shape = &alone.float().tensor(alone.float().outputs[0]).shape;
        let side = if one.halves { one.side / 2 } else { one.side };
        assert_eq!(shape.dims(), [1, side, side, one.channels], "{one:?}");
        alone.int8().unwrap();
        in_cells += alone.macs();
        largest = largest.max(one.channels);
    }
    assert_eq!(largest, 32);
    assert!(in_cells < network.macs() && 2 * in_cells > network.macs(), "{in_cells}");
    let in_each = stack.in_each_cell(Operation::Dilated3);
    let sides: Vec<_> = in_each.iter().map(|one| (one.side, one.channels, one.halves)).collect();
    let (first, second) = ((16, 16, true), (8, 32, true));
    let [a, b, c] = [(16, 8, false), (8, 16, false), (4, 32, false)];
    assert_eq!(sides, [a, a, first, b, b, second, c, c]);
    assert!(of_operation(Applied { channels: 7, ..in_each[0] }).is_err());
    assert!(of_operation(Applied { side: 0, ..in_each[0] }).is_err());
    let none = Applied { operation: Operation::None, ..in_each[0] };
    assert!(of_operation(none).unwrap().is_none());
}
