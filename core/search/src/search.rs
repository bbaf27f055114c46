//! The search: algorithm 1 of the thesis, in the first order of DARTS (ξ = 0), a step at a time.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use tilewright_zoo::cells::{CellFault, CellKind, Genotype, OperationCosts};

use crate::architecture::Architecture;
use crate::optimiser::{Adam, Descent, annealed};
use crate::random::Random;
use crate::samples::{Batch, Samples};
use crate::settings::{Settings, SettingsError};
use crate::state::StateError;
use crate::supernet::{Supernet, Wanted};

/// A batch that leaves this much cross entropy knows less than nothing: ten equal classes have 2.3.
const MOST_LOSS: f64 = 100.0;

/// The learning rate of layers ends at this part of its beginning.
const LAST_RATE: f64 = 0.04;

/// Streams of random numbers, by purpose.
const WEIGHTS: u64 = 1;
const ARCHITECTURE: u64 = 2;
const SPLIT: u64 = 3;
/// And a number for each epoch from these on.
const TRAINING: u64 = 1 << 32;
const VALIDATION: u64 = 1 << 33;

/// What is logged of a step: figures 3.7 to 3.10 of the thesis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// From 1.
    pub step: usize,
    /// L_ce of the batch that the weights learnt from.
    pub training_loss: f64,
    /// Part of it that was classified rightly, 0 to 1.
    pub training_accuracy: f64,
    /// L_ce of the batch that the architecture learnt from.
    pub validation_loss: f64,
    /// Part of it that was classified rightly, 0 to 1.
    pub validation_accuracy: f64,
    /// L_com in cycles when the architecture learnt.
    pub validation_cost: f64,
    /// L_com in cycles afterwards.
    pub training_cost: f64,
    /// Cycles of the normal cell that the step's architecture comes to.
    pub normal_cost: u64,
    /// Cycles of the reduction cell.
    pub reduction_cost: u64,
}

impl Row {
    /// Cycles of both cells.
    #[must_use]
    pub const fn cells_cost(&self) -> u64 {
        self.normal_cost.saturating_add(self.reduction_cost)
    }
}

/// A loss that grew beyond all bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Diverged {
    /// The step, from 1, which is not done.
    pub step: usize,
    /// What the cross entropy became.
    pub loss: f64,
    /// Whether it is that of the validation images.
    pub is_validation: bool,
}

impl Diverged {
    /// Nothing, if the cross entropy of a step is a number that may still fall.
    pub(crate) fn check(step: usize, loss: f64, is_validation: bool) -> Result<(), Self> {
        let is_usual = loss.is_finite() && loss < MOST_LOSS;
        if is_usual { Ok(()) } else { Err(Self { step, loss, is_validation }) }
    }
}

impl fmt::Display for Diverged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, loss, is_validation } = self;
        let images = if *is_validation { "validation" } else { "training" };
        write!(f, "it diverged in step {step}: the cross entropy of its {images} images is ")?;
        if loss.is_finite() { write!(f, "{loss:.3e}") } else { f.write_str("no number") }
    }
}

/// Why a search cannot be, or cannot go on.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SearchError {
    /// A setting is impossible.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The bytes are not this search's.
    #[error(transparent)]
    State(#[from] StateError),
    /// It learns no more; what was logged before stays.
    #[error("{0}")]
    Diverged(Diverged),
    /// The architecture's weights are no cells.
    #[error("the {cell} cell: {fault}")]
    Cell {
        /// Which.
        cell: CellKind,
        /// Why.
        fault: CellFault,
    },
}

/// A search.
#[derive(Debug)]
pub struct Search {
    pub(crate) settings: Settings,
    samples: Arc<Samples>,
    net: Supernet,
    costs: OperationCosts,
    /// Images that weights learn from, then those that the architecture learns from.
    halves: [Vec<usize>; 2],
    pub(crate) learnt: Learning,
}

/// What changes with each step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Learning {
    pub weights: Vec<f32>,
    pub descent: Descent,
    pub architecture: Architecture,
    pub adam: Adam,
    pub log: Vec<Row>,
}

impl Search {
    /// A search that has done nothing yet.
    ///
    /// # Errors
    /// If a setting is impossible.
    pub fn new(settings: Settings, samples: Arc<Samples>) -> Result<Self, SearchError> {
        let net = Supernet::new(settings.check(&samples)?);
        let mut architecture =
            Architecture::begin(settings.cell_steps, &mut Random::new(settings.seed, ARCHITECTURE));
        let count = architecture.alphas_mut().count();
        let learnt = Learning {
            weights: net.begin(&mut Random::new(settings.seed, WEIGHTS)),
            descent: Descent::new(net.weights()),
            architecture,
            adam: Adam::new(count),
            log: Vec::new(),
        };
        let mut training = Random::new(settings.seed, SPLIT).order(samples.images());
        let validation = training.split_off(samples.images() / 2);
        let costs = settings.operation_costs();
        Ok(Self { settings, samples, net, costs, halves: [training, validation], learnt })
    }

