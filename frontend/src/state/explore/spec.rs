//! What is combined with what, and how the plans are drawn: a value, and a text in links.

use tilewright_board::{Board, SMALL};
use tilewright_report::{PlanSettings, SweepAxis, SweepBy, SweepChart, SweepKey};

/// Stands for the open model among the names of networks.
pub const OPEN: &str = "open";

/// Most plans that the page makes of one choice.
pub const MOST_PLANS: usize = 5_000;

/// Most items of a list in a link.
const MOST_ITEMS: usize = 1_000;

/// How plans are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shows {
    /// As points on two axes.
    #[default]
    Chart,
    /// Which fit: models in rows, boards and strategies in columns.
    Matrix,
    /// Each in a column, with all figures.
    Columns,
}

impl Shows {
    /// Short name, as in links.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Chart => "chart",
            Self::Matrix => "matrix",
            Self::Columns => "columns",
        }
    }

    /// What has this short name; a chart, if nothing has.
    #[must_use]
    pub fn find(id: &str) -> Self {
        let all = [Self::Matrix, Self::Columns];
        all.into_iter().find(|shows| shows.id() == id).unwrap_or_default()
    }
}

/// Models, boards, strategies and more, each with each; and how what comes of them is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExploreSpec {
    /// Networks of the zoo; [`OPEN`] is the open model.
    pub models: Vec<String>,
    pub boards: Vec<String>,
    pub strategies: Vec<String>,
    /// Budgets of SRAM in bytes; none: all that the board has.
    pub budgets: Vec<u64>,
    /// Clocks in megahertz; none: the board's.
    pub clocks_mhz: Vec<u64>,
    /// Cards; none: the one that goes with the board.
    pub cards: Vec<String>,
    /// Frames in turn; none: one.
    pub frames: Vec<u32>,
    pub chart: SweepChart,
    /// One chart for each of these.
    pub apart: Option<SweepBy>,
    pub shows: Shows,
}

impl Default for ExploreSpec {
    fn default() -> Self {
        let chart = SweepChart { x: SweepAxis::Sram, y: SweepAxis::Latency, by: SweepBy::Strategy };
        Self {
            models: Vec::new(),
            boards: Vec::new(),
            strategies: Vec::new(),
            budgets: Vec::new(),
            clocks_mhz: Vec::new(),
            cards: Vec::new(),
            frames: Vec::new(),
            chart,
            apart: None,
            shows: Shows::Chart,
        }
    }
}

/// Steps of a sweep over budgets.
pub const BUDGETS: u64 = 16;

/// Networks to begin with, if no model is open.
const FIRST: [&str; 4] =
    ["mobilenet-v1-w0.25-r96", "mobilenet-v2-w0.35-r96", "mcunet-in0", "resnet8"];
/// Strategies to begin with.
const FIRST_STRATEGIES: [&str; 4] = ["auto", "resident", "overlay", "swap"];

impl ExploreSpec {
    /// The open model, or some networks, on all boards that plans can run on.
    #[must_use]
    pub fn first(has_model: bool, boards: &[Board]) -> Self {
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let own = boards
            .iter()
            .filter(|board| board.runs() && !board.id.ends_with(SMALL))
            .filter(|board| !board.id.starts_with("paper-"));
        Self {
            models: if has_model { vec![OPEN.to_owned()] } else { of(&FIRST) },
            boards: own.map(|board| board.id.clone()).collect(),
            strategies: of(&FIRST_STRATEGIES),
            ..Self::default()
        }
    }

    /// The open model as `settings` plan it, beside others of `beside` in columns; of strategies as a chart.
    #[must_use]
    pub fn around(settings: &PlanSettings, beside: SweepBy, boards: &[Board]) -> Self {
        let board = settings.board.clone();
        let mut spec = Self {
            models: vec![OPEN.to_owned()],
            boards: vec![board],
            strategies: vec![settings.strategy.clone()],
            budgets: settings.sram_bytes.into_iter().collect(),
            clocks_mhz: settings.clock_hz.map(|clock| clock / 1_000_000).into_iter().collect(),
            cards: settings.card.clone().into_iter().collect(),
            frames: settings.frames.into_iter().collect(),
            shows: Shows::Columns,
            ..Self::default()
        };
        match beside {
            SweepBy::Board => spec.boards = Self::first(true, boards).boards,
            SweepBy::Budget => spec.sweep_budgets(boards),
            SweepBy::Model => spec.models.extend(FIRST.map(str::to_owned)),
            SweepBy::Strategy => {
                spec.strategies = Self::first(true, boards).strategies;
                spec.shows = Shows::Chart;
            }
        }
        spec
    }

