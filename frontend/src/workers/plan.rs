//! Planning, packaging, comparing: what the planner worker does.

use tilewright_board::Board;
use tilewright_image::{Checks, store_bytes, stores};
use tilewright_model::Model;
use tilewright_plan::{Bytes, Io, Kernel, Space, Work};
use tilewright_planner::{Options, Planned, Planning, Progress, Strategy};
use tilewright_report::{Accesses, MemoryMap, PlacedTensor, sentence};

use tilewright_app::{
    Blame, Diagnostic, RemedyWork, Resolved, checks_of, no_plan, plan_image, prove, resolve,
    room_for,
};

use super::host::{WorkerHost, words};
use super::known_classes::known_classes;
use super::{Outcome, Sliced, Turn, checks, hexadecimal, sha256, tiles};
use crate::message::{
    ImageFacts, OutputFacts, PlanFacts, PlanReply, PlanRequest, PlanSettings, TAKES_LONG, trouble,
};

/// Units of work between two looks for newer requests: some thirty milliseconds in a browser.
const SLICE: u64 = 1_500_000;
/// Slices of a timeline that plans to compare with keep: with more they take too much memory.
const MOST_COMPARED: usize = 1 << 16;

/// What was searched of a model already, by strategy: no board and no budget matters to it.
type Searched = Vec<(Strategy, Planning)>;

/// The planner between requests.
#[derive(Default)]
pub struct Planner {
    model: Option<Model>,
    searched: Searched,
    /// What is left for changes that may help the shown plan.
    remedies: RemedyWork,
    /// The plan under way.
    job: Option<Job>,
}

struct Job {
    settings: PlanSettings,
    board: Board,
    strategy: Strategy,
    planning: Planning,
    why: Why,
}

/// What a plan is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// To be shown, with its image.
    Shown,
    /// To be compared: then nobody needs its image and its timeline.
    Compared,
    /// The same of what may be a remedy.
    Remedy,
}

impl Sliced for Planner {
    type Request = PlanRequest;
    type Answer = PlanReply;

    /// A newer plan, or another model, takes the place of the plan under way.
    fn begin(&mut self, request: PlanRequest, buffers: &[Vec<u8>]) -> Turn<PlanReply> {
        match request {
            PlanRequest::Boards => Turn::Done(Ok((boards(), Vec::new()))),
            PlanRequest::Load => {
                (self.model, self.job) = (None, None);
                self.searched.clear();
                let loaded = load(buffers).map(|model| {
                    let obstacles = obstacles(&model);
                    self.model = Some(model);
                    (PlanReply::Loaded { obstacles }, Vec::new())
                });
                Turn::Done(loaded)
            }
            PlanRequest::Rehearse(settings) => Turn::Done(rehearse(settings, buffers)),
            PlanRequest::Plan(settings) => self.plan(settings, Why::Shown),
            PlanRequest::Compare(settings) => self.plan(settings, Why::Compared),
            PlanRequest::TryOut(settings) => self.plan(settings, Why::Remedy),
        }
    }

    fn go_on(&mut self) -> Option<Turn<PlanReply>> {
        let (job, model) = (self.job.as_mut()?, self.model.as_ref()?);
        match job.planning.advance(model, SLICE) {
            Ok(false)
                if job.why == Why::Remedy
                    && job.planning.spent() > self.remedies.of_next(job.strategy) =>
            {
                let job = self.job.take()?;
                self.remedies.spend(job.planning.spent());
                Some(Turn::Done(given_up(finished(model, job))))
            }
            Ok(false) => Some(Turn::Working(progress(&job.planning))),
            Ok(true) => {
                let job = self.job.take()?;
                if job.why == Why::Remedy {
                    self.remedies.spend(job.planning.spent());
                }
                let is_known = self.searched.iter().any(|(known, _)| *known == job.strategy);
                let kept = job.planning.again(model, &job.board, &Options::default());
                let kept = kept.ok().filter(|_| !is_known && job.settings.tiles.is_none());
                self.searched.extend(kept.map(|kept| (job.strategy, kept)));
                Some(Turn::Done(finished(model, job)))
            }
            Err(error) => {
                self.job = None;
                Some(Turn::Done(Err(no_plan(error))))
            }
        }
    }
}

impl Planner {
    fn plan(&mut self, settings: PlanSettings, why: Why) -> Turn<PlanReply> {
        self.job = None;
        if why == Why::Shown {
            self.remedies = RemedyWork::default();
        }
        let Some(model) = &self.model else { return Turn::Done(Err(no_model())) };
        match start(model, &settings, why, &self.searched) {
            Ok((planning, board, strategy)) => {
                self.job = Some(Job { settings, board, strategy, planning, why });
            }
            Err(trouble) => return Turn::Done(Err(trouble)),
        }
        // Work begins after the messages that wait: of many wishes only the newest is planned.
        Turn::Working("Planning: begins".to_owned())
    }
}

