//! Cost tables from emulated runs: each kernel runs over many geometries as a model of one layer;
//! what the worker counts is fitted by the features that the planner knows.

pub mod layers;
pub mod least_squares;
mod outside;
mod preceded;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tilewright_board::{Board, CoreKind, SMALL};
use tilewright_model::{Data, Model};
use tilewright_plan::{Instruction, Kernel, Plan, Step};
use tilewright_planner::costs::{self, Before, Costs, Feature, KernelCost, SPARSE, TRANSFORMED};
use tilewright_planner::{Options, Packing, Strategy};
use tilewright_protocol::StepCount;
use tilewright_tests::emulated;

/// Board whose firmware runs the kernels, for each core that can be calibrated.
pub const BOARDS: [(CoreKind, &str); 3] = [
    (CoreKind::CortexM4, "stm32f469i-disco"),
    (CoreKind::CortexM7, "stm32f746g-disco"),
    (CoreKind::CortexM33, "bench-cortex-m33"),
];

/// Boards that name costs of their own: their core waits for flash in another way than the one above.
const OTHERS: [&str; 4] = ["nucleo-f767zi", "nucleo-l4r5zi", "nrf52840-dk", "pico-2"];

/// What costs are found of: a kernel in one packing of its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// A kernel; weights in their plain packing.
    Plain(Kernel),
    /// Convolutions with transformed weights.
    Transformed,
    /// Convolutions and fully connected layers with sparse weights.
    Sparse,
}

impl Subject {
    fn all() -> impl Iterator<Item = Self> {
        Kernel::ALL.into_iter().map(Self::Plain).chain([Self::Transformed, Self::Sparse])
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Plain(kernel) => kernel.name(),
            Self::Transformed => TRANSFORMED,
            Self::Sparse => SPARSE,
        }
    }

    fn models(self) -> Vec<Model> {
        match self {
            Self::Plain(kernel) => layers::models(kernel),
            Self::Transformed => layers::transformed(),
            Self::Sparse => layers::sparse(),
        }
    }
}

/// One emulated compute step.
struct Sample {
    features: Vec<Feature>,
    /// Without waits for flash.
    cycles: u64,
    /// Waits for code, where other code ran before.
    code_waits: u64,
    /// Waits for code of the same step at once again.
    code_waits_again: u64,
}

/// Most models of a kernel that are run with operands outside of the chip; of more every nth is.
const OUTSIDE: usize = 40;
/// Most cycles in SRAM of one of them: every access outside is looked at, which takes long.
const OUTSIDE_CYCLES: u64 = 4_000_000;
/// Models of each kernel that are run once besides, for what the first step takes longer.
const COLD: usize = 5;

/// Writes the cost files, or compares them with those that are there. Only the cores and kernels
/// of these names are run, if there are names; the others' costs stay as they are.
///
/// # Errors
/// If there is no such core or kernel, a run fails, a file cannot be written, or the comparison
/// finds a difference.
pub fn calibrate(check: bool, cores: &[String], names: &[String]) -> Result<(), String> {
    let mut boards = Vec::new();
    for (core, id) in BOARDS {
        let board = tilewright_board::find(id).map_err(|e| e.to_string())?;
        let small = board.small().map(|small| (format!("{}{SMALL}", core.id()), small));
        boards.push((core.id().to_owned(), board));
        boards.extend(small);
    }
    for id in OTHERS {
        let mut board = tilewright_board::find(id).map_err(|e| e.to_string())?;
        // What it names is what is to be found.
        let core = board.core.costs.take().ok_or_else(|| format!("{id} names no costs"))?;
        boards.push((core, board));
    }
    if let Some(unknown) = cores.iter().find(|name| !boards.iter().any(|(core, _)| core == *name)) {
        let known: Vec<&str> = boards.iter().map(|(core, _)| core.as_str()).collect();
        return Err(format!("no board runs '{unknown}': there are {}", known.join(", ")));
    }
    let is_kernel = |name: &&String| Subject::all().any(|subject| subject.name() == *name);
    if let Some(unknown) = names.iter().find(|name| !is_kernel(name)) {
        return Err(format!("there is no kernel '{unknown}'"));
    }
    let chosen = |core: &String| cores.is_empty() || cores.contains(core);
    for (core, board) in boards.into_iter().filter(|(core, _)| chosen(core)) {
        println!("{core}");
        let path = emulated::project().join("costs").join(&core).with_extension("toml");
        let (costs, failed) = costs_of(&board, names, kept(&path)?);
        let text = render(&costs)?;
        let name = format!("costs/{core}.toml");
        if check {
            let known = fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
            if known != text {
                return Err(format!("{name} is out of date: run `cargo xtask calibrate`"));
            }
            println!("{name} is up to date");
        } else {
            fs::write(&path, text).map_err(|e| format!("{name}: {e}"))?;
            println!("wrote {name}");
        }
        if !failed.is_empty() {
            return Err(format!("{name} keeps what it had of {}", failed.join("; ")));
        }
    }
    Ok(())
}

