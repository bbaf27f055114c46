//! A plan as a film: what each byte of SRAM holds while the core is at a step.

use std::collections::BTreeMap;

use tilewright_plan::{CyclePoint, Hertz};
use tilewright_report::{Came, Held, Slice, SliceKind, Stay, short_name};

use super::figures;
use super::layers::kernel_title;
use crate::message::{PlanFacts, Recording};

/// A step of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Its number in the core's lane.
    pub step: u32,
    /// Position in the plan's order.
    pub layer: usize,
    /// Which of its layer's steps it is in its frame, from 1 on, and of how many.
    pub part: [usize; 2],
    /// Frame that is worked on.
    pub frame: u32,
    /// When the kernel begins and ends.
    pub time: [CyclePoint; 2],
}

/// The steps of a plan, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Film {
    pub moments: Vec<Moment>,
    /// Bytes of SRAM that the plan uses.
    pub bytes: u64,
    /// The moment when most is held.
    pub peak: usize,
    /// The first moment that the core had to wait for.
    pub stall: Option<usize>,
    /// When the last copy ends of those that begin at a time.
    copies: BTreeMap<u64, CyclePoint>,
    clock: Hertz,
}

/// What happens to bytes at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// An engine brings them meanwhile.
    Arrives,
    /// The step writes them.
    Written,
    /// A later step needs them.
    Kept,
    /// Nothing needs them behind the step.
    Leaves,
}

/// Bytes that lie together and hold one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// First byte, one past the last.
    pub bytes: [u64; 2],
    pub held: Held,
    pub phase: Phase,
    /// What they are, for people.
    pub name: String,
}

impl Film {
    /// Of a plan as it was predicted.
    #[must_use]
    pub fn of(plan: &PlanFacts) -> Self {
        let works = |slice: &&Slice| slice.lane == 0 && slice.kind == SliceKind::Compute;
        let mut steps: Vec<&Slice> = plan.timeline.slices.iter().filter(works).collect();
        steps.sort_by_key(|slice| (slice.start, slice.step));
        let mut counts: BTreeMap<(u32, u16), usize> = BTreeMap::new();
        let mut moments: Vec<Moment> = Vec::with_capacity(steps.len());
        for slice in &steps {
            let count = counts.entry((slice.frame, slice.layer)).or_default();
            *count += 1;
            moments.push(Moment {
                step: slice.step,
                layer: slice.layer.into(),
                part: [*count, 0],
                frame: slice.frame,
                time: [slice.start, slice.end],
            });
        }
        for moment in &mut moments {
            moment.part[1] =
                counts.get(&(moment.frame, moment.layer as u16)).copied().unwrap_or_default();
        }
        let changes = plan.occupancy.changes();
        let most = changes.iter().max_by_key(|change| change.bytes.iter().sum::<u64>());
        let holds = |at: CyclePoint| moments.partition_point(|moment| moment.time[1] <= at);
        let waits = |slice: &&Slice| slice.lane == 0 && slice.kind == SliceKind::Stall;
        let stall = plan.timeline.slices.iter().filter(waits).map(|slice| slice.end).min();
        let last = moments.len().saturating_sub(1);
        let mut copies: BTreeMap<u64, CyclePoint> = BTreeMap::new();
        for copy in plan.timeline.slices.iter().filter(|slice| slice.kind == SliceKind::Copy) {
            let end = copies.entry(copy.start.0).or_insert(copy.end);
            *end = copy.end.max(*end);
        }
        Self {
            bytes: plan
                .report
                .peak_sram_bytes
                .0
                .max(plan.occupancy.stays().iter().map(|stay| stay.to).max().unwrap_or_default()),
            peak: most.map_or(0, |most| holds(most.at)).min(last),
            stall: stall.map(holds).filter(|stall| *stall <= last),
            copies,
            clock: plan.timeline.clock_hz,
            moments,
        }
    }

