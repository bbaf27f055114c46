//! What five published systems print, beside what comes out here. Every figure says how far it is off, and each that
//! is more than a tenth off says why. Those of SwapNN and TinyOps are computed on reference profiles: boards whose
//! costs and card follow from the papers' own times.

mod intensity;
mod order;
mod ping_pong;
mod sparse;
mod swapnn;
mod tinyops;
mod why;

pub use intensity::Intensity;
pub use order::{ORDERED, Ordered};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_planner::{Options, Planned, Stop, Strategy, plan};
use tilewright_report::{Kind, PaperFigure, PaperPlan, PaperReport};

/// Differences above this are explained.
const EXPLAINED: f64 = 0.1;

/// Unit of an accuracy that somebody has measured.
const ACCURACY: &str = "% top-1";

/// Unit of differences of accuracies.
const POINTS: &str = "points of accuracy more";

/// A publication.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Id, as the command line takes it.
    pub id: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// Authors, title, place and year.
    pub citation: &'static str,
    /// How it is read where it leaves room.
    pub reading: &'static str,
    parts: &'static [Part],
}

/// Figures that are computed together, in some seconds.
#[derive(Clone, Copy, Debug)]
struct Part {
    title: &'static str,
    figures: fn(&Stop) -> Result<Vec<PaperFigure>, String>,
}

impl Paper {
    /// All five.
    pub const ALL: [Self; 5] =
        [order::PAPER, ping_pong::PAPER, tinyops::PAPER, swapnn::PAPER, sparse::PAPER];

    /// The one of this id.
    #[must_use]
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|paper| paper.id == id)
    }

    /// In how many parts its figures are computed.
    #[must_use]
    pub const fn parts(&self) -> usize {
        self.parts.len()
    }

    /// What a part is of; nothing if there is no such part.
    #[must_use]
    pub fn title(&self, part: usize) -> Option<&'static str> {
        self.parts.get(part).map(|part| part.title)
    }

    /// The figures of a part, none if there is no such part. Planning asks `stop` whether anybody still waits.
    ///
    /// # Errors
    /// If a network cannot be planned, or nobody waits any more.
    pub fn figures(&self, part: usize, stop: &Stop) -> Result<Vec<PaperFigure>, String> {
        self.parts.get(part).map_or_else(|| Ok(Vec::new()), |part| (part.figures)(stop))
    }

    /// A report of figures of these parts, in the order of what is compared.
    #[must_use]
    pub fn report(&self, mut figures: Vec<PaperFigure>) -> PaperReport {
        let mut order: Vec<String> = Vec::new();
        for figure in &figures {
            if !order.contains(&figure.what) {
                order.push(figure.what.clone());
            }
        }
        // Networks stay in their order.
        figures.sort_by_key(|figure| order.iter().position(|what| *what == figure.what));
        PaperReport {
            id: self.id.to_owned(),
            name: self.name.to_owned(),
            citation: self.citation.to_owned(),
            reading: self.reading.to_owned(),
            parts: self.parts.len(),
            figures,
        }
    }
}

/// A figure beside what is printed; `(ours, printed)`.
fn figure(
    what: impl Into<String>,
    (of, setting): (impl Into<String>, impl Into<String>),
    (ours, printed): (f64, Option<f64>),
    unit: &'static str,
) -> PaperFigure {
    let difference = printed.map(|printed| match printed {
        _ if ours == printed => 0.0,
        // All of it, since there was none.
        0.0 => 1.0,
        _ => ours / printed - 1.0,
    });
    let kind = match unit {
        "" | "B" | "MB" | "KB" | "M" | "MOPs" => Kind::Counted,
        ACCURACY | POINTS => Kind::Measured,
        _ => Kind::Modelled,
    };
    let mut figure = PaperFigure {
        what: what.into(),
        of: of.into(),
        setting: setting.into(),
        ours,
        printed,
        unit: unit.to_owned(),
        kind,
        difference,
        why: None,
        plan: None,
    };
    if difference.is_some_and(|difference| difference.abs() > EXPLAINED) {
        figure.why = why::of(&figure).map(str::to_owned);
    }
    figure
}

/// The same with the plan that it is of.
fn with_plan(figure: PaperFigure, plan: PaperPlan) -> PaperFigure {
    PaperFigure { plan: Some(plan), ..figure }
}

fn plan_of(network: &str, board: &str, strategy: Strategy, sram: Option<u64>) -> PaperPlan {
    PaperPlan {
        network: network.to_owned(),
        board: board.to_owned(),
        strategy: strategy.name().to_owned(),
        sram_bytes: sram,
    }
}

fn board(id: &str) -> Result<Board, String> {
    tilewright_board::find(id).map_err(|error| error.to_string())
}

fn model(name: &str) -> Result<Model, String> {
    let network = tilewright_zoo::network(name).map_err(|error| error.to_string())?;
    network.int8().map_err(|error| error.to_string())
}

fn planned(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    options: &Options,
) -> Result<Planned, String> {
    plan(model, board, strategy, options).map_err(|error| format!("{strategy}: {error}"))
}

#[cfg(test)]
mod tests;
