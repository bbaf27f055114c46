use super::*;
use crate::fixture;
use crate::memory_map::MemoryMap;
use crate::plan_report::DoesNotFit;

/// A report that needs so much SRAM and flash and takes so long; 60 B and 2000 B are there.
fn report(sram: u64, flash: u64, latency: f64) -> PlanReport {
    let mut report = fixture::report(&MemoryMap::of(&fixture::plan()));
    report.peak_sram_bytes = Bytes(sram).into();
    report.flash_bytes = Bytes(flash).into();
    report.latency_us = Some(Micros(latency).into());
    let short = [(SRAM, sram, 60), (FLASH, flash, 2000)].into_iter().find(|(_, n, had)| n > had);
    report.does_not_fit = short.map(|(memory, needed, available)| DoesNotFit {
        memory: memory.to_owned(),
        operator: "first".to_owned(),
        needed_bytes: Bytes(needed).into(),
        available_bytes: Bytes(available).into(),
        parts: Vec::new(),
        remedies: Vec::new(),
        untried: 0,
    });
    report.fits = report.does_not_fit.is_none();
    report
}

fn strategy(name: &str) -> Change {
    Change::Strategy(name.to_owned())
}

#[test]
fn what_is_tried_is_what_differs() {
    let failed = report(100, 0, 1.0);
    let changes = changes(&failed, true, ["resident", "reordered"], ["board", "other"]);
    assert_eq!(
        changes,
        [Change::WholeArena, strategy("reordered"), Change::Board("other".to_owned())]
    );
    assert!(super::changes(&report(10, 10, 1.0), true, ["reordered"], ["other"]).is_empty());
    let flash = super::changes(&report(10, 5000, 1.0), true, [], ["board"]);
    assert!(flash.is_empty(), "a budget of SRAM does not help flash");
}

#[test]
fn what_fits_comes_first_then_the_cheapest_then_the_fastest() {
    let failed = report(100, 0, 1.0);
    let tried = [
        (Change::Network("smaller".to_owned()), report(10, 0, 0.5)),
        (strategy("slow"), report(20, 0, 9.0)),
        (strategy("fast"), report(50, 0, 2.0)),
        (strategy("nearly"), report(61, 0, 1.0)),
        (strategy("hardly"), report(99, 0, 1.0)),
        (strategy("less"), report(70, 0, 1.0)),
        (strategy("same"), report(100, 0, 0.1)),
        (Change::Board("large".to_owned()), report(60, 2000, 1.0)),
    ];
    let mut remedies: Vec<Remedy> = tried
        .into_iter()
        .filter_map(|(change, tried)| Remedy::of(change, &failed, &tried))
        .collect();
    let mut nearly = remedies.clone();
    nearly.retain(|remedy| !remedy.fits);
    let words = |sorted: &mut Vec<Remedy>| -> Vec<String> {
        Remedy::sort(sorted);
        sorted.iter().map(|remedy| remedy.text.clone()).collect()
    };
    assert_eq!(words(&mut nearly), ["strategy nearly", "strategy less"]);
    assert_eq!(
        words(&mut remedies),
        ["strategy fast", "strategy slow", "board large", "the smaller network zoo:smaller",]
    );
    assert_eq!((nearly[0].fits, *nearly[0].needed_bytes), (false, Bytes(61)));
}

#[test]
fn a_remedy_that_shifts_the_problem_does_not_help() {
    let failed = report(100, 0, 1.0);
    assert_eq!(Remedy::of(strategy("flashy"), &failed, &report(10, 5000, 1.0)), None);
    assert_eq!(Remedy::of(strategy("any"), &report(1, 1, 1.0), &failed), None);
}
