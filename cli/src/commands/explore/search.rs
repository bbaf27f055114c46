//! `tilewright explore search`: cells by DEff-ARTS.

mod figures;
mod words;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_report::{csv_table, sentence};
use tilewright_search::{
    MOST_COST_TABLE_BYTES, Row, Samples, Search, SearchError, Settings, StateError, TradeOff,
    cost_table,
};
use tilewright_zoo::Stack;
use tilewright_zoo::cells::{OperationCosts, Stacked};

use crate::all_cores::in_threads;
use crate::args::explore::ExploreSearch;
use crate::commands::json;
use crate::outputs::{self, Readers};
use crate::progress::Teller;
use crate::{Said, complain, files, interrupt, labelled};

/// A step of the largest networks takes some seconds, and its end is waited for.
const GRACE: Duration = Duration::from_secs(60);

/// A search is kept in its file whenever so many steps are done.
const KEPT_EVERY: usize = 20;

/// Largest file of a search that is read.
const STATE_LIMIT: u64 = 1 << 30;

/// One of the searches that are asked for.
struct Job {
    settings: Settings,
    /// What its files' names have besides, if there are several searches.
    mark: String,
}

/// What became of it.
#[derive(Debug, Serialize)]
struct Found {
    trade_off: f64,
    seed: u64,
    steps: usize,
    of: usize,
    /// In DARTS' notation.
    genotype: String,
    /// Cycles of both cells, by the table of costs.
    cells_cost: u64,
    normal_cost: u64,
    reduction_cost: u64,
    /// Where the genotype is, if it was wanted.
    file: Option<PathBuf>,
    /// Why it ended before its time.
    diverged: Option<String>,
    log: Vec<Row>,
}

/// Searches with every trade-off and every seed, each on a core.
pub fn search(options: &ExploreSearch) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c_within(GRACE)?;
    let samples = Arc::new(labelled::samples(&options.data, options.resolution, options.images)?);
    let costs = costs(options.costs.as_deref())?;
    let jobs = jobs(options, &costs);
    outputs_apart(options, &jobs)?;
    let found = all(options, &jobs, &samples, &cancel)?;
    if let Some(path) = &options.log {
        let rows: Vec<_> = figures::rows(&found).collect();
        outputs::write(path, Readers::All, csv_table(&figures::COLUMNS, &rows).as_bytes())?;
    }
    if let Some(path) = &options.svg {
        outputs::write(path, Readers::All, figures::svg(&found).as_bytes())?;
    }
    for one in found.iter().filter(|one| one.diverged.is_some()) {
        complain(&diverged(one));
    }
    let text = if options.json.json { json(&found)? } else { words::words(options, &found) };
    let is_wrong = found.iter().any(|one| one.diverged.is_some());
    let code = match (cancel.is_cancelled(), is_wrong) {
        (true, _) => Blame::Cancelled.exit_code(),
        (false, true) => Blame::BadInput.exit_code(),
        (false, false) => 0,
    };
    Ok(Said { text, code })
}

fn diverged(one: &Found) -> Diagnostic {
    Diagnostic::new(
        Blame::BadInput,
        sentence(one.diverged.as_deref().unwrap_or_default()),
        format!("trade-off {}, seed {}, step {}", one.trade_off, one.seed, one.steps + 1),
        "Give a lower --weight-rate or --architecture-rate. What was found before is kept.",
    )
}

fn costs(path: Option<&Path>) -> Result<OperationCosts, Diagnostic> {
    let published = OperationCosts::table_3_2();
    let Some(path) = path else { return Ok(published) };
    let bytes = files::read(path, "table of costs", MOST_COST_TABLE_BYTES as u64)?;
    let wrong = |what: String| {
        let what_to_do = "Give lines of `operation = cycles`, such as sep_conv_3x3 = 368640.";
        Diagnostic::new(Blame::BadInput, what, path.display().to_string(), what_to_do)
    };
    let text =
        String::from_utf8(bytes).map_err(|_| wrong("The table is no UTF-8 text.".to_owned()))?;
    cost_table(&text, &published).map_err(|error| wrong(format!("In the table, {error}.")))
}

fn jobs(options: &ExploreSearch, costs: &OperationCosts) -> Vec<Job> {
    let (weights, seeds) = (&options.trade_off, &options.seed);
    let each = seeds.iter().flat_map(|seed| weights.iter().map(move |weight| (seed, weight)));
    each.map(|(seed, weight)| {
        let mut mark = String::new();
        if weights.len() > 1 {
            mark.push_str(&format!(".g{weight}"));
        }
        if seeds.len() > 1 {
            mark.push_str(&format!(".s{seed}"));
        }
        let settings = Settings {
            trade_off: TradeOff::weighing(*weight),
            seed: *seed,
            cells: options.cells,
            cell_steps: options.cell_steps,
            channels: options.channels,
            steps: options.steps,
            batch: options.batch,
            weight_rate: options.weight_rate,
            architecture_rate: options.architecture_rate,
            costs: Settings::costs_of(costs),
        };
        Job { settings, mark }
    })
    .collect()
}

