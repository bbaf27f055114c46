//! Sudharsan et al.: operator orders of least peak, nine networks.

use std::sync::Arc;

use tilewright_model::Tensor;
use tilewright_order::{Budget, Graph, Problem, Rules, arrange};
use tilewright_planner::Stop;
use tilewright_report::PaperFigure;

use crate::{Paper, Part, figure};

/// The paper.
pub(crate) const PAPER: Paper = Paper {
    id: "order",
    name: "Operator order",
    citation: "Sudharsan, Patel, Breslin, Ali: Enabling Machine Learning on the Edge using SRAM Conserving Efficient \
               Neural Networks Execution Approach, ECML PKDD 2021",
    reading: "Peaks are of tensors alone, KB of 1000 bytes; elements have one, two or four bytes, whichever the printed \
              sizes say. Algorithm 1, as \
              printed, does not end: ours is the dynamic programme over sets of operators that it means, with a \
              bound that proves it. No order reaches some of the printed peaks, since a single operator holds more: \
              such gains are of operators in place.",
    parts: &[Part { title: "table 2", figures: table_2 }],
};

/// A network of the paper.
#[derive(Clone, Copy, Debug)]
pub struct Ordered {
    name: &'static str,
    /// Its name in the zoo.
    pub zoo: &'static str,
    /// Bytes of an element.
    pub element_bytes: u64,
    /// Before and after reordering, in units of 1000 bytes.
    printed: [f64; 2],
}

const fn ordered(
    name: &'static str,
    zoo: &'static str,
    element_bytes: u64,
    printed: [f64; 2],
) -> Ordered {
    Ordered { name, zoo, element_bytes, printed }
}

/// Those of table 2.
pub const ORDERED: [Ordered; 9] = [
    ordered("MobileNetV1", "mobilenet-v1-w0.25-r128", 1, [98.304, 65.536]),
    ordered("SqueezeNet", "squeezenet", 4, [6195.2, 4816.896]),
    ordered("InceptionV1", "googlenet", 1, [1003.52, 802.816]),
    ordered("MnasNet", "mnasnet", 2, [1605.632, 1204.224]),
    ordered("NASNet mobile", "nasnet-mobile", 4, [4511.66, 3834.284]),
    ordered("DenseNet", "densenet121", 4, [8429.568, 5221.264]),
    ordered("DeepLabv3", "deeplab-v3", 4, [5639.592, 5548.116]),
    ordered("PoseNet", "posenet", 4, [6575.904, 4383.936]),
    ordered("EAST", "east", 1, [5324.8, 3686.4]),
];

/// What may share memory besides, in words and as rules.
const RULES: [(&str, Rules); 3] = [
    ("order alone", Rules { in_place: false, concat: false }),
    ("in place too", Rules { in_place: true, concat: false }),
    ("concatenations in place too", Rules { in_place: true, concat: true }),
];

fn table_2(_: &Stop) -> Result<Vec<PaperFigure>, String> {
    let mut figures = Vec::new();
    for Ordered { name, zoo, element_bytes, printed } in ORDERED {
        let network = tilewright_zoo::network(zoo).map_err(|error| error.to_string())?;
        let size = |tensor: &Tensor| {
            let elements = tensor.shape.elements().map_or(u64::MAX, |elements| elements as u64);
            elements.saturating_mul(element_bytes)
        };
        let graph = Graph::of_model(network.float(), size);
        for (index, (setting, rules)) in RULES.into_iter().enumerate() {
            let wrong = |error: &dyn std::fmt::Display| format!("{zoo}: {error}");
            let problem = Problem::new(graph.clone(), rules).map(Arc::new);
            let problem = problem.map_err(|error| wrong(&error))?;
            let kb = |bytes: u64| bytes as f64 / 1e3;
            if index == 0 {
                let before = problem.measure(&problem.default_order());
                let before = before.map_err(|error| wrong(&error))?;
                let ours = (kb(before.peak.0), Some(printed[0]));
                figures.push(figure("table 2, as it is", (name, "the file's order"), ours, "KB"));
            }
            let arranged = arrange(problem, 1, Budget::default()).map_err(|error| wrong(&error))?;
            let ours = kb(arranged.ordered.peak.0);
            let proved = if arranged.ordered.is_proved() { ", proved" } else { "" };
            let setting = format!("{setting}{proved}");
            // What the paper does besides ordering is not said: it stands beside the order.
            let printed = (index == 0).then_some(printed[1]);
            figures.push(figure("table 2, reordered", (name, setting), (ours, printed), "KB"));
        }
    }
    Ok(figures)
}
