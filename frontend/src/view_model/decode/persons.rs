//! Several people's key points: PoseNet and PersonLab tell for each point how far away its neighbours in the body are
//! (Papandreou and others, "PersonLab", 2018, section 3.1).

use super::{Area, Finding, Found, Output, Picture, Point};
use crate::message::OutputFacts;

/// Points of a body, and the bones from one to another: the nearer to the nose is first.
pub const POINTS: usize = 17;
const BONES: [[usize; 2]; 16] = [
    [0, 1],
    [1, 3],
    [0, 2],
    [2, 4],
    [0, 5],
    [5, 7],
    [7, 9],
    [5, 11],
    [11, 13],
    [13, 15],
    [0, 6],
    [6, 8],
    [8, 10],
    [6, 12],
    [12, 14],
    [14, 16],
];
/// Most people.
const MOST: usize = 20;
/// Points of two people are farther apart, in pixels.
const APART: f32 = 20.0;
/// How often a point is moved by the offset of the cell where it came to lie.
const MOVES: usize = 2;

/// Where outputs tell how far bones reach: along them, and back. Each has a channel for each bone down, then one across.
pub struct Bones {
    along: Place,
    back: Place,
}

/// An output, and its first channel.
struct Place {
    output: usize,
    channel: usize,
}

impl Bones {
    /// In two outputs, or in one behind the other.
    pub fn of(outputs: &[OutputFacts], maps: [u32; 3]) -> Option<Self> {
        let [height, width, points] = maps;
        let bones = 2 * BONES.len() as u32;
        let with = |channels: u32| {
            let shape = [height, width, channels];
            outputs.iter().enumerate().filter(move |(_, o)| o.shape == shape).map(|(at, _)| at)
        };
        if points as usize != POINTS {
            return None;
        }
        if let Some(output) = with(2 * bones).next() {
            let place = |channel| Place { output, channel };
            return Some(Self { along: place(0), back: place(bones as usize) });
        }
        let mut two = with(bones).map(|output| Place { output, channel: 0 });
        Some(Self { along: two.next()?, back: two.next()? })
    }
}

/// What is read: maps of points, how far these are from their cells, and how far bones reach.
pub struct Maps<'a> {
    pub outputs: &'a [Output<'a>],
    pub maps: usize,
    pub offsets: usize,
    pub bones: Bones,
    pub picture: Picture,
}

/// A place in pixels: down, across.
type Pixels = [f32; 2];

/// A cell that may hold a point of somebody.
struct Candidate {
    place: usize,
    point: usize,
    score: f32,
}

/// A point of a person.
#[derive(Clone, Copy)]
struct Joint {
    at: Pixels,
    score: f32,
}