/// Plans a model that nobody waits for.
fn rehearse(settings: PlanSettings, buffers: &[Vec<u8>]) -> Outcome<PlanReply> {
    let model = load(buffers)?;
    let (mut planning, board, strategy) = start(&model, &settings, Why::Shown, &Searched::new())?;
    while !planning.advance(&model, SLICE).map_err(no_plan)? {}
    finished(&model, Job { settings, board, strategy, planning, why: Why::Shown })?;
    Ok((PlanReply::Rehearsed, Vec::new()))
}

fn progress(planning: &Planning) -> String {
    let Progress { arena, bound, ways } = planning.progress();
    words(&tilewright_app::Progress::Planning { arena, bound, ways }).unwrap_or_default()
}

fn finished(model: &Model, job: Job) -> Outcome<PlanReply> {
    let Job { settings, board, planning, why, .. } = job;
    let is_compared = why != Why::Shown;
    let mut planned = planning.finish(model).map_err(no_plan)?;
    let integrity = settings.integrity;
    let checks = checks_of(&planned, integrity);
    let no_image = why_no_image(&planned, &board, &settings, checks.as_ref());
    prove(&planned, model, &board)?;
    let runs = planned.report.fits && planned.report.runnable;
    let image = match runs && !is_compared && no_image.is_none() {
        true => Some(plan_image(&planned, model, integrity, &WorkerHost::new(&|_| {}))?),
        false => None,
    };
    if is_compared && planned.timeline.slices.len() > MOST_COMPARED {
        planned.timeline.slices.clear();
    }
    let checks = checks.map(|checks| checks::facts(&checks, &board));
    let tiled = planned.tiled.as_deref();
    let tiles = tiled.and_then(|tiled| tiles::facts(model, tiled, &planned.plan));
    let facts =
        PlanFacts { checks, no_image, tiles, ..facts(settings, model, planned, image.as_deref())? };
    Ok((PlanReply::Planned(Box::new(facts)), image.into_iter().collect()))
}

/// What was found until it was given up: that helps, if it fits.
fn given_up(found: Outcome<PlanReply>) -> Outcome<PlanReply> {
    let takes_long = || trouble(TAKES_LONG, "", "Choose it to see what comes of it.");
    match found {
        Ok((PlanReply::Planned(facts), _)) if !facts.report.fits => Err(takes_long()),
        found => found,
    }
}

/// The int8 model that a message brings.
pub(super) fn load(buffers: &[Vec<u8>]) -> Result<Model, Diagnostic> {
    let bytes = buffers.first().map_or(&[][..], Vec::as_slice);
    postcard::from_bytes(bytes).map_err(|error| ours("model", &error))
}

fn boards() -> PlanReply {
    let strategies = Strategy::ALL.map(|strategy| strategy.name().to_owned()).to_vec();
    // Each board's firmware with small kernels stands behind it, as a board of its own.
    let with_small = |board: Board| [Some(board.clone()), board.small()].into_iter().flatten();
    let boards = tilewright_board::all().into_iter().flat_map(with_small).collect();
    PlanReply::Boards { boards, strategies }
}

/// The strategies that cannot plan a model, and why.
fn obstacles(model: &Model) -> Vec<(String, String)> {
    let why = |strategy: Strategy| {
        let why = strategy.unsupported(model, None)?;
        Some((strategy.name().to_owned(), why.what))
    };
    Strategy::ALL.into_iter().filter_map(why).collect()
}

fn cannot(error: &dyn std::fmt::Display) -> Diagnostic {
    let what_to_do = "Change the model, or choose another board or strategy.";
    Diagnostic::new(Blame::BadInput, sentence(&error.to_string()), "plan", what_to_do)
}

/// Begins the plan that settings ask for; its board and its strategy.
fn start(
    model: &Model,
    settings: &PlanSettings,
    why: Why,
    searched: &Searched,
) -> Result<(Planning, Board, Strategy), Diagnostic> {
    let Resolved { board, strategy, options } = resolve(settings)?;
    if let Some(why) = strategy.unsupported(model, Some(&board)) {
        return Err(Diagnostic::unsupported(why));
    }
    // Of several frames few say what would help.
    let options = if why == Why::Remedy { options.of_few_frames() } else { options };
    let known = searched.iter().find(|(known, _)| *known == strategy);
    let planning = match known {
        Some((_, searched)) => searched.again(model, &board, &options),
        None => Planning::new(model, &board, strategy, &options),
    };
    let planning = planning.map_err(no_plan)?;
    Ok((planning, board, strategy))
}

/// The plan that settings ask for, and its board.
#[cfg(feature = "importer")]
pub(super) fn make(model: &Model, settings: &PlanSettings) -> Result<(Planned, Board), Diagnostic> {
    let (mut planning, board, _) = start(model, settings, Why::Shown, &Searched::new())?;
    while !planning.advance(model, SLICE).map_err(|error| cannot(&error))? {}
    let planned = planning.finish(model).map_err(|error| cannot(&error))?;
    Ok((planned, board))
}

