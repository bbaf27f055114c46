//! Boards as cards: what each has, and what the open model comes to on it.

use std::rc::Rc;

use tilewright_board::{Board, Memory, MemoryKind, OWN, SMALL, Support};
use tilewright_plan::Space;
use tilewright_report::SweepRow;

use super::figures;

/// A board as a card.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub id: String,
    pub title: String,
    /// Core and clock.
    pub core: String,
    pub inside: Vec<Bar>,
    pub outside: Vec<Bar>,
    /// Whether plans run there, in words.
    pub state: &'static str,
    pub runs: bool,
    pub outcome: Outcome,
    /// Whether no smaller board fits the open model.
    pub is_smallest: bool,
    pub is_chosen: bool,
}

/// A memory as a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub title: String,
    /// Its length: one for each doubling from 1 KiB on.
    pub doublings: f64,
    /// Ending of its colour's name.
    pub fill: &'static str,
}

/// What the best plan of the open model comes to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is not known, or nobody asked.
    Unknown,
    /// It fits, with latency and SRAM.
    Fits { text: String, latency_us: f64 },
    /// It does not fit, or cannot be planned.
    Not(String),
}

impl Outcome {
    fn of(row: &SweepRow) -> Self {
        let why = || row.problem.clone().unwrap_or_else(|| "does not fit".to_owned());
        match (&row.plan, row.latency_us()) {
            (Some(plan), Some(latency_us)) => {
                let text = format!(
                    "{}, {} of SRAM",
                    figures::duration(latency_us),
                    figures::binary(plan.sram_bytes.0)
                );
                Self::Fits { text, latency_us }
            }
            _ => Self::Not(why()),
        }
    }
}

/// Boards that somebody can have: those that fit first, the smallest of them first; then those that are not known, then
/// those that do not fit.
#[must_use]
pub fn cards(boards: &[Board], rows: &[Rc<SweepRow>], chosen: &str) -> Vec<Card> {
    let shown = boards.iter().filter(|board| board.support != Support::Virtual);
    let mut all: Vec<(&Board, Card)> = shown
        .filter(|board| !board.id.ends_with(SMALL))
        .map(|board| {
            let row = rows.iter().find(|row| row.key.board == board.id);
            let outcome = row.map_or(Outcome::Unknown, |row| Outcome::of(row));
            (board, card(board, outcome, chosen))
        })
        .collect();
    all.sort_by(|(a, of_a), (b, of_b)| {
        let rank = |outcome: &Outcome| match outcome {
            Outcome::Fits { .. } => 0,
            Outcome::Unknown => 1,
            Outcome::Not(_) => 2,
        };
        let latency = |outcome: &Outcome| match outcome {
            Outcome::Fits { latency_us, .. } => *latency_us,
            _ => 0.0,
        };
        let [ranks, sizes] = [rank(&of_a.outcome).cmp(&rank(&of_b.outcome)), size(a).cmp(&size(b))];
        let of_equal = latency(&of_a.outcome).total_cmp(&latency(&of_b.outcome));
        // Without a model they stand as they are listed.
        if rows.is_empty() { ranks } else { ranks.then(sizes).then(of_equal) }
    });
    let mut cards: Vec<Card> = all.into_iter().map(|(_, card)| card).collect();
    let all_known = cards.iter().all(|card| card.outcome != Outcome::Unknown);
    if let Some(first) = cards.first_mut() {
        first.is_smallest = all_known && matches!(first.outcome, Outcome::Fits { .. });
    }
    cards
}

/// Reference profiles, which nobody can buy.
#[must_use]
pub fn references(boards: &[Board], chosen: &str) -> Vec<Card> {
    let shown = boards.iter().filter(|board| board.support == Support::Virtual);
    shown.map(|board| card(board, Outcome::Unknown, chosen)).collect()
}

/// What makes a board large: memory inside, then outside.
fn size(board: &Board) -> [u64; 4] {
    let outside = |space| board.external(space).map_or(0, |memory| memory.bytes.0);
    let card = u64::from(board.slot.is_some());
    [
        board.sram().0,
        board.flash().0,
        outside(Space::ExternalRam) + outside(Space::ExternalFlash),
        card,
    ]
}

