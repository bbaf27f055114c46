//! Training of one network from new weights: what a search has found is worth as much as it learns afterwards (3.2.3
//! of the thesis of Sadiq). Convolutions with a bias learn behind a batch normalisation, which is folded in the end.

mod layers;
mod network;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tilewright_model::Model;

use crate::fingerprint::fingerprint;
use crate::kernels::norm::Moments;
use crate::optimiser::{Descent, annealed};
use crate::random::Random;
use crate::samples::{Batch, Samples};
use crate::search::Diverged;
use crate::state::{self, StateError};
use network::Network;

/// A batch is learnt from in parts of about so many images, each with a batch normalisation of its own, whoever
/// computes them. Larger ones leave a core's cache, and what allocators keep.
const OF_PART: usize = 16;

/// Batches whose moments stand for those of all images.
const OBSERVED: usize = 16;

/// Most values that a batch may leave behind for the way back; four bytes each, several times.
const MOST_KEPT: usize = 1 << 27;

/// Streams of random numbers, by purpose.
const WEIGHTS: u64 = 1;
/// And a number for each epoch from this on.
const ORDER: u64 = 1 << 32;

/// How a network is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainingSettings {
    /// Another one gives other weights to begin with, and other batches.
    pub seed: u64,
    /// How often each image is learnt from.
    pub epochs: usize,
    /// Images of a batch, 4 to 1024.
    pub batch: usize,
    /// Learning rate at the beginning. It falls as half a cosine to nothing.
    pub rate: f32,
}

impl Default for TrainingSettings {
    fn default() -> Self {
        Self { seed: 0, epochs: 10, batch: 64, rate: 0.1 }
    }
}

/// Why a network cannot be trained, or not go on.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TrainingError {
    /// The model is of another kind.
    #[error("the model does not take one image and give one list of classes' values")]
    InputsAndOutputs,
    /// An operator has no way back here.
    #[error("the {operator} '{node}' is no operator that can be trained here")]
    Operator {
        /// The node.
        node: String,
        /// Its operator.
        operator: String,
    },
    /// Images and model do not fit each other.
    #[error("the images have {found}, the model takes {wanted}")]
    Samples {
        /// What they have.
        found: String,
        /// What is needed.
        wanted: String,
    },
    /// A number outside its range.
    #[error("{found} {what}: give {range}")]
    Range {
        /// What is counted.
        what: &'static str,
        /// How many.
        found: String,
        /// What is possible.
        range: &'static str,
    },
    /// A batch would take too much memory.
    #[error("a batch would leave {values} values for the way back: give fewer images of a batch")]
    TooLarge {
        /// How many.
        values: usize,
    },
    /// The bytes are not this training's.
    #[error(transparent)]
    State(#[from] StateError),
    /// It learns no more; what was logged before stays.
    #[error("{0}")]
    Diverged(Diverged),
}

/// What an epoch came to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// From 1.
    pub epoch: usize,
    /// Mean cross entropy of its images when they were learnt from.
    pub loss: f64,
    /// Part of them that was classified rightly, 0 to 1.
    pub accuracy: f64,
}

/// What changes with each step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Learnt {
    weights: Vec<f32>,
    descent: Descent,
    done: usize,
    /// Sums of the epoch under way.
    loss: f64,
    correct: usize,
    log: Vec<Epoch>,
}

/// What belongs to a training besides what is learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Begun {
    settings: TrainingSettings,
    /// Of the network.
    fingerprint: u64,
}

/// Does so many pieces of work, each once, in any order, side by side if it can; ends when all are done.
pub type DoAll<'d> = dyn Fn(usize, &(dyn Fn(usize) + Sync)) + 'd;

/// A network in training.
#[derive(Debug)]
pub struct Training {
    begun: Begun,
    model: Model,
    samples: Arc<Samples>,
    network: Network,
    learnt: Learnt,
}

