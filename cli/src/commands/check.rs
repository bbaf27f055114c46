//! `tilewright check`: a test for continuous integration.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;
use tilewright_app::{Blame, Diagnostic, Mode, checked_plan};
use tilewright_report::acceptance::{
    Accepted, Baseline, Judged, Judgement, Needs, judge, markdown,
};
use tilewright_report::{PlanReport, RunResult, Value, plain};
use tilewright_runner::Native;

use super::json;
use super::run::Emulated;
use crate::args::Check;
use crate::columns;
use crate::outputs::{self, Readers};
use crate::progress::Teller;
use crate::text::{BOLD, Side, Table};
use crate::{Said, files, interrupt, load};

/// Largest baseline that is read.
const BASELINE_LIMIT: u64 = 16 << 20;

#[derive(Serialize)]
struct Record<'a> {
    model: &'a str,
    board: &'a str,
    strategy: &'a str,
    passed: bool,
    /// Why nothing else matters: it does not fit, or its run is wrong.
    problem: Option<&'a str>,
    needs: &'a Needs,
    limits: &'a Needs,
    accepted: Option<&'a Needs>,
    judgements: Vec<JudgedFigure<'a>>,
}

#[derive(Serialize)]
struct JudgedFigure<'a> {
    figure: &'a str,
    kind: &'static str,
    judgement: Judgement,
}

/// A plan, and its run if one was wanted and the plan fits.
struct Planned {
    plan: PlanReport,
    run: Option<RunResult>,
}

/// Plans a model, and runs it if that is wanted; fails where it needs more than is allowed or was accepted.
pub fn check(options: &Check) -> Result<Said, Diagnostic> {
    let written = [&options.markdown, &options.junit].into_iter().flatten();
    let written: Vec<&Path> = written.map(|path| &**path).collect();
    let mut read = load::files(&options.on.quantised);
    read.extend(options.baseline.clone());
    outputs::apart(&written, &read)?;
    let mut baseline = baseline(options)?;
    let planned = planned(options)?;
    let problem = problem(&planned);
    let new = Accepted {
        model: load::stem(&options.on.quantised.file)?,
        board: planned.plan.board.clone(),
        strategy: options.strategy.name().to_owned(),
        needs: Needs::of(&planned.plan, planned.run.as_ref()),
    };
    let limits = Needs {
        peak_sram_bytes: options.max_sram.map(|bytes| bytes.0),
        flash_bytes: options.max_flash.map(|bytes| bytes.0),
        external_bytes: options.max_external.map(|bytes| bytes.0),
        latency_us: options.max_latency.map(|latency| latency.0),
        instructions: options.max_instructions,
    };
    // What is accepted now is not held against what was.
    let accepted = baseline.find(&new).copied().filter(|_| !options.accept);
    let judged = judge(&new.needs, &limits, accepted.as_ref(), options.tolerance);
    let passed = problem.is_none() && judged.iter().all(|one| one.judgement.is_good());
    let title = format!("{} on {}, {}", new.model, new.board, new.strategy);
    if let Some(path) = &options.markdown {
        append(path, &summary(&title, &judged, problem.as_deref()))?;
    }
    if let Some(path) = &options.junit {
        let text = junit(&title, &judged, problem.as_deref())?;
        outputs::write(path, Readers::All, text.as_bytes())?;
    }
    let record = Record {
        model: &new.model,
        board: &new.board,
        strategy: &new.strategy,
        passed,
        problem: problem.as_deref(),
        needs: &new.needs,
        limits: &limits,
        accepted: accepted.as_ref(),
        judgements: judged.iter().map(said_of).collect(),
    };
    let text = match options.json.json {
        true => json(&record)?,
        false => words(&title, &judged, &record, options),
    };
    if let Some(path) = options.baseline.as_ref().filter(|_| options.accept && passed) {
        baseline.accept(new);
        outputs::write(path, Readers::All, json(&baseline)?.as_bytes())?;
    }
    Ok(Said { text, code: if passed { 0 } else { Blame::DoesNotFit.exit_code() } })
}

fn said_of(one: &Judged) -> JudgedFigure<'_> {
    JudgedFigure { figure: one.need.key, kind: one.need.kind.word(), judgement: one.judgement }
}

/// What was accepted; nothing yet if the file is about to be made.
fn baseline(options: &Check) -> Result<Baseline, Diagnostic> {
    let Some(path) = &options.baseline else { return Ok(Baseline::default()) };
    if options.accept && !path.exists() {
        return Ok(Baseline::default());
    }
    let bytes = files::read(path, "baseline", BASELINE_LIMIT).map_err(|error| {
        let what_to_do = "The first check writes it: give --accept.";
        if path.exists() { error } else { Diagnostic { what_to_do: what_to_do.into(), ..error } }
    })?;
    serde_json::from_slice(&bytes).map_err(|error| {
        Diagnostic::new(
            Blame::BadInput,
            format!("It is no baseline: {error}."),
            path.display().to_string(),
            "Give a file that `tilewright check --accept` wrote.",
        )
    })
}

