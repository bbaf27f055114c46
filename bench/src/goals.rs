//! The goals of the project, with the figures that benchmarks gave for them: `bench/goals.toml` is the source,
//! `docs/results.md` its rendering. A benchmark that runs with `--write` puts its figures into both; those of the others
//! stay as they are.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tilewright_tests::emulated;

/// Name of the file of goals.
const SOURCE: &str = "bench/goals.toml";
/// Name of the page that is made of it.
const PAGE: &str = "docs/results.md";

const HEAD: &str = "# The project's goals. `cargo xtask bench --write NAME` updates figure, date and `missed` of those that the\n\
                    # benchmark NAME reports, and renders docs/results.md. Goals and reasons are written by hand; render with\n\
                    # `cargo xtask bench results`.\n\n";

const INTRODUCTION: &str = "# Results

Each row gives a goal, our figure and the command that measures it. `bench` is short for `cargo xtask bench`, `test` for
`cargo xtask test`; other commands are those of `tilewright`. NET is a network of the zoo. An empty cell repeats the cell above it.

A figure is **proved**, **counted** (instructions, bytes, cases), **modelled** (cycles, time, energy) or **measured** (time of the
host, accuracy). No figure comes from a physical board; [fidelity.md](fidelity.md) says how far the models are off. Times of the
host are those of a shared two-core machine. The page is made from `bench/goals.toml` by `cargo xtask bench --write NAME`; a test
refuses edits by hand.
";

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Proved,
    Counted,
    Modelled,
    Measured,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Counted => "counted",
            Self::Modelled => "modelled",
            Self::Measured => "measured",
        }
    }
}

/// What is asked, and what was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    /// Name by which a benchmark reports it.
    id: String,
    /// Heading that it stands under; goals of an area stand together.
    area: String,
    command: String,
    goal: String,
    figure: String,
    kind: Kind,
    /// Day of the figure, as year-month-day.
    date: String,
    /// Why the goal is missed, in a few words; none if it is met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missed: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Goals {
    goal: Vec<Stated>,
}

/// A figure that a benchmark reports.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Of the goal that it answers; one that no goal has is left out.
    pub id: String,
    /// The figure with its unit.
    pub text: String,
    pub is_met: bool,
}

impl Figure {
    /// A figure.
    pub fn new(id: impl Into<String>, text: impl Into<String>, is_met: bool) -> Self {
        Self { id: id.into(), text: text.into(), is_met }
    }
}

/// Puts figures into the file of goals and renders the page.
///
/// # Errors
/// If a file cannot be read or written.
pub fn write(figures: &[Figure]) -> Result<(), String> {
    let mut goals = Goals::read()?;
    let changed = goals.take(figures, &today());
    goals.save()?;
    eprintln!("{changed} of {} figures stand in {SOURCE} and {PAGE}", figures.len());
    Ok(())
}

/// Renders the page from the file of goals.
///
/// # Errors
/// If a file cannot be read or written.
pub fn render() -> Result<(), String> {
    Goals::read()?.save()
}

fn path(name: &str) -> PathBuf {
    emulated::project().join(name)
}

impl Goals {
    fn read() -> Result<Self, String> {
        let text = fs::read_to_string(path(SOURCE)).map_err(|e| format!("{SOURCE}: {e}"))?;
        toml::from_str(&text).map_err(|e| format!("{SOURCE}: {e}"))
    }

    fn save(&self) -> Result<(), String> {
        let text = toml::to_string(self).map_err(|e| e.to_string())?;
        fs::write(path(SOURCE), format!("{HEAD}{text}")).map_err(|e| format!("{SOURCE}: {e}"))?;
        fs::write(path(PAGE), self.page()).map_err(|e| format!("{PAGE}: {e}"))
    }

    /// Takes the figures of goals that are stated; how many.
    fn take(&mut self, figures: &[Figure], date: &str) -> usize {
        let mut taken = 0;
        for Figure { id, text, is_met } in figures {
            let Some(stated) = self.goal.iter_mut().find(|stated| stated.id == *id) else {
                continue;
            };
            stated.figure.clone_from(text);
            date.clone_into(&mut stated.date);
            if *is_met {
                stated.missed = None;
            } else if stated.missed.is_none() {
                stated.missed = Some("no reason is known yet".to_owned());
            }
            taken += 1;
        }
        taken
    }

