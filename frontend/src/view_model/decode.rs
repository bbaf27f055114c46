//! What outputs mean: boxes, centroids and key points over the input's picture, from their int8 values.
//!
//! A reading ([`Kind`]) is guessed from shapes and names. The person can correct it: what a model gives says nothing of
//! how it was trained.

mod blaze_face;
mod fomo;
mod key_points;
mod kind;
mod labels;
mod persons;
mod ssd;
mod suppress;
#[cfg(test)]
mod tests;
mod yolo;
mod yolo_grid;

pub use kind::{Kind, kinds};

use super::figures;
use crate::message::OutputFacts;

/// Most findings that are drawn and listed.
pub const MOST_FINDINGS: usize = 100;

/// An output with the values that it has.
#[derive(Clone, Copy)]
pub struct Output<'a> {
    pub facts: &'a OutputFacts,
    /// In the order height, width, channels.
    pub values: &'a [i8],
}

impl Output<'_> {
    /// A real value; that of zero beyond the end.
    fn real(&self, index: usize) -> f32 {
        self.values.get(index).map_or(0.0, |value| self.facts.real(*value))
    }

    /// A value as a probability: as it is if all that int8 has here are between 0 and 1, else by the logistic function.
    fn probability(&self, index: usize) -> f32 {
        let real = self.real(index);
        if self.facts.are_shares() { real.clamp(0.0, 1.0) } else { logistic(real) }
    }
}

impl OutputFacts {
    /// Elements of all rows and columns, and of a place.
    fn table(&self) -> [usize; 2] {
        let [height, width, channels] = self.shape.map(|size| size as usize);
        [height * width, channels]
    }

    fn elements(&self) -> usize {
        self.table().iter().product()
    }

    /// The real number that a value stands for.
    #[must_use]
    pub fn real(&self, value: i8) -> f32 {
        self.scale * (i32::from(value) - self.zero) as f32
    }

    /// Whether its name says that channels are classes of places, as DeepLab and U-Net call their last operators.
    fn is_segmentation(&self) -> bool {
        let name = self.name.to_lowercase();
        let says_so = ["segment", "semantic", "deeplab", "resizebilinear", "mask"];
        self.shape[2] > 1 && says_so.iter().any(|word| name.contains(word))
    }

    /// The class that a channel stands for. Files that name the classes seldom name the background, the first of all.
    #[must_use]
    pub fn channel_name(&self, channel: usize) -> Option<&str> {
        if self.labels.is_empty() && self.is_segmentation() {
            return labels::of_places(self.table()[1], channel);
        }
        let background =
            self.table()[1].checked_sub(self.labels.len()).filter(|more| *more <= 1)?;
        self.labels.get(channel.checked_sub(background)?).map(String::as_str)
    }

    /// Whether all values that it can have are between 0 and 1.
    fn are_shares(&self) -> bool {
        self.real(i8::MIN) >= -0.02 && self.real(i8::MAX) <= 1.02
    }
}

fn logistic(value: f32) -> f32 {
    1.0 / (1.0 + (-value).exp())
}

/// Height and width of the input, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    pub height: u32,
    pub width: u32,
}

/// A part of the picture; coordinates are shares of its width and height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    pub left: f32,
    pub top: f32,
    pub right: f32,
    pub bottom: f32,
}

impl Area {
    fn around(x: f32, y: f32, width: f32, height: f32) -> Self {
        let [width, height] = [width.abs() / 2.0, height.abs() / 2.0];
        Self { left: x - width, top: y - height, right: x + width, bottom: y + height }
    }

    fn size(&self) -> f32 {
        (self.right - self.left).max(0.0) * (self.bottom - self.top).max(0.0)
    }

    /// Shared part over joint part.
    fn overlap(&self, other: &Self) -> f32 {
        let shared = Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        let shared = shared.size();
        let joint = self.size() + other.size() - shared;
        if joint > 0.0 { shared / joint } else { 0.0 }
    }

    /// The part that lies on the picture.
    #[must_use]
    pub fn on_picture(&self) -> Self {
        let Self { left, top, right, bottom } = *self;
        let [left, top, right, bottom] = [left, top, right, bottom].map(|at| at.clamp(0.0, 1.0));
        Self { left, top, right, bottom }
    }
}