/// Costs of the kernels of these names on a board, of all if there are none, and those that could not be
/// found, with the reason; these, and others, keep what is known of them.
fn costs_of(
    board: &Board,
    names: &[String],
    known: BTreeMap<String, KernelCost>,
) -> (Costs, Vec<String>) {
    println!(
        "{:16} {:>22} {:>22} {:>22}",
        "kernel", "cycles: error", "waits for code: error", "waits outside: error"
    );
    let words = outside::word_cycles(board);
    let chosen = |subject: &Subject| names.is_empty() || names.iter().any(|n| n == subject.name());
    // Small kernels take weights in pairs alone.
    let has =
        |subject: &Subject| matches!(subject, Subject::Plain(_)) || !board.id.ends_with(SMALL);
    let mut failed = Vec::new();
    let mut kernels = BTreeMap::new();
    for subject in Subject::all().filter(has) {
        let name = subject.name().to_owned();
        let found = chosen(&subject).then(|| cost_of(subject, board, words));
        let cost = match found {
            Some(Ok(cost)) => {
                println!(
                    "{name:16} {:>20} ‰ {:>20} ‰ {:>20} ‰",
                    cost.cycle_error_permille,
                    cost.code_error_permille,
                    cost.outside.as_ref().map_or(0, |outside| outside.error_permille)
                );
                Some(cost)
            }
            Some(Err(reason)) => {
                failed.push(format!("{name}: {reason}"));
                known.get(&name).cloned()
            }
            None => known.get(&name).cloned(),
        };
        kernels.extend(cost.map(|cost| (name, cost)));
    }
    let source = format!(
        "`cargo xtask calibrate`: least squares over emulated runs of the firmware of {}; \
         cycles modelled",
        board.id
    );
    let code_miss = board.flash_waits().map_or(0, |waits| waits.miss().into());
    let store_cycles = words.map_or(0, |[_, store]| store);
    (Costs { source, im2col: false, code_miss, store_cycles, flash: None, kernels }, failed)
}

