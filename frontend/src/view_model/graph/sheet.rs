//! The sheet: outlines of nodes and courses of edges, as path data that canvases and SVG both take.

use crate::message::{GraphFacts, GraphNet, GraphNode, NodeRole};
use crate::view_model::figures::fixed;
use crate::view_model::layers::Family;

/// Size of a node, in pixels at natural size.
pub const NODE_WIDTH: f64 = 152.0;
/// See [`NODE_WIDTH`].
pub const NODE_HEIGHT: f64 = 44.0;
/// From the top of a layer to the top of the next.
pub const PITCH: f64 = 88.0;
/// Layers that are drawn at once or not at all.
const BAND: usize = 24;

/// Nodes and edges of some layers, as path data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// Operators by family, in the order of [`Family::ALL`].
    pub families: [String; 5],
    /// Inputs and outputs.
    pub ports: String,
    /// Operators that nothing here computes.
    pub opaque: String,
    pub edges: String,
}

/// The sheet of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// From top to bottom.
    pub bands: Vec<Band>,
    /// Edges that pass many layers without a bend.
    pub far: String,
    /// For each layer its nodes, from left to right.
    pub rows: Vec<Vec<usize>>,
    /// For each node the nets that it makes.
    pub made: Vec<Vec<usize>>,
    /// For each node the nets that it takes.
    pub taken: Vec<Vec<usize>>,
    /// Width and height.
    pub size: [f64; 2],
}

/// Where a node begins at the top.
#[must_use]
pub fn node_top(node: &GraphNode) -> f64 {
    f64::from(node.layer) * PITCH
}

impl Sheet {
    /// Of a graph.
    #[must_use]
    pub fn of(graph: &GraphFacts) -> Self {
        let layers = graph.layers as usize;
        let height = layers.saturating_sub(1) as f64 * PITCH + NODE_HEIGHT;
        let mut sheet = Self {
            bands: vec![Band::default(); layers.div_ceil(BAND)],
            far: String::new(),
            rows: vec![Vec::new(); layers],
            made: vec![Vec::new(); graph.nodes.len()],
            taken: vec![Vec::new(); graph.nodes.len()],
            size: [f64::from(graph.width), if layers == 0 { 0.0 } else { height }],
        };
        for (index, node) in graph.nodes.iter().enumerate() {
            let layer = node.layer as usize;
            let row = sheet.rows.get_mut(layer);
            let (Some(row), Some(band)) = (row, sheet.bands.get_mut(layer / BAND)) else {
                continue;
            };
            row.push(index);
            let path = match node.role {
                NodeRole::Input | NodeRole::Output => &mut band.ports,
                NodeRole::Opaque(_) => &mut band.opaque,
                NodeRole::Operator(_) => &mut band.families[place_of(node.family)],
            };
            path.push_str(&outline(node));
        }
        for row in &mut sheet.rows {
            row.sort_by(|a, b| graph.nodes[*a].x.total_cmp(&graph.nodes[*b].x));
        }
        for (index, net) in graph.nets.iter().enumerate() {
            let lists =
                [(&mut sheet.made, std::slice::from_ref(&net.from)), (&mut sheet.taken, &net.to)];
            for (list, nodes) in lists {
                for node in nodes {
                    list.get_mut(*node as usize).into_iter().for_each(|nets| nets.push(index));
                }
            }
            let (bands, far) = (&mut sheet.bands, &mut sheet.far);
            trace(graph, net, &mut |layer, path| {
                let band = layer.and_then(|layer| bands.get_mut(layer / BAND));
                band.map_or(&mut *far, |band| &mut band.edges).push_str(path);
            });
        }
        sheet
    }

    /// Indices of the bands that reach into the part of the sheet between two heights.
    #[must_use]
    pub fn seen(&self, top: f64, bottom: f64) -> std::ops::Range<usize> {
        // Edges of a band end in the layer below it.
        between(top - PITCH, bottom, BAND as f64 * PITCH, self.bands.len())
    }