    /// What SRAM holds at a moment, in order of the bytes; what is free is left out.
    #[must_use]
    pub fn areas(&self, plan: &PlanFacts, at: usize) -> Vec<Area> {
        let Some(moment) = self.moments.get(at) else { return Vec::new() };
        let [start, end] = moment.time;
        let is_there = |stay: &&Stay| stay.since < end && stay.until > start;
        let mut stays: Vec<&Stay> = plan.occupancy.stays().iter().filter(is_there).collect();
        stays.sort_by_key(|stay| (stay.from, stay.since));
        let mut areas: Vec<Area> = Vec::new();
        for stay in stays {
            let area = Area {
                bytes: [stay.from, stay.to],
                held: stay.held,
                phase: self.phase(stay, moment),
                name: name(plan, stay),
            };
            match areas.last_mut() {
                Some(last)
                    if last.bytes[1] == area.bytes[0]
                        && (last.held, last.phase, &last.name)
                            == (area.held, area.phase, &area.name) =>
                {
                    last.bytes[1] = area.bytes[1];
                }
                _ => areas.push(area),
            }
        }
        areas
    }

    fn phase(&self, stay: &Stay, moment: &Moment) -> Phase {
        let [start, end] = moment.time;
        let comes_until = self.copies.get(&stay.since.0).filter(|_| stay.came == Came::Brought);
        if comes_until.is_some_and(|until| *until > start) {
            Phase::Arrives
        } else if stay.came == Came::Computed && stay.since >= start {
            Phase::Written
        } else if stay.until <= end {
            Phase::Leaves
        } else {
            Phase::Kept
        }
    }

    /// What happens at a moment, in a sentence.
    #[must_use]
    pub fn words(&self, plan: &PlanFacts, at: usize) -> String {
        let Some(moment) = self.moments.get(at) else { return String::new() };
        let row = plan.memory.rows.get(moment.layer);
        let (name, op) =
            row.map_or(("", String::new()), |row| (short_name(&row.name), kernel_title(&row.op)));
        let part = match moment.part {
            [_, 1] => String::new(),
            [number, of] => format!(", part {number} of {of}"),
        };
        let frame = if self.moments.iter().any(|moment| moment.frame > 0) {
            format!(", frame {}", moment.frame + 1)
        } else {
            String::new()
        };
        let areas = self.areas(plan, at);
        let sum = |phase: Phase| {
            let of_phase = areas.iter().filter(|area| area.phase == phase);
            of_phase.map(|area| area.bytes[1] - area.bytes[0]).sum::<u64>()
        };
        let told = [
            (Phase::Written, "are written"),
            (Phase::Arrives, "arrive meanwhile"),
            (Phase::Leaves, "are free afterwards"),
        ];
        let told = told.into_iter().filter_map(|(phase, what)| {
            let bytes = sum(phase);
            (bytes > 0).then(|| format!("{} {what}", figures::bytes(bytes)))
        });
        let told: Vec<String> = told.collect();
        let micros = |at: CyclePoint| at.since(CyclePoint(0)).at(self.clock).0;
        let [start, end] = moment.time.map(micros);
        format!(
            "{name} ({op}{part}{frame}), from {} for {}: {}.",
            figures::duration(start),
            figures::duration(end - start),
            if told.is_empty() { "no byte changes hands".to_owned() } else { told.join(", ") }
        )
    }
}

/// What a stay is, for people.
fn name(plan: &PlanFacts, stay: &Stay) -> String {
    let layer = usize::from(stay.layer);
    let row = plan.memory.rows.get(layer);
    let of_layer = row.map_or("", |row| short_name(&row.name));
    let tensor = |tensors: Option<&Vec<u32>>| {
        let number = *tensors?.first()? as usize;
        plan.tensors.get(number).map(|tensor| short_name(&tensor.name))
    };
    match (stay.held, stay.came) {
        (Held::Weights, _) => format!("weights of {of_layer}"),
        (Held::Results, Came::Brought) => "rest of whole sectors, which nothing reads".to_owned(),
        (_, Came::Computed) => match tensor(row.map(|row| &row.writes)) {
            Some(tensor) => format!("{tensor}, made by {of_layer}"),
            None => format!("what {of_layer} made"),
        },
        (_, Came::Given | Came::Brought) => match tensor(row.map(|row| &row.reads)) {
            Some(tensor) => format!("{tensor}, for {of_layer}"),
            None => format!("input of {of_layer}"),
        },
    }
}

