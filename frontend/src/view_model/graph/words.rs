//! What is said of a graph and its nodes, and how selections of other views lie on it.

use crate::message::{GraphFacts, GraphNode, NodeRole, PlanFacts};
use crate::state::Selection;
use crate::view_model::figures;
use crate::view_model::layers::{kernel_title, packing as packing_words};
use tilewright_report::short_name;

/// What of a graph is lit up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lit {
    pub node: Option<usize>,
    pub net: Option<usize>,
}

/// For each layer of the plan its nodes, as the graph numbers them; nothing for a graph in other tiles than the plan.
fn nodes_of<'p>(graph: &GraphFacts, plan: &'p PlanFacts) -> &'p [Vec<u32>] {
    match (&graph.tiled, &plan.tiles) {
        (None, _) => &plan.nodes,
        (Some(region), Some(tiles)) if *region == tiles.region => &tiles.nodes,
        (Some(_), _) => &[],
    }
}

/// The plan's layer that a node is part of; none for those that need no work, and where there is
/// no plan. Of a layer in tiles whose graph is drawn whole it is the first tile.
#[must_use]
pub fn layer_of(graph: &GraphFacts, node: &GraphNode, plan: Option<&PlanFacts>) -> Option<usize> {
    let (NodeRole::Operator(index) | NodeRole::Opaque(index), Some(plan)) = (node.role, plan)
    else {
        return None;
    };
    nodes_of(graph, plan).iter().position(|nodes| nodes.contains(&index))
}

/// The plan's tensor that a net is.
#[must_use]
pub fn tensor_of(graph: &GraphFacts, net: usize, plan: Option<&PlanFacts>) -> Option<usize> {
    let tensor = graph.nets.get(net)?.tensor;
    plan?.tensors.iter().position(|placed| placed.tensor == tensor)
}

/// Where a selection of the other views lies; for a layer of several nodes at the last.
#[must_use]
pub fn lit(graph: &GraphFacts, plan: Option<&PlanFacts>, selection: Selection) -> Lit {
    let Some(plan) = plan else { return Lit::default() };
    let nodes = selection.layer.and_then(|layer| nodes_of(graph, plan).get(layer));
    let node = nodes.and_then(|nodes| nodes.last()).and_then(|wanted| {
        let roles = [NodeRole::Operator(*wanted), NodeRole::Opaque(*wanted)];
        let is = |node: &GraphNode| roles.contains(&node.role);
        graph.nodes.iter().position(is)
    });
    let net = selection
        .tensor
        .and_then(|tensor| plan.tensors.get(tensor))
        .and_then(|placed| graph.nets.iter().position(|net| net.tensor == placed.tensor));
    Lit { node, net }
}

/// The graph in a sentence.
#[must_use]
pub fn summary(graph: &GraphFacts) -> String {
    let count =
        |is: fn(&NodeRole) -> bool| graph.nodes.iter().filter(|node| is(&node.role)).count();
    let operators = count(|role| matches!(role, NodeRole::Operator(_) | NodeRole::Opaque(_)));
    let opaque = count(|role| matches!(role, NodeRole::Opaque(_)));
    let plural = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {one}s"),
    };
    let unknown = match opaque {
        0 => String::new(),
        count => format!(", {count} of them without a kernel"),
    };
    format!(
        "{}{unknown}, in {} from {} to {}.",
        plural(operators, "operator"),
        plural(graph.layers as usize, "layer"),
        plural(count(|role| *role == NodeRole::Input), "input"),
        plural(count(|role| *role == NodeRole::Output), "output"),
    )
}

