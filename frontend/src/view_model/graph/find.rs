//! Finding: what lies under the pointer, where keys lead, what holds a text.

use super::sheet::{NODE_HEIGHT, NODE_WIDTH, PITCH, Sheet, node_top};
use crate::message::{GraphFacts, GraphNode, NodeRole};

/// What lies somewhere on the sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    Node(usize),
    /// The shape that stands at the beginning of a net.
    Net(usize),
}

/// Height and half the width of the shape at the beginning of a net.
const LABEL: [f64; 2] = [16.0, 44.0];

/// Where the middle of a net's shape stands.
#[must_use]
pub fn label_place(graph: &GraphFacts, sheet: &Sheet, net: usize) -> Option<[f64; 2]> {
    let from = graph.nets.get(net)?.from as usize;
    let node = graph.nodes.get(from)?;
    let place = sheet.made.get(from)?.iter().position(|made| *made == net)?;
    let below = node_top(node) + NODE_HEIGHT + LABEL[0] / 2.0;
    // There is room for two; further results of a node are found in its details.
    (place < 2).then_some([f64::from(node.x), below + place as f64 * LABEL[0]])
}

/// What lies at a point of the sheet.
#[must_use]
pub fn hit(graph: &GraphFacts, sheet: &Sheet, [x, y]: [f64; 2]) -> Option<Hit> {
    if y < 0.0 {
        return None;
    }
    let row = sheet.rows.get((y / PITCH) as usize)?;
    let near = |index: &&usize, reach: f64| (f64::from(graph.nodes[**index].x) - x).abs() <= reach;
    if y % PITCH <= NODE_HEIGHT {
        return row
            .iter()
            .find(|index| near(index, NODE_WIDTH / 2.0))
            .map(|index| Hit::Node(*index));
    }
    let node = row.iter().find(|index| near(index, LABEL[1]))?;
    let is_there = |net: &&usize| {
        let place = label_place(graph, sheet, **net);
        place.is_some_and(|[_, middle]| (middle - y).abs() <= LABEL[0] / 2.0)
    };
    sheet.made.get(*node)?.iter().find(is_there).map(|net| Hit::Net(*net))
}

/// A step from node to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// To what it takes from.
    Up,
    /// To what takes from it.
    Down,
    /// To the neighbour in the same layer.
    Left,
    /// See [`Move::Left`].
    Right,
    /// To the first input.
    First,
    /// To the last output.
    Last,
}

impl Move {
    /// What a key means, by its name in the browser.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        Some(match key {
            "ArrowUp" => Self::Up,
            "ArrowDown" => Self::Down,
            "ArrowLeft" => Self::Left,
            "ArrowRight" => Self::Right,
            "Home" => Self::First,
            "End" => Self::Last,
            _ => return None,
        })
    }
}

/// Where a step leads; the node itself where it leads nowhere. From nothing every step leads to the
/// first node, but for the one to the last.
#[must_use]
pub fn stepped(
    graph: &GraphFacts,
    sheet: &Sheet,
    from: Option<usize>,
    step: Move,
) -> Option<usize> {
    let last = graph.nodes.len().checked_sub(1)?;
    let Some(at) = from.filter(|at| *at <= last) else {
        return Some(if step == Move::Last { last } else { 0 });
    };
    let node = &graph.nodes[at];
    let far = |other: &usize| {
        let other = &graph.nodes[*other];
        (other.layer.abs_diff(node.layer), (other.x - node.x).abs() as u64)
    };
    let known = |index: usize| (index <= last).then_some(index);
    let row = || sheet.rows.get(node.layer as usize).map(Vec::as_slice).unwrap_or_default();
    let place = || row().iter().position(|index| *index == at);
    let next = match step {
        Move::First => Some(0),
        Move::Last => Some(last),
        Move::Left => place().and_then(|place| row().get(place.checked_sub(1)?).copied()),
        Move::Right => place().and_then(|place| row().get(place + 1).copied()),
        Move::Up => {
            let nets = sheet.taken.get(at).into_iter().flatten().filter_map(|n| graph.nets.get(*n));
            nets.filter_map(|net| known(net.from as usize)).min_by_key(far)
        }
        Move::Down => {
            let nets = sheet.made.get(at).into_iter().flatten().filter_map(|n| graph.nets.get(*n));
            nets.flat_map(|net| &net.to).filter_map(|to| known(*to as usize)).min_by_key(far)
        }
    };
    Some(next.unwrap_or(at))
}

