//! The nine networks of Sudharsan et al., table 2, beside the zoo's.

use serde::Serialize;
use tilewright_order::Graph;

use super::{Row, Rule, as_int8, ordered};

/// A network of the paper: its name there, the zoo's, bytes an element, and the paper's peaks
/// before and after reordering, in units of 1000 bytes.
const NETWORKS: [(&str, &str, u64, [f64; 2]); 9] = [
    ("MobileNetV1", "mobilenet-v1-w0.25-r128", 1, [98.304, 65.536]),
    ("SqueezeNet", "squeezenet", 4, [6195.2, 4816.896]),
    ("InceptionV1", "googlenet", 1, [1003.52, 802.816]),
    ("MnasNet", "mnasnet", 1, [1605.632, 1204.224]),
    ("NASNet mobile", "nasnet-mobile", 4, [4511.66, 3834.284]),
    ("DenseNet", "densenet121", 4, [8429.568, 5221.264]),
    ("DeepLabv3", "deeplab-v3", 4, [5639.592, 5548.116]),
    ("PoseNet", "posenet", 4, [6575.904, 4383.936]),
    ("EAST", "east", 1, [5324.8, 3686.4]),
];

/// A network of the paper.
#[derive(Debug, Serialize)]
pub struct Compared {
    name: &'static str,
    element_bytes: u64,
    /// Before and after, in units of 1000 bytes.
    paper_kb: [f64; 2],
    /// Ours, under each rule.
    rows: Vec<Row>,
}

impl Compared {
    /// Ours, under each rule.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// Orders the nine networks.
///
/// # Errors
/// If one cannot be built.
pub fn rows() -> Result<Vec<Compared>, String> {
    let mut all = Vec::new();
    for (name, network, element_bytes, paper_kb) in NETWORKS {
        let network = tilewright_zoo::network(network).map_err(|e| e.to_string())?;
        let size =
            |tensor: &tilewright_model::Tensor| as_int8(tensor).saturating_mul(element_bytes);
        let graph = Graph::of_model(network.float(), size);
        let rows = Rule::ALL.iter().map(|rule| ordered(&network.name, graph.clone(), *rule));
        let rows = rows.collect::<Result<_, _>>()?;
        all.push(Compared { name, element_bytes, paper_kb, rows });
    }
    Ok(all)
}

/// Prints a table.
pub fn print(all: &[Compared]) {
    println!(
        "{:14} {:26} {:8} {:>9} {:>9} {:>11} {:>11} {:>11} {:>11} {:>11}",
        "network",
        "zoo",
        "element",
        "paper KB",
        "after",
        "default B",
        "plain B",
        "in place B",
        "concat B",
        "bound B"
    );
    for Compared { name, element_bytes, paper_kb, rows } in all {
        let [plain, in_place, concat] = rows.as_slice() else { continue };
        let peak = |row: &Row| {
            let mark = if row.proved { "" } else { "?" };
            format!("{}{mark}", row.peak_bytes)
        };
        println!(
            "{:14} {:26} {:8} {:>9.1} {:>9.1} {:>11} {:>11} {:>11} {:>11} {:>11}",
            name,
            plain.network,
            if *element_bytes == 1 { "int8" } else { "float" },
            paper_kb[0],
            paper_kb[1],
            plain.default_bytes,
            peak(plain),
            peak(in_place),
            peak(concat),
            concat.lower_bound_bytes,
        );
    }
}
