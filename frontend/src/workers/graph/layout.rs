//! Layered drawings of directed acyclic graphs: Sugiyama, Tagawa and Toda 1981, in the form of
//! Gansner, Koutsofios, North and Vo 1993 ("A technique for drawing directed graphs"): layers, then
//! the order inside each, then coordinates.
//!
//! An edge runs from one vertex to several: a tensor to its consumers. Where it passes layers, one
//! trunk serves all of them. Everything is linear but for sorting, and the same graph gives the
//! same drawing.

use super::order::order;
use super::place::place;
/// Width of a vertex, in pixels at its natural size.
pub use crate::view_model::graph::NODE_WIDTH as VERTEX_WIDTH;

/// Least room between two vertices.
pub const VERTEX_GAP: f64 = 24.0;
/// Room that a passing edge takes.
pub const BEND_WIDTH: f64 = 12.0;

/// Bends that there are at most, for each vertex and besides. Edges that need more are drawn
/// straight: a graph whose every edge passes every layer would need as many as its square.
const BENDS_A_VERTEX: usize = 4;
const BENDS_BESIDES: usize = 8_192;

/// An edge: from a vertex to others behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Net {
    /// Where it begins.
    pub from: usize,
    /// Where it ends; those that do not lie behind are passed over.
    pub to: Vec<usize>,
}

/// Where everything lies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// For each vertex its layer, the first at the top.
    pub layers: Vec<u32>,
    /// For each vertex the place of its middle; the leftmost vertex begins at 0.
    pub x: Vec<f64>,
    /// For each net where it crosses the layers behind its beginning, one after the other, as far
    /// as it passes them.
    pub trunks: Vec<Vec<f64>>,
    /// From the left edge of the leftmost to the right edge of the rightmost.
    pub width: f64,
}

/// What is laid out: vertices, then the bends of nets.
pub(super) struct Layered {
    /// For each layer its vertices and bends, from left to right.
    pub rows: Vec<Vec<usize>>,
    /// Neighbours in the layer above and in the one below.
    pub above: Vec<Vec<usize>>,
    pub below: Vec<Vec<usize>>,
    /// How many are vertices; the others are bends.
    pub vertices: usize,
}

impl Layered {
    pub fn is_bend(&self, index: usize) -> bool {
        index >= self.vertices
    }
}

/// Lays out `vertices` vertices, numbered such that every net goes from a smaller to larger ones.
#[must_use]
pub fn layout(vertices: usize, nets: &[Net]) -> Layout {
    let nets: Vec<Net> = nets.iter().map(|net| forwards(net, vertices)).collect();
    let layers = layers(vertices, &nets);
    let (mut layered, bends) = layered(vertices, &nets, &layers);
    order(&mut layered);
    let x = place(&layered);
    let left = x[..vertices].iter().copied().fold(f64::INFINITY, f64::min) - VERTEX_WIDTH / 2.0;
    let left = if left.is_finite() { left } else { 0.0 };
    let right = x[..vertices].iter().copied().fold(left, f64::max) + VERTEX_WIDTH / 2.0;
    Layout {
        trunks: bends.iter().map(|net| net.iter().map(|bend| x[*bend] - left).collect()).collect(),
        x: x[..vertices].iter().map(|x| x - left).collect(),
        layers: layers.iter().map(|layer| *layer as u32).collect(),
        width: if vertices == 0 { 0.0 } else { right - left },
    }
}

fn forwards(net: &Net, vertices: usize) -> Net {
    let is_behind = |to: &&usize| **to > net.from && **to < vertices;
    Net { from: net.from, to: net.to.iter().filter(is_behind).copied().collect() }
}