/// What SRAM held when a step had ended; nothing if that was not recorded.
#[must_use]
pub fn content(recording: &Recording, step: u32) -> Option<Vec<u8>> {
    let last = recording.borders.iter().position(|border| border.step == Some(step))?;
    let mut bytes = vec![0; recording.bytes as usize];
    for change in recording.borders[..=last].iter().flat_map(|border| &border.changes) {
        let start = change.offset as usize;
        if let Some(place) = bytes.get_mut(start..start.saturating_add(change.bytes.len())) {
            place.copy_from_slice(&change.bytes);
        }
    }
    Some(bytes)
}

/// Share of a map's height that a name needs.
const NAMED: f64 = 0.07;

/// Red, green, blue.
pub type Colour = [u8; 3];

/// The colours of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    pub surface: Colour,
    pub activations: Colour,
    pub weights: Colour,
    pub written: Colour,
    pub arrives: Colour,
    pub results: Colour,
    pub free: Colour,
}

impl Colours {
    const fn of(&self, area: &Area) -> Colour {
        match (area.phase, area.held) {
            (Phase::Arrives, _) => self.arrives,
            (Phase::Written, _) => self.written,
            (_, Held::Inputs) => self.activations,
            (_, Held::Weights) => self.weights,
            (_, Held::Results) => self.results,
        }
    }
}

/// A map of bytes: each is a pixel, rows one below the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    pub columns: u32,
    pub rows: u32,
}

impl Grid {
    /// For so many bytes, about twice as wide as it is high.
    #[must_use]
    pub fn of(bytes: u64) -> Self {
        let mut columns = 16u64;
        while columns * columns < 2 * bytes && columns < 1 << 12 {
            columns *= 2;
        }
        let rows = bytes.div_ceil(columns).clamp(1, 1 << 14);
        Self { columns: columns as u32, rows: rows as u32 }
    }

    /// The byte at a place, in shares of width and height.
    #[must_use]
    pub fn byte_at(self, [x, y]: [f64; 2]) -> u64 {
        let within = |share: f64, count: u32| {
            ((share.clamp(0.0, 1.0) * f64::from(count)) as u32).min(count.saturating_sub(1))
        };
        u64::from(within(y, self.rows)) * u64::from(self.columns)
            + u64::from(within(x, self.columns))
    }

    /// The areas that are high enough for a name, and how far down the map each begins, as a share of its height.
    pub fn named(self, areas: &[Area]) -> impl Iterator<Item = (f64, &Area)> {
        let bytes = (u64::from(self.columns) * u64::from(self.rows)) as f64;
        let share = move |area: &&Area| (area.bytes[1] - area.bytes[0]) as f64 / bytes;
        let high = areas.iter().filter(move |area| share(area) >= NAMED);
        // A name stands in the first row that is its area's from the left on.
        let row = move |area: &Area| area.bytes[0].div_ceil(u64::from(self.columns));
        high.map(move |area| (row(area) as f64 / f64::from(self.rows), area))
    }

    /// The map's pixels, four bytes each. Where the content is known, larger values are stronger.
    #[must_use]
    pub fn pixels(self, areas: &[Area], content: Option<&[u8]>, colours: &Colours) -> Vec<u8> {
        let count = self.columns as usize * self.rows as usize;
        let mut pixels = Vec::with_capacity(4 * count);
        let mut areas = areas.iter().peekable();
        for at in 0..count as u64 {
            while areas.next_if(|area| area.bytes[1] <= at).is_some() {}
            let area = areas.peek().filter(|area| area.bytes[0] <= at);
            let value = content.and_then(|bytes| bytes.get(at as usize)).copied();
            // As an int8: -128 is weakest.
            let strength = value.map(|value| u32::from(value ^ 0x80));
            let (colour, share) = match area {
                Some(area) => (colours.of(area), strength.map_or(200, |s| 90 + s * 165 / 255)),
                None => (colours.free, strength.map_or(20, |s| 12 + s * 40 / 255)),
            };
            pixels.extend(mixed(colours.surface, colour, share));
            pixels.push(u8::MAX);
        }
        pixels
    }
}

/// So many of 255 parts of a colour on another.
fn mixed(below: Colour, above: Colour, share: u32) -> Colour {
    let mix = |index: usize| {
        let [below, above] = [below[index], above[index]].map(u32::from);
        ((below * (255 - share) + above * share) / 255) as u8
    };
    [mix(0), mix(1), mix(2)]
}