impl Training {
    /// A float model with new weights: one image of the samples' size for input, of up to four colours, and values of
    /// classes for output.
    ///
    /// # Errors
    /// If the model cannot be trained, or not with these images and settings.
    pub fn new(
        settings: TrainingSettings,
        model: Model,
        samples: Arc<Samples>,
    ) -> Result<Self, TrainingError> {
        let network = Network::of(&model)?;
        let within = |what, found: usize, least, most, range| match (least..=most).contains(&found)
        {
            true => Ok(()),
            false => Err(TrainingError::Range { what, found: found.to_string(), range }),
        };
        within("epochs", settings.epochs, 1, 10_000, "1 to 10,000")?;
        within("images of a batch", settings.batch, 4, 1024, "4 to 1024")?;
        within("images", samples.images(), settings.batch, usize::MAX, "as many as a batch has")?;
        if !(settings.rate.is_finite() && settings.rate >= 0.0) {
            let (what, range) = ("as learning rate", "a number from 0 on");
            return Err(TrainingError::Range { what, found: settings.rate.to_string(), range });
        }
        let side = samples.side();
        let wanted = model.inputs.first().map(|id| model.tensor(*id).shape.dims());
        if wanted != Some(&[1, side, side, network.colours]) {
            let found = format!("{side}x{side} pixels");
            let wanted = wanted.unwrap_or_default().iter().skip(1).map(usize::to_string);
            let wanted = format!("{} values", wanted.collect::<Vec<_>>().join("x"));
            return Err(TrainingError::Samples { found, wanted });
        }
        if samples.classes() > network.classes {
            let found = format!("{} classes", samples.classes());
            let wanted = format!("{} at most", network.classes);
            return Err(TrainingError::Samples { found, wanted });
        }
        let of_image: usize =
            model.tensors.iter().map(|tensor| tensor.shape.elements().unwrap_or(0)).sum();
        let values = of_image.saturating_mul(settings.batch);
        if values > MOST_KEPT {
            return Err(TrainingError::TooLarge { values });
        }
        let weights = network.layout.begin(&mut Random::new(settings.seed, WEIGHTS));
        let descent = Descent::new(weights.len());
        let fingerprint = fingerprint_of(&model);
        let log = Vec::new();
        let learnt = Learnt { weights, descent, done: 0, loss: 0.0, correct: 0, log };
        Ok(Self { begun: Begun { settings, fingerprint }, model, samples, network, learnt })
    }

    /// All that is needed to go on, but model and samples.
    ///
    /// # Errors
    /// [`StateError::Unreadable`], if there is no memory for it.
    pub fn state(&self) -> Result<Vec<u8>, TrainingError> {
        Ok(state::kept(&self.begun, &self.samples, &self.learnt)?)
    }

    /// Goes on with what these bytes hold, of the same settings, model and samples.
    ///
    /// # Errors
    /// [`StateError`]; nothing is changed.
    pub fn resume(&mut self, bytes: &[u8]) -> Result<(), TrainingError> {
        let learnt: Learnt = state::read(bytes, &self.begun, &self.samples)?;
        let new = &self.learnt;
        let is_whole = learnt.weights.len() == new.weights.len()
            && learnt.descent.speed.len() == new.descent.speed.len()
            && learnt.done <= self.steps()
            && learnt.log.len() == learnt.done / self.of_epoch();
        if !is_whole {
            return Err(StateError::Unreadable.into());
        }
        self.learnt = learnt;
        Ok(())
    }

    fn of_epoch(&self) -> usize {
        self.samples.images() / self.begun.settings.batch
    }

