//! A plan as a film that plays wherever a picture can stand: SVG that moves by styles alone.
//!
//! The board's time is stretched or pressed into [`SECONDS`], which repeat. Stays in SRAM and copies that would be too many
//! or too short to be seen are left out, the smallest first; the lanes below show all.

use std::collections::BTreeSet;
use std::fmt::Write;

use tilewright_plan::{CyclePoint, LaneKind, Space};

use crate::accesses::{Access, Accesses, Place};
use crate::canvas::{Anchor, Canvas};
use crate::name::short_name;
use crate::occupancy::{Came, Held, Occupancy, Occupied, Stay};
use crate::plan_report::PlanReport;
use crate::quantity::{binary, duration, fixed};
use crate::schedule::Pictured;
use crate::timeline::{Slice, SliceKind, Timeline};

/// How long the film plays.
pub const SECONDS: f64 = 16.0;

const WIDTH: f64 = 720.0;
/// Left edge, top, width and height of SRAM.
const SRAM: [f64; 4] = [270.0, 60.0, 240.0, 220.0];
/// The same of the core.
const CORE: [f64; 4] = [570.0, 60.0, 134.0, 96.0];
/// Left edge and width of the memories that are farther away.
const FAR: [f64; 2] = [16.0, 170.0];
const LANES_TOP: f64 = 306.0;
const LANE: f64 = 18.0;
const LANES_LEFT: f64 = 60.0;
/// Most stays, copies and layers that move.
const MOST_STAYS: usize = 500;
const MOST_COPIES: usize = 240;
const MOST_LAYERS: usize = 80;
/// What colours in SRAM mean.
const LEGEND: [(&str, &str); 4] = [
    ("inputs", "activations"),
    ("weights", "weights"),
    ("brought", "brought activations"),
    ("results", "results"),
];
/// Seconds that a name stands at least.
const READABLE: f64 = 0.5;
/// Parts of the film that durations are rounded to.
const PARTS: f64 = 160.0;
/// Columns of a lane's picture.
const COLUMNS: usize = 640;

/// Colours of Okabe and Ito.
const STYLE: &str = "\
text{font:12px system-ui,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif;fill:#171b1f;font-variant-numeric:tabular-nums}\
.title{font-size:14px;font-weight:600}.quiet{fill:#565f67;font-size:11px}\
.name{fill:#fff;font-size:11px}.ground{fill:#fff}.box{fill:#f3f5f6;stroke:#7d868d}\
.inputs{fill:#2f8fc4}.weights{fill:#b0638f}.results{fill:#7d868d}.brought{fill:#00855f}\
.compute{fill:#0b5fab}.copy{fill:#00855f}.wait{fill:#d5dadd}.cursor{stroke:#b33c00;stroke-width:2}\
.stay{stroke:#fff;stroke-width:.5}.tile{stroke:#fff;stroke-width:1}\
@media(prefers-color-scheme:dark){text{fill:#e8ebee}.quiet{fill:#a5aeb6}.name{fill:#101316}.ground{fill:#181c20}\
.box{fill:#22272c;stroke:#87919a}.wait{fill:#343b42}.inputs{fill:#56b4e9}.weights{fill:#d994ba}.brought,.copy{fill:#22b78a}\
.compute{fill:#6db5f0}.cursor{stroke:#ff9a66}.stay,.tile{stroke:#181c20}}";

/// Draws the film; nothing of a plan that was not simulated.
#[must_use]
pub fn film_svg(pictured: &Pictured<'_>) -> Option<String> {
    let Pictured { schedule, accesses, .. } = *pictured;
    let timeline = schedule.run.unwrap_or(schedule.predicted);
    let end = timeline.end();
    if end == CyclePoint::default() {
        return None;
    }
    let mut film = Film {
        report: schedule.report,
        accesses,
        timeline,
        end,
        keyframes: BTreeSet::new(),
        canvas: Canvas::default(),
    };
    let far = film.boxes();
    film.stays();
    film.copies(&far);
    film.layers();
    let bottom = film.lanes();
    let report = schedule.report;
    let words = film.words();
    film.canvas.text("title", [16.0, 22.0], Anchor::Start, &words[0]);
    film.canvas.text("quiet", [16.0, 40.0], Anchor::Start, &words[1]);
    let head = film.head();
    let title = format!("Film of {} on {}", report.model, report.board);
    Some(film.canvas.finish([WIDTH, bottom + 12.0], &title, &head))
}