/// Details of a node: what and figure.
pub type Details = Vec<(&'static str, String)>;

/// What is to be read of a node.
#[must_use]
pub fn details(graph: &GraphFacts, node: &GraphNode, plan: Option<&PlanFacts>) -> Details {
    let mut details = Details::new();
    let shapes = match node.inputs.is_empty() {
        true => node.output.clone(),
        false => format!("{} → {}", node.inputs.join(" + "), node.output),
    };
    details.push(("Shapes", shapes));
    if let NodeRole::Operator(_) | NodeRole::Opaque(_) = node.role {
        let macs = match node.role {
            NodeRole::Opaque(_) => "unknown".to_owned(),
            _ => figures::grouped(node.macs),
        };
        details.push(("MACs", macs));
        details.push(("Parameters", figures::grouped(node.parameters)));
        details.push(("Weights", figures::bytes(node.weight_bytes)));
    }
    details.push(("Result", figures::bytes(node.output_bytes)));
    match (node.role, layer_of(graph, node, plan), plan) {
        (NodeRole::Opaque(_), ..) => {
            details.push(("Kernel", "no kernel: nothing here computes it".to_owned()));
        }
        (NodeRole::Operator(_), Some(layer), Some(plan)) => {
            if let Some(row) = plan.report.layers.get(layer) {
                let time = tilewright_plan::Cycles(*row.cycles).at(plan.timeline.clock_hz).0;
                details.push(("Kernel", kernel_title(&row.op)));
                details.push(("Time (modelled)", figures::duration(time)));
                if let Some(packing) = &row.packing {
                    details.push(("Packing", packing_words(packing, plan)));
                }
            }
        }
        (NodeRole::Operator(_), None, Some(_)) => {
            details.push((
                "Kernel",
                "none of its own: it costs nothing, or another layer does it too".to_owned(),
            ));
        }
        _ => {}
    }
    details
}

/// The first of it as a sentence, to be said aloud: what it is, between which shapes, and its cost.
#[must_use]
pub fn spoken(graph: &GraphFacts, node: &GraphNode, plan: Option<&PlanFacts>) -> String {
    let op = match node.detail.is_empty() {
        true => node.op.clone(),
        false => format!("{} {}", node.op, node.detail),
    };
    let all = details(graph, node, plan);
    let wanted = ["Shapes", "MACs", "Kernel"];
    let said = all
        .into_iter()
        .filter(|(what, _)| wanted.contains(what))
        .map(|(what, value)| if what == "Shapes" { value } else { format!("{what} {value}") });
    let said: Vec<String> = said.collect();
    format!("{} ({op}): {}", short_name(&node.name), said.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{TiledRegion, TilesFacts};
    use crate::view_model::fixture;

    #[test]
    fn selections_go_to_the_graph_and_back() {
        let (graph, plan) = (fixture::graph(), fixture::plan());
        for layer in 0..plan.report.layers.len() {
            let lit = lit(&graph, Some(&plan), Selection::layer(layer));
            let node = &graph.nodes[lit.node.unwrap()];
            assert_eq!(node.name, plan.report.layers[layer].name);
            assert_eq!(layer_of(&graph, node, Some(&plan)), Some(layer));
        }
        let lit_net = lit(&graph, Some(&plan), Selection::tensor(1)).net.unwrap();
        assert_eq!(graph.nets[lit_net].name, "t1");
        assert_eq!(tensor_of(&graph, lit_net, Some(&plan)), Some(1));
        assert_eq!(lit(&graph, None, Selection::layer(0)), Lit::default());
        assert_eq!(layer_of(&graph, &graph.nodes[0], Some(&plan)), None, "an input is no layer");
    }

    #[test]
    fn a_graph_in_tiles_lies_on_the_plan_in_the_same_tiles() {
        let mut plan = fixture::plan();
        let mut graph = fixture::graph();
        // The third node of the graph in tiles is the first tile of the plan's second layer.
        let region = TiledRegion { grid: "1x2".to_owned(), ..TiledRegion::default() };
        plan.tiles = Some(TilesFacts {
            region: region.clone(),
            nodes: vec![vec![0], vec![4], vec![3]],
            ..TilesFacts::default()
        });
        graph.tiled = Some(region);
        let node = lit(&graph, Some(&plan), Selection::layer(1)).node.unwrap();
        assert_eq!(graph.nodes[node].role, NodeRole::Operator(4));
        assert_eq!(layer_of(&graph, &graph.nodes[node], Some(&plan)), Some(1));
        plan.tiles = None;
        assert_eq!(lit(&graph, Some(&plan), Selection::layer(1)).node, None, "other tiles");
    }

    #[test]
    fn what_has_no_kernel_says_so() {
        let (graph, plan) = (fixture::graph(), fixture::plan());
        let mystery = graph.nodes.iter().find(|node| node.name == "mystery").unwrap();
        assert!(spoken(&graph, mystery, Some(&plan)).contains("no kernel"));
        assert!(spoken(&graph, mystery, Some(&plan)).contains("MACs unknown"));
        let text = summary(&graph);
        assert_eq!(
            text,
            "5 operators, 1 of them without a kernel, in 7 layers from 1 input to 1 output."
        );
    }

    #[test]
    fn details_have_shapes_figures_and_kernel() {
        let (graph, plan) = (fixture::graph(), fixture::plan());
        let text = spoken(&graph, &graph.nodes[1], Some(&plan));
        for part in ["first (Conv2D 3×3", "4×4×1 → 4×4×2", "MACs 288", "Kernel conv"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(
            !spoken(&graph, &graph.nodes[1], None).contains("Kernel"),
            "without a plan nobody knows"
        );
    }
}
