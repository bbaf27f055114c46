//! Rows of a sweep as points on axes of choice, and the rows that no other one beats.

use crate::scatter_svg::{Axis, Point, Scatter, Series};
use crate::sweep::{SweepKey, SweepPlan, SweepRow};

/// What an axis shows of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SweepAxis {
    /// Predicted latency of all frames.
    Latency,
    /// SRAM for tensors and scratch.
    Sram,
    /// Flash of the plan.
    Flash,
    /// Memory outside of the chip.
    External,
    /// Energy of a frame.
    Energy,
    /// Bytes that a frame writes to the card.
    Written,
    /// Years until the card is worn out.
    Years,
    /// Multiply-accumulates of the network.
    Macs,
    /// Parameters of the network.
    Parameters,
    /// Budget of SRAM that was asked for.
    Budget,
    /// Clock that was asked for.
    Clock,
    /// Frames that were asked for.
    Frames,
}

impl SweepAxis {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Latency,
        Self::Sram,
        Self::Flash,
        Self::External,
        Self::Energy,
        Self::Written,
        Self::Years,
        Self::Macs,
        Self::Parameters,
        Self::Budget,
        Self::Clock,
        Self::Frames,
    ];

    /// Short name, as options and links have it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Sram => "sram",
            Self::Flash => "flash",
            Self::External => "external",
            Self::Energy => "energy",
            Self::Written => "written",
            Self::Years => "years",
            Self::Macs => "macs",
            Self::Parameters => "parameters",
            Self::Budget => "budget",
            Self::Clock => "clock",
            Self::Frames => "frames",
        }
    }

    /// The axis of this short name.
    #[must_use]
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|axis| axis.id() == id)
    }

    /// What it shows, with its unit and how figures come to be.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Latency => "latency in ms (modelled)",
            Self::Sram => "SRAM in KiB (counted)",
            Self::Flash => "flash in KiB (counted)",
            Self::External => "external memory in KiB (counted)",
            Self::Energy => "energy of a frame in mJ (modelled)",
            Self::Written => "written to the card a frame in KiB (counted)",
            Self::Years => "least years that the card lasts (modelled)",
            Self::Macs => "million MACs (counted)",
            Self::Parameters => "million parameters (counted)",
            Self::Budget => "budget of SRAM in KiB",
            Self::Clock => "clock in MHz",
            Self::Frames => "frames in turn",
        }
    }

    /// Whether it is asked for, and does not come out.
    #[must_use]
    pub const fn is_asked(self) -> bool {
        matches!(self, Self::Budget | Self::Clock | Self::Frames)
    }

    /// The value of a row whose plan the board can run; nothing of another one, or if it is not known.
    #[must_use]
    pub fn value(self, row: &SweepRow) -> Option<f64> {
        const KIB: f64 = 1024.0;
        let plan: &SweepPlan = row.plan.as_ref().filter(|plan| plan.fits)?;
        let SweepKey { sram_budget_bytes, clock_hz, frames, .. } = &row.key;
        Some(match self {
            Self::Latency => row.latency_us()? / 1e3,
            Self::Sram => plan.sram_bytes.0 as f64 / KIB,
            Self::Flash => plan.flash_bytes.0 as f64 / KIB,
            Self::External => plan.external_bytes.0 as f64 / KIB,
            Self::Energy => *plan.energy_uj? / 1e3,
            Self::Written => *plan.card_written_bytes / KIB,
            Self::Years => *plan.card_years?,
            Self::Macs => *row.macs? as f64 / 1e6,
            Self::Parameters => *row.parameters? as f64 / 1e6,
            Self::Budget => (*sram_budget_bytes)? as f64 / KIB,
            Self::Clock => (*clock_hz)? as f64 / 1e6,
            Self::Frames => f64::from(*frames),
        })
    }

    /// The value such that less is better.
    fn cost(self, row: &SweepRow) -> Option<f64> {
        let value = self.value(row)?;
        Some(if self == Self::Years { -value } else { value })
    }
}

/// What rows are told apart by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SweepBy {
    /// By their strategies.
    #[default]
    Strategy,
    /// By their boards.
    Board,
    /// By their models.
    Model,
    /// By their budgets of SRAM.
    Budget,
}

impl SweepBy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Strategy, Self::Board, Self::Model, Self::Budget];

    /// Short name, as options and links have it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Strategy => "strategy",
            Self::Board => "board",
            Self::Model => "model",
            Self::Budget => "budget",
        }
    }

    /// What has this short name.
    #[must_use]
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.id() == id)
    }

    /// What a row has of it.
    #[must_use]
    pub fn of(self, key: &SweepKey) -> String {
        match self {
            Self::Strategy => key.strategy.clone(),
            Self::Board => key.board.clone(),
            Self::Model => key.network.clone(),
            Self::Budget => key.sram_budget_bytes.map_or_else(|| "all SRAM".to_owned(), kib),
        }
    }
}

fn kib(bytes: u64) -> String {
    if bytes.is_multiple_of(1024) { format!("{} KiB", bytes / 1024) } else { format!("{bytes} B") }
}