fn planned(options: &Check) -> Result<Planned, Diagnostic> {
    let integrity = options.checked.integrity();
    if options.run {
        let mut emulated = Emulated::new(&options.on, integrity, None, Mode::Full)?;
        let ran = emulated.run(options.strategy)?;
        return Ok(Planned { plan: ran.planned.report, run: ran.done.map(|done| done.result) });
    }
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let mut teller = Teller::new();
    let mut tell = |progress| teller.tell(&progress);
    let host = Native::new(&mut tell, &cancel);
    let (board, choices) = load::asked(&options.on, integrity)?;
    let prepared = load::prepared(&options.on.quantised, &host)?;
    let planned = checked_plan(&prepared.model, &board, options.strategy, &choices, &host)?;
    Ok(Planned { plan: planned.report, run: None })
}

/// Why nothing else matters.
fn problem(planned: &Planned) -> Option<String> {
    let Planned { plan, run } = planned;
    if let Some(why) = plan.no_room().or_else(|| plan.no_program()) {
        return Some(why.what);
    }
    let run = run.as_ref()?;
    match (&run.fault, run.verified) {
        (Some(fault), _) => Some(fault.message.clone()),
        (None, Some(false)) => Some("its run differs from the reference".to_owned()),
        (None, _) => None,
    }
}

fn words(title: &str, judged: &[Judged], record: &Record<'_>, options: &Check) -> String {
    let mut table = Table::new(&[
        ("figure", Side::Left),
        ("now", Side::Right),
        ("limit", Side::Right),
        ("accepted", Side::Right),
        ("change", Side::Right),
        ("", Side::Left),
    ]);
    for one in judged {
        let value = |value: Option<Value>| value.map_or_else(String::new, columns::said);
        let change = one.change_percent().map(|change| format!("{change:+.1} %"));
        table.row([
            format!("{} ({})", one.need.title, one.need.kind.word()),
            value(one.value),
            value(one.limit),
            value(one.accepted),
            change.unwrap_or_default(),
            one.judgement.word().to_owned(),
        ]);
    }
    let mut text = format!("{BOLD}{title}{BOLD:#}\n");
    if let Some(problem) = record.problem {
        text += &format!("failed: {problem}\n");
    }
    text += &table.print();
    let path = options.baseline.as_ref().map(|path| path.display());
    match path {
        Some(path) if options.accept && record.passed => text += &format!("Accepted in {path}.\n"),
        Some(path) if options.accept => text += &format!("Nothing is accepted in {path}.\n"),
        Some(path) if record.accepted.is_none() => {
            text += &format!("{path} holds nothing of it yet: --accept writes it.\n");
        }
        _ => {}
    }
    text
}

fn summary(title: &str, judged: &[Judged], problem: Option<&str>) -> String {
    let mut text = markdown(title, judged, columns::said);
    if let Some(problem) = problem {
        text += &format!("\n**Failed:** {}\n", plain(problem));
    }
    text + "\n"
}

/// Adds to a file, which need not be there yet.
fn append(path: &Path, text: &str) -> Result<(), Diagnostic> {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        Diagnostic::new(
            Blame::BadInput,
            format!("It cannot be written: {error}."),
            path.display().to_string(),
            "Give a file that can be written.",
        )
    })
}

fn junit(title: &str, judged: &[Judged], problem: Option<&str>) -> Result<String, Diagnostic> {
    let mut suite = TestSuite::new(title);
    let mut case = |name: &str, failed: Option<String>| {
        let status = match failed {
            None => TestCaseStatus::success(),
            Some(why) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_message(why);
                status
            }
        };
        let mut case = TestCase::new(name, status);
        case.set_classname(title);
        suite.add_test_case(case);
    };
    case("fits and runs", problem.map(str::to_owned));
    for one in judged {
        let text = |value: Option<Value>| value.map_or("none".to_owned(), columns::said);
        let failed = (!one.judgement.is_good()).then(|| {
            format!(
                "{} ({}): {}; limit {}, accepted {}: {}",
                one.need.title,
                one.need.kind.word(),
                text(one.value),
                text(one.limit),
                text(one.accepted),
                one.judgement.word()
            )
        });
        case(one.need.title, failed);
    }
    let mut report = Report::new("tilewright check");
    report.add_test_suite(suite);
    report.to_string().map_err(|error| Diagnostic::ours(format!("{error}."), "JUnit"))
}