/// What a kernel costs on a board, where a load and a store outside of the chip take so many cycles, if they
/// are to be told.
fn cost_of(subject: Subject, board: &Board, words: Option<[u64; 2]>) -> Result<KernelCost, String> {
    let front = preceded::front(subject);
    let alone = subject.models();
    let models: Vec<Model> = match &front {
        Some(front) => alone.iter().map(|model| preceded::by(front, model)).collect(),
        None => alone.clone(),
    };
    let before = front.map_or(0, |front| front.nodes.len());
    let mut samples = Vec::with_capacity(models.len());
    let mut longer = Vec::with_capacity(COLD);
    let mut from_outside = Vec::new();
    let mut met: BTreeSet<&str> = BTreeSet::new();
    for (index, model) in models.iter().enumerate() {
        let named = |e: String| format!("{}: {e}", model.name);
        let warm = run((subject, before), model, board, 2).map_err(named)?;
        if index < COLD {
            let cold = run((subject, before), model, board, 1).map_err(named)?;
            let pairs = cold.iter().zip(&warm);
            longer.extend(pairs.map(|(cold, warm)| cold.cycles.saturating_sub(warm.cycles)));
        }
        let is_new = |(name, value): &Feature| *value > 0 && !met.contains(name);
        let brings = warm.iter().flat_map(|sample| &sample.features).any(is_new);
        let is_short = warm.iter().all(|sample| sample.cycles <= OUTSIDE_CYCLES);
        // Groups are alike.
        let is_new = |sample: &Sample, known: &[Sample]| {
            known.iter().all(|known| known.features != sample.features)
        };
        for sample in warm {
            if is_new(&sample, &samples) {
                samples.push(sample);
            }
        }
        if let Subject::Plain(kernel) = subject
            && is_short
            && (brings || index.is_multiple_of(models.len().div_ceil(OUTSIDE)))
            && let Some(sample) = outside::sample(kernel, &alone[index], board).map_err(named)?
        {
            let found = sample.features.iter().filter(|(_, value)| *value > 0);
            met.extend(found.map(|(name, _)| *name));
            from_outside.push(sample);
        }
    }
    longer.sort_unstable();
    let first_cycles = longer.get(longer.len() / 2).copied().unwrap_or(0);
    let mut cost = KernelCost { first_cycles, ..fit_kernel(&samples) };
    cost.outside = words.and_then(|[load, _]| outside::fitted(&from_outside, load));
    Ok(cost)
}

/// Runs a model once or twice and gives what each of its compute steps took the last time, without those of so many
/// nodes before.
fn run(
    (subject, before): (Subject, usize),
    model: &Model,
    board: &Board,
    frames: usize,
) -> Result<Vec<Sample>, String> {
    let mut rng = fastrand::Rng::with_seed(1);
    let inputs: Vec<Data> = model
        .inputs
        .iter()
        .map(|id| {
            let elements = model.tensor(*id).shape.elements().unwrap_or(0);
            Data::I8((0..elements).map(|_| rng.i8(..)).collect())
        })
        .collect();
    // Only this strategy computes pools with their convolutions.
    let strategy = match subject {
        Subject::Plain(Kernel::ConvMaxPool) => Strategy::PingPong,
        _ => Strategy::Resident,
    };
    let packing = match subject {
        Subject::Plain(_) => Packing::Plain,
        Subject::Transformed => Packing::Fast,
        Subject::Sparse => Packing::Sparse,
    };
    let options = Options { packing, ..Options::default() };
    let mut plan = emulated::proved(model, board, strategy, &options)?;
    twice(&mut plan);
    let run = emulated::run_plan(plan, model, board, &inputs, frames, &options)?;
    if let Some(fault) = run.outcome.finish.fault {
        return Err(fault.message);
    }
    if let Some(mismatch) = run.mismatch {
        return Err(format!("layer '{}' differs from the reference", mismatch.layer_name));
    }
    let plan = &run.plan;
    let steps = &plan.main.as_ref().ok_or("no program")?.lanes[0].steps;
    let mut samples = Vec::new();
    let computes = |count: &&StepCount| {
        let step = steps.get(count.step as usize);
        step.is_some_and(|step| {
            usize::from(step.layer) >= before
                && matches!(step.instruction, Instruction::Compute { .. })
        })
    };
    let counts: Vec<_> = run.outcome.steps.iter().filter(computes).collect();
    for (count, again) in counts.iter().zip(counts.iter().skip(1)).step_by(2) {
        let Some(Instruction::Compute { op, tile, first_view, .. }) =
            steps.get(count.step as usize).map(|step| step.instruction)
        else {
            continue;
        };
        // Small kernels have loops of their own, of which the others' features say little.
        let features = match board.id.ends_with(SMALL) {
            true => costs::all_features,
            false => costs::features,
        };
        let operands = plan.operands(op, first_view);
        if let (Some((op, views)), Some(tile)) = (operands, plan.tiles.get(tile as usize)) {
            samples.push(Sample {
                features: features(op, tile, views),
                cycles: count.cycles - count.code_waits - count.constant_waits,
                code_waits: count.code_waits,
                code_waits_again: again.code_waits,
            });
        }
    }
    Ok(samples)
}

