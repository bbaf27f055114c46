//! Writing SVG.

use std::fmt::Write;

/// Text of a drawing under construction. Lengths are CSS pixels.
#[derive(Debug, Default)]
pub struct Canvas {
    text: String,
}

/// Circle, square, triangle, diamond, cross, upside-down triangle, around the origin: as paths.
const MARKS: [&str; COLOURS] = [
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0Z",
    "M-2.7-2.7H2.7V2.7H-2.7Z",
    "M0-3.4L3.2 2.6H-3.2Z",
    "M0-3.8L3.2 0L0 3.8L-3.2 0Z",
    "M-3-1H-1V-3H1V-1H3V1H1V3H-1V1H-3Z",
    "M0 3.4L3.2-2.6H-3.2Z",
];

/// Colours that there are.
pub const COLOURS: usize = 6;

/// The form of the series of this number, as a path: with its colour, one of six in turn, it is the series' own up to
/// the thirty-sixth.
#[must_use]
pub const fn mark_of(series: usize) -> &'static str {
    MARKS[(series + series / COLOURS) % COLOURS]
}

/// Where a text stands relative to its point.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    const fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

impl Canvas {
    /// A rectangle that says `title` where the viewer can point at it.
    pub fn rect(&mut self, class: &str, [x, y, width, height]: [f64; 4], title: &str) {
        let title = escaped(title);
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            self.text,
            "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" \
             height=\"{height:.2}\"><title>{title}</title></rect>"
        );
    }

    /// A line.
    pub fn line(&mut self, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
        let _ = writeln!(
            self.text,
            "<line class=\"{class}\" x1=\"{x1:.2}\" y1=\"{y1:.2}\" x2=\"{x2:.2}\" y2=\"{y2:.2}\"/>"
        );
    }

    /// A mark that says `title`; its form is that of the series of this number.
    pub fn mark(&mut self, class: &str, series: usize, [x, y]: [f64; 2], title: &str) {
        let path = mark_of(series);
        let title = escaped(title);
        let _ = writeln!(
            self.text,
            "<path class=\"{class}\" transform=\"translate({x:.1} {y:.1})\" d=\"{path}\"><title>{title}</title></path>"
        );
    }

    /// A shape by its path.
    pub fn path(&mut self, class: &str, path: &str) {
        let _ = writeln!(self.text, "<path class=\"{class}\" d=\"{path}\"/>");
    }

    /// What `draw` draws, as one thing of this style.
    pub fn styled(&mut self, style: &str, draw: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.text, "<g style=\"{style}\">");
        draw(self);
        self.text.push_str("</g>\n");
    }

    /// A text.
    pub fn text(&mut self, class: &str, [x, y]: [f64; 2], anchor: Anchor, text: &str) {
        let (anchor, text) = (anchor.word(), escaped(text));
        let _ = writeln!(
            self.text,
            "<text class=\"{class}\" x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\">{text}</text>"
        );
    }

    /// A text that ends at its point and rises to it.
    pub fn slanted(&mut self, class: &str, [x, y]: [f64; 2], text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.text,
            "<text class=\"{class}\" text-anchor=\"end\" \
             transform=\"translate({x:.2} {y:.2}) rotate(-45)\">{text}</text>"
        );
    }

    /// A text along a vertical axis, read from below.
    pub fn upright(&mut self, class: &str, [x, y]: [f64; 2], text: &str) {
        let text = escaped(text);
        let _ = writeln!(
            self.text,
            "<text class=\"{class}\" text-anchor=\"middle\" \
             transform=\"translate({x:.2} {y:.2}) rotate(-90)\">{text}</text>"
        );
    }

    /// What `draw` draws, with its origin at this point.
    pub fn shifted(&mut self, [x, y]: [f64; 2], draw: impl FnOnce(&mut Self)) {
        let _ = writeln!(self.text, "<g transform=\"translate({x:.0} {y:.0})\">");
        draw(self);
        self.text.push_str("</g>\n");
    }

    /// The whole file, with `head` before what was drawn.
    #[must_use]
    pub fn finish(self, [width, height]: [f64; 2], title: &str, head: &str) -> String {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" \
             width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             role=\"img\">\n<title>{}</title>\n{head}{}</svg>\n",
            escaped(title),
            self.text
        )
    }
}

/// Text as XML has it; what XML cannot hold is left out.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(' '),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_out_of_the_drawing() {
        assert_eq!(escaped("a<b>&\"c\"\u{1}\n"), "a&lt;b&gt;&amp;&quot;c&quot; ");
    }
}
