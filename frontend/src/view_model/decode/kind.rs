//! Ways to read outputs, and which of them suit.

use super::{Picture, blaze_face, fomo, key_points, ssd, yolo, yolo_grid};
use crate::message::OutputFacts;
use crate::view_model::output_map::is_map;
use crate::view_model::run::are_scores;

/// A way to read all outputs of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Classes,
    BlazeFace,
    Fomo,
    /// With objectness: versions 3, 5, 7.
    YoloObjectness,
    /// Without: versions 8 and later.
    Yolo,
    YoloX,
    YoloPose,
    YoloGrid,
    Ssd,
    Corners,
    HeatMapPoints,
    Points,
    Segmentation,
    /// Channels as pictures.
    Maps,
    Values,
}

impl Kind {
    pub(super) const ALL: [Self; 15] = [
        Self::Classes,
        Self::BlazeFace,
        Self::Fomo,
        Self::YoloObjectness,
        Self::Yolo,
        Self::YoloX,
        Self::YoloPose,
        Self::YoloGrid,
        Self::Ssd,
        Self::Corners,
        Self::HeatMapPoints,
        Self::Points,
        Self::Segmentation,
        Self::Maps,
        Self::Values,
    ];

    /// A short word for lists.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Classes => "classes",
            Self::BlazeFace => "blazeface",
            Self::Fomo => "fomo",
            Self::YoloObjectness => "yolo5",
            Self::Yolo => "yolo8",
            Self::YoloX => "yolox",
            Self::YoloPose => "yolo-pose",
            Self::YoloGrid => "yolo-grid",
            Self::Ssd => "ssd",
            Self::Corners => "corners",
            Self::HeatMapPoints => "heat-map-points",
            Self::Points => "points",
            Self::Segmentation => "segmentation",
            Self::Maps => "maps",
            Self::Values => "values",
        }
    }

    /// The kind of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// For people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Classes => "classes",
            Self::BlazeFace => "boxes: BlazeFace",
            Self::Fomo => "centroids: FOMO",
            Self::YoloObjectness => "boxes: YOLO 3, 5, 7",
            Self::Yolo => "boxes: YOLO 8 and later",
            Self::YoloX => "boxes: YOLOX",
            Self::YoloPose => "boxes and key points: YOLO pose",
            Self::YoloGrid => "boxes: YOLO grids",
            Self::Ssd => "boxes: SSD",
            Self::Corners => "boxes by their corners",
            Self::HeatMapPoints => "key points: heat maps",
            Self::Points => "key points: coordinates",
            Self::Segmentation => "segmentation",
            Self::Maps => "heat maps",
            Self::Values => "plain values",
        }
    }

    /// Whether it gives boxes or points over the picture.
    #[must_use]
    pub const fn is_over_picture(self) -> bool {
        !matches!(self, Self::Classes | Self::Segmentation | Self::Maps | Self::Values)
    }

    /// Whether a threshold of scores means something.
    #[must_use]
    pub const fn has_threshold(self) -> bool {
        self.is_over_picture()
    }

    /// The threshold to begin with, in percent.
    #[must_use]
    pub const fn threshold(self) -> u64 {
        match self {
            Self::YoloObjectness | Self::Yolo | Self::YoloX | Self::YoloPose | Self::YoloGrid => 25,
            Self::HeatMapPoints | Self::Points => 30,
            _ => 50,
        }
    }

    fn suits(self, outputs: &[OutputFacts], picture: Option<Picture>) -> bool {
        match (self, picture) {
            (Self::Classes, _) => {
                matches!(outputs, [OutputFacts { shape: [1, 1, classes], .. }] if *classes > 1)
            }
            (Self::Segmentation, _) => {
                outputs.iter().any(|output| is_map(output.shape) && output.shape[2] > 1)
            }
            (Self::Maps, _) => outputs.iter().any(|output| is_map(output.shape)),
            (Self::Values, _) => true,
            (_, None) => false,
            (Self::BlazeFace, Some(_)) => blaze_face::suits(outputs),
            (Self::Fomo, Some(picture)) => fomo::suits(outputs, picture),
            (Self::YoloObjectness | Self::Yolo | Self::YoloX | Self::YoloPose, Some(picture)) => {
                yolo::suits(self, outputs, picture)
            }
            (Self::YoloGrid, Some(picture)) => yolo_grid::suits(outputs, picture),
            (Self::Ssd, Some(picture)) => ssd::suits(outputs, picture),
            (Self::Corners, Some(_)) => ssd::suits_corners(outputs),
            (Self::HeatMapPoints, Some(_)) => key_points::suits_heat_maps(outputs),
            (Self::Points, Some(_)) => key_points::suits_list(outputs),
        }
    }
}

/// All kinds that suit outputs of a model whose input is `picture`, if it is one; the likeliest is first.
#[must_use]
pub fn kinds(outputs: &[OutputFacts], picture: Option<Picture>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> =
        Kind::ALL.into_iter().filter(|kind| kind.suits(outputs, picture)).collect();
    let first = guess(outputs, picture, &kinds);
    kinds.sort_by_key(|kind| *kind != first);
    kinds
}

fn guess(outputs: &[OutputFacts], picture: Option<Picture>, kinds: &[Kind]) -> Kind {
    let suits = |kind: Kind| kinds.contains(&kind);
    // Whether a grid has a cell for each few pixels.
    let is_fine = picture.is_some_and(|picture| {
        outputs.iter().any(|output| output.shape[0] * 4 > picture.height && output.shape[2] > 1)
    });
    let is_softmax = matches!(outputs, [OutputFacts { is_scores: true, .. }]);
    // What only one thing looks like, before what much looks like.
    [
        (Kind::Classes, are_scores(outputs)),
        (Kind::BlazeFace, true),
        (Kind::Ssd, true),
        (Kind::YoloObjectness, true),
        (Kind::YoloPose, true),
        (Kind::YoloX, true),
        (Kind::Yolo, true),
        (Kind::YoloGrid, true),
        (Kind::Corners, true),
        (Kind::HeatMapPoints, !is_softmax && key_points::are_heat_maps(outputs)),
        (Kind::Points, key_points::is_list(outputs)),
        (Kind::Fomo, is_softmax && !is_fine),
        (Kind::Segmentation, is_fine || outputs.iter().any(OutputFacts::is_segmentation)),
        (Kind::Maps, true),
    ]
    .into_iter()
    .find_map(|(kind, is_likely)| (is_likely && suits(kind)).then_some(kind))
    .unwrap_or(Kind::Values)
}