    /// Budgets in equal steps up to all that the largest of the chosen boards has.
    pub fn sweep_budgets(&mut self, boards: &[Board]) {
        let chosen = boards.iter().filter(|board| self.boards.contains(&board.id));
        let largest = chosen.map(|board| board.arena().0).max().unwrap_or_default();
        let step = (largest / BUDGETS).next_multiple_of(1024).max(1024);
        self.budgets = (1..=BUDGETS).map(|part| part * step).collect();
        self.chart.x = SweepAxis::Budget;
    }

    /// How many plans it comes to.
    #[must_use]
    pub fn count(&self) -> usize {
        let or_usual = |length: usize| length.max(1);
        [
            self.models.len(),
            self.boards.len(),
            self.strategies.len(),
            or_usual(self.budgets.len()),
            or_usual(self.clocks_mhz.len()),
            or_usual(self.cards.len()),
            or_usual(self.frames.len()),
        ]
        .into_iter()
        .fold(1, usize::saturating_mul)
    }

    /// What is planned; `open` is the name of the open model. None if it is more than [`MOST_PLANS`].
    #[must_use]
    pub fn keys(&self, open: Option<&str>) -> Vec<SweepKey> {
        if self.count() > MOST_PLANS {
            return Vec::new();
        }
        let mut keys = Vec::new();
        for model in &self.models {
            let network = match open {
                Some(open) if model == OPEN => open,
                None if model == OPEN => continue,
                _ => model,
            };
            let more = |key: SweepKey| self.asked(key);
            keys.extend(self.targets(network).flat_map(more));
        }
        keys
    }

    fn targets(&self, network: &str) -> impl Iterator<Item = SweepKey> {
        self.boards.iter().flat_map(move |board| {
            self.strategies.iter().map(move |strategy| SweepKey {
                network: network.to_owned(),
                board: board.clone(),
                strategy: strategy.clone(),
                sram_budget_bytes: None,
                clock_hz: None,
                card: None,
                frames: 1,
            })
        })
    }

    fn asked(&self, key: SweepKey) -> Vec<SweepKey> {
        let mut keys = vec![key];
        each(&mut keys, &self.budgets, |key, bytes| key.sram_budget_bytes = Some(*bytes));
        each(&mut keys, &self.clocks_mhz, |key, mhz| {
            key.clock_hz = Some(mhz.saturating_mul(1_000_000));
        });
        each(&mut keys, &self.cards, |key, card| key.card = Some(card.clone()));
        each(&mut keys, &self.frames, |key, frames| key.frames = *frames);
        keys
    }

    /// The command that makes the same; `open` is the file of the open model.
    #[must_use]
    pub fn command(&self, open: Option<&str>) -> String {
        let mut command = "tilewright explore sweep".to_owned();
        for model in &self.models {
            command += &match open {
                Some(open) if model == OPEN => format!(" {open}"),
                _ => format!(" zoo:{model}"),
            };
        }
        let mut option = |name: &str, values: Vec<String>| {
            if !values.is_empty() {
                command += &format!(" --{name} {}", values.join(","));
            }
        };
        let texts = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect();
        option("board", self.boards.clone());
        option("strategy", self.strategies.clone());
        option("sram", texts(&self.budgets));
        option("clock-mhz", texts(&self.clocks_mhz));
        option("card", self.cards.clone());
        option("frames", self.frames.iter().map(u32::to_string).collect());
        let SweepChart { x, y, by } = self.chart;
        let [x, y] = [x, y].map(SweepAxis::id);
        format!("{command} --x {x} --y {y} --by {} --svg plans.svg --csv plans.csv", by.id())
    }

