//! All memories of a board, and who has which of their bytes.

use tilewright_board::Board;
use tilewright_plan::Space;

use super::figures;
use crate::message::PlanFacts;

/// A memory with its parts, which together are all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    pub title: &'static str,
    pub bytes: u64,
    pub parts: Vec<Part>,
}

/// Bytes of one owner, from the memory's first to its last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub title: &'static str,
    pub bytes: u64,
    /// Ending of its colour's name.
    pub fill: &'static str,
}

impl Bar {
    /// What is used comes first, what is free last; nothing of a memory that is not there. A plan that does not fit takes
    /// more than there is.
    fn new(title: &'static str, bytes: u64, used: &[Part]) -> Option<Self> {
        let taken: u64 = used.iter().map(|part| part.bytes).sum();
        let free = Part { title: "free", bytes: bytes.saturating_sub(taken), fill: "tensor" };
        let parts = used.iter().cloned().chain([free]).filter(|part| part.bytes > 0);
        (bytes > 0).then(|| Self { title, bytes: bytes.max(taken), parts: parts.collect() })
    }

    /// For people: `Flash, 1.00 MiB: firmware 160 KiB, plan 504 KiB, free 360 KiB`.
    #[must_use]
    pub fn words(&self) -> String {
        let part = |part: &Part| format!("{} {}", part.title, figures::binary(part.bytes));
        let parts: Vec<String> = self.parts.iter().map(part).collect();
        format!("{}, {}: {}", self.title, figures::binary(self.bytes), parts.join(", "))
    }
}

/// The memories, from the nearest to the core to the farthest.
#[must_use]
pub fn bars(plan: &PlanFacts, board: &Board) -> Vec<Bar> {
    let [kept_sram, kept_flash] = board
        .firmware
        .as_ref()
        .map_or([0; 2], |firmware| [firmware.sram_bytes.0, firmware.flash_bytes.0]);
    let part = |title, bytes, fill| Part { title, bytes, fill };
    let sram = [
        part("firmware", kept_sram, "rest"),
        part("tensors and scratch", plan.report.peak_sram_bytes.0, "input"),
    ];
    let flash =
        [part("firmware", kept_flash, "rest"), part("plan", plan.report.flash_bytes.0, "weights")];
    let outside = [
        ("External RAM", Space::ExternalRam, "output"),
        ("External flash", Space::ExternalFlash, "weights"),
        ("Card", Space::Card, "scratch"),
    ];
    let outside = outside.into_iter().filter(|(_, space, _)| board.serves(*space)).map(
        |(title, space, fill)| {
            let bytes = board.external(space).map_or(0, |memory| memory.bytes.0);
            Bar::new(title, bytes, &[part("plan", plan.accesses.bytes_of(space), fill)])
        },
    );
    [Bar::new("SRAM", board.sram().0, &sram), Bar::new("Flash", board.flash().0, &flash)]
        .into_iter()
        .chain(outside)
        .flatten()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn parts_are_all_of_each_memory() {
        let (plan, board) = (fixture::plan(), fixture::board());
        let all = bars(&plan, &board);
        let titles: Vec<_> = all.iter().map(|bar| bar.title).collect();
        assert_eq!(titles, ["SRAM", "Flash", "External RAM", "External flash", "Card"]);
        for bar in &all {
            assert_eq!(bar.parts.iter().map(|part| part.bytes).sum::<u64>(), bar.bytes, "{bar:?}");
        }
        assert_eq!(all[1].bytes, board.flash().0);
        assert!(
            all[1].words().starts_with("Flash, 1.00 MiB: firmware 160 KiB, plan"),
            "{}",
            all[1].words()
        );
    }

    #[test]
    fn a_plan_that_does_not_fit_takes_more_than_there_is() {
        let (mut plan, board) = (fixture::plan(), fixture::board());
        plan.report.flash_bytes = tilewright_plan::Bytes(4 << 20).into();
        let flash = &bars(&plan, &board)[1];
        assert!(flash.bytes > board.flash().0);
        assert!(flash.parts.iter().all(|part| part.title != "free"));
    }
}