    /// Rows that reach into the part of the sheet between two heights.
    #[must_use]
    pub fn rows(&self, top: f64, bottom: f64) -> &[Vec<usize>] {
        self.rows.get(between(top, bottom, PITCH, self.rows.len())).unwrap_or_default()
    }
}

/// Those of `count` pieces, each `height` high, that reach between two heights.
fn between(top: f64, bottom: f64, height: f64, count: usize) -> std::ops::Range<usize> {
    let piece = |y: f64| ((y / height).floor().max(0.0) as usize).min(count);
    piece(top)..(piece(bottom) + 1).min(count)
}

/// The place of a family in [`Band::families`].
#[must_use]
pub fn place_of(family: Family) -> usize {
    Family::ALL.iter().position(|known| *known == family).unwrap_or(Family::ALL.len() - 1)
}

/// The course of a net, from its beginning to all its ends.
#[must_use]
pub fn net_path(graph: &GraphFacts, net: &GraphNet) -> String {
    let mut all = String::new();
    trace(graph, net, &mut |_, path| all.push_str(path));
    all
}

/// Gives the pieces of a net's course, each with the layer where it begins; none if it passes many
/// layers without a bend.
fn trace(graph: &GraphFacts, net: &GraphNet, draw: &mut dyn FnMut(Option<usize>, &str)) {
    let Some(from) = graph.nodes.get(net.from as usize) else { return };
    let start = from.layer as usize;
    let foot = |x: f64, layer: usize| [x, layer as f64 * PITCH + NODE_HEIGHT];
    let mut x = f64::from(from.x);
    for (passed, bend) in net.trunk.iter().enumerate() {
        let (layer, bend) = (start + passed, f64::from(*bend));
        let head = [bend, (layer + 1) as f64 * PITCH];
        draw(Some(layer), &course(foot(x, layer), head));
        draw(Some(layer + 1), &format!("M{} {}v{}", px(bend), px(head[1]), px(NODE_HEIGHT)));
        x = bend;
    }
    for to in net.to.iter().filter_map(|to| graph.nodes.get(*to as usize)) {
        let head = [f64::from(to.x), node_top(to)];
        let Some(passed) = (to.layer as usize).checked_sub(start + 1) else { continue };
        let bend = passed.checked_sub(1).map(|bend| net.trunk.get(bend));
        match bend {
            None => draw(Some(start), &course(foot(f64::from(from.x), start), head)),
            Some(Some(bend)) => {
                draw(Some(start + passed), &course(foot(f64::from(*bend), start + passed), head));
            }
            Some(None) => draw(None, &course(foot(f64::from(from.x), start), head)),
        }
    }
}

/// From the foot of a node to the head of another, leaving and arriving upright.
fn course([x, y]: [f64; 2], [to_x, to_y]: [f64; 2]) -> String {
    let (x, y, to_x, to_y, middle) = (px(x), px(y), px(to_x), px(to_y), px((y + to_y) / 2.0));
    if x == to_x {
        return format!("M{x} {y}V{to_y}");
    }
    format!("M{x} {y}C{x} {middle} {to_x} {middle} {to_x} {to_y}")
}