/// The layer of each vertex: behind all that it takes from; those that give to more than they take
/// from as near to the first consumer as they can be, which shortens more edges than it lengthens.
fn layers(vertices: usize, nets: &[Net]) -> Vec<usize> {
    let mut by_vertex: Vec<Vec<usize>> = vec![Vec::new(); vertices];
    let mut taken = vec![0usize; vertices];
    for (index, net) in nets.iter().enumerate().filter(|(_, net)| net.from < vertices) {
        by_vertex[net.from].push(index);
        net.to.iter().for_each(|to| taken[*to] += 1);
    }
    let mut layers = vec![0usize; vertices];
    for (vertex, made) in by_vertex.iter().enumerate() {
        let next = layers[vertex] + 1;
        for to in made.iter().flat_map(|net| &nets[*net].to) {
            layers[*to] = layers[*to].max(next);
        }
    }
    for vertex in (0..vertices).rev() {
        let consumers = || by_vertex[vertex].iter().flat_map(|net| &nets[*net].to);
        let first = consumers().map(|to| layers[*to]).min();
        if let Some(first) = first
            && consumers().count() > taken[vertex]
        {
            layers[vertex] = layers[vertex].max(first.saturating_sub(1));
        }
    }
    layers
}

/// Rows of vertices and bends in the order of their numbers, and for each net its bends.
fn layered(vertices: usize, nets: &[Net], layers: &[usize]) -> (Layered, Vec<Vec<usize>>) {
    let count = layers.iter().max().map_or(0, |last| last + 1);
    let mut rows = vec![Vec::new(); count];
    (0..vertices).for_each(|vertex| rows[layers[vertex]].push(vertex));
    let mut layered = Layered {
        rows,
        above: vec![Vec::new(); vertices],
        below: vec![Vec::new(); vertices],
        vertices,
    };
    let mut bends = vec![Vec::new(); nets.len()];
    let passed = |net: &Net| {
        let last = net.to.iter().map(|to| layers[*to]).max()?;
        Some(last - layers[net.from] - 1)
    };
    // The shortest first: most edges are short, and those are the ones that are followed by eye.
    let mut by_length: Vec<(usize, usize)> =
        nets.iter().enumerate().filter_map(|(index, net)| Some((passed(net)?, index))).collect();
    by_length.sort_unstable();
    let mut room = vertices * BENDS_A_VERTEX + BENDS_BESIDES;
    for (length, index) in by_length {
        let net = &nets[index];
        if length <= room {
            room -= length;
            let mut before = net.from;
            for row in layers[net.from] + 1..=layers[net.from] + length {
                let bend = layered.above.len();
                layered.above.push(vec![before]);
                layered.below.push(Vec::new());
                layered.below[before].push(bend);
                layered.rows[row].push(bend);
                bends[index].push(bend);
                before = bend;
            }
        }
        for to in &net.to {
            let passes = layers[*to] - layers[net.from] - 1;
            let before = match passes {
                0 => Some(net.from),
                _ => bends[index].get(passes - 1).copied(),
            };
            if let Some(before) = before {
                layered.below[before].push(*to);
                layered.above[*to].push(before);
            }
        }
    }
    (layered, bends)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear congruential generator.
    fn random(seed: u64) -> impl FnMut(usize) -> usize {
        let mut state = seed.wrapping_mul(2).wrapping_add(1);
        move |below| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as usize) % below.max(1)
        }
    }

    fn chain_with_skips(vertices: usize, skips: usize, seed: u64) -> Vec<Net> {
        let mut next = random(seed);
        let mut nets: Vec<Net> = (1..vertices).map(|v| Net { from: v - 1, to: vec![v] }).collect();
        for _ in 0..skips {
            let from = next(vertices - 1);
            let to = from + 1 + next((vertices - from - 1).min(12));
            nets[from].to.push(to.min(vertices - 1));
        }
        nets
    }

    fn holds(vertices: usize, nets: &[Net]) {
        let found = layout(vertices, nets);
        for net in nets {
            for to in &net.to {
                assert!(found.layers[*to] > found.layers[net.from], "{net:?}");
            }
        }
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for (layer, x) in found.layers.iter().zip(&found.x) {
            rows.resize(rows.len().max(*layer as usize + 1), Vec::new());
            rows[*layer as usize].push(*x);
            let half = VERTEX_WIDTH / 2.0 - 1e-6;
            assert!(x.is_finite() && *x >= half && *x <= found.width - half, "{x}");
        }
        for row in &mut rows {
            assert!(!row.is_empty(), "a layer without a vertex");
            row.sort_by(f64::total_cmp);
            for pair in row.windows(2) {
                assert!(pair[1] - pair[0] >= VERTEX_WIDTH + VERTEX_GAP - 1e-6, "{pair:?} overlap");
            }
        }
        assert_eq!(found, layout(vertices, nets), "the same graph, the same drawing");
    }

    #[test]
    fn vertices_never_overlap_and_edges_go_down() {
        for seed in 0..60 {
            let mut next = random(seed);
            let vertices = 2 + next(60);
            holds(vertices, &chain_with_skips(vertices, next(80), seed));
        }
        for seed in 0..20 {
            let mut next = random(seed + 100);
            let vertices = 2 + next(80);
            let nets: Vec<Net> = (0..vertices - 1)
                .filter(|v| v % 3 != 1)
                .map(|from| {
                    let to = |_| from + 1 + next(vertices - from - 1);
                    Net { from, to: (0..3).map(to).collect() }
                })
                .collect();
            holds(vertices, &nets);
        }
    }

    #[test]
    fn a_chain_is_straight() {
        let found = layout(40, &chain_with_skips(40, 0, 1));
        assert!(found.x.iter().all(|x| (x - found.x[0]).abs() < 1e-6), "{:?}", found.x);
        assert_eq!(found.layers, (0..40).collect::<Vec<u32>>());
    }

    #[test]
    fn branches_lie_side_by_side_and_meet_in_the_middle() {
        let to = |to: &[usize], from| Net { from, to: to.to_vec() };
        let nets = [to(&[1, 2, 3], 0), to(&[4], 1), to(&[4], 2), to(&[4], 3)];
        let found = layout(5, &nets);
        assert_eq!(found.layers, [0, 1, 1, 1, 2]);
        assert!((found.x[0] - found.x[4]).abs() < 1e-6, "{:?}", found.x);
        assert!((found.x[2] - found.x[0]).abs() < 1e-6, "{:?}", found.x);
    }

    #[test]
    fn an_edge_past_a_layer_has_a_trunk_that_its_consumers_share() {
        let nets = [
            Net { from: 0, to: vec![1, 2, 3] },
            Net { from: 1, to: vec![2] },
            Net { from: 2, to: vec![3] },
        ];
        let found = layout(4, &nets);
        assert_eq!(found.trunks[0].len(), 2, "{:?}", found.trunks);
        assert!(found.trunks[1..].iter().all(Vec::is_empty));
        let away = (found.trunks[0][0] - found.x[1]).abs();
        assert!(away >= (VERTEX_WIDTH + BEND_WIDTH) / 2.0, "the trunk runs through a vertex");
    }

    #[test]
    fn what_enters_late_lies_near_where_it_is_taken() {
        let mut nets = chain_with_skips(10, 0, 1);
        // Vertex 0 feeds only the last, the chain begins at 1.
        nets[0] = Net { from: 0, to: vec![9] };
        assert_eq!(layout(10, &nets).layers[0], 7);
    }

    #[test]
    fn nothing_and_nonsense_are_laid_out_too() {
        assert_eq!(layout(0, &[]).width, 0.0);
        let nets = [Net { from: 7, to: vec![1] }, Net { from: 1, to: vec![0, 1, 99] }];
        let found = layout(2, &nets);
        assert_eq!(found.layers, [0, 0]);
        assert!(found.width > VERTEX_WIDTH);
    }

    #[test]
    fn edges_that_pass_everything_do_not_take_memory_without_bound() {
        let vertices = 5_000;
        let mut nets = chain_with_skips(vertices, 0, 1);
        for (from, net) in nets.iter_mut().enumerate() {
            net.to.push(vertices - 1 - from / 1_000);
        }
        let found = layout(vertices, &nets);
        let bends: usize = found.trunks.iter().map(Vec::len).sum();
        assert!(bends <= vertices * BENDS_A_VERTEX + BENDS_BESIDES, "{bends}");
    }
}
