//! Points of several series as a picture: SVG that stands alone, with the command that makes it again.

use crate::canvas::{Anchor, COLOURS, Canvas};

/// Points to draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// What is shown.
    pub title: String,
    /// The command that makes the picture again.
    pub command: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// Series, each with a colour and a form of mark of its own.
    pub series: Vec<Series>,
    /// A line behind the points, such as the front that nothing beats; none if it has no places.
    pub guide: Vec<[f64; 2]>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it shows, with the unit and how its values came to be.
    pub title: String,
    /// Whether equal distances are equal factors; values that are not above zero are left out then.
    pub is_logarithmic: bool,
}

impl Axis {
    /// An axis for these values: logarithmic if they are so far apart that equal distances had better be equal factors.
    #[must_use]
    pub fn fitting(title: &str, values: impl Iterator<Item = f64>) -> Self {
        let (mut least, mut most) = (f64::INFINITY, 0f64);
        for value in values {
            (least, most) = (least.min(value), most.max(value));
        }
        let is_logarithmic = least > 0.0 && most > 20.0 * least;
        Self { title: title.to_owned(), is_logarithmic }
    }
}

/// Points of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What they are.
    pub name: String,
    /// The points.
    pub points: Vec<Point>,
    /// Whether a line leads from each to the next.
    pub is_joined: bool,
}

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Value on the axis to the right.
    pub x: f64,
    /// Value on the axis upwards.
    pub y: f64,
    /// What it is.
    pub title: String,
}

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 640.0;
/// Of the chart.
const LEFT: f64 = 90.0;
const RIGHT: f64 = 930.0;
const TOP: f64 = 76.0;
const BOTTOM: f64 = 560.0;