/// Each compute step twice in turn: no operand of these plans is written over.
fn twice(plan: &mut Plan) {
    for lane in plan.main.iter_mut().flat_map(|program| &mut program.lanes) {
        let computes = |step: &Step| matches!(step.instruction, Instruction::Compute { .. });
        let turns = |step: Step| std::iter::repeat_n(step, if computes(&step) { 2 } else { 1 });
        lane.steps = lane.steps.iter().copied().flat_map(turns).collect();
    }
}

/// The names of all features, and their values by these names, a row for each list.
fn table<'a>(
    lists: impl Iterator<Item = &'a Vec<Feature>> + Clone,
) -> (Vec<&'static str>, Vec<Vec<u64>>) {
    let mut names: Vec<&str> = lists.clone().flatten().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    let row = |features: &Vec<Feature>| {
        let value = |name: &&str| {
            let feature = features.iter().find(|(known, _)| known == name);
            feature.map_or(0, |(_, value)| *value)
        };
        names.iter().map(value).collect()
    };
    let rows = lists.map(row).collect();
    (names, rows)
}

fn fit_kernel(samples: &[Sample]) -> KernelCost {
    let (names, features) = table(samples.iter().map(|sample| &sample.features));
    let named = |milli: Vec<u64>| -> BTreeMap<String, u64> {
        let named = names.iter().zip(milli).filter(|(_, milli)| *milli > 0);
        named.map(|(name, milli)| ((*name).to_owned(), milli)).collect()
    };
    let fit = |value: fn(&Sample) -> u64| {
        let values: Vec<u64> = samples.iter().map(value).collect();
        named(least_squares::coefficients(&features, &values))
    };
    let waits = |value: fn(&Sample) -> u64| -> Vec<u64> { samples.iter().map(value).collect() };
    let wholes: Vec<u64> = samples.iter().map(|sample| sample.cycles + sample.code_waits).collect();
    let mut cost = KernelCost {
        milli_cycles: fit(|sample| sample.cycles),
        milli_code_waits: named(least_squares::part_of(
            &features,
            &waits(|s| s.code_waits),
            &wholes,
        )),
        milli_code_waits_again: named(least_squares::part_of(
            &features,
            &waits(|s| s.code_waits_again),
            &wholes,
        )),
        ..KernelCost::default()
    };
    for sample in samples {
        let error = |found: u64, value: u64| found.abs_diff(value) * 1000 / value.max(1);
        let cycles = error(cost.cycles(&sample.features), sample.cycles);
        cost.cycle_error_permille = cost.cycle_error_permille.max(cycles);
        let whole = sample.cycles + sample.code_waits;
        for (before, waits) in
            [(Before::Other, sample.code_waits), (Before::Same, sample.code_waits_again)]
        {
            let error = cost.code_waits(&sample.features, before).abs_diff(waits) * 1000 / whole;
            cost.code_error_permille = cost.code_error_permille.max(error);
        }
    }
    cost
}

/// The costs that a file holds, none if there is no file: not those that were compiled in, which may be older.
fn kept(path: &Path) -> Result<BTreeMap<String, KernelCost>, String> {
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let costs: Costs = toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(costs.kernels)
}

/// A file, with the coefficients of a kernel in a line.
fn render(costs: &Costs) -> Result<String, String> {
    let mut text = String::from("# Written by `cargo xtask calibrate`; do not edit.\n");
    text.push_str(
        "# Coefficients in thousandths; core/planner/src/costs/features.rs has the features.\n",
    );
    let whole = toml::Table::try_from(costs).map_err(|e| e.to_string())?;
    for (key, value) in whole.iter().filter(|(_, value)| !value.is_table()) {
        text.push_str(&format!("{key} = {value}\n"));
    }
    let kernels = whole.get("kernels").and_then(toml::Value::as_table);
    for (name, kernel) in kernels.into_iter().flatten() {
        text.push_str(&format!("\n[kernels.{name}]\n"));
        for (key, value) in kernel.as_table().into_iter().flatten() {
            text.push_str(&format!("{key} = {value}\n"));
        }
    }
    Ok(text)
}