struct Film<'a> {
    report: &'a PlanReport,
    accesses: &'a Accesses,
    timeline: &'a Timeline,
    end: CyclePoint,
    /// Durations of what is seen, and of what moves, in parts of the film.
    keyframes: BTreeSet<(bool, u32)>,
    canvas: Canvas,
}

/// A memory that is farther away than SRAM: where it is drawn.
struct Far {
    space: Space,
    middle: f64,
}

impl Film<'_> {
    /// Seconds of the film.
    fn seconds(&self, at: CyclePoint) -> f64 {
        SECONDS * at.0 as f64 / self.end.0 as f64
    }

    /// What is said above: of what, and how the time runs.
    fn words(&self) -> [String; 2] {
        let report = self.report;
        let micros = self.end.since(CyclePoint(0)).at(self.timeline.clock_hz).0;
        let time = duration(micros);
        let pace = match micros / 1e6 / SECONDS {
            pace if pace >= 1.0 => format!("{} times faster than the board", fixed(pace, 1)),
            pace => format!("{} times slower than the board", fixed(1.0 / pace, 0)),
        };
        let kind = self.timeline.cycles_kind.word();
        [
            format!("{} on {}, {}", report.model, report.board, report.strategy),
            format!(
                "{time} ({kind}), {pace}; SRAM holds at most {} (counted)",
                binary(report.peak_sram_bytes.0)
            ),
        ]
    }

    /// The memories and the core; those that are farther away.
    fn boxes(&mut self) -> Vec<Far> {
        let farthest = [Space::Card, Space::ExternalFlash, Space::ExternalRam, Space::Weights];
        let of = |space: Space| match space {
            Space::Weights => {
                let both = [Space::Weights, Space::Constants];
                both.map(|space| self.accesses.bytes_of(space)).iter().sum()
            }
            space => self.accesses.bytes_of(space),
        };
        let used: Vec<(Space, u64)> = farthest
            .map(|space| (space, of(space)))
            .into_iter()
            .filter(|(_, used)| *used > 0)
            .collect();
        let [left, width] = FAR;
        let [_, top, _, all] = SRAM;
        let height = (all - 12.0 * used.len().saturating_sub(1) as f64) / used.len().max(1) as f64;
        let mut far = Vec::new();
        for (index, (space, used)) in used.into_iter().enumerate() {
            let y = top + (height + 12.0) * index as f64;
            let name = name_of(space);
            self.canvas.rect("box", [left, y, width, height], name);
            self.canvas.text("", [left + 8.0, y + 18.0], Anchor::Start, name);
            self.canvas.text("quiet", [left + 8.0, y + 34.0], Anchor::Start, &binary(used));
            far.push(Far { space, middle: y + height / 2.0 });
        }
        let arena = self.accesses.bytes_of(Space::Arena);
        self.canvas.rect("box", SRAM, "SRAM");
        self.canvas.text("", [SRAM[0], SRAM[1] + SRAM[3] + 14.0], Anchor::Start, "SRAM");
        let right = SRAM[0] + SRAM[2];
        self.canvas.text("quiet", [right, SRAM[1] + SRAM[3] + 14.0], Anchor::End, &binary(arena));
        self.canvas.rect("box", CORE, "Core");
        self.canvas.text("", [CORE[0] + 8.0, CORE[1] + 18.0], Anchor::Start, "Core");
        for (index, (class, words)) in LEGEND.into_iter().enumerate() {
            let y = CORE[1] + CORE[3] + 22.0 + LANE * index as f64;
            self.canvas.rect(class, [CORE[0], y, 12.0, 12.0], words);
            self.canvas.text("quiet", [CORE[0] + 18.0, y + 10.0], Anchor::Start, words);
        }
        far
    }

    /// Something that is seen from one time to another.
    fn seen(&mut self, since: CyclePoint, until: CyclePoint, draw: impl FnOnce(&mut Canvas)) {
        let parts = self.parts(since, until);
        self.keyframes.insert((false, parts));
        let style = self.style(&format!("v{parts}"), since, "");
        self.canvas.styled(&style, draw);
    }

    fn parts(&self, since: CyclePoint, until: CyclePoint) -> u32 {
        let part = (self.seconds(until) - self.seconds(since)) / SECONDS * PARTS;
        (part.round() as u32).clamp(1, PARTS as u32)
    }

    fn style(&self, keyframes: &str, since: CyclePoint, more: &str) -> String {
        format!("--d:{:.2}s;animation-name:{keyframes}{more}", self.seconds(since) - SECONDS)
    }

    /// Where bytes of SRAM are drawn: top and height.
    fn place(&self, from: u64, to: u64) -> [f64; 2] {
        let all = self.accesses.bytes_of(Space::Arena).max(1) as f64;
        let [_, top, _, height] = SRAM;
        let scale = (height - 4.0) / all;
        [top + 2.0 + from as f64 * scale, ((to - from) as f64 * scale).max(1.0)]
    }

    fn stays(&mut self) {
        let (accesses, timeline) = (self.accesses, self.timeline);
        let occupancy = Occupancy::over_time(accesses, timeline, Space::Arena);
        let mut stays: Vec<Stay> = occupancy.stays().to_vec();
        let area = |stay: &Stay| u128::from(stay.bytes()) * u128::from(stay.until.0 - stay.since.0);
        stays.sort_by_key(|stay| std::cmp::Reverse(area(stay)));
        stays.truncate(MOST_STAYS);
        for stay in stays {
            let class = match (stay.held, stay.came) {
                (Held::Weights, _) => "weights",
                (_, Came::Brought) => "brought",
                (Held::Inputs, _) => "inputs",
                (Held::Results, _) => "results",
            };
            let [y, height] = self.place(stay.from, stay.to);
            let [left, _, width, _] = SRAM;
            let name = self.layer(stay.layer);
            // What is seen long enough to be read has its name.
            let long =
                self.seconds(stay.until) - self.seconds(stay.since) >= READABLE && height >= 15.0;
            self.seen(stay.since, stay.until, |canvas| {
                let title = format!("{}: {name}", stay.held.words());
                canvas.rect(&format!("stay {class}"), [left + 2.0, y, width - 4.0, height], &title);
                if long {
                    let at = [left + 8.0, y + height / 2.0 + 4.0];
                    canvas.text("name", at, Anchor::Start, &title);
                }
            });
        }
    }

    fn layer(&self, layer: u16) -> String {
        let row = self.report.layers.get(usize::from(layer));
        row.map_or_else(String::new, |row| short_name(&row.name).to_owned())
    }

    /// Tiles that travel: the largest in each stretch of time.
    fn copies(&mut self, far: &[Far]) {
        let copies = self.timeline.slices.iter().filter(|slice| slice.kind == SliceKind::Copy);
        let mut copies: Vec<&Slice> = copies.collect();
        copies.sort_by_key(|slice| std::cmp::Reverse(slice.bytes));
        let mut taken = BTreeSet::new();
        for slice in copies {
            let stretch = (self.seconds(slice.start) / SECONDS * MOST_COPIES as f64) as u64;
            if !taken.insert((slice.lane, stretch)) {
                continue;
            }
            let places: Vec<(Place, Access)> =
                self.accesses.of_step(slice.lane, slice.step).collect();
            let [(source, _), (destination, Access::Write)] = places[..] else { continue };
            let [Some(from), Some(to)] = [source, destination].map(|place| self.stop(place, far))
            else {
                continue;
            };
            let parts = self.parts(slice.start, slice.end).max(3);
            self.keyframes.insert((true, parts));
            let more = format!(";--x:{:.0}px;--y:{:.0}px", to[0] - from[0], to[1] - from[1]);
            let style = self.style(&format!("m{parts}"), slice.start, &more);
            let title = format!("{} of {}", binary(slice.bytes), self.layer(slice.layer));
            self.canvas.styled(&style, |canvas| {
                canvas.rect("tile copy", [from[0] - 9.0, from[1] - 5.0, 18.0, 10.0], &title);
            });
        }
    }

    /// Where a copy begins or ends.
    fn stop(&self, place: Place, far: &[Far]) -> Option<[f64; 2]> {
        if place.space == Space::Arena {
            let [y, height] = self.place(place.bytes[0], place.bytes[1]);
            return Some([SRAM[0] + 12.0, y + height / 2.0]);
        }
        let space = if place.space == Space::Constants { Space::Weights } else { place.space };
        let far = far.iter().find(|far| far.space == space)?;
        Some([FAR[0] + FAR[1] - 12.0, far.middle])
    }

    /// The layer that the core computes.
    fn layers(&mut self) {
        let core =
            self.timeline.slices.iter().filter(|slice| slice.lane == 0 && slice.kind.works());
        let mut spans: Vec<(u16, CyclePoint, CyclePoint)> = Vec::new();
        for slice in core {
            match spans.last_mut() {
                Some((layer, _, until)) if *layer == slice.layer => *until = slice.end,
                _ => spans.push((slice.layer, slice.start, slice.end)),
            }
        }
        spans.sort_by_key(|(_, since, until)| std::cmp::Reverse(until.0 - since.0));
        spans.truncate(MOST_LAYERS);
        for (layer, since, until) in spans {
            let name = self.layer(layer);
            self.seen(since, until, |canvas| {
                canvas.rect("compute", [CORE[0] + 8.0, CORE[1] + 30.0, CORE[2] - 16.0, 6.0], &name);
                canvas.text("quiet", [CORE[0] + 8.0, CORE[1] + 54.0], Anchor::Start, &cut(&name));
            });
        }
    }

    /// What each lane does over all of the time, with a line that goes along; where that ends.
    fn lanes(&mut self) -> f64 {
        let timeline = self.timeline;
        let width = WIDTH - LANES_LEFT - 16.0;
        for (index, kind) in timeline.lanes.iter().enumerate() {
            let top = LANES_TOP + LANE * index as f64;
            let name = match kind {
                LaneKind::Core => "Core",
                LaneKind::Dma => "DMA",
                LaneKind::Card => "Card",
            };
            self.canvas.text("quiet", [16.0, top + 10.0], Anchor::Start, name);
            self.canvas.rect("wait", [LANES_LEFT, top, width, 12.0], &format!("{name}: waits"));
            let class = if index == 0 { "compute" } else { "copy" };
            let mut busy = vec![0.0f64; COLUMNS];
            let column = |at: CyclePoint| at.0 as f64 / self.end.0 as f64 * COLUMNS as f64;
            let own = timeline.slices.iter().filter(|slice| usize::from(slice.lane) == index);
            for slice in own.filter(|slice| slice.kind.works()) {
                let (start, end) = (column(slice.start), column(slice.end));
                for (at, share) in busy
                    .iter_mut()
                    .enumerate()
                    .take((end.ceil() as usize).min(COLUMNS))
                    .skip(start as usize)
                {
                    *share += end.min(at as f64 + 1.0) - start.max(at as f64);
                }
            }
            let mut path = String::new();
            let step = width / COLUMNS as f64;
            for (at, share) in busy.iter().enumerate().filter(|(_, share)| **share > 0.01) {
                let height = 12.0 * share.min(1.0);
                // Writing to a string cannot fail.
                let _ = write!(
                    path,
                    "M{:.1} {:.1}v-{height:.1}h{step:.2}v{height:.1}z",
                    LANES_LEFT + step * at as f64,
                    top + 12.0
                );
            }
            self.canvas.path(class, &path);
        }
        let bottom = LANES_TOP + LANE * timeline.lanes.len() as f64;
        self.canvas.styled(&format!("--d:0s;animation-name:along;--x:{width:.0}px"), |canvas| {
            canvas.line("cursor", [LANES_LEFT, LANES_TOP - 4.0, LANES_LEFT, bottom]);
        });
        bottom
    }

    /// Styles, with what moves how long; who wants no motion sees the time of the peak.
    fn head(&self) -> String {
        let mut style = STYLE.to_owned();
        let moves = format!(
            "g[style]{{animation:{SECONDS}s linear infinite;animation-delay:calc(var(--d) - var(--s,0s))}}\
             @keyframes along{{to{{transform:translateX(var(--x))}}}}\
             @media(prefers-reduced-motion:reduce){{g[style]{{animation-play-state:paused;--s:{:.2}s}}}}",
            self.seconds(self.peak())
        );
        style.push_str(&moves);
        for (is_moving, parts) in &self.keyframes {
            if f64::from(*parts) >= PARTS {
                let name = if *is_moving { 'm' } else { 'v' };
                let moved = if *is_moving { ";transform:translate(var(--x),var(--y))" } else { "" };
                let _ = write!(
                    style,
                    "@keyframes {name}{parts}{{0%{{opacity:1}}to{{opacity:1{moved}}}}}"
                );
                continue;
            }
            let end = 100.0 * f64::from(*parts) / PARTS;
            let behind = end + 0.01;
            let _ = match is_moving {
                false => write!(
                    style,
                    "@keyframes v{parts}{{0%,{end:.2}%{{opacity:1}}{behind:.2}%,to{{opacity:0}}}}"
                ),
                true => write!(
                    style,
                    "@keyframes m{parts}{{0%{{opacity:1}}{end:.2}%{{opacity:1;transform:translate(var(--x),var(--y))}}\
                     {behind:.2}%,to{{opacity:0;transform:translate(var(--x),var(--y))}}}}"
                ),
            };
        }
        format!("<style>{style}</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n")
    }

    /// When most of SRAM is held.
    fn peak(&self) -> CyclePoint {
        let (accesses, timeline) = (self.accesses, self.timeline);
        let occupancy = Occupancy::over_time(accesses, timeline, Space::Arena);
        let held = |change: &&Occupied| change.bytes.iter().sum::<u64>();
        occupancy
            .changes()
            .iter()
            .max_by_key(held)
            .map_or(CyclePoint::default(), |change| change.at)
    }
}