impl Maps<'_> {
    fn size(&self) -> [usize; 3] {
        self.outputs[self.maps].facts.shape.map(|size| size as usize)
    }

    fn sides(&self) -> Pixels {
        [self.picture.height, self.picture.width].map(|side| side.max(1) as f32)
    }

    fn score(&self, place: usize, point: usize) -> f32 {
        self.outputs[self.maps].probability(place * POINTS + point)
    }

    /// The cell of a place: corner cells lie on the corners of the picture.
    fn cell(&self, at: Pixels) -> usize {
        let ([height, width, _], [high, wide]) = (self.size(), self.sides());
        let along = |at: f32, side: f32, cells: usize| {
            let last = cells.saturating_sub(1);
            ((at / side * last as f32).round().max(0.0) as usize).min(last)
        };
        along(at[0], high, height) * width + along(at[1], wide, width)
    }

    /// Two numbers of a cell.
    fn reach(&self, output: usize, place: usize, down: usize, across: usize) -> Pixels {
        let of = &self.outputs[output];
        let channels = of.facts.table()[1];
        [down, across].map(|channel| of.real(place * channels + channel))
    }

    /// Where a point of a cell lies.
    fn point_of_cell(&self, place: usize, point: usize) -> Pixels {
        let ([height, width, _], sides) = (self.size(), self.sides());
        let offset = self.reach(self.offsets, place, point, POINTS + point);
        let cell = [(place / width, height), (place % width, width)];
        let on = |axis: usize| {
            let (at, cells) = cell[axis];
            at as f32 / (cells - 1).max(1) as f32 * sides[axis] + offset[axis]
        };
        [on(0), on(1)]
    }

    /// The other end of a bone that begins at a point.
    fn other_end(&self, from: Pixels, place: &Place, bone: usize, to: usize) -> Joint {
        let channel = place.channel + bone;
        let reach = self.reach(place.output, self.cell(from), channel, channel + BONES.len());
        let mut at = [from[0] + reach[0], from[1] + reach[1]];
        for _ in 0..MOVES {
            at = self.point_of_cell(self.cell(at), to);
        }
        Joint { at, score: self.score(self.cell(at), to) }
    }

    /// A person from one of the points on: bones that lead to the nose first, then those that lead away.
    fn person(&self, point: usize, first: Joint) -> Option<[Joint; POINTS]> {
        let mut found = [None; POINTS];
        found[point] = Some(first);
        for (bone, [near, far]) in BONES.into_iter().enumerate().rev() {
            if let (None, Some(from)) = (found[near], found[far]) {
                found[near] = Some(self.other_end(from.at, &self.bones.back, bone, near));
            }
        }
        for (bone, [near, far]) in BONES.into_iter().enumerate() {
            if let (Some(from), None) = (found[near], found[far]) {
                found[far] = Some(self.other_end(from.at, &self.bones.along, bone, far));
            }
        }
        let all: Vec<Joint> = found.into_iter().flatten().collect();
        all.try_into().ok()
    }

    /// Points that score at least `threshold` and more than all around them; the best first.
    fn candidates(&self, threshold: f32) -> Vec<Candidate> {
        let [height, width, _] = self.size();
        let mut all = Vec::new();
        for place in 0..height * width {
            let (row, column) = (place / width, place % width);
            let rows = row.saturating_sub(1)..=(row + 1).min(height - 1);
            let columns = column.saturating_sub(1)..=(column + 1).min(width - 1);
            for point in 0..POINTS {
                let score = self.score(place, point);
                let mut around =
                    rows.clone().flat_map(|r| columns.clone().map(move |c| r * width + c));
                if score >= threshold && around.all(|other| self.score(other, point) <= score) {
                    all.push(Candidate { place, point, score });
                }
            }
        }
        all.sort_by(|a: &Candidate, b| b.score.total_cmp(&a.score));
        all
    }

    /// All people, best first.
    pub fn people(&self, threshold: f32) -> Found {
        let mut people: Vec<[Joint; POINTS]> = Vec::new();
        let is_taken = |people: &[[Joint; POINTS]], point: usize, at: Pixels| {
            let near = |other: Pixels| (at[0] - other[0]).hypot(at[1] - other[1]) <= APART;
            people.iter().any(|person| near(person[point].at))
        };
        let mut findings: Vec<Finding> = Vec::new();
        for Candidate { place, point, score } in self.candidates(threshold) {
            let at = self.point_of_cell(place, point);
            if people.len() >= MOST || is_taken(&people, point, at) {
                continue;
            }
            let Some(person) = self.person(point, Joint { at, score }) else { continue };
            // Points that are another's say nothing for this person.
            let own =
                person.iter().enumerate().filter(|(k, found)| !is_taken(&people, *k, found.at));
            let score = own.map(|(_, found)| found.score).sum::<f32>() / POINTS as f32;
            people.push(person);
            if score >= threshold {
                findings.push(self.finding(&person, score, threshold));
            }
        }
        findings.sort_by(|a, b| b.score.unwrap_or(0.0).total_cmp(&a.score.unwrap_or(0.0)));
        Found { findings, more: 0, note: None }
    }

    fn finding(&self, person: &[Joint; POINTS], score: f32, threshold: f32) -> Finding {
        let [high, wide] = self.sides();
        let point = |found: &Joint| Point {
            x: found.at[1] / wide,
            y: found.at[0] / high,
            score: Some(found.score),
        };
        let points: Vec<Point> = person.iter().map(point).collect();
        let sure = points.iter().filter(|point| point.score >= Some(threshold));
        let around = |area: Area, point: &Point| Area {
            left: area.left.min(point.x),
            top: area.top.min(point.y),
            right: area.right.max(point.x),
            bottom: area.bottom.max(point.y),
        };
        let none = Area { left: 1.0, top: 1.0, right: 0.0, bottom: 0.0 };
        let area = Some(sure.fold(none, around));
        Finding { class: 0, score: Some(score), area, points }
    }
}