/// Nodes whose name, operator, shapes or further words hold all words of a text, in order.
#[must_use]
pub fn search(graph: &GraphFacts, text: &str) -> Vec<usize> {
    let words: Vec<String> = text.split_whitespace().map(plain).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let holds = |node: &GraphNode| {
        let all = plain(&haystack(node));
        words.iter().all(|word| all.contains(word))
    };
    let found = graph.nodes.iter().enumerate().filter(|(_, node)| holds(node));
    found.map(|(index, _)| index).collect()
}

fn haystack(node: &GraphNode) -> String {
    let unknown = if matches!(node.role, NodeRole::Opaque(_)) { "no kernel" } else { "" };
    let inputs = node.inputs.join(" ");
    [&*node.name, &node.op, &node.detail, &inputs, &node.output, unknown].join(" ")
}

/// Small letters, and an x between digits as the sign of multiplication: `3x3` finds `3×3`.
fn plain(text: &str) -> String {
    let letters: Vec<char> = text.to_lowercase().chars().collect();
    let is_digit = |index: Option<usize>| {
        index.and_then(|index| letters.get(index)).is_some_and(char::is_ascii_digit)
    };
    let sign = |(index, letter): (usize, &char)| {
        let between = is_digit(index.checked_sub(1)) && is_digit(Some(index + 1));
        if matches!(letter, 'x' | '*') && between { '×' } else { *letter }
    };
    letters.iter().enumerate().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn nodes_and_shapes_are_found_under_the_pointer() {
        let graph = fixture::graph();
        let sheet = Sheet::of(&graph);
        let middle = |index: usize| {
            let node = &graph.nodes[index];
            [f64::from(node.x), node_top(node) + NODE_HEIGHT / 2.0]
        };
        for index in 0..graph.nodes.len() {
            assert_eq!(hit(&graph, &sheet, middle(index)), Some(Hit::Node(index)));
        }
        let label = label_place(&graph, &sheet, 0).unwrap();
        assert_eq!(hit(&graph, &sheet, label), Some(Hit::Net(0)));
        assert_eq!(hit(&graph, &sheet, [-500.0, 10.0]), None);
        assert_eq!(hit(&graph, &sheet, [0.0, -1.0]), None);
        assert_eq!(hit(&graph, &sheet, [0.0, 1e12]), None);
    }

    #[test]
    fn arrows_follow_edges_and_rows() {
        let graph = fixture::graph();
        let sheet = Sheet::of(&graph);
        let walk = |keys: &[&str]| {
            let step = |at, key: &&str| stepped(&graph, &sheet, at, Move::of_key(key).unwrap());
            keys.iter().fold(None, step).unwrap()
        };
        assert_eq!(graph.nodes[walk(&["ArrowDown"])].name, "input");
        assert_eq!(graph.nodes[walk(&["Home", "ArrowDown"])].name, "first");
        assert_eq!(graph.nodes[walk(&["End"])].name, "output");
        assert_eq!(graph.nodes[walk(&["End", "ArrowUp"])].name, "third");
        assert_eq!(graph.nodes[walk(&["End", "ArrowDown", "ArrowDown"])].name, "output");
        let row = walk(&["Home", "ArrowDown", "ArrowDown"]);
        assert_eq!(graph.nodes[row].layer, 2);
        assert_eq!(stepped(&GraphFacts::default(), &Sheet::default(), None, Move::Down), None);
        assert_eq!(Move::of_key("Tab"), None);
    }

    #[test]
    fn a_search_holds_all_words_and_knows_shapes() {
        let graph = fixture::graph();
        let names = |text: &str| -> Vec<&str> {
            search(&graph, text).into_iter().map(|index| graph.nodes[index].name.as_str()).collect()
        };
        assert_eq!(names("CONV first"), ["first"]);
        assert_eq!(names("4x4x2"), ["first", "mystery", "joined", "second"]);
        assert_eq!(names("no kernel"), ["mystery"]);
        assert!(names("nothing like it").is_empty());
        assert!(names("  ").is_empty());
    }
}