    /// As links have it.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>();
        let SweepChart { x, y, by } = self.chart;
        let word = |word: &str| vec![word.to_owned()];
        let lists = [
            ("m", self.models.clone()),
            ("b", self.boards.clone()),
            ("s", self.strategies.clone()),
            ("r", texts(&self.budgets)),
            ("c", texts(&self.clocks_mhz)),
            ("k", self.cards.clone()),
            ("f", self.frames.iter().map(u32::to_string).collect()),
            ("x", word(x.id())),
            ("y", word(y.id())),
            ("by", word(by.id())),
            ("per", self.apart.map(|apart| word(apart.id())).unwrap_or_default()),
            ("as", word(self.shows.id())),
        ];
        let lists = lists.into_iter().filter(|(_, items)| !items.is_empty());
        lists
            .map(|(name, items)| format!("{name}:{}", items.join(",")))
            .collect::<Vec<_>>()
            .join(";")
    }

    /// Of a link's text. What is not known is left out.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut spec = Self::default();
        for list in text.split(';') {
            let Some((name, items)) = list.split_once(':') else { continue };
            let items = || items.split(',').filter(|item| !item.is_empty()).take(MOST_ITEMS);
            let names = || once(items().map(str::to_owned));
            let first = || items().next().unwrap_or_default();
            match name {
                "m" => spec.models = names(),
                "b" => spec.boards = names(),
                "s" => spec.strategies = names(),
                "r" => spec.budgets = numbers(items()),
                "c" => spec.clocks_mhz = numbers(items()),
                "k" => spec.cards = names(),
                "f" => {
                    let frames = numbers(items()).into_iter();
                    spec.frames = frames.filter_map(|frames| u32::try_from(frames).ok()).collect();
                }
                "x" => spec.chart.x = SweepAxis::find(first()).unwrap_or(spec.chart.x),
                "y" => spec.chart.y = SweepAxis::find(first()).unwrap_or(spec.chart.y),
                "by" => spec.chart.by = SweepBy::find(first()).unwrap_or(spec.chart.by),
                "per" => spec.apart = SweepBy::find(first()),
                "as" => spec.shows = Shows::find(first()),
                _ => {}
            }
        }
        spec
    }
}

/// Numbers from 1 to a million million, each once.
fn numbers<'i>(items: impl Iterator<Item = &'i str>) -> Vec<u64> {
    let number = |item: &str| item.trim().parse().ok();
    once(items.filter_map(number).filter(|number| (1..=1_000_000_000_000).contains(number)))
}

fn once<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut known = Vec::new();
    for item in items {
        if !known.contains(&item) {
            known.push(item);
        }
    }
    known
}

/// Each key with each of some values; as they are if there are none.
fn each<T>(keys: &mut Vec<SweepKey>, values: &[T], set: impl Fn(&mut SweepKey, &T)) {
    if values.is_empty() {
        return;
    }
    let with = |key: &SweepKey| {
        let all = values.iter().map(|value| {
            let mut key = key.clone();
            set(&mut key, value);
            key
        });
        all.collect::<Vec<_>>()
    };
    *keys = keys.iter().flat_map(with).collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> ExploreSpec {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        ExploreSpec {
            models: names(&[OPEN, "vww"]),
            boards: names(&["one", "two"]),
            strategies: names(&["auto"]),
            budgets: vec![65_536, 131_072],
            clocks_mhz: vec![108],
            cards: Vec::new(),
            frames: vec![1, 2],
            chart: SweepChart { x: SweepAxis::Budget, y: SweepAxis::Energy, by: SweepBy::Board },
            apart: Some(SweepBy::Model),
            shows: Shows::Matrix,
        }
    }

    #[test]
    fn a_link_brings_everything_again() {
        assert_eq!(ExploreSpec::parse(&spec().text()), spec());
        let plain = ExploreSpec::default();
        assert_eq!(ExploreSpec::parse(&plain.text()), plain);
    }

    #[test]
    fn hostile_links_are_short_lists_of_what_is_known() {
        let spec =
            ExploreSpec::parse("m:a,a,,b;r:0,x,-1,9,99999999999999999999;f:1,5000000000;x:no;;q");
        assert_eq!(spec.models, ["a", "b"]);
        assert_eq!((spec.budgets.as_slice(), spec.frames.as_slice()), (&[9][..], &[1][..]));
        let many = (1..5_000).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        let spec = ExploreSpec::parse(&format!("m:a;b:b;s:s;r:{many};c:{many}"));
        assert_eq!(spec.count(), 1_000_000);
        assert_eq!(spec.keys(None), []);
    }

    #[test]
    fn each_is_combined_with_each() {
        let keys = spec().keys(Some("mine.onnx"));
        assert_eq!((keys.len(), spec().count()), (16, 16));
        assert_eq!(keys[0].words(), "mine.onnx, one, auto, 64 KiB of SRAM, 108 MHz");
        assert_eq!(spec().keys(None).len(), 8, "no model is open");
        let command = spec().command(Some("mine.onnx"));
        assert_eq!(
            command,
            "tilewright explore sweep mine.onnx zoo:vww --board one,two --strategy auto --sram 65536,131072 \
             --clock-mhz 108 --frames 1,2 --x budget --y energy --by board --svg plans.svg --csv plans.csv"
        );
    }
}
