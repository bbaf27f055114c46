//! Random programs with random faults of their cards, counted by what goes wrong and what came of it.

use std::collections::BTreeMap;

use serde::Serialize;
use tilewright_tests::failing::{self, Size, Verdict};

/// Runs of one kind of fault, by what came of them.
#[derive(Debug, Default, Serialize)]
struct Row {
    /// All outputs right.
    right: u64,
    /// Of these, with a frame that was computed again.
    again: u64,
    /// Ended with copy, layer and sector.
    told: u64,
    /// Not begun, with the reason.
    refused: u64,
    /// Wrong bytes under a program without checksums, which nothing on the board can see.
    unseen: u64,
}

#[derive(Debug, Serialize)]
struct Found {
    first: u64,
    cases: u64,
    /// By what the program does about wrong bytes, and by the first fault's kind.
    rows: BTreeMap<String, Row>,
    /// What must never be.
    wrong: Vec<String>,
}

/// Runs cases of these numbers and prints what came of them.
///
/// # Errors
/// If one gave a wrong answer that could have been seen, hung, or ended for another reason than its card.
pub fn faults(first: u64, cases: u64, large: bool, json: bool) -> Result<(), String> {
    let size = if large { Size::Large } else { Size::Small };
    let mut found = Found { first, cases, rows: BTreeMap::new(), wrong: Vec::new() };
    for number in first..first.saturating_add(cases) {
        let (case, verdict) = match failing::run(number, size) {
            Ok(ran) => ran,
            Err(error) => {
                if !json {
                    println!("  {error}");
                }
                found.wrong.push(error);
                continue;
            }
        };
        if large && !json {
            println!("  {verdict:?}: {}", case.what);
        }
        let row = found.rows.entry(format!("{:?}, {}", case.integrity, case.kind)).or_default();
        match verdict {
            Verdict::Right { given_up } => {
                row.right += 1;
                row.again += u64::from(given_up > 0);
            }
            Verdict::Told => row.told += 1,
            Verdict::Refused => row.refused += 1,
            Verdict::Unseen => row.unseen += 1,
        }
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&found).map_err(|error| error.to_string())?);
    } else {
        for (name, Row { right, again, told, refused, unseen }) in &found.rows {
            println!(
                "  {name:24} {right:4} right, {again:3} of them computed again, {told:4} told, {refused:3} \
                 refused, {unseen:3} unseen"
            );
        }
    }
    match found.wrong.len() {
        0 => Ok(()),
        wrong => Err(format!("{wrong} of {cases} cases ended as none may")),
    }
}
