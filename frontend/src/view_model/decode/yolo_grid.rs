//! YOLO with its grids as outputs: of version 2, its small kin for people, and of versions 3 and 4 as trained on COCO.
//!
//! Their anchors are no part of the file. Those of the published networks are known by the number of channels, and
//! by the pixels between cells.

use super::suppress::suppressed;
use super::{Area, Finding, Found, Output, Picture, logistic};
use crate::message::OutputFacts;

const OVERLAP: f32 = 0.45;
/// Width and height of anchors, version 2: in cells. Trained on VOC, and on COCO.
const VOC: [[f32; 2]; 5] =
    [[1.08, 1.19], [3.42, 4.41], [6.63, 11.38], [9.42, 5.11], [16.62, 10.52]];
const COCO: [[f32; 2]; 5] = [
    [0.572_73, 0.677_385],
    [1.874_46, 2.062_53],
    [3.338_43, 5.474_34],
    [7.882_82, 3.527_78],
    [9.770_52, 9.168_28],
];
/// ST's Tiny YOLO v2 for people, as OpenMV's cameras read it.
const PEOPLE: [[f32; 2]; 5] =
    [[0.9883, 3.3606], [2.1194, 5.3759], [3.052, 9.1336], [5.5517, 9.3066], [9.726, 11.1422]];
/// ST's YOLO LC v1 for people: in cells too, small as they are; the network was trained with that.
const PEOPLE_LC: [[f32; 2]; 5] = [
    [0.076_023, 0.258_508],
    [0.163_031, 0.413_531],
    [0.234_769, 0.702_585],
    [0.427_054, 0.715_892],
    [0.748_154, 0.857_092],
];
/// Versions 3 and 4: in pixels. The tiny networks' two grids, and the three of the others, coarse to fine.
const TINY: [[[f32; 2]; 3]; 2] =
    [[[81., 82.], [135., 169.], [344., 319.]], [[10., 14.], [23., 27.], [37., 58.]]];
const LARGE: [[[f32; 2]; 3]; 3] = [
    [[116., 90.], [156., 198.], [373., 326.]],
    [[30., 61.], [62., 45.], [59., 119.]],
    [[10., 13.], [16., 30.], [33., 23.]],
];

/// An output with its anchors in shares of the picture.
struct Head {
    output: usize,
    anchors: Vec<[f32; 2]>,
    classes: usize,
}

fn heads(outputs: &[OutputFacts], picture: Picture) -> Option<Vec<Head>> {
    let has_step = |output: &OutputFacts, step: u32| {
        output.shape[..2] == [picture.height / step, picture.width / step] && output.shape[0] > 0
    };
    if let [output] = outputs {
        let [height, width] = [output.shape[0], output.shape[1]].map(|cells| cells as f32);
        let step = if has_step(output, 16) { 16 } else { 32 };
        let (anchors, classes) = match (output.shape[2], step) {
            (125, 32) => (VOC, 20),
            (425, 32) => (COCO, 80),
            (30, 32) => (PEOPLE, 1),
            (30, 16) => (PEOPLE_LC, 1),
            _ => return None,
        };
        let anchors = anchors.map(|[wide, high]| [wide / width, high / height]).to_vec();
        return has_step(output, step).then_some(vec![Head { output: 0, anchors, classes }]);
    }
    let anchors: &[[[f32; 2]; 3]] = match outputs.len() {
        2 => &TINY,
        3 => &LARGE,
        _ => return None,
    };
    let head = |(anchors, step): (&[[f32; 2]; 3], u32)| {
        let suits = |output: &OutputFacts| output.shape[2] == 255 && has_step(output, step);
        let shares = |[wide, high]: [f32; 2]| {
            [wide / picture.width.max(1) as f32, high / picture.height.max(1) as f32]
        };
        let output = outputs.iter().position(suits)?;
        Some(Head { output, anchors: anchors.map(shares).to_vec(), classes: 80 })
    };
    anchors.iter().zip([32, 16, 8]).map(head).collect()
}

pub fn suits(outputs: &[OutputFacts], picture: Picture) -> bool {
    heads(outputs, picture).is_some()
}

pub fn classes(outputs: &[OutputFacts]) -> Option<usize> {
    Some(match outputs.first()?.shape[2] {
        30 => 1,
        125 => 20,
        _ => 80,
    })
}

pub fn decode(outputs: &[Output<'_>], picture: Picture, threshold: f32) -> Option<Found> {
    let facts: Vec<OutputFacts> = outputs.iter().map(|output| output.facts.clone()).collect();
    let is_second = outputs.len() == 1;
    let mut candidates = Vec::new();
    for head in heads(&facts, picture)? {
        let output = &outputs[head.output];
        let [height, width, channels] = output.facts.shape.map(|size| size as usize);
        for place in 0..height * width {
            for (index, anchor) in head.anchors.iter().enumerate() {
                let start = place * channels + index * (5 + head.classes);
                let at = |number: usize| output.real(start + number);
                let objectness = logistic(at(4));
                if objectness < threshold {
                    continue;
                }
                let scores = (0..head.classes).map(|class| at(5 + class));
                let best = scores.clone().enumerate();
                let Some((class, value)) = best.reduce(|a, b| if b.1 > a.1 { b } else { a }) else {
                    continue;
                };
                // Version 2 has a softmax, the later ones a logistic function for each class.
                let share = if is_second {
                    1.0 / scores.map(|score| (score - value).exp()).sum::<f32>()
                } else {
                    logistic(value)
                };
                let score = objectness * share;
                if score < threshold {
                    continue;
                }
                let [column, row] = [place % width, place / width].map(|at| at as f32);
                candidates.push(Finding {
                    class,
                    score: Some(score),
                    area: Some(Area::around(
                        (column + logistic(at(0))) / width as f32,
                        (row + logistic(at(1))) / height as f32,
                        at(2).exp() * anchor[0],
                        at(3).exp() * anchor[1],
                    )),
                    points: Vec::new(),
                });
            }
        }
    }
    Some(suppressed(candidates, OVERLAP))
}