/// The file of one search: `cells.txt` is `cells.g0.01.txt` if there are several.
fn marked(path: &Path, mark: &str) -> PathBuf {
    if mark.is_empty() {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(mark);
    if let Some(kind) = path.extension() {
        name.push(".");
        name.push(kind);
    }
    path.with_file_name(name)
}

fn outputs_apart(options: &ExploreSearch, jobs: &[Job]) -> Result<(), Diagnostic> {
    let of_jobs = [&options.state, &options.output].into_iter().flatten();
    let of_jobs = of_jobs.flat_map(|path| jobs.iter().map(move |job| marked(path, &job.mark)));
    let shared = [&options.log, &options.svg].into_iter().flatten().cloned();
    let written: Vec<PathBuf> = of_jobs.chain(shared).collect();
    let read: Vec<PathBuf> = options.costs.iter().chain([&options.data]).cloned().collect();
    let written: Vec<&Path> = written.iter().map(PathBuf::as_path).collect();
    outputs::apart(&written, &read)
}

/// Does all searches, as many at once as there are cores.
fn all(
    options: &ExploreSearch,
    jobs: &[Job],
    samples: &Arc<Samples>,
    cancel: &Cancel,
) -> Result<Vec<Found>, Diagnostic> {
    let next = AtomicUsize::new(0);
    let told = Told { teller: Mutex::new(Teller::new()), done: AtomicUsize::new(0), of: jobs };
    let thread = || {
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            // A search that has not begun has nothing to keep.
            let Some(job) = jobs.get(index).filter(|_| !cancel.is_cancelled()) else {
                return Ok(results);
            };
            let one = one(options, job, samples, cancel, &told).inspect_err(|_| {
                next.store(jobs.len(), Ordering::Relaxed);
            })?;
            results.push((index, one));
        }
    };
    let results = in_threads(jobs.len(), thread);
    let mut found: Vec<(usize, Found)> = Vec::new();
    for result in results {
        let ended = Diagnostic::ours("A thread ended by itself.", "search");
        found.extend(result.map_err(|_| ended)??);
    }
    found.sort_by_key(|(index, _)| *index);
    Ok(found.into_iter().map(|(_, found)| found).collect())
}

/// What all threads tell of.
struct Told<'j> {
    teller: Mutex<Teller>,
    done: AtomicUsize,
    of: &'j [Job],
}

impl Told<'_> {
    fn tell(&self, steps: usize, search: &Search) {
        let done = self.done.fetch_add(steps, Ordering::Relaxed) + steps;
        let of = self.of.iter().map(|job| job.settings.steps).sum();
        if let (Ok(mut teller), Some(row)) = (self.teller.lock(), search.log().last()) {
            let weight = search.settings().trade_off.weight;
            let (loss, cost) = (row.validation_loss, row.cells_cost());
            let last = format!("trade-off {weight}, loss {loss:.3}, cells of {cost} cycles");
            teller.tell_step(done, of, &last);
        }
    }
}

fn one(
    options: &ExploreSearch,
    job: &Job,
    samples: &Arc<Samples>,
    cancel: &Cancel,
    told: &Told<'_>,
) -> Result<Found, Diagnostic> {
    let state = options.state.as_ref().map(|path| marked(path, &job.mark));
    let mut search = begun(&job.settings, samples, state.as_deref())?;
    told.tell(search.done(), &search);
    let keep = |search: &Search| match &state {
        Some(path) => {
            let bytes = search.state().map_err(|error| wrong(&error, path))?;
            outputs::write(path, Readers::All, &bytes)
        }
        None => Ok(()),
    };
    let mut diverged = None;
    while !cancel.is_cancelled() {
        match search.advance() {
            Ok(true) => {}
            Ok(false) => break,
            Err(SearchError::Diverged(how)) => {
                diverged = Some(how.to_string());
                break;
            }
            Err(error) => return Err(wrong(&error, Path::new("search"))),
        }
        told.tell(1, &search);
        if search.done() % KEPT_EVERY == 0 {
            keep(&search)?;
        }
    }
    keep(&search)?;
    let genotype = search.genotype().map_err(|error| wrong(&error, Path::new("search")))?;
    let costs = search.settings().operation_costs();
    let file = options.output.as_ref().map(|path| marked(path, &job.mark));
    if let Some(path) = &file {
        let stack = Stack {
            cells: options.cells,
            channels: options.channels,
            resolution: options.resolution,
            colours: 1,
        };
        let stacked = Stacked { genotype: genotype.clone(), stack };
        outputs::write(path, Readers::All, stacked.to_string().as_bytes())?;
    }
    Ok(Found {
        trade_off: job.settings.trade_off.weight,
        seed: job.settings.seed,
        steps: search.done(),
        of: job.settings.steps,
        genotype: genotype.to_string(),
        cells_cost: costs.of_genotype(&genotype),
        normal_cost: costs.of_cell(&genotype.normal),
        reduction_cost: costs.of_cell(&genotype.reduction),
        file,
        diverged,
        log: search.log().to_vec(),
    })
}

/// The search of a file, if there is one, else a new one.
fn begun(
    settings: &Settings,
    samples: &Arc<Samples>,
    state: Option<&Path>,
) -> Result<Search, Diagnostic> {
    match state.filter(|path| path.exists()) {
        Some(path) => {
            let bytes = files::read(path, "state of the search", STATE_LIMIT)?;
            Search::resume(settings, samples.clone(), &bytes).map_err(|error| wrong(&error, path))
        }
        None => Search::new(settings.clone(), samples.clone())
            .map_err(|error| wrong(&error, Path::new("search"))),
    }
}

fn wrong(error: &SearchError, place: &Path) -> Diagnostic {
    let what_to_do = match error {
        SearchError::State(StateError::Unreadable) => "Give another file, or remove this one.",
        SearchError::State(_) => "Give the options that it began with, or another --state.",
        _ => "Give other options; `tilewright explore search --help` lists them.",
    };
    let place = place.display().to_string();
    Diagnostic::new(Blame::BadInput, sentence(&error.to_string()), place, what_to_do)
}