/// Why a plan that fits has no image, for people.
fn why_no_image(
    planned: &Planned,
    board: &Board,
    settings: &PlanSettings,
    checks: Option<&Checks>,
) -> Option<String> {
    let report = &planned.report;
    if !report.fits {
        return None;
    }
    if let Some(why) = planned.unsupported(board) {
        return Some(sentence(&why.what));
    }
    let why = if !board.runs() {
        return Some(format!(
            "{} is planned and simulated only; no firmware has been written for it.",
            board.name
        ));
    } else if !settings.is_of_the_board() {
        // The firmware sets the board's own clock.
        "the plan is made for another clock or card than the board has."
    } else {
        return Some(room_for(checks?, planned, board).err()?.what);
    };
    Some(why.to_owned())
}

fn facts(
    settings: PlanSettings,
    model: &Model,
    planned: Planned,
    image: Option<&[u8]>,
) -> Result<PlanFacts, Diagnostic> {
    let Planned { plan, tiled, memory, timeline, occupancy, traffic, report, .. } = planned;
    // Of the model as it was opened, whose tiles share their layer's node.
    let opened = |node: &u32| match &tiled {
        Some(tiled) => tiled.origins.get(*node as usize).copied().flatten().map(|node| node as u32),
        None => Some(*node),
    };
    let nodes = |nodes: &[u32]| nodes.iter().filter_map(opened).collect();
    let store_bytes = stores(&plan).map(|space| store_bytes(&plan, space)).sum();
    let image = image.map(|image| image_facts(image, store_bytes)).transpose()?;
    let program = plan.main.as_ref();
    let outputs = program.iter().flat_map(|program| &program.outputs);
    // Where SRAM holds nothing, what there is to see is the memory that holds the tensors.
    let memory = match plan.space(Space::Arena) {
        Bytes(0) => MemoryMap::of_space(&plan, Space::ExternalRam),
        _ => memory,
    };
    let tensor = |output: &Io| plan.tensors.get(output.tensor as usize);
    let known = |shape: [u32; 3]| match (shape, program.map(|program| program.inputs.as_slice())) {
        ([1, 1, scores], Some([input])) => known_classes(tensor(input)?.shape, scores),
        _ => None,
    };
    let is_softmax = |tensor: u32| {
        let mut makers = plan.layers.iter().filter(|layer| layer.writes.contains(&tensor));
        makers.any(|layer| matches!(layer.work, Work::Kernel(Kernel::Softmax | Kernel::LogSoftmax)))
    };
    // Without a timeline nobody asks for them.
    let accesses = match timeline.slices.is_empty() {
        true => Accesses::default(),
        false => Accesses::of(&plan),
    };
    Ok(PlanFacts {
        settings,
        report,
        memory,
        accesses,
        tensors: PlacedTensor::of(&plan),
        nodes: plan.layers.iter().map(|layer| nodes(&layer.nodes)).collect(),
        timeline,
        occupancy,
        traffic,
        outputs: outputs
            .map(|output| {
                let shape = tensor(output).map(|tensor| tensor.shape).unwrap_or_default();
                let own = model.labels_for(&shape.map(|size| size as usize));
                let is_scores = shape.iter().product::<u32>() as usize == own.len();
                let known = known(shape).filter(|_| own.is_empty());
                let labels =
                    known.as_ref().map(|known| known.names.iter().map(|n| (*n).to_owned()));
                OutputFacts {
                    name: tensor(output).map(|tensor| tensor.name.clone()).unwrap_or_default(),
                    shape,
                    is_scores: is_scores || is_softmax(output.tensor),
                    scale: output.scale,
                    zero: i32::from(output.zero),
                    labels: labels.map_or(own, Iterator::collect),
                    labels_of: known.map(|known| known.of.to_owned()).unwrap_or_default(),
                }
            })
            .collect(),
        tiles: None,
        checks: None,
        image,
        no_image: None,
    })
}

fn image_facts(bytes: &[u8], store_bytes: u64) -> Result<ImageFacts, Diagnostic> {
    // The header's place of the plan id is part of the format.
    let at = std::mem::offset_of!(tilewright_plan::image::Header, plan_id);
    let id = bytes.get(at..at + 32).ok_or_else(|| ours("plan image", &"it is too short"))?;
    let (sha256, plan_id) = (sha256(bytes), hexadecimal(id));
    Ok(ImageFacts { bytes: bytes.len() as u64, sha256, plan_id, store_bytes })
}

pub(super) fn no_model() -> Diagnostic {
    trouble("There is no model to plan", "", "Open a model first.")
}

/// A defect of this program.
pub(super) fn ours(place: &str, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::ours(sentence(&error.to_string()), place)
}
