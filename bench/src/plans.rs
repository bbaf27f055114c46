//! Plans before and after a change of the planner: `cargo xtask plans record`, the change, then `compare`.
//!
//! Four levels say how alike two plans are; each contains those behind it.
//!
//! | level | what is the same |
//! |---|---|
//! | image | the plan image's id: every byte of tables and weights |
//! | steps | every step with what its tables say; only implied waits and the tables' order differ |
//! | addresses | the bytes that each step touches, and which steps it waits for |
//! | cost | the bytes moved and held, and the predicted cycles to 0.1 % |

mod cases;
mod steps;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::{Args, Subcommand, ValueEnum};
use tilewright_image::plan_image;
use tilewright_plan::Plan;
use tilewright_planner::{Planned, Recipe, Stop};

use cases::{Case, Made};
use steps::Line;

/// What to do with the plans.
#[derive(Clone, Debug, Args)]
pub struct Options {
    #[command(subcommand)]
    what: What,
    /// Only cases whose lines in bench/src/plans/cases.txt contain this
    #[arg(long, global = true, value_name = "TEXT", default_value = "")]
    only: String,
    /// Folder of the record
    #[arg(long, global = true, value_name = "FOLDER", default_value = "target/plans")]
    folder: PathBuf,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum What {
    /// Write the plans as they are
    Record,
    /// Say how alike they are to those of the record; fails if a case is less alike than asked
    Compare {
        /// How alike they must be
        #[arg(long, value_enum, default_value_t = Level::Image)]
        level: Level,
    },
}

/// How alike two plans are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Level {
    /// Not at all.
    #[value(skip)]
    Nothing,
    /// Same bytes moved, predicted cycles within 0.1 %
    Cost,
    /// Same addresses and waits
    Addresses,
    /// Same steps
    Steps,
    /// Same image
    Image,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Nothing => "NOTHING",
            Self::Cost => "cost",
            Self::Addresses => "addresses",
            Self::Steps => "steps",
            Self::Image => "image",
        })
    }
}

/// All that is compared of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Record {
    /// The image's id, or why there is none.
    id: String,
    cycles: u64,
    moved: BTreeMap<String, u64>,
    steps: Vec<Line>,
}

/// Records plans or compares them with a record.
///
/// # Errors
/// If a case cannot be read, or is less alike than asked.
pub fn plans(options: &Options) -> Result<(), String> {
    let cases = cases::all(&options.only)?;
    fs::create_dir_all(&options.folder).map_err(|e| told(&options.folder, e))?;
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = one(case, options) {
                println!("{}: {error}", case.name);
                failed.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(&case.name);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).len();
    println!("{} cases, {failed} failed", cases.len());
    if failed == 0 { Ok(()) } else { Err(format!("{failed} cases failed")) }
}

fn one(case: &Case, options: &Options) -> Result<(), String> {
    let made = case.make()?;
    let now = Record::of(&made);
    again(&made)?;
    let file: String =
        case.name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    let path = options.folder.join(format!("{file}.txt"));
    match options.what {
        What::Record => fs::write(&path, now.to_text()).map_err(|e| told(&path, e)),
        What::Compare { level } => {
            let text = fs::read_to_string(&path).map_err(|e| told(&path, e))?;
            let before = Record::from_text(&text).ok_or_else(|| told(&path, "not a record"))?;
            let reached = before.likeness(&now);
            if reached >= level {
                return Ok(());
            }
            Err(format!("{reached} only: {}", before.difference(&now)))
        }
    }
}

/// The recipe of a plan that fits, as text, gives the same plan.
fn again(made: &Made) -> Result<(), String> {
    let Made { model, board, planned } = made;
    let Some(planned) = planned.as_ref().ok().filter(|planned| planned.report.fits) else {
        return Ok(());
    };
    let text = planned.recipe.text(model);
    let recipe = Recipe::read(&text, model).map_err(|e| e.to_string())?;
    let plan = recipe.plan(model, board, &Stop::default()).map_err(|e| e.to_string())?;
    let Plan { board, strategy, .. } = planned.plan.clone();
    if (Plan { board, strategy, ..plan }) != planned.plan {
        return Err("its recipe gives another plan".to_owned());
    }
    Ok(())
}

fn told(path: &Path, error: impl fmt::Display) -> String {
    format!("{}: {error}", path.display())
}