/// The outline of a node: its form is the second cue beside colour.
#[must_use]
pub fn outline(node: &GraphNode) -> String {
    let (left, top) = (f64::from(node.x) - NODE_WIDTH / 2.0, node_top(node));
    let corners: &[[f64; 2]] = match (node.role, node.family) {
        (NodeRole::Operator(_), Family::Conv) => {
            &[[0.0, 0.0], [152.0, 0.0], [152.0, 44.0], [0.0, 44.0]]
        }
        (NodeRole::Operator(_), Family::Depthwise) => &[
            [10.0, 0.0],
            [142.0, 0.0],
            [152.0, 10.0],
            [152.0, 34.0],
            [142.0, 44.0],
            [10.0, 44.0],
            [0.0, 34.0],
            [0.0, 10.0],
        ],
        (NodeRole::Operator(_), Family::Dense) => {
            &[[12.0, 0.0], [152.0, 0.0], [140.0, 44.0], [0.0, 44.0]]
        }
        (NodeRole::Operator(_), Family::Pool) => {
            &[[0.0, 0.0], [152.0, 0.0], [138.0, 44.0], [14.0, 44.0]]
        }
        (NodeRole::Operator(_), Family::Other) | (NodeRole::Input | NodeRole::Output, _) => {
            let (x, y) = (px(left + NODE_HEIGHT / 2.0), px(top));
            return format!("M{x} {y}h108a22 22 0 0 1 0 44h-108a22 22 0 0 1 0 -44Z");
        }
        (NodeRole::Opaque(_), _) => &[[0.0, 0.0], [152.0, 0.0], [152.0, 44.0], [0.0, 44.0]],
    };
    let mut path = String::new();
    for (index, [x, y]) in corners.iter().enumerate() {
        let pen = if index == 0 { 'M' } else { 'L' };
        path.push_str(&format!("{pen}{} {}", px(left + x), px(top + y)));
    }
    path.push('Z');
    path
}

fn px(value: f64) -> String {
    fixed(value, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn every_node_and_every_piece_of_an_edge_is_drawn_once() {
        let graph = fixture::graph();
        let sheet = Sheet::of(&graph);
        let nodes: usize = sheet
            .bands
            .iter()
            .flat_map(|band| band.families.iter().chain([&band.ports, &band.opaque]))
            .map(|path| path.matches('Z').count())
            .sum();
        assert_eq!(nodes, graph.nodes.len());
        let edges: usize = sheet.bands.iter().map(|band| band.edges.matches('M').count()).sum();
        let whole: usize =
            graph.nets.iter().map(|net| net_path(&graph, net).matches('M').count()).sum();
        assert_eq!(edges, whole);
        assert!(sheet.far.is_empty());
        assert_eq!(sheet.rows.iter().map(Vec::len).sum::<usize>(), graph.nodes.len());
        assert_eq!(sheet.size[1], 6.0 * PITCH + NODE_HEIGHT);
    }

    #[test]
    fn an_edge_without_bends_goes_straight_and_is_always_drawn() {
        let mut graph = fixture::graph();
        let skip = graph.nets.iter_mut().find(|net| !net.trunk.is_empty()).unwrap();
        skip.trunk.clear();
        let sheet = Sheet::of(&graph);
        assert_eq!(sheet.far.matches('M').count(), 1);
    }

    #[test]
    fn only_what_is_near_is_drawn() {
        let mut graph = fixture::graph();
        for node in &mut graph.nodes {
            node.layer *= 100;
        }
        graph.layers = 601;
        let sheet = Sheet::of(&graph);
        assert_eq!(sheet.bands.len(), 26);
        assert!(sheet.seen(0.0, 400.0).len() <= 2);
        assert_eq!(sheet.seen(-1e9, 1e9).len(), 26);
        assert_eq!(sheet.rows(0.0, PITCH * 3.5).len(), 4);
        assert!(sheet.seen(1e9, 2e9).is_empty());
    }

    #[test]
    fn each_family_has_a_form_of_its_own() {
        let mut node = fixture::graph().nodes[1].clone();
        let mut forms: Vec<String> = Family::ALL
            .into_iter()
            .map(|family| {
                node.family = family;
                outline(&node)
            })
            .collect();
        forms.dedup();
        assert_eq!(forms.len(), Family::ALL.len());
    }

    #[test]
    fn a_sheet_of_nothing_is_empty() {
        let sheet = Sheet::of(&GraphFacts::default());
        assert!(sheet.bands.is_empty() && sheet.seen(0.0, 1e3).is_empty());
    }
}