/// Colours of Okabe and Ito; the forms of marks are the second cue.
const HEAD: &str = "<style>
text{font:12px 'Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif;fill:#222;\
font-variant-numeric:tabular-nums}
.title{font-size:15px;font-weight:600}.quiet{fill:#555;font-size:11px}
.axis{stroke:#222;stroke-width:1}.grid{stroke:#ddd;stroke-width:1}path{fill-opacity:.7}
.guide{stroke:#888;stroke-width:1.5;stroke-dasharray:5 4}
.l0{stroke:#0072b2}.l1{stroke:#d55e00}.l2{stroke:#009e73}.l3{stroke:#cc79a7}.l4{stroke:#e69f00}.l5{stroke:#56b4e9}
.s0{fill:#0072b2}.s1{fill:#d55e00}.s2{fill:#009e73}.s3{fill:#cc79a7}.s4{fill:#e69f00}.s5{fill:#56b4e9}
</style>
<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>
";

/// An axis with its range, on the picture.
#[derive(Debug)]
pub struct Scale {
    is_logarithmic: bool,
    least: f64,
    most: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Of an axis that holds `values` between two places of the picture.
    #[must_use]
    pub fn new(axis: &Axis, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let is_logarithmic = axis.is_logarithmic;
        let drawn = |value: &f64| value.is_finite() && (!is_logarithmic || *value > 0.0);
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(drawn) {
            least = least.min(value);
            most = most.max(value);
        }
        if least > most {
            (least, most) = (1.0, 10.0);
        }
        if is_logarithmic {
            (least, most) = (least.log10().floor(), most.log10().ceil());
        } else {
            let step = step_of(most - least);
            (least, most) = ((least / step).floor() * step, (most / step).ceil() * step);
        }
        if least >= most {
            most = least + 1.0;
        }
        Self { is_logarithmic, least, most, from, to }
    }

    /// Where a value stands; nothing if it cannot.
    #[must_use]
    pub fn at(&self, value: f64) -> Option<f64> {
        let value = if self.is_logarithmic { value.log10() } else { value };
        let part = (value - self.least) / (self.most - self.least);
        part.is_finite().then_some(self.from + part * (self.to - self.from))
    }

    /// Values that the axis names.
    #[must_use]
    pub fn ticks(&self) -> Vec<f64> {
        let step = if self.is_logarithmic { 1.0 } else { step_of(self.most - self.least) };
        let count = ((self.most - self.least) / step).round() as usize;
        let value = |tick: usize| self.least + tick as f64 * step;
        let tick = |tick| if self.is_logarithmic { 10f64.powf(value(tick)) } else { value(tick) };
        (0..=count).map(tick).collect()
    }
}

/// 1, 2 or 5 times a power of ten, such that some ten steps make `range`.
fn step_of(range: f64) -> f64 {
    if !range.is_finite() || range <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf((range / 10.0).log10().floor());
    let factor = range / 10.0 / power;
    power * [1.0, 2.0, 5.0].into_iter().find(|step| factor <= *step).unwrap_or(10.0)
}

/// A tick's value, with k, M and G for thousands.
#[must_use]
pub fn tick_text(value: f64) -> String {
    for (unit, letter) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if value.abs() >= unit {
            return format!("{}{letter}", (value / unit * 1e3).round() / 1e3);
        }
    }
    format!("{}", (value * 1e6).round() / 1e6)
}

impl Scatter {
    /// The picture.
    #[must_use]
    pub fn svg(&self) -> String {
        let mut canvas = Canvas::default();
        self.draw(&mut canvas);
        self.sign(&mut canvas, HEIGHT);
        canvas.finish([WIDTH, HEIGHT], &self.title, HEAD)
    }

    /// The command, at the end of a picture of this height.
    fn sign(&self, canvas: &mut Canvas, height: f64) {
        canvas.text("quiet", [LEFT, height - 14.0], Anchor::Start, &self.command);
    }

    fn draw(&self, canvas: &mut Canvas) {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Scale::new(&self.x, points().map(|point| point.x), LEFT, RIGHT);
        let y = Scale::new(&self.y, points().map(|point| point.y), BOTTOM, TOP);
        canvas.text("title", [LEFT, 26.0], Anchor::Start, &self.title);
        for tick in x.ticks() {
            let Some(at) = x.at(tick) else { continue };
            canvas.line("grid", [at, TOP, at, BOTTOM]);
            canvas.text("", [at, BOTTOM + 18.0], Anchor::Middle, &tick_text(tick));
        }
        for tick in y.ticks() {
            let Some(at) = y.at(tick) else { continue };
            canvas.line("grid", [LEFT, at, RIGHT, at]);
            canvas.text("", [LEFT - 8.0, at + 4.0], Anchor::End, &tick_text(tick));
        }
        canvas.line("axis", [LEFT, BOTTOM, RIGHT, BOTTOM]);
        canvas.line("axis", [LEFT, TOP, LEFT, BOTTOM]);
        let middle = f64::midpoint(LEFT, RIGHT);
        canvas.text("", [middle, BOTTOM + 40.0], Anchor::Middle, &self.x.title);
        canvas.upright("", [26.0, f64::midpoint(TOP, BOTTOM)], &self.y.title);
        let line = |canvas: &mut Canvas, class: &str, places: &[[f64; 2]]| {
            let on_picture = |place: &[f64; 2]| Some([x.at(place[0])?, y.at(place[1])?]);
            let places: Vec<[f64; 2]> = places.iter().filter_map(on_picture).collect();
            for ends in places.windows(2) {
                canvas.line(class, [ends[0][0], ends[0][1], ends[1][0], ends[1][1]]);
            }
        };
        line(canvas, "guide", &self.guide);
        let mut legend = LEFT;
        for (index, series) in self.series.iter().enumerate() {
            let class = format!("s{}", index % COLOURS);
            canvas.mark(&class, index, [legend + 4.0, 50.0], &series.name);
            canvas.text("", [legend + 14.0, 54.0], Anchor::Start, &series.name);
            legend += 40.0 + 6.4 * series.name.chars().count() as f64;
            if series.is_joined {
                let places: Vec<[f64; 2]> =
                    series.points.iter().map(|point| [point.x, point.y]).collect();
                line(canvas, &format!("l{}", index % COLOURS), &places);
            }
            for point in &series.points {
                if let (Some(x), Some(y)) = (x.at(point.x), y.at(point.y)) {
                    canvas.mark(&class, index, [x, y], &point.title);
                }
            }
        }
    }
}

/// Several pictures in one, each below the one before, with the first one's command.
#[must_use]
pub fn stacked_svg(title: &str, charts: &[Scatter]) -> String {
    let mut canvas = Canvas::default();
    for (index, chart) in charts.iter().enumerate() {
        canvas.shifted([0.0, index as f64 * HEIGHT], |canvas| chart.draw(canvas));
    }
    let height = charts.len().max(1) as f64 * HEIGHT;
    if let Some(chart) = charts.first() {
        chart.sign(&mut canvas, height);
    }
    canvas.finish([WIDTH, height], title, HEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scatter(is_logarithmic: bool, points: &[(f64, f64)]) -> Scatter {
        let axis = |title: &str| Axis { title: title.to_owned(), is_logarithmic };
        let point = |(x, y): &(f64, f64)| Point { x: *x, y: *y, title: "a<b".to_owned() };
        Scatter {
            title: "Points".to_owned(),
            command: "tilewright explore".to_owned(),
            x: axis("MACs (counted)"),
            y: axis("cycles (modelled)"),
            series: vec![Series {
                name: "all".to_owned(),
                points: points.iter().map(point).collect(),
                is_joined: false,
            }],
            ..Scatter::default()
        }
    }

    #[test]
    fn axes_hold_all_points() {
        for is_logarithmic in [false, true] {
            let svg = scatter(is_logarithmic, &[(3.0, 40.0), (700.0, 10_000.0)]).svg();
            // A mark in the legend, and one for each point; names cannot break out.
            assert_eq!(svg.matches("<path class=\"s0\"").count(), 3);
            assert!(svg.contains("a&lt;b") && svg.contains(">10k</text>"), "{svg}");
            assert!(svg.contains("tilewright explore"));
        }
    }

    #[test]
    fn what_no_axis_can_show_is_left_out() {
        let odd = [(0.0, 1.0), (f64::NAN, 1.0), (f64::INFINITY, 1.0), (1.0, -1.0)];
        let svg = scatter(true, &odd).svg();
        assert_eq!(svg.matches("<path class=\"s0\"").count(), 1, "the legend alone");
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        assert!(scatter(false, &[]).svg().contains("</svg>"));
        assert!(scatter(false, &[(5.0, 5.0)]).svg().contains("</svg>"));
    }

    #[test]
    fn several_pictures_stand_below_each_other() {
        let charts = [scatter(false, &[(1.0, 2.0)]), scatter(true, &[(1.0, 2.0)])];
        let svg = stacked_svg("All", &charts);
        assert_eq!(svg.matches("<path class").count(), 4);
        assert!(svg.contains("height=\"1280\"") && svg.contains("translate(0 640)"), "{svg}");
        assert_eq!(svg.matches("tilewright explore").count(), 1);
    }

    #[test]
    fn steps_are_round() {
        let steps = [7.0, 10.0, 33.0, 0.4, 0.0].map(step_of);
        assert_eq!(steps, [1.0, 1.0, 5.0, 0.05, 1.0]);
    }
}