fn card(board: &Board, outcome: Outcome, chosen: &str) -> Card {
    let is_inside = |memory: &&Memory| memory.kind.external_space().is_none();
    let (inside, outside): (Vec<&Memory>, Vec<&Memory>) = board.memory.iter().partition(is_inside);
    let of_kind = |title: &str, fill, is: fn(MemoryKind) -> bool| {
        let bytes: u64 = inside.iter().filter(|m| is(m.kind)).map(|m| m.bytes.0).sum();
        (bytes > 0).then(|| bar(title, bytes, fill))
    };
    let bars = [
        of_kind("SRAM", "input", |kind| matches!(kind, MemoryKind::Sram | MemoryKind::Dtcm)),
        of_kind("Flash", "weights", |kind| kind == MemoryKind::Flash),
    ];
    let outside = outside.into_iter().filter(|memory| memory.bytes.0 > 0).map(|memory| {
        let (title, fill) = match memory.kind {
            MemoryKind::QspiFlash => ("external flash", "weights"),
            MemoryKind::Card => ("card", "rest"),
            _ => ("external RAM", "output"),
        };
        bar(title, memory.bytes.0, fill)
    });
    Card {
        id: board.id.clone(),
        title: board.name.clone(),
        core: format!("{}, {}", core(board), figures::hertz(board.core.clock.hertz.0)),
        inside: bars.into_iter().flatten().collect(),
        outside: outside.collect(),
        state: match board.support {
            Support::Firmware => "runs here",
            Support::Planning if board.id.starts_with(OWN) => "your own: planned only",
            Support::Planning => "planned only",
            Support::Virtual if board.runs() => "reference: runs in the emulator alone",
            Support::Virtual => "reference: planned only",
        },
        runs: board.runs(),
        outcome,
        is_smallest: false,
        is_chosen: board.id == chosen,
    }
}

fn core(board: &Board) -> &'static str {
    match board.core.kind {
        tilewright_board::CoreKind::CortexM4 => "Cortex-M4",
        tilewright_board::CoreKind::CortexM7 => "Cortex-M7",
        tilewright_board::CoreKind::CortexM33 => "Cortex-M33",
    }
}

fn bar(title: &str, bytes: u64, fill: &'static str) -> Bar {
    let doublings = (bytes as f64 / 1024.0).max(1.0).log2();
    Bar { title: format!("{title} {}", figures::binary(bytes)), doublings, fill }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_report::{SweepKey, SweepPlan};

    fn row(board: &str, latency_us: Option<f64>) -> Rc<SweepRow> {
        let key = SweepKey {
            network: "x".to_owned(),
            board: board.to_owned(),
            strategy: "auto".to_owned(),
            sram_budget_bytes: None,
            clock_hz: None,
            card: None,
            frames: 1,
        };
        let plan = latency_us.map(|latency| SweepPlan {
            fits: true,
            latency_us: Some(tilewright_plan::Micros(latency).into()),
            sram_bytes: tilewright_plan::Bytes(4096).into(),
            flash_bytes: tilewright_plan::Bytes(4096).into(),
            external_bytes: tilewright_plan::Bytes(0).into(),
            energy_uj: None,
            card_written_bytes: 0.0.into(),
            card_years: None,
        });
        let problem = plan.is_none().then(|| "Too large.".to_owned());
        Rc::new(SweepRow { key, macs: None, parameters: None, plan, problem })
    }

    #[test]
    fn the_smallest_board_that_fits_comes_first() {
        let boards = tilewright_board::all();
        let rows: Vec<_> = boards
            .iter()
            .map(|board| row(&board.id, (board.sram().0 > 300 << 10).then_some(2_000.0)))
            .collect();
        let all = cards(&boards, &rows, "weact-h743");
        let sram = |card: &Card| boards.iter().find(|b| b.id == card.id).unwrap().sram().0;
        assert!(all[0].is_smallest && !all[1].is_smallest);
        assert!(all.iter().all(|card| (card.outcome == Outcome::Not("Too large.".to_owned()))
            == (sram(card) <= 300 << 10)));
        let fitting: Vec<_> =
            all.iter().filter(|card| matches!(card.outcome, Outcome::Fits { .. })).collect();
        assert!(fitting.is_sorted_by_key(|card| sram(card)) && fitting.len() > 2);
        assert_eq!(all.iter().filter(|card| card.is_chosen).count(), 1);
        assert!(all.iter().all(|card| !card.id.starts_with("paper-")));
        assert!(references(&boards, "").iter().all(|card| card.state.starts_with("reference")));
    }

    #[test]
    fn nothing_is_called_smallest_before_all_are_known() {
        let boards = tilewright_board::all();
        let rows = [row("weact-h743", Some(1.0))];
        let all = cards(&boards, &rows, "");
        assert!(all[0].id == "weact-h743" && !all[0].is_smallest);
        let unplanned = cards(&boards, &[], "");
        assert!(unplanned.iter().all(|card| card.outcome == Outcome::Unknown));
    }
}
