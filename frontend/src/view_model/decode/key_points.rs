//! Key points: at the largest value of each heat map, or as a list of coordinates.

use super::persons::{Bones, Maps};
use super::{Finding, Found, Output, Picture, Point};
use crate::message::OutputFacts;

/// Numbers of points of published networks: bodies, hands, faces.
const USUAL: [usize; 8] = [17, 14, 16, 18, 19, 21, 68, 98];
/// Most points.
const MOST: usize = 512;
/// Points of a body as COCO counts them.
const BODY: usize = 17;

struct HeatMaps {
    maps: usize,
    /// Two channels for each point: how far it is from its cell, in pixels, down and then across.
    offsets: Option<usize>,
}

fn heat_maps(outputs: &[OutputFacts]) -> Option<HeatMaps> {
    let is_candidate = |output: &OutputFacts| {
        let [height, width, channels] = output.shape;
        height >= 4 && width >= 4 && (2..=MOST).contains(&(channels as usize))
    };
    let has_offsets = |output: &OutputFacts| {
        let [height, width, channels] = output.shape;
        let are_offsets = |other: &OutputFacts| other.shape == [height, width, 2 * channels];
        is_candidate(output) && outputs.iter().any(are_offsets)
    };
    let with_offsets = outputs.iter().position(has_offsets);
    let maps = with_offsets.or_else(|| outputs.iter().position(is_candidate))?;
    let [height, width, channels] = outputs[maps].shape;
    let offsets = outputs.iter().position(|output| output.shape == [height, width, 2 * channels]);
    Some(HeatMaps { maps, offsets })
}

/// Whether outputs tell people apart.
pub fn are_of_people(outputs: &[OutputFacts]) -> bool {
    heat_maps(outputs).is_some_and(|found| {
        found.offsets.is_some() && Bones::of(outputs, outputs[found.maps].shape).is_some()
    })
}

/// Whether outputs may be heat maps of points.
pub fn suits_heat_maps(outputs: &[OutputFacts]) -> bool {
    heat_maps(outputs).is_some()
}

/// Whether they are likely to be: by a name, by offsets, or by as many points as bodies, hands and faces have.
pub fn are_heat_maps(outputs: &[OutputFacts]) -> bool {
    heat_maps(outputs).is_some_and(|found| {
        let output = &outputs[found.maps];
        let is_named = ["heat", "keypoint", "pose"]
            .iter()
            .any(|word| output.name.to_lowercase().contains(word));
        let is_usual = !output.is_scores
            && !output.is_segmentation()
            && USUAL.contains(&(output.shape[2] as usize));
        is_named || found.offsets.is_some() || is_usual
    })
}

