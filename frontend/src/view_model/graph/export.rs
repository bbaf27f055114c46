//! The whole sheet as an SVG file that needs nothing else.

use tilewright_report::short_name;

use super::find::label_place;
use super::sheet::{NODE_HEIGHT, Sheet, node_top};
use crate::message::{GraphFacts, NodeRole};
use crate::view_model::figures::fixed;

/// Room around the drawing.
const MARGIN: f64 = 16.0;
/// Letters of a name that fit into a node.
pub const LETTERS: usize = 22;

/// Colours and letters of the theme.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Palette {
    /// Behind everything.
    pub surface: String,
    pub text: String,
    /// Texts that say less.
    pub quiet: String,
    /// Edges and outlines.
    pub line: String,
    /// What is lit up.
    pub accent: String,
    /// What nothing here computes.
    pub bad: String,
    /// Families, in the order of [`crate::view_model::layers::Family::ALL`].
    pub families: [String; 5],
    /// Texts on families.
    pub bar_text: String,
    /// Name of the letters.
    pub font: String,
}

/// A name, cut to fit into a node.
#[must_use]
pub fn label(name: &str) -> String {
    let short = short_name(name);
    match short.chars().count() > LETTERS {
        true => short.chars().take(LETTERS - 1).chain(['…']).collect(),
        false => short.to_owned(),
    }
}

/// The drawing, and its width and height in pixels.
#[must_use]
pub fn picture(graph: &GraphFacts, sheet: &Sheet, palette: &Palette) -> (String, [f64; 2]) {
    let size = sheet.size.map(|length| length + 2.0 * MARGIN);
    let [width, height] = size.map(|length| fixed(length, 0));
    let font = escaped(&palette.font);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"-{m} -{m} {width} {height}\" font-family=\"{font}\" font-size=\"12\" \
         text-anchor=\"middle\"><rect x=\"-{m}\" y=\"-{m}\" width=\"{width}\" height=\"{height}\" \
         fill=\"{}\"/>",
        escaped(&palette.surface),
        m = fixed(MARGIN, 0),
    );
    let mut path = |d: &str, fill: &str, stroke: &str, more: &str| {
        if !d.is_empty() {
            svg.push_str(&format!("<path d=\"{d}\" fill=\"{fill}\" stroke=\"{stroke}\"{more}/>"));
        }
    };
    let [surface, line, bad] = [&palette.surface, &palette.line, &palette.bad].map(|c| escaped(c));
    path(&sheet.far, "none", &line, "");
    for band in &sheet.bands {
        path(&band.edges, "none", &line, "");
    }
    for band in &sheet.bands {
        path(&band.ports, &surface, &line, "");
        path(&band.opaque, &surface, &bad, " stroke-dasharray=\"5 3\"");
        for (family, colour) in band.families.iter().zip(&palette.families) {
            path(family, &escaped(colour), "none", "");
        }
    }
    let mut text = |[x, y]: [f64; 2], colour: &str, weight: &str, words: &str| {
        let (x, y) = (fixed(x, 1), fixed(y, 1));
        let (colour, words) = (escaped(colour), escaped(words));
        svg.push_str(&format!(
            "<text x=\"{x}\" y=\"{y}\" fill=\"{colour}\"{weight}>{words}</text>"
        ));
    };
    for node in &graph.nodes {
        let colour = match node.role {
            NodeRole::Operator(_) => &palette.bar_text,
            _ => &palette.text,
        };
        let (x, top) = (f64::from(node.x), node_top(node));
        text([x, top + 18.0], colour, " font-weight=\"600\"", &label(&node.op));
        text([x, top + NODE_HEIGHT - 11.0], colour, "", &label(&node.name));
    }
    for (index, net) in graph.nets.iter().enumerate() {
        if let Some([x, y]) = label_place(graph, sheet, index) {
            let halo = format!(" paint-order=\"stroke\" stroke=\"{surface}\" stroke-width=\"4\"");
            text([x, y + 4.0], &palette.quiet, &halo, &net.shape);
        }
    }
    svg.push_str("</svg>");
    (svg, size)
}

/// Text as XML takes it.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            // XML has no place for these, however they are written.
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn the_picture_holds_every_name_and_shape_and_no_foreign_markup() {
        let mut graph = fixture::graph();
        graph.nodes[1].name = "<script>\"&\u{1}".to_owned();
        let sheet = Sheet::of(&graph);
        let families = ["a", "b", "c", "d", "e"].map(str::to_owned);
        let palette = Palette { families, font: "\"Some\" sans".to_owned(), ..Palette::default() };
        let (svg, size) = picture(&graph, &sheet, &palette);
        assert!(svg.contains("&lt;script&gt;&quot;&amp; </text>"), "{svg}");
        assert!(svg.contains("font-family=\"&quot;Some&quot; sans\""));
        for node in &graph.nodes[2..] {
            assert!(svg.contains(&format!(">{}</text>", node.name)), "{}", node.name);
        }
        assert!(svg.contains(">4×4×2</text>"));
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        assert_eq!(size[0], f64::from(graph.width) + 32.0);
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(label("a/short"), "a/short");
        assert_eq!(label(&"x".repeat(80)).chars().count(), LETTERS);
    }
}