impl Record {
    fn of(made: &Made) -> Self {
        let Made { model, planned, .. } = made;
        let Ok(Planned { plan, timeline, .. }) = planned else {
            let id = planned.as_ref().err().cloned().unwrap_or_default().replace('\n', " ");
            return Self { id, cycles: 0, moved: BTreeMap::new(), steps: Vec::new() };
        };
        let id = match plan_image(plan, model) {
            Ok(image) => {
                let at = std::mem::offset_of!(tilewright_plan::image::Header, plan_id);
                let id = image.get(at..at + 32).unwrap_or_default();
                id.iter().map(|byte| format!("{byte:02x}")).collect()
            }
            Err(error) => error.to_string(),
        };
        let (moved, steps) = (steps::moved(plan), steps::lines(plan));
        Self { id, cycles: timeline.end().0, moved, steps }
    }

    fn to_text(&self) -> String {
        let Self { id, cycles, moved, steps } = self;
        let mut text = format!("{id}\n{cycles}\n{}\n", moved.len());
        for (what, bytes) in moved {
            text.push_str(&format!("{what}\t{bytes}\n"));
        }
        for Line { what, touches, waits } in steps {
            text.push_str(&format!("{what}\t{touches}\t{waits}\n"));
        }
        text
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let (id, cycles) = (lines.next()?.to_owned(), lines.next()?.parse().ok()?);
        let count: usize = lines.next()?.parse().ok()?;
        let moved = lines.by_ref().take(count).map(|line| {
            let (what, bytes) = line.split_once('\t')?;
            Some((what.to_owned(), bytes.parse().ok()?))
        });
        let moved = moved.collect::<Option<_>>()?;
        let steps = lines.map(|line| {
            let mut parts = line.split('\t').map(str::to_owned);
            Some(Line { what: parts.next()?, touches: parts.next()?, waits: parts.next()? })
        });
        Some(Self { id, cycles, moved, steps: steps.collect::<Option<_>>()? })
    }

    fn likeness(&self, other: &Self) -> Level {
        let alike = |same: fn(&Line, &Line) -> bool| {
            self.steps.len() == other.steps.len()
                && self.steps.iter().zip(&other.steps).all(|(one, two)| same(one, two))
        };
        let addresses = alike(|a, b| (&a.touches, &a.waits) == (&b.touches, &b.waits));
        if self.id == other.id {
            return Level::Image;
        }
        if self.steps.is_empty() || other.steps.is_empty() {
            return Level::Nothing;
        }
        if alike(|a, b| a == b) {
            Level::Steps
        } else if addresses {
            Level::Addresses
        } else if self.moved == other.moved
            && self.cycles.abs_diff(other.cycles) * 1000 <= self.cycles
        {
            Level::Cost
        } else {
            Level::Nothing
        }
    }

    /// Where two records differ first.
    fn difference(&self, other: &Self) -> String {
        let cycles = match other.cycles == self.cycles {
            true => String::new(),
            false => format!("{} cycles became {}; ", self.cycles, other.cycles),
        };
        let pairs = self.steps.iter().zip(&other.steps).enumerate();
        let first = pairs.into_iter().find(|(_, (one, two))| one != two);
        let steps = match first {
            Some((at, (one, two))) => format!("step {at}:\n  {one:?}\n  {two:?}"),
            None if self.steps.len() != other.steps.len() => {
                format!("{} steps became {}", self.steps.len(), other.steps.len())
            }
            None => format!("{} became {}", self.id, other.id),
        };
        format!("{cycles}{steps}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(only: &str) -> Record {
        Record::of(&cases::all(only).unwrap()[0].make().unwrap())
    }

    #[test]
    fn a_record_is_read_as_it_was_written_and_told_from_others() {
        let plan = record("lenet5 stm32f746g-disco overlay");
        assert!(plan.steps.len() > 10);
        let read = Record::from_text(&plan.to_text()).unwrap();
        assert_eq!(read, plan);
        assert_eq!(read.likeness(&plan), Level::Image);
        assert_eq!(read.likeness(&record("lenet5 stm32f746g-disco resident")), Level::Nothing);
        let mut other = Record { id: "another".to_owned(), ..plan.clone() };
        assert_eq!(plan.likeness(&other), Level::Steps);
        other.steps[3].what.push('!');
        assert_eq!(plan.likeness(&other), Level::Addresses);
        other.steps[3].touches.push('!');
        assert_eq!(plan.likeness(&other), Level::Cost);
        other.cycles += other.cycles / 500;
        assert_eq!(plan.likeness(&other), Level::Nothing);
        assert!(plan.difference(&other).contains("step 3"));
    }
}