    fn page(&self) -> String {
        let mut page = INTRODUCTION.to_owned();
        let mut above: Option<&Stated> = None;
        for stated in &self.goal {
            let Stated { goal, missed, .. } = stated;
            let figure = grouped(&stated.figure);
            let above_here = above.filter(|above| above.area == stated.area);
            if above_here.is_none() {
                let head = "| command | goal | figure | kind | date |\n|---|---|---|---|---|\n";
                let _ = write!(page, "\n## {}\n\n{head}", stated.area);
            }
            // An empty cell repeats the one above.
            let cell = |of: fn(&Stated) -> &str| {
                let is_repeated = above_here.is_some_and(|above| of(above) == of(stated));
                if is_repeated { String::new() } else { format!(" {}", of(stated)) }
            };
            let missed = missed
                .as_ref()
                .map_or_else(String::new, |reason| format!("; **missed**: {reason}"));
            let _ = writeln!(
                page,
                "|{} | {goal} | {figure}{missed} |{} |{} |",
                cell(|stated| &stated.command),
                cell(|stated| stated.kind.name()),
                cell(|stated| &stated.date),
            );
            above = Some(stated);
        }
        page
    }
}

/// A text with its whole numbers in groups of three digits: `8,898`.
fn grouped(text: &str) -> String {
    let mut grouped = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let (digits, after) =
            from.split_at(from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len()));
        grouped.push_str(before);
        // Not behind a point, and not in names such as F746.
        let is_whole = !before.ends_with(|c: char| c == '.' || c.is_alphanumeric());
        for (place, digit) in digits.chars().enumerate() {
            if is_whole && place > 0 && (digits.len() - place) % 3 == 0 {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        rest = after;
    }
    grouped + rest
}

/// The day of the host's clock, as year-month-day.
fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    day(since.as_secs() / 86_400)
}

/// A day by its number since 1970, in the Gregorian calendar.
fn day(number: u64) -> String {
    // Years begin in March, so that the leap day is the last; eras of 400 years have 146,097 days.
    let shifted = number + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{date:02}", era * 400 + year + next)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_page_is_made_of_the_goals() {
        let page = fs::read_to_string(path(PAGE)).unwrap();
        assert!(
            page == Goals::read().unwrap().page(),
            "{PAGE} is not what {SOURCE} says: change that, then run `cargo xtask bench results`"
        );
    }

    #[test]
    fn digits_are_grouped_before_the_point_alone() {
        assert_eq!(grouped("8898 M, 1.02345 of F7469"), "8,898 M, 1.02345 of F7469");
        assert_eq!(grouped("1,672,323 B; 998400"), "1,672,323 B; 998,400");
    }

    #[test]
    fn goals_have_a_name_and_a_place_of_their_own() {
        let goals = Goals::read().unwrap().goal;
        let ids: BTreeSet<_> = goals.iter().map(|stated| &stated.id).collect();
        assert_eq!(ids.len(), goals.len(), "an id is given twice");
        let areas: BTreeSet<_> = goals.iter().map(|stated| &stated.area).collect();
        let borders = goals.windows(2).filter(|two| two[0].area != two[1].area).count();
        assert_eq!(areas.len(), borders + 1, "an area's goals do not stand together");
        for Stated { id, command, goal, figure, missed, .. } in &goals {
            let texts = [command, goal, figure, missed.as_ref().unwrap_or(figure)];
            assert!(texts.iter().all(|text| !text.is_empty() && !text.contains('|')), "{id}");
        }
    }

    #[test]
    fn only_what_was_run_changes() {
        let stated = |id: &str, missed: Option<&str>| Stated {
            id: id.to_owned(),
            area: "Area".to_owned(),
            command: "bench".to_owned(),
            goal: "≤ 1".to_owned(),
            figure: "2".to_owned(),
            kind: Kind::Counted,
            date: "2026-01-02".to_owned(),
            missed: missed.map(str::to_owned),
        };
        let mut goals = Goals { goal: vec![stated("a", Some("slow")), stated("b", None)] };
        let found = [Figure::new("a", "1", true), Figure::new("unknown", "3", true)];
        assert_eq!(goals.take(&found, "2026-02-03"), 1);
        let [a, b] = goals.goal.as_slice() else { panic!("two goals") };
        assert_eq!((a.figure.as_str(), a.date.as_str(), &a.missed), ("1", "2026-02-03", &None));
        assert_eq!((b.figure.as_str(), b.date.as_str()), ("2", "2026-01-02"));
        goals.take(&[Figure::new("b", "4", false)], "2026-02-03");
        assert!(goals.page().contains("| | ≤ 1 | 4; **missed**: no reason is known yet |"));
    }

    #[test]
    fn days_have_dates() {
        for (number, date) in [
            (0, "1970-01-01"),
            (11_016, "2000-02-29"),
            (19_782, "2024-02-29"),
            (20_784, "2026-11-27"),
        ] {
            assert_eq!(day(number), date);
        }
    }
}