impl SweepKey {
    /// What it is of, in words.
    #[must_use]
    pub fn words(&self) -> String {
        self.parts().into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// What tells each of some keys from the others, in words; everything if nothing does.
    #[must_use]
    pub fn words_apart(keys: &[&Self]) -> Vec<String> {
        let all: Vec<[Option<String>; 7]> = keys.iter().map(|key| key.parts()).collect();
        let first = all.first().cloned().unwrap_or_default();
        let differs: [bool; 7] =
            std::array::from_fn(|part| all.iter().any(|parts| parts[part] != first[part]));
        let is_one = !differs.contains(&true);
        let words = |parts: [Option<String>; 7]| {
            let told = parts.into_iter().zip(differs).filter(|(_, differs)| is_one || *differs);
            let words: Vec<String> = told.filter_map(|(part, _)| part).collect();
            if words.is_empty() { "as usual".to_owned() } else { words.join(", ") }
        };
        all.into_iter().map(words).collect()
    }

    /// What there is to say, in parts.
    fn parts(&self) -> [Option<String>; 7] {
        let Self { network, board, strategy, sram_budget_bytes, clock_hz, card, frames } = self;
        [
            Some(network.clone()),
            Some(board.clone()),
            Some(strategy.clone()),
            sram_budget_bytes.map(|bytes| format!("{} of SRAM", kib(bytes))),
            clock_hz.map(|clock| format!("{} MHz", clock / 1_000_000)),
            card.as_ref().map(|card| format!("card {card}")),
            (*frames > 1).then(|| format!("{frames} frames")),
        ]
    }
}

/// How rows are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepChart {
    /// To the right.
    pub x: SweepAxis,
    /// Upwards.
    pub y: SweepAxis,
    /// What has a colour and a form of its own. Where the axis to the right was asked for, each line is of rows that
    /// differ in nothing else.
    pub by: SweepBy,
}

impl SweepChart {
    /// Places of rows in `rows`, in groups with names; those that cannot be drawn are left out.
    #[must_use]
    pub fn groups<R: AsRef<SweepRow>>(&self, rows: &[R]) -> Vec<(String, Vec<usize>)> {
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        let is_drawn = |row: &SweepRow| self.x.value(row).is_some() && self.y.value(row).is_some();
        let drawn: Vec<(usize, SweepKey)> = rows
            .iter()
            .map(AsRef::as_ref)
            .enumerate()
            .filter(|(_, row)| is_drawn(row))
            .map(|(place, row)| (place, self.line(&row.key)))
            .collect();
        let lines: Vec<&SweepKey> = drawn.iter().map(|(_, key)| key).collect();
        let names = match self.x.is_asked() {
            true => SweepKey::words_apart(&lines),
            false => lines.iter().map(|key| self.by.of(key)).collect(),
        };
        for ((place, _), name) in drawn.iter().zip(names) {
            let place = *place;
            match groups.iter_mut().find(|(known, _)| *known == name) {
                Some((_, places)) => places.push(place),
                None => groups.push((name, vec![place])),
            }
        }
        if self.x.is_asked() {
            let right = |place: &usize| self.x.value(rows[*place].as_ref()).unwrap_or_default();
            for (_, places) in &mut groups {
                places.sort_by(|a, b| right(a).total_cmp(&right(b)));
            }
        }
        groups
    }

    /// A row's key without what the axis to the right shows.
    fn line(&self, key: &SweepKey) -> SweepKey {
        let mut key = key.clone();
        match self.x {
            SweepAxis::Budget => key.sram_budget_bytes = None,
            SweepAxis::Clock => key.clock_hz = None,
            SweepAxis::Frames => key.frames = 1,
            _ => {}
        }
        key
    }

