//! `tilewright explore genotypes`: does a cost of cells' operations predict what whole networks take?

mod said;

use serde::{Deserialize, Serialize};
use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_board::Board;
use tilewright_explore::{ExploreError, GENOTYPES_STACK, Genotypes};
use tilewright_model::Model;
use tilewright_report::{
    GenotypeKey, GenotypeRow, GenotypesReport, OperationKey, OperationRow, WithKinds, sentence,
};
use tilewright_zoo::{Network, Stack};

use super::emulation::Emulation;
use super::rows::{Row, Rows};
use crate::all_cores::on_all_cores;
use crate::args::explore::ExploreGenotypes;
use crate::experiment::{End, apart, told};
use crate::outputs::{self, Readers};
use crate::{Said, interrupt, load};

/// Runs the experiment.
pub fn genotypes(options: &ExploreGenotypes) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let out = &options.out;
    apart(out, &[&options.costs, &options.rows], &[])?;
    let board = load::board_of(&options.board)?;
    let stack = Stack {
        cells: options.cells,
        channels: options.channels,
        resolution: options.resolution,
        ..GENOTYPES_STACK
    };
    let experiment = Genotypes::new(options.count, options.seed, &board, stack)
        .map_err(|error| wrong(&error, "--cells, --channels, --resolution"))?;
    let mut rows = Rows::open(options.rows.as_deref())?;
    let end = run(&experiment, &board, &mut rows, &cancel)?;
    let report = report(&experiment, &rows);
    if end == End::Whole {
        complete(&report)?;
    }
    if let (Some(path), false) = (&options.costs, report.costs.is_empty()) {
        outputs::write(path, Readers::All, said::costs(&report).as_bytes())?;
    }
    let record = WithKinds::of(report);
    told(
        out,
        end,
        &record,
        &said::COLUMNS,
        &record.report.genotypes,
        |record| said::words(&record.report),
        |record| said::scatter(&record.report).svg(),
    )
}

fn wrong(error: &ExploreError, place: &str) -> Diagnostic {
    let what_to_do = "Give another size of the stack, and at least one genotype.";
    Diagnostic::new(Blame::BadInput, sentence(&error.to_string()), place, what_to_do)
}

/// A row of the file: a run of an operation, or of a network.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Kept {
    Operation(OperationRow),
    Genotype(GenotypeRow),
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Operation(OperationKey),
    Genotype(GenotypeKey),
}

impl Row for Kept {
    type Key = Key;

    const EXPERIMENT: &'static str = "an experiment with genotypes";

    fn key(&self) -> Key {
        match self {
            Self::Operation(row) => Key::Operation(row.of.clone()),
            Self::Genotype(row) => Key::Genotype(row.of.clone()),
        }
    }
}

/// What a piece of work is of: operations come first, so that the costs are there early.
fn keys(experiment: &Genotypes) -> Vec<Key> {
    let operations = (0..experiment.operations()).filter_map(|at| experiment.operation_key(at));
    let genotypes = (0..experiment.genotypes()).filter_map(|at| experiment.key(at).cloned());
    operations.map(Key::Operation).chain(genotypes.map(Key::Genotype)).collect()
}

/// Runs what is not known yet.
fn run(
    experiment: &Genotypes,
    board: &Board,
    rows: &mut Rows<'_, Kept>,
    cancel: &Cancel,
) -> Result<End, Diagnostic> {
    let keys = keys(experiment);
    let missing: Vec<usize> = (0..keys.len()).filter(|at| rows.get(&keys[*at]).is_none()).collect();
    if missing.is_empty() {
        return Ok(End::Whole);
    }
    let emulation = Emulation::on(&[board], cancel)?;
    on_all_cores(
        missing.len(),
        cancel,
        "runs",
        |_: &mut (), piece| {
            let (at, operations) = (missing[piece], experiment.operations());
            let kept = match at.checked_sub(operations) {
                None => operation(experiment, at, board, &emulation)?.map(Kept::Operation),
                Some(at) => genotype(experiment, at, board, &emulation)?.map(Kept::Genotype),
            };
            Ok(kept)
        },
        |_, row| rows.add(row),
    )
}

/// The int8 model of a network, which the zoo has built.
fn int8(network: &Network) -> Result<Model, Diagnostic> {
    network.int8().map_err(|error| Diagnostic::ours(sentence(&error.to_string()), &*network.name))
}

fn operation(
    experiment: &Genotypes,
    at: usize,
    board: &Board,
    emulation: &Emulation<'_>,
) -> Result<Option<OperationRow>, Diagnostic> {
    let network = experiment.operation(at).map_err(|error| wrong(&error, "operation"))?;
    let (Some(network), Some(of)) = (network, experiment.operation_key(at)) else {
        return Ok(None);
    };
    let emulated = emulation.run(&int8(&network)?, board)?;
    // One that does not fit leaves the table without it.
    Ok(emulated.ran.ok().map(|ran| OperationRow { of, run: ran.kernels }))
}

fn genotype(
    experiment: &Genotypes,
    at: usize,
    board: &Board,
    emulation: &Emulation<'_>,
) -> Result<Option<GenotypeRow>, Diagnostic> {
    let network = experiment.network(at).map_err(|error| wrong(&error, "genotype"))?;
    let (Some(network), Some(of)) = (network, experiment.key(at)) else { return Ok(None) };
    let emulated = emulation.run(&int8(&network)?, board)?;
    let (run, problem) = match emulated.ran {
        Ok(ran) => (Some(ran.frame), None),
        Err(problem) => (None, Some(problem)),
    };
    Ok(Some(GenotypeRow {
        of: of.clone(),
        macs: network.macs().into(),
        predicted_cycles: emulated.predicted_cycles.map(Into::into),
        run,
        problem,
    }))
}

fn report(experiment: &Genotypes, rows: &Rows<'_, Kept>) -> GenotypesReport {
    let (mut operations, mut genotypes) = (Vec::new(), Vec::new());
    for key in keys(experiment) {
        match rows.get(&key) {
            Some(Kept::Operation(row)) => operations.push(row.clone()),
            Some(Kept::Genotype(row)) => genotypes.push(row.clone()),
            None => {}
        }
    }
    experiment.report(&operations, &genotypes)
}

/// Makes sure that something can be said.
fn complete(report: &GenotypesReport) -> Result<(), Diagnostic> {
    let refused = |what: String| {
        let what_to_do = "Give fewer cells, channels or pixels, or a larger board.";
        Err(Diagnostic::new(Blame::DoesNotFit, what, &*report.board, what_to_do))
    };
    if report.costs.is_empty() {
        let what =
            "The table of costs has gaps: not every operation fits at the size that each cell has.";
        return refused(what.to_owned());
    }
    let problem = report.genotypes.iter().find_map(|one| one.row.problem.clone());
    match problem.filter(|_| report.genotypes.iter().all(|one| one.row.run.is_none())) {
        Some(problem) => refused(format!("None of the networks can run. The first: {problem}")),
        None => Ok(()),
    }
}
