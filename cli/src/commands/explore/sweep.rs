//! `tilewright explore sweep`: every model on every board with every strategy, and so on.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use tilewright_app::{Blame, Cancel, Diagnostic, zoo};
use tilewright_explore::{Dimensions, Sweep, SweepModel};
use tilewright_plan::Hertz;
use tilewright_report::{SweepPlan, SweepRow, WithKinds, plain, sweep_columns};
use tilewright_runner::Native;

use super::boards;
use super::sweep_rows::{planned, wrong};
use crate::args::explore::ExploreSweep;
use crate::args::{ModelFile, Quantised};
use crate::experiment::{End, apart, command, some, told};
use crate::text::{BOLD, Side, Table, bytes, micros, number};
use crate::{Said, interrupt, load};

/// Plans all rows that are not known yet.
pub fn sweep(options: &ExploreSweep) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let out = &options.out;
    apart(out, &[&options.rows], &options.models)?;
    let sweep = Sweep::new(dimensions(options, &cancel)?).map_err(|error| wrong(&error))?;
    let (rows, end) = planned(&sweep, options.rows.as_deref(), options.queue.as_deref(), &cancel)?;
    let of = sweep.keys().count();
    let record = WithKinds::of(Record { rows, of });
    let said = told(
        out,
        end,
        &record,
        &sweep_columns(),
        &record.report.rows,
        |record| words(&record.report),
        |record| options.chart.chart().scatter(&record.report.rows, command()).svg(),
    )?;
    let is_bad =
        end == End::Whole && record.report.rows.iter().all(|row| row.not_opened().is_some());
    Ok(if is_bad { Said { code: Blame::BadInput.exit_code(), ..said } } else { said })
}

/// The rows, or as many as there was time for.
#[derive(serde::Serialize)]
struct Record {
    rows: Vec<SweepRow>,
    of: usize,
}

fn dimensions(options: &ExploreSweep, cancel: &Cancel) -> Result<Dimensions, Diagnostic> {
    let or_usual = |values: &[_]| match values {
        [] => vec![None],
        values => values.iter().copied().map(Some).collect(),
    };
    let card = |id: &String| {
        tilewright_board::find_card(id).map(Some).map_err(|error| {
            let what_to_do = "`tilewright boards` lists the classes of cards.";
            Diagnostic::new(Blame::BadInput, format!("{error}."), "--card", what_to_do)
        })
    };
    let cards = match options.card.as_slice() {
        [] => vec![None],
        cards => cards.iter().map(card).collect::<Result<_, _>>()?,
    };
    let frames = options.frames.iter().filter_map(|frames| NonZeroU32::new(*frames));
    Ok(Dimensions {
        models: options.models.iter().map(|model| given(model, cancel)).collect(),
        boards: boards(&options.board)?,
        strategies: options.strategy.clone(),
        budgets: or_usual(&options.sram),
        clocks: match options.clock_mhz.as_slice() {
            [] => vec![None],
            clocks => clocks.iter().map(|mhz| Some(Hertz(mhz * 1_000_000))).collect(),
        },
        cards,
        frames: frames.collect(),
    })
}

/// A network of the zoo by its name; or a file, quantised on random samples if it has floats, which changes
/// neither shapes nor costs.
fn given(path: &Path, cancel: &Cancel) -> SweepModel {
    let name = path.display().to_string();
    if let Some(network) = name.strip_prefix(zoo::PREFIX) {
        return SweepModel::zoo(network);
    }
    let quantised = Quantised {
        file: ModelFile { model: path.to_owned(), dims: Vec::new() },
        samples: Some(PathBuf::from("random")),
        calibration: None,
        pixels: None,
        labels: None,
    };
    let cancel = cancel.clone();
    SweepModel::given(name, move || {
        let prepared = load::prepared(&quantised, &Native::new(&mut |_| {}, &cancel));
        prepared.map(|prepared| prepared.model).map_err(|problem| problem.what)
    })
}

fn words(Record { rows, of }: &Record) -> String {
    let fitting = rows.iter().filter(|row| row.latency_us().is_some()).count();
    let planned = match rows.len() {
        all if all == *of => format!("{} rows", number(all as u64)),
        part => format!("cancelled after {} of {} rows", number(part as u64), number(*of as u64)),
    };
    let mut table = Table::new(&[
        ("model", Side::Left),
        ("board", Side::Left),
        ("strategy", Side::Left),
        ("asked for", Side::Left),
        ("fits (proved)", Side::Left),
        ("latency (modelled)", Side::Right),
        ("SRAM (counted)", Side::Right),
        ("flash (counted)", Side::Right),
    ]);
    for row in rows {
        let key = &row.key;
        let asked = [
            key.sram_budget_bytes.map(|budget| format!("{} B", number(budget))),
            key.clock_hz.map(|clock| format!("{} MHz", number(clock / 1_000_000))),
            key.card.clone(),
            (key.frames > 1).then(|| format!("{} frames", key.frames)),
        ];
        let asked: Vec<String> = asked.into_iter().flatten().collect();
        let fits = if row.latency_us().is_some() { "yes" } else { "no" };
        let of_plan = |text: &dyn Fn(&SweepPlan) -> String| some(row.plan.as_ref().map(text));
        table.row([
            plain(&key.network).into_owned(),
            key.board.clone(),
            key.strategy.clone(),
            asked.join(", "),
            fits.to_owned(),
            some(row.latency_us().map(micros)),
            of_plan(&|plan| bytes(plan.sram_bytes.0)),
            of_plan(&|plan| bytes(plan.flash_bytes.0)),
        ]);
    }
    let not_opened: BTreeMap<&str, &str> =
        rows.iter().filter_map(|row| Some((row.key.network.as_str(), row.not_opened()?))).collect();
    let mut text = format!("{BOLD}{planned}, {fitting} fit{BOLD:#}\n\n{}", table.print());
    if !not_opened.is_empty() {
        let mut table = Table::new(&[("cannot be opened", Side::Left), ("because", Side::Left)]);
        for (model, problem) in not_opened {
            table.row([model, problem].map(str::to_owned));
        }
        text += &format!("\n{}", table.print());
    }
    text
}