/// A colour as style sheets write it: `#2f8fc4`.
#[must_use]
pub fn colour(text: &str) -> Option<Colour> {
    let digits = text.trim().strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    Some([(value >> 16) as u8, (value >> 8) as u8, value as u8])
}

#[cfg(test)]
mod tests {
    use tilewright_protocol::{Border, Change};

    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn each_step_tells_what_lies_where() {
        let plan = fixture::plan();
        let film = Film::of(&plan);
        assert_eq!(film.moments.len(), 3);
        assert_eq!((film.peak, film.stall), (0, None));
        let seen = |at: usize| -> Vec<([u64; 2], Phase)> {
            film.areas(&plan, at).iter().map(|area| (area.bytes, area.phase)).collect()
        };
        assert_eq!(seen(0), [([0, 16], Phase::Leaves), ([16, 48], Phase::Written)]);
        assert_eq!(seen(1), [([0, 10], Phase::Written), ([16, 48], Phase::Leaves)]);
        assert_eq!(seen(2), [([0, 10], Phase::Leaves), ([16, 26], Phase::Written)]);
        let names: Vec<_> = film.areas(&plan, 1).into_iter().map(|area| area.name).collect();
        assert_eq!(names, ["t2, made by second", "t1, made by first"]);
        let words = film.words(&plan, 1);
        assert!(words.starts_with("second (") && words.contains("10 B are written"), "{words}");
        assert!(words.contains("32 B are free afterwards"), "{words}");
        assert!(film.areas(&plan, 3).is_empty() && film.words(&plan, 3).is_empty());
    }

    #[test]
    fn a_recording_is_played_to_any_border() {
        let change = |offset, bytes: &[u8]| Change { offset, bytes: bytes.to_vec() };
        let border = |step, changes| Border { step, changes };
        let recording = Recording {
            bytes: 6,
            borders: vec![
                border(None, vec![change(0, &[1, 1])]),
                border(Some(0), vec![change(1, &[2, 2])]),
                border(Some(3), vec![change(4, &[3, 3]), change(9, &[4])]),
            ],
        };
        assert_eq!(content(&recording, 0), Some(vec![1, 2, 2, 0, 0, 0]));
        assert_eq!(content(&recording, 3), Some(vec![1, 2, 2, 0, 3, 3]));
        assert_eq!(content(&recording, 2), None);
    }

    #[test]
    fn bytes_are_pixels() {
        let grid = Grid::of(8 << 10);
        assert_eq!(grid, Grid { columns: 128, rows: 64 });
        assert_eq!(grid.byte_at([0.0, 0.0]), 0);
        assert_eq!(grid.byte_at([1.0, 1.0]), 8191);
        assert_eq!(Grid::of(0), Grid { columns: 16, rows: 1 });
        let plan = fixture::plan();
        let areas = Film::of(&plan).areas(&plan, 0);
        let names = |grid: Grid| -> Vec<f64> { grid.named(&areas).map(|(top, _)| top).collect() };
        assert_eq!(names(Grid { columns: 16, rows: 4 }), [0.0, 0.25]);
        assert_eq!(names(Grid { columns: 15, rows: 20 }), [0.1], "the first is too low");
        let black = [0; 3];
        let colours = Colours {
            surface: black,
            activations: [255, 0, 0],
            weights: black,
            written: [0, 255, 0],
            arrives: black,
            results: black,
            free: [0, 0, 255],
        };
        let grid = Grid { columns: 16, rows: 4 };
        let of = |pixels: &[u8], at: usize| pixels[4 * at..4 * at + 4].to_vec();
        let flat = grid.pixels(&areas, None, &colours);
        assert_eq!(of(&flat, 0), [200, 0, 0, 255]);
        assert_eq!(of(&flat, 47), [0, 200, 0, 255]);
        assert_eq!(of(&flat, 48), [0, 0, 20, 255]);
        let mut content = vec![0x80u8; 64];
        (content[0], content[47]) = (0x7f, 0x7f);
        let shown = grid.pixels(&areas, Some(&content), &colours);
        assert_eq!((of(&shown, 0)[0], of(&shown, 1)[0], of(&shown, 47)[1]), (255, 90, 255));
        assert_eq!(colour(" #2f8fc4"), Some([0x2f, 0x8f, 0xc4]));
        assert_eq!(colour("rgb(0 0 0)"), None);
    }
}
