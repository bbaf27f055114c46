//! Energy of a frame and wear of the card, for people.

use tilewright_app::EnergyAndWear;
use tilewright_report::Kind;

use crate::text::{Facts, bytes, decimal_bytes, joules, micros, number, years};

/// In words.
pub fn tell(used: &EnergyAndWear, facts: &mut Facts) {
    let kind = Some(Kind::Modelled);
    if let Some((checks, time)) = &used.checks {
        let [checked, unchecked] =
            [checks.checked_bytes, checks.unchecked_bytes].map(|b| bytes(b.0));
        let (name, each) = match checks.tags {
            None => ("integrity", "checksums"),
            Some(_) => ("encryption", "tags"),
        };
        let what = format!(
            "{} {each} in flash, {} in SRAM: {checked} a frame, {unchecked} without",
            number(checks.copy_checksums),
            number(checks.sector_checksums)
        );
        facts.add(name, what, Some(Kind::Counted));
        facts.add(
            "",
            format!("{} of the core for them, in the latency predicted", micros(time.0)),
            kind,
        );
    }
    match &used.energy {
        Some(Ok(energy)) => {
            let [least, most] = energy.mean_mw;
            let power = range(&format!("{least:.0}"), &format!("{most:.0}"));
            let [least, most] = energy.frame_uj.map(joules);
            let text = format!("{} a frame, {power} mW on average", range(&least, &most));
            facts.add("energy", text, kind);
            for state in &energy.states {
                let [least, most] = state.power_mw.map(|power| power.to_string());
                let (power, time) = (range(&least, &most), micros(state.time_us.0));
                let what = state.state.words();
                facts.add("", format!("{power} mW for {time}: {what}"), None);
            }
        }
        Some(Err(missing)) => facts.add("energy", format!("unknown: {missing}"), None),
        None => {}
    }
    let Some(wear) = &used.wear else { return };
    let frame = decimal_bytes(wear.frame_written_bytes);
    let day = decimal_bytes(wear.day_written_bytes);
    facts.add("card takes", format!("{frame} a frame, {day} a day"), kind);
    facts.add("a frame each", micros(wear.period_us.0), kind);
    let (Some([least, most]), Some([once, often])) = (wear.years, wear.amplification) else {
        facts.add("card lasts", "nothing wears it: nothing is written", kind);
        return;
    };
    facts.add("card lasts", range(&years(least), &years(most)), kind);
    let [few, many] = wear.cycles.map(|cycles| number(cycles.into()));
    let size = decimal_bytes(wear.card_bytes.0 as f64);
    let until = format!(
        "until {}: {size} of {few} to {many} cycles, {once:.1} to {often:.1} bytes programmed for \
         each written",
        wear.then
    );
    facts.add("", until, None);
    if let Some(half) = wear.half_years {
        facts.add("half of its cells", years(half), kind);
    }
}

/// One of both if they read the same.
fn range(least: &str, most: &str) -> String {
    if least == most { most.to_owned() } else { format!("{least} to {most}") }
}