    /// How many steps there are.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.begun.settings.epochs.saturating_mul(self.of_epoch())
    }

    /// How many steps are done.
    #[must_use]
    pub const fn done(&self) -> usize {
        self.learnt.done
    }

    /// What whole epochs came to.
    #[must_use]
    pub fn log(&self) -> &[Epoch] {
        &self.learnt.log
    }

    /// The parts of the batch of a step.
    fn parts(&self, step: usize) -> Vec<Batch> {
        let size = self.begun.settings.batch;
        let (epoch, index) = (step / self.of_epoch(), step % self.of_epoch());
        let mut random = Random::new(self.begun.settings.seed, ORDER + epoch as u64);
        let order = random.order(self.samples.images());
        let batch = &order[index * size..][..size];
        let parts = size.div_ceil(OF_PART);
        let part = |part: usize| {
            let range = part * size / parts..(part + 1) * size / parts;
            self.samples.batch(batch[range].iter().copied(), self.network.colours)
        };
        (0..parts).map(part).collect()
    }

    /// What is made of each part.
    fn of_each<T: Send>(
        &self,
        parts: &[Batch],
        do_all: &DoAll<'_>,
        make: impl Fn(&Network, &Batch, &[f32]) -> T + Sync,
    ) -> Vec<T> {
        let slots: Vec<Mutex<Option<T>>> = parts.iter().map(|_| Mutex::new(None)).collect();
        do_all(parts.len(), &|index| {
            let made = make(&self.network, &parts[index], &self.learnt.weights);
            if let Ok(mut slot) = slots[index].lock() {
                *slot = Some(made);
            }
        });
        slots.into_iter().filter_map(|slot| slot.into_inner().ok().flatten()).collect()
    }

    /// The next step. Whether there was one.
    ///
    /// # Errors
    /// [`TrainingError::Diverged`]; weights and log stay as they were before the step.
    pub fn advance(&mut self, do_all: &DoAll<'_>) -> Result<bool, TrainingError> {
        let (step, of_epoch) = (self.learnt.done, self.of_epoch());
        if step >= self.steps() {
            return Ok(false);
        }
        let parts = self.parts(step);
        let passes = self.of_each(&parts, do_all, Network::pass);
        let mut gradient = vec![0.0f32; self.learnt.weights.len()];
        let (mut loss, mut correct) = (0.0, 0);
        for (part, pass) in parts.iter().zip(&passes) {
            let share = part.labels.len() as f32 / self.begun.settings.batch as f32;
            gradient.iter_mut().zip(&pass.by_weights).for_each(|(sum, by)| *sum += share * by);
            loss += f64::from(share) * pass.loss;
            correct += pass.correct;
        }
        Diverged::check(step + 1, loss, false).map_err(TrainingError::Diverged)?;
        let rate = annealed(self.begun.settings.rate, step as f64 / self.steps() as f64, 0.0);
        let learnt = &mut self.learnt;
        learnt.descent.step(&mut learnt.weights, &gradient, rate);
        learnt.done += 1;
        learnt.loss += loss;
        learnt.correct += correct;
        if learnt.done.is_multiple_of(of_epoch) {
            let images = of_epoch * self.begun.settings.batch;
            learnt.log.push(Epoch {
                epoch: learnt.done / of_epoch,
                loss: learnt.loss / of_epoch as f64,
                accuracy: learnt.correct as f64 / images as f64,
            });
            (learnt.loss, learnt.correct) = (0.0, 0);
        }
        Ok(true)
    }

    /// The float model with what was learnt, batch normalisations folded.
    #[must_use]
    pub fn model(&self, do_all: &DoAll<'_>) -> Model {
        let batches = OBSERVED.min(self.of_epoch());
        let parts: Vec<Batch> = (0..batches).flat_map(|batch| self.parts(batch)).collect();
        let of_all = self.of_each(&parts, do_all, Network::moments);
        let layers = of_all.first().map_or(0, Vec::len);
        let mean = |layer: usize| Moments::mean(of_all.iter().filter_map(|all| all.get(layer)));
        let moments: Vec<Moments> = (0..layers).map(mean).collect();
        self.network.folded(&self.model, &self.learnt.weights, &moments)
    }
}

/// A number that other networks hardly have.
fn fingerprint_of(model: &Model) -> u64 {
    let shapes = model.tensors.iter().map(|tensor| format!("{:?}", tensor.shape));
    let nodes = model.nodes.iter().map(|node| format!("{:?} {:?}", node.op, node.inputs));
    fingerprint(shapes.chain(nodes).flat_map(String::into_bytes))
}