const fn name_of(space: Space) -> &'static str {
    match space {
        Space::Arena => "SRAM",
        Space::Weights | Space::Constants => "Flash",
        Space::ExternalRam => "External RAM",
        Space::ExternalFlash => "External flash",
        Space::Card => "SD card",
    }
}

/// A name as long as the core's box is wide.
fn cut(name: &str) -> String {
    const MOST: usize = 19;
    match name.chars().count() {
        count if count <= MOST => name.to_owned(),
        _ => name.chars().take(MOST - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::memory_map::{MemoryMap, PlacedTensor};
    use crate::schedule::Schedule;

    fn film(timeline: &Timeline) -> Option<String> {
        let plan = fixture::plan();
        let (accesses, tensors) = (Accesses::of(&plan), PlacedTensor::of(&plan));
        let memory = MemoryMap::of(&plan);
        let report = fixture::report(&memory);
        let occupancy = Occupancy::over_time(&accesses, timeline, Space::Arena);
        let schedule = Schedule {
            report: &report,
            memory: &memory,
            predicted: timeline,
            occupancy: &occupancy,
            run: None,
        };
        film_svg(&Pictured { schedule, accesses: &accesses, tensors: &tensors })
    }

    #[test]
    fn what_is_held_computed_and_over_moves() {
        let timeline = fixture::timeline();
        let film = film(&timeline).unwrap();
        for part in [
            "class=\"stay inputs\"",
            "animation-name:along",
            "prefers-reduced-motion",
            "SRAM",
            "@keyframes v",
        ] {
            assert!(film.contains(part), "{part} in {film}");
        }
        assert!(!film.contains("NaN") && !film.contains(">inf"), "{film}");
        let used = film.matches("animation-name:v").count();
        assert!(used >= 3, "{used} things are seen for a time");
    }

    #[test]
    fn a_plan_without_steps_has_no_film() {
        let timeline = Timeline { slices: Vec::new(), ..fixture::timeline() };
        assert_eq!(film(&timeline), None);
    }
}
