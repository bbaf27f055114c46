//! Planning, packaging, comparing: what the planner worker does.

use tilewright_board::Board;
use tilewright_image::plan_image;
use tilewright_model::Model;
use tilewright_plan::Bytes;
use tilewright_planner::{Options, Planned, Strategy, plan};

use super::{Outcome, hexadecimal, sha256};
use crate::message::{
    ImageFacts, OutputFacts, PlacedTensor, PlanFacts, PlanReply, PlanRequest, PlanSettings, Trouble,
};

/// The planner between requests.
#[derive(Default)]
pub struct Planner {
    model: Option<Model>,
}

impl Planner {
    /// Answers a request.
    ///
    /// # Errors
    /// What went wrong, where, and what to do.
    pub fn answer(&mut self, request: PlanRequest, buffers: &[Vec<u8>]) -> Outcome<PlanReply> {
        match request {
            PlanRequest::Boards => Ok((boards(), Vec::new())),
            PlanRequest::Load => {
                self.model = None;
                self.model = Some(load(buffers)?);
                Ok((PlanReply::Loaded, Vec::new()))
            }
            PlanRequest::Plan(settings) => {
                let model = self.model.as_ref().ok_or_else(no_model)?;
                let (planned, board) = make(model, &settings)?;
                let image = match planned.report.fits {
                    true => Some(image_of(&planned, model, &board)?),
                    false => None,
                };
                let facts = facts(settings, planned, image.as_deref())?;
                let buffers = image.into_iter().collect();
                Ok((PlanReply::Planned(Box::new(facts)), buffers))
            }
        }
    }
}

/// The int8 model that a message brings.
pub(super) fn load(buffers: &[Vec<u8>]) -> Result<Model, Trouble> {
    let bytes = buffers.first().map_or(&[][..], Vec::as_slice);
    postcard::from_bytes(bytes).map_err(|error| ours("model", &error))
}

fn boards() -> PlanReply {
    let strategies = Strategy::ALL.iter().map(|strategy| strategy.name().to_owned()).collect();
    PlanReply::Boards { boards: tilewright_board::all(), strategies }
}

/// The plan that settings ask for, and its board.
pub(super) fn make(model: &Model, settings: &PlanSettings) -> Result<(Planned, Board), Trouble> {
    let cannot = |error: &dyn std::fmt::Display| {
        Trouble::new(
            "This model cannot be planned",
            format!("{error}."),
            "Change the model, or choose another board or strategy.",
        )
    };
    let board = tilewright_board::find(&settings.board).map_err(|error| cannot(&error))?;
    let strategy = settings.strategy.parse::<Strategy>().map_err(|error| cannot(&error))?;
    let options = Options { sram: settings.sram_bytes.map(Bytes) };
    let planned = plan(model, &board, strategy, &options).map_err(|error| cannot(&error))?;
    Ok((planned, board))
}

fn image_of(planned: &Planned, model: &Model, board: &Board) -> Result<Vec<u8>, Trouble> {
    tilewright_check::check(&planned.plan, model, board)
        .map_err(|error| ours("plan", &format!("it was found to be wrong: {error}")))?;
    plan_image(&planned.plan, model).map_err(|error| ours("plan image", &error))
}

fn facts(
    settings: PlanSettings,
    planned: Planned,
    image: Option<&[u8]>,
) -> Result<PlanFacts, Trouble> {
    let Planned { plan, memory, timeline, report } = planned;
    let image = image.map(image_facts).transpose()?;
    let program = plan.programs.iter().find(|program| !program.boot);
    let outputs = program.iter().flat_map(|program| &program.outputs);
    Ok(PlanFacts {
        settings,
        report,
        memory,
        tensors: plan
            .tensors
            .iter()
            .map(|tensor| PlacedTensor {
                tensor: tensor.tensor,
                name: tensor.name.clone(),
                shape: tensor.shape,
                bytes: tensor.bytes.0,
                space: tensor.space,
                offset: tensor.offset,
                first: tensor.first,
                end: tensor.end,
            })
            .collect(),
        timeline,
        outputs: outputs
            .map(|output| OutputFacts {
                scale: output.scale,
                zero: i32::from(output.zero),
                labels: output.labels.clone(),
            })
            .collect(),
        image,
    })
}

fn image_facts(bytes: &[u8]) -> Result<ImageFacts, Trouble> {
    // The header's place of the plan id is part of the format.
    let at = std::mem::offset_of!(tilewright_plan::image::Header, plan_id);
    let id = bytes.get(at..at + 32).ok_or_else(|| ours("plan image", &"it is too short"))?;
    Ok(ImageFacts { bytes: bytes.len() as u64, sha256: sha256(bytes), plan_id: hexadecimal(id) })
}

pub(super) fn no_model() -> Trouble {
    Trouble::new("There is no model to plan", "", "Open a model first.")
}

/// A defect of this program.
pub(super) fn ours(place: &str, error: &dyn std::fmt::Display) -> Trouble {
    Trouble::new(
        "Something went wrong inside this page",
        format!("{place}: {error}."),
        "This is a defect of Tilewright: please report it with the model, if you can share it.",
    )
}