    /// What it was made with.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What it learns from.
    #[must_use]
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// Weights of all layers.
    #[must_use]
    pub const fn weights(&self) -> usize {
        self.net.weights()
    }

    /// How many steps are done.
    #[must_use]
    pub const fn done(&self) -> usize {
        self.learnt.log.len()
    }

    /// What each step came to.
    #[must_use]
    pub fn log(&self) -> &[Row] {
        &self.learnt.log
    }

    /// What is known by now.
    #[must_use]
    pub const fn architecture(&self) -> &Architecture {
        &self.learnt.architecture
    }

    /// The cells that it comes to by now.
    ///
    /// # Errors
    /// [`SearchError::Cell`], which settings that were checked exclude.
    pub fn genotype(&self) -> Result<Genotype, SearchError> {
        let cell = CellKind::Normal;
        self.learnt.architecture.genotype().map_err(|fault| SearchError::Cell { cell, fault })
    }

    /// The next step: the architecture learns from validation images, then the weights from training images. Whether
    /// there was one.
    ///
    /// # Errors
    /// [`SearchError::Diverged`]; the log stays as it was before the step.
    pub fn advance(&mut self) -> Result<bool, SearchError> {
        if self.done() >= self.settings.steps {
            return Ok(false);
        }
        let validation_cost = self.learnt.architecture.cost(&self.costs);
        let validation_batch = self.batch(1, VALIDATION);
        let shares = self.learnt.architecture.shares();
        let weights = &self.learnt.weights;
        let validation = self.net.pass(&validation_batch, &shares, weights, Wanted::Architecture);
        self.check(validation.loss, true)?;
        let slope = self.settings.trade_off.slope(validation_cost.cycles);
        let mut architecture = self.learnt.architecture.clone();
        let gradient = architecture.gradient(&validation.by_shares, &validation_cost, slope);
        let mut adam = self.learnt.adam.clone();
        adam.step(architecture.alphas_mut(), &gradient, self.settings.architecture_rate);
        if !architecture.is_finite() {
            self.check(f64::NAN, true)?;
        }

        let training_batch = self.batch(0, TRAINING);
        let shares = architecture.shares();
        let training = self.net.pass(&training_batch, &shares, weights, Wanted::Weights);
        self.check(training.loss, false)?;
        let rate = self.rate();
        let training_cost = architecture.cost(&self.costs).cycles;
        let learnt = &mut self.learnt;
        learnt.descent.step(&mut learnt.weights, &training.by_weights, rate);
        (learnt.architecture, learnt.adam) = (architecture, adam);
        let genotype = self.genotype()?;
        let part = |correct: usize, batch: &Batch| correct as f64 / batch.labels.len() as f64;
        self.learnt.log.push(Row {
            step: self.done() + 1,
            training_loss: training.loss,
            training_accuracy: part(training.correct, &training_batch),
            validation_loss: validation.loss,
            validation_accuracy: part(validation.correct, &validation_batch),
            validation_cost: validation_cost.cycles,
            training_cost,
            normal_cost: self.costs.of_cell(&genotype.normal),
            reduction_cost: self.costs.of_cell(&genotype.reduction),
        });
        Ok(true)
    }

    fn check(&self, loss: f64, is_validation: bool) -> Result<(), SearchError> {
        Diverged::check(self.done() + 1, loss, is_validation).map_err(SearchError::Diverged)
    }

    /// Learning rate of the layers in the step that comes.
    fn rate(&self) -> f32 {
        let part = self.done() as f64 / self.settings.steps as f64;
        annealed(self.settings.weight_rate, part, LAST_RATE)
    }

    /// The images of the step that comes, in an order that is another one in each epoch.
    fn batch(&self, half: usize, purpose: u64) -> Batch {
        let half = &self.halves[half];
        let size = self.settings.batch.min(half.len());
        let of_epoch = half.len() / size;
        let (epoch, index) = (self.done() / of_epoch, self.done() % of_epoch);
        let order = Random::new(self.settings.seed, purpose + epoch as u64).order(half.len());
        self.samples.batch(order[index * size..][..size].iter().map(|at| half[*at]), 1)
    }
}