/// The place of each channel's largest value. Half of the difference of its neighbours moves it by a quarter of a cell, as is
/// usual for heat maps without offsets.
pub fn of_heat_maps(outputs: &[Output<'_>], picture: Picture, threshold: f32) -> Option<Found> {
    let facts: Vec<OutputFacts> = outputs.iter().map(|output| output.facts.clone()).collect();
    let found = heat_maps(&facts)?;
    let bones = Bones::of(&facts, facts[found.maps].shape);
    if let (Some(bones), Some(offsets)) = (bones, found.offsets) {
        return Some(Maps { outputs, maps: found.maps, offsets, bones, picture }.people(threshold));
    }
    let maps = &outputs[found.maps];
    let [height, width, channels] = maps.facts.shape.map(|size| size as usize);
    let offsets = found.offsets.map(|index| &outputs[index]);
    let point = |channel: usize| -> Option<Point> {
        let at = |place: usize| maps.values.get(place * channels + channel);
        let place =
            (0..height * width).reduce(|best, one| if at(one) > at(best) { one } else { best })?;
        let index = place * channels + channel;
        // Maps without offsets are trained towards 0 and 1 themselves.
        let is_plain = offsets.is_none() && maps.facts.real(i8::MAX) <= 2.0;
        let score = match is_plain {
            true => maps.real(index).clamp(0.0, 1.0),
            false => maps.probability(index),
        };
        let (row, column) = (place / width, place % width);
        let (x, y) = match offsets {
            Some(offsets) => {
                // PoseNet: corner cells lie on the corners of the picture.
                let on = |cell: usize, cells: usize| cell as f32 / (cells - 1).max(1) as f32;
                let of =
                    |part: usize| offsets.real(place * 2 * channels + part * channels + channel);
                let [down, across] = [of(0), of(1)];
                (
                    on(column, width) + across / picture.width.max(1) as f32,
                    on(row, height) + down / picture.height.max(1) as f32,
                )
            }
            None => {
                let lean = |less: Option<usize>, more: Option<usize>| match (
                    less.and_then(at),
                    more.and_then(at),
                ) {
                    (Some(less), Some(more)) if less > more => -0.25,
                    (Some(less), Some(more)) if less < more => 0.25,
                    _ => 0.0,
                };
                let across = lean(
                    (column > 0).then(|| place - 1),
                    (column + 1 < width).then_some(place + 1),
                );
                let down = lean(
                    (row > 0).then(|| place - width),
                    (row + 1 < height).then_some(place + width),
                );
                (
                    (column as f32 + 0.5 + across) / width as f32,
                    (row as f32 + 0.5 + down) / height as f32,
                )
            }
        };
        Some(Point { x, y, score: Some(score) })
    };
    let found = one_finding((0..channels).filter_map(point).collect(), threshold)?;
    let of_one = (channels == BODY)
        .then(|| "Only the strongest of each point is shown: several people mix.".to_owned());
    let notes: Vec<String> = found.note.into_iter().chain(of_one).collect();
    let note = (!notes.is_empty()).then(|| notes.join(" "));
    Some(Found { note, ..found })
}

/// Numbers of a point in a list, and how many points there are.
fn list(outputs: &[OutputFacts]) -> Option<[usize; 2]> {
    let largest = outputs.iter().max_by_key(|output| output.elements())?;
    // A map is no list.
    if largest.shape[0] > 1 && largest.shape[1] > 1 {
        return None;
    }
    let [rows, columns] = largest.table();
    let numbers = match (rows, columns) {
        (4..=MOST, 2 | 3) => columns,
        (1, count) if count >= 4 && count.is_multiple_of(2) && count / 2 <= MOST => {
            if count.is_multiple_of(3) && !count.is_multiple_of(4) { 3 } else { 2 }
        }
        (1, count) if count >= 9 && count.is_multiple_of(3) && count / 3 <= MOST => 3,
        _ => return None,
    };
    let count = rows * columns / numbers;
    // MediaPipe's meshes of 468 and 478 points have a depth.
    Some(match rows * columns {
        1404 | 1434 | 63 => [3, rows * columns / 3],
        _ => [numbers, count],
    })
}

/// Whether outputs may be a list of points.
pub fn suits_list(outputs: &[OutputFacts]) -> bool {
    list(outputs).is_some()
}

/// Whether they are likely to be: by shape, by a name, or by as many numbers as published networks give.
pub fn is_list(outputs: &[OutputFacts]) -> bool {
    let Some(largest) = outputs.iter().max_by_key(|output| output.elements()) else { return false };
    let [rows, columns] = largest.table();
    let name = largest.name.to_lowercase();
    let is_named =
        ["landmark", "keypoint", "key_point", "pose"].iter().any(|word| name.contains(word));
    let is_table = rows >= 4 && matches!(columns, 2 | 3);
    let is_usual = rows == 1 && matches!(columns, 63 | 136 | 196 | 212 | 1404 | 1434);
    list(outputs).is_some() && !largest.is_scores && (is_named || is_table || is_usual)
}

/// Points in the order of the list: across, down (and deep); a body's 17 are down, across, score.
pub fn of_list(outputs: &[Output<'_>], picture: Picture, threshold: f32) -> Option<Found> {
    let facts: Vec<OutputFacts> = outputs.iter().map(|output| output.facts.clone()).collect();
    let [numbers, count] = list(&facts)?;
    let output = outputs.iter().max_by_key(|output| output.facts.elements())?;
    let is_body = numbers == 3 && count == BODY;
    // Coordinates up to 2 are shares of the picture, larger ones its pixels.
    let largest =
        output.values.iter().map(|value| output.facts.real(*value).abs()).fold(0.0, f32::max);
    let [wide, high] = match largest > 2.0 {
        true => [picture.width as f32, picture.height as f32],
        false => [1.0, 1.0],
    };
    let point = |index: usize| {
        let at = |part: usize| output.real(index * numbers + part);
        match is_body {
            true => Point { x: at(1) / wide, y: at(0) / high, score: Some(at(2)) },
            false => Point { x: at(0) / wide, y: at(1) / high, score: None },
        }
    };
    one_finding((0..count).map(point).collect(), threshold)
}

/// Points that are sure enough, as one finding. The order stays: points are named by it.
fn one_finding(points: Vec<Point>, threshold: f32) -> Option<Found> {
    let weak = points.iter().filter(|point| point.score.is_some_and(|score| score < threshold));
    let note = match weak.count() {
        0 => None,
        weak => Some(format!("{weak} of {} points are below the threshold.", points.len())),
    };
    let finding = Finding { class: 0, score: None, area: None, points };
    Some(Found { findings: vec![finding], more: 0, note })
}
