//! Labelled images, and what thresholds of early exits come to over them.

use std::rc::Rc;

use super::{Effect, Job, MAX_FILE_BYTES, Place, State};
use crate::message::{PlanSettings, trouble};
use crate::view_model::figures;
use tilewright_report::{Diagnostic, ExitsReport};

/// Labelled images that a person gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelledFiles {
    /// Tokens and names; none: the images that come with the page.
    pub files: Vec<(u32, String)>,
}

impl LabelledFiles {
    /// Whether they come with the page.
    #[must_use]
    pub const fn is_given(&self) -> bool {
        self.files.is_empty()
    }

    /// What they are called.
    #[must_use]
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.files.iter().map(|(_, name)| name.as_str()).collect();
        if names.is_empty() { GIVEN_IMAGES.to_owned() } else { names.join(" and ") }
    }
}

/// What images that come with the page are called.
const GIVEN_IMAGES: &str = "Fashion-MNIST training images of the page";

/// What the exits of the plan of some settings come to over images.
#[derive(Clone, Debug, PartialEq)]
pub struct ExitsStudy {
    pub settings: PlanSettings,
    /// What the images are called.
    pub images: String,
    pub report: Rc<ExitsReport>,
}

/// Whether files of these names and lengths can be labelled images.
///
/// # Errors
/// If they are too many or too large to be read.
pub fn check_images(files: &[(String, u64)]) -> Result<(), Diagnostic> {
    let bytes = files.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes));
    if files.len() <= 2 && bytes <= MAX_FILE_BYTES {
        return Ok(());
    }
    let (count, size) = (files.len(), figures::binary(bytes));
    Err(trouble(
        "These are too many files for labelled images",
        format!("{count} files with {size}. Nothing of them was read."),
        "Give a file of images and one of labels as MNIST has them, or one .npy array.",
    ))
}

impl State {
    pub(super) fn take_images(&mut self, files: Vec<(u32, String)>) {
        self.images = LabelledFiles { files };
        self.tasks.retain(|task| task.job != Job::Exits);
        for place in [Place::Images, Place::Search, Place::Exits] {
            self.clear(place);
        }
    }

    /// Has the exits of the shown plan looked at over the images.
    pub(super) fn study_exits(&mut self, effects: &mut Vec<Effect>) {
        let Some(plan) = &self.plan else { return };
        let settings = plan.settings.clone();
        self.clear(Place::Exits);
        let request = self.begin(Job::Exits, "Looking at images");
        effects.push(Effect::StudyExits(request, settings, self.images.clone()));
    }

    pub(super) fn exits_studied(&mut self, settings: PlanSettings, report: ExitsReport, took: f64) {
        self.took_ms = Some(took);
        self.said = format!("Exits over {} images", report.images);
        let (images, report) = (self.images.name(), Rc::new(report));
        self.exits = Some(ExitsStudy { settings, images, report });
    }
}
