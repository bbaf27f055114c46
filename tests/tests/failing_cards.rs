//! Random programs with random faults of their cards: read again, computed again or told; never a wrong answer,
//! never a hang. `cargo xtask bench faults` goes on with other numbers and larger networks.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use tilewright_planner::Integrity;
use tilewright_protocol::{CardFault, CardProblem};
use tilewright_tests::emulated;
use tilewright_tests::failing::{Case, Size, Verdict, draw, judge, run};

/// Cases from 0 on.
const CASES: u64 = 96;

#[test]
fn whatever_a_card_does_the_answer_is_right_or_the_place_is_told() {
    let mut came = [0; 5];
    // The last is one that is computed again, which few are.
    for number in (0..CASES).chain([113]) {
        let (_, verdict) = run(number, Size::Small).unwrap_or_else(|error| panic!("{error}"));
        let kind = match verdict {
            Verdict::Right { given_up: 0 } => 0,
            Verdict::Right { .. } => 1,
            Verdict::Refused => 2,
            Verdict::Told => 3,
            Verdict::Unseen => 4,
        };
        came[kind] += 1;
    }
    // Each of them was seen, or what is drawn says little.
    assert!(came.iter().all(|count| *count > 0), "{came:?}");
}

#[test]
fn wrong_outputs_are_allowed_only_where_nothing_could_have_seen_them() {
    // Wrong bits that reach an output: not each does.
    let reaches = |number| {
        let mut case = draw(number, Size::Small).unwrap();
        case.is_silent = true;
        let card = case.job.card.as_mut().filter(|_| case.integrity == Integrity::Trusted)?;
        let problem = CardProblem::Garbled { bit: 7 };
        card.faults = vec![CardFault { transfer: 1, every: 1, problem }];
        let outcome = emulated::run_job(case.job.clone()).unwrap();
        let verdict = judge(&case, &outcome);
        (verdict == Ok(Verdict::Unseen)).then_some((case, outcome))
    };
    let (case, outcome) = (0..CASES).find_map(reaches).unwrap();
    for wrong in [
        Case { integrity: Integrity::Checked, ..case.clone() },
        Case { integrity: Integrity::Sealed, ..case.clone() },
        Case { is_silent: false, ..case },
    ] {
        assert_eq!(judge(&wrong, &outcome), Err("a wrong output".to_owned()));
    }
}