    /// Rows that no other one is at least as good as on both axes and better on one, from the left to the right; none
    /// where an axis shows what was asked for.
    #[must_use]
    pub fn front<R: AsRef<SweepRow>>(&self, rows: &[R]) -> Vec<usize> {
        if self.x.is_asked() || self.y.is_asked() {
            return Vec::new();
        }
        let mut costs: Vec<(usize, [f64; 2])> = rows
            .iter()
            .enumerate()
            .filter_map(|(place, row)| {
                Some((place, [self.x.cost(row.as_ref())?, self.y.cost(row.as_ref())?]))
            })
            .collect();
        costs.sort_by(|(_, a), (_, b)| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        let mut least = f64::INFINITY;
        costs.retain(|(_, cost)| {
            let is_better = cost[1] < least;
            least = least.min(cost[1]);
            is_better
        });
        costs.into_iter().map(|(place, _)| place).collect()
    }

    /// Rows as points, with the command that makes them again.
    #[must_use]
    pub fn scatter<R: AsRef<SweepRow>>(&self, rows: &[R], command: String) -> Scatter {
        self.scatter_of(rows, &self.groups(rows), command)
    }

    /// Some of the rows as points, those of `groups`; the front is that of all rows.
    #[must_use]
    pub fn scatter_of<R: AsRef<SweepRow>>(
        &self,
        rows: &[R],
        groups: &[(String, Vec<usize>)],
        command: String,
    ) -> Scatter {
        let at = |place: &usize| {
            let row = rows[*place].as_ref();
            [self.x.value(row).unwrap_or_default(), self.y.value(row).unwrap_or_default()]
        };
        let point = |place: &usize| {
            let [x, y] = at(place);
            Point { x, y, title: rows[*place].as_ref().key.words() }
        };
        let drawn = || groups.iter().flat_map(|(_, places)| places);
        let axis = |axis: SweepAxis, of: usize| {
            Axis::fitting(axis.title(), drawn().map(|place| at(place)[of]))
        };
        let (x, y) = (axis(self.x, 0), axis(self.y, 1));
        let guide = self.front(rows).iter().map(at).collect();
        let is_joined = self.x.is_asked();
        let series = groups.iter().map(|(name, places)| Series {
            name: name.clone(),
            points: places.iter().map(point).collect(),
            is_joined,
        });
        let series = series.collect();
        Scatter { title: "Plans that fit".to_owned(), command, x, y, series, guide }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::{Bytes, Micros};

    fn row(strategy: &str, budget: Option<u64>, [ms, kib]: [f64; 2]) -> SweepRow {
        let key = SweepKey {
            network: "net".to_owned(),
            board: "board".to_owned(),
            strategy: strategy.to_owned(),
            sram_budget_bytes: budget,
            clock_hz: None,
            card: None,
            frames: 1,
        };
        let plan = SweepPlan {
            fits: true,
            latency_us: Some(Micros(ms * 1e3).into()),
            sram_bytes: Bytes((kib * 1024.0) as u64).into(),
            flash_bytes: Bytes(1).into(),
            external_bytes: Bytes(0).into(),
            energy_uj: None,
            card_written_bytes: 0.0.into(),
            card_years: None,
        };
        let (macs, parameters) = (Some(1_000_000.into()), Some(1.into()));
        SweepRow { key, macs, parameters, plan: Some(plan), problem: None }
    }

    const CHART: SweepChart =
        SweepChart { x: SweepAxis::Latency, y: SweepAxis::Sram, by: SweepBy::Strategy };

    #[test]
    fn the_front_is_what_nothing_beats() {
        let rows = [
            row("a", None, [5.0, 10.0]),
            row("b", None, [1.0, 40.0]),
            row("a", None, [5.0, 20.0]),
            row("b", None, [3.0, 40.0]),
            row("b", None, [2.0, 30.0]),
        ];
        assert_eq!(CHART.front(&rows), [1, 4, 0]);
        let scatter = CHART.scatter(&rows, String::new());
        assert_eq!(scatter.guide, [[1.0, 40.0], [2.0, 30.0], [5.0, 10.0]]);
        let names: Vec<&str> = scatter.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(!scatter.x.is_logarithmic && !scatter.series[0].is_joined);
    }

    #[test]
    fn what_was_asked_for_makes_lines_and_no_front() {
        let chart = SweepChart { x: SweepAxis::Budget, ..CHART };
        let rows = [
            row("a", Some(4096), [1.0, 4.0]),
            row("b", Some(2048), [3.0, 2.0]),
            row("a", Some(1024), [9.0, 1.0]),
            row("a", None, [9.0, 1.0]),
        ];
        assert_eq!(chart.groups(&rows)[0], ("a".to_owned(), vec![2, 0]));
        let scatter = chart.scatter(&rows, String::new());
        assert!(scatter.guide.is_empty() && scatter.series.iter().all(|series| series.is_joined));
    }

    #[test]
    fn what_does_not_fit_or_is_not_known_is_no_point() {
        let mut over = row("a", None, [1.0, 1.0]);
        over.plan.as_mut().unwrap().fits = false;
        let rows = [over, row("b", None, [1.0, 1.0])];
        assert_eq!(CHART.groups(&rows), [("b".to_owned(), vec![1])]);
        let energy = SweepChart { y: SweepAxis::Energy, ..CHART };
        assert_eq!(energy.groups(&rows), []);
        assert!(energy.scatter(&rows, String::new()).svg().contains("</svg>"));
    }

    #[test]
    fn names_are_found_again() {
        for axis in SweepAxis::ALL {
            assert_eq!(SweepAxis::find(axis.id()), Some(axis));
        }
        for by in SweepBy::ALL {
            assert_eq!(SweepBy::find(by.id()), Some(by));
        }
        let key = row("swap", Some(2048), [1.0, 1.0]).key;
        assert_eq!(key.words(), "net, board, swap, 2 KiB of SRAM");
        let other = SweepKey { board: "other".to_owned(), sram_budget_bytes: None, ..key.clone() };
        assert_eq!(SweepKey::words_apart(&[&key, &other]), ["board, 2 KiB of SRAM", "other"]);
        assert_eq!(SweepKey::words_apart(&[&key]), [key.words()]);
    }
}
