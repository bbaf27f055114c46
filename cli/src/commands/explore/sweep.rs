//! `tilewright explore sweep`: every model on every board with every strategy, and so on.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tilewright_app::{Blame, Cancel, Diagnostic, zoo};
use tilewright_explore::{BuiltModel, Dimensions, ExploreError, Sweep, SweepModel};
use tilewright_plan::Hertz;
use tilewright_report::{
    Axis, CsvColumn, Point, Scatter, SweepKey, SweepPlan, SweepRow, WithKinds, plain,
};
use tilewright_runner::Native;

use super::all_cores::on_all_cores;
use super::rows::{Row, Rows};
use super::{command, series, some, stop, told};
use crate::args::explore::ExploreSweep;
use crate::args::{ModelFile, Quantised};
use crate::progress::Teller;
use crate::text::{BOLD, Side, Table, bytes, micros, number};
use crate::{Said, interrupt, load};

/// Plans all rows that are not known yet.
pub fn sweep(options: &ExploreSweep) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let sweep = Sweep::new(dimensions(options, &cancel)?).map_err(|error| wrong(&error))?;
    let keys: Vec<SweepKey> = (0..sweep.rows()).filter_map(|row| sweep.key(row)).collect();
    let mut rows = Rows::open(options.rows.as_deref())?;
    let missing: Vec<usize> =
        (0..keys.len()).filter(|row| rows.get(&keys[*row]).is_none()).collect();
    let ask = stop(&cancel);
    let end = on_all_cores(
        missing.len(),
        &cancel,
        "rows",
        |built: &mut Option<BuiltModel>, piece| {
            sweep.plan(missing[piece], built, &ask).map_err(|error| wrong(&error))
        },
        |_, row: SweepRow| rows.add(row),
    )?;
    let rows: Vec<SweepRow> = keys.iter().filter_map(|key| rows.get(key).cloned()).collect();
    let of = keys.len();
    let record = WithKinds::of(Record { rows, of });
    told(
        &options.out,
        end,
        &record,
        &COLUMNS,
        &record.report.rows,
        |record| words(&record.report),
        |record| scatter(&record.report),
    )
}

impl Row for SweepRow {
    type Key = SweepKey;

    const EXPERIMENT: &'static str = "a sweep";

    fn key(&self) -> SweepKey {
        self.key.clone()
    }
}

/// The rows, or as many as there was time for.
#[derive(serde::Serialize)]
struct Record {
    rows: Vec<SweepRow>,
    of: usize,
}

fn wrong(error: &ExploreError) -> Diagnostic {
    let what_to_do = match error {
        ExploreError::TooManyRows { .. } => "Give fewer models, boards, strategies or budgets.",
        _ => "`tilewright zoo` lists networks, `tilewright boards` boards.",
    };
    Diagnostic::new(Blame::BadInput, format!("{error}."), "sweep", what_to_do)
}

fn dimensions(options: &ExploreSweep, cancel: &Cancel) -> Result<Dimensions, Diagnostic> {
    let given = |values: &[_]| match values {
        [] => vec![None],
        values => values.iter().copied().map(Some).collect(),
    };
    let boards: Result<Vec<_>, _> = options.board.iter().map(|id| load::board_of(id)).collect();
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
    let models: Result<_, _> = options.models.iter().map(|model| loaded(model, cancel)).collect();
    Ok(Dimensions {
        models: models?,
        boards: boards?,
        strategies: options.strategy.clone(),
        budgets: given(&options.sram),
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
fn loaded(path: &Path, cancel: &Cancel) -> Result<SweepModel, Diagnostic> {
    let name = path.display().to_string();
    if let Some(network) = name.strip_prefix(zoo::PREFIX) {
        return Ok(SweepModel::Zoo(network.to_owned()));
    }
    let quantised = Quantised {
        file: ModelFile { model: path.to_owned(), dims: Vec::new() },
        samples: Some(PathBuf::from("random")),
        calibration: None,
    };
    let mut teller = Teller::new();
    let prepared = load::prepared(&quantised, &Native::new(&mut |p| teller.tell(&p), cancel))?;
    Ok(SweepModel::Given(name, Arc::new(prepared.model)))
}

const fn plan(row: &SweepRow) -> Option<&SweepPlan> {
    row.plan.as_ref()
}

/// A row, as comma-separated values; heads say how figures came to be.
const COLUMNS: [CsvColumn<SweepRow>; 15] = [
    CsvColumn { head: "model", field: |row| row.key.network.clone() },
    CsvColumn { head: "board", field: |row| row.key.board.clone() },
    CsvColumn { head: "strategy", field: |row| row.key.strategy.clone() },
    CsvColumn { head: "sram_budget_bytes", field: |row| some(row.key.sram_budget_bytes) },
    CsvColumn { head: "clock_hz", field: |row| some(row.key.clock_hz) },
    CsvColumn { head: "card", field: |row| some(row.key.card.clone()) },
    CsvColumn { head: "frames", field: |row| row.key.frames.to_string() },
    CsvColumn { head: "macs_counted", field: |row| row.macs.to_string() },
    CsvColumn { head: "parameters_counted", field: |row| row.parameters.to_string() },
    CsvColumn { head: "fits_proved", field: |row| some(plan(row).map(|plan| plan.fits)) },
    CsvColumn {
        head: "latency_us_modelled",
        field: |row| {
            some(plan(row).and_then(|plan| plan.latency_us).map(|us| format!("{:.0}", us.0)))
        },
    },
    CsvColumn {
        head: "sram_bytes_counted",
        field: |row| some(plan(row).map(|plan| plan.sram_bytes.0)),
    },
    CsvColumn {
        head: "flash_bytes_counted",
        field: |row| some(plan(row).map(|plan| plan.flash_bytes.0)),
    },
    CsvColumn {
        head: "external_bytes_counted",
        field: |row| some(plan(row).map(|plan| plan.external_bytes.0)),
    },
    CsvColumn { head: "problem", field: |row| some(row.problem.clone()) },
];

/// Latency against SRAM, by strategy.
fn scatter(record: &Record) -> Scatter {
    let point = |row: &SweepRow| {
        let (x, y) = (plan(row)?.sram_bytes.0 as f64 / 1024.0, row.latency_us()? / 1e3);
        let title = format!("{} on {}", row.key.network, row.key.board);
        Some((row.key.strategy.clone(), Point { x, y, title }))
    };
    Scatter {
        title: "Plans that fit".to_owned(),
        command: command(),
        x: Axis { title: "SRAM in KiB (counted)".to_owned(), is_logarithmic: true },
        y: Axis { title: "latency in milliseconds (modelled)".to_owned(), is_logarithmic: true },
        series: series(record.rows.iter().filter_map(point)),
    }
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
        let of_plan = |text: &dyn Fn(&SweepPlan) -> String| some(plan(row).map(text));
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
    format!("{BOLD}{planned}, {fitting} fit{BOLD:#}\n\n{}", table.print())
}