/// A place on the picture, in shares of its width and height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    pub x: f32,
    pub y: f32,
    /// How sure the model is of it, if it says so.
    pub score: Option<f32>,
}

/// What was found at one part of the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub class: usize,
    /// Nothing: the model gives none.
    pub score: Option<f32>,
    pub area: Option<Area>,
    pub points: Vec<Point>,
}

/// All that was found, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub findings: Vec<Finding>,
    /// How many more there are.
    pub more: usize,
    /// What a person should know of how they were read.
    pub note: Option<String>,
}

/// Decodes outputs. Scores below `threshold` are left out; points too, if they have scores.
#[must_use]
pub fn decode(kind: Kind, outputs: &[Output<'_>], picture: Picture, threshold: f32) -> Found {
    let found = match kind {
        Kind::BlazeFace => blaze_face::decode(outputs, picture, threshold),
        Kind::Fomo => fomo::decode(outputs, threshold),
        Kind::YoloObjectness | Kind::Yolo | Kind::YoloX | Kind::YoloPose => {
            yolo::decode(kind, outputs, picture, threshold)
        }
        Kind::YoloGrid => yolo_grid::decode(outputs, picture, threshold),
        Kind::Ssd => ssd::decode(outputs, picture, threshold),
        Kind::Corners => ssd::decode_corners(outputs, picture, threshold),
        Kind::HeatMapPoints => key_points::of_heat_maps(outputs, picture, threshold),
        Kind::Points => key_points::of_list(outputs, picture, threshold),
        Kind::Classes | Kind::Segmentation | Kind::Maps | Kind::Values => None,
    };
    found.unwrap_or_default()
}

/// The name of a finding's class.
#[must_use]
pub fn class_name(kind: Kind, outputs: &[OutputFacts], class: usize) -> String {
    match kind {
        Kind::BlazeFace => return blaze_face::subject(outputs).to_owned(),
        Kind::YoloPose => return "person".to_owned(),
        Kind::HeatMapPoints if key_points::are_of_people(outputs) => return "person".to_owned(),
        Kind::HeatMapPoints | Kind::Points => return "points".to_owned(),
        _ => {}
    }
    let labelled = outputs.iter().find(|output| !output.labels.is_empty());
    if let Some(output) = labelled {
        // Files that name the classes seldom name the background.
        let classes = match kind {
            Kind::Fomo | Kind::Ssd | Kind::Corners => output.table()[1],
            _ => 0,
        };
        let without_background = classes == output.labels.len() + 1;
        let at = class.checked_sub(usize::from(without_background));
        if let Some(label) = at.and_then(|at| output.labels.get(at)) {
            return label.clone();
        }
    }
    let classes = match kind {
        Kind::YoloObjectness | Kind::Yolo | Kind::YoloX => yolo::classes(kind, outputs),
        Kind::YoloGrid => yolo_grid::classes(outputs),
        Kind::Ssd => ssd::classes(outputs),
        _ => None,
    };
    if (kind, classes) == (Kind::YoloGrid, Some(1)) {
        return "person".to_owned();
    }
    classes
        .and_then(|classes| labels::usual(classes, class))
        .map_or_else(|| format!("class {class}"), str::to_owned)
}

/// The name of a point of a finding.
#[must_use]
pub fn point_name(kind: Kind, count: usize, point: usize) -> String {
    let names = labels::points(kind, count);
    names.get(point).map_or_else(|| format!("point {}", point + 1), |name| (*name).to_owned())
}

/// A finding in words: its size and place in pixels of the input.
#[must_use]
pub fn place_in_words(finding: &Finding, picture: Picture) -> String {
    let [width, height] = [picture.width, picture.height].map(|side| side as f32);
    let pixels = |value: f32| figures::fixed(f64::from(value), 0);
    let point =
        |point: &Point| format!("{}, {}", pixels(point.x * width), pixels(point.y * height));
    match (&finding.area, finding.points.first()) {
        (Some(area), _) => format!(
            "{} × {} from {}, {}",
            pixels((area.right - area.left) * width),
            pixels((area.bottom - area.top) * height),
            pixels(area.left * width),
            pixels(area.top * height),
        ),
        (None, Some(first)) => point(first),
        (None, None) => String::new(),
    }
}
