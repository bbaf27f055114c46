//! All figures at once.

use super::*;

/// All but those that stand beside nothing printed, and take longest.
fn figures(paper: &Paper) -> Vec<PaperFigure> {
    let parts = 0..paper.parts();
    let parts = parts.filter(|part| paper.title(*part) != Some("our kernels, auto"));
    let parts = parts.map(|part| paper.figures(part, &Stop::default()).unwrap());
    paper.report(parts.flatten().collect()).figures
}

#[test]
fn what_is_far_off_says_why() {
    let all: Vec<Vec<PaperFigure>> = Paper::ALL.iter().map(figures).collect();
    for row in all.iter().flatten() {
        let far = row.difference.is_some_and(|difference| difference.abs() > EXPLAINED);
        assert_eq!(far, row.why.is_some(), "{row:?}");
    }
    for (index, reason) in why::REASONS.iter().enumerate() {
        let used = all.iter().flatten().any(|row| row.why.as_deref() == Some(reason.3));
        assert!(used, "nothing needs reason {index}: {reason:?}");
    }
    // The papers' tables are there whole.
    let printed = |paper: &Paper, what: &str| {
        let at = Paper::ALL.iter().position(|known| known.id == paper.id).unwrap();
        let is_it = |row: &&PaperFigure| row.what == what && row.printed.is_some();
        all[at].iter().filter(is_it).count()
    };
    for (what, count) in [
        ("table 4.5, latency", 10),
        ("table 4.5, power", 9),
        ("table 4.5, energy", 9),
        ("table 4.6, latency", 10),
        ("table 4.3", 8),
        ("MobileNetV3 overlaid, F746", 9),
        ("table 5.2, most accurate within", 9),
    ] {
        assert_eq!(printed(&tinyops::PAPER, what), count, "{what}");
    }
    assert_eq!(printed(&swapnn::PAPER, "table 1"), 28);
    assert_eq!(printed(&swapnn::PAPER, "table 2"), 20);
    assert_eq!(printed(&order::PAPER, "table 2, as it is"), 9);
    assert_eq!(printed(&ping_pong::PAPER, "LeNet-5, float32"), 3);
    swapnn::tests::the_papers_figures_come_out_again(&all[3]);
}

#[test]
fn each_plan_is_made_by_its_command() {
    let plan = plan_of("vgg16", "paper-swapnn-512k", Strategy::Swap, Some(1000));
    let command = "tilewright plan zoo:vgg16 --board paper-swapnn-512k --strategy swap --sram 1000";
    assert_eq!(plan.command(), command);
}
