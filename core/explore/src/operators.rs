//! The operators of three backbones in 228 sizes each, by themselves (Sadiq's thesis, 5.1.3.1).
//!
//! First every network is taken apart; then each distinct operator is planned once, as a model of its own. Whoever
//! can emulate runs them as well.

mod findings;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use tilewright_board::Board;
use tilewright_model::{Model, NodeId, Shape};
use tilewright_planner::{Options, PlanError, Planned, Stop, Strategy, plan};
use tilewright_report::{
    DistinctOperator, OperatorRun, OperatorShape, OperatorUse, OperatorsNetwork, OperatorsReport,
};

use crate::{Experiment, ExploreError};

/// The board that the thesis measures on.
pub const OPERATORS_BOARD: &str = "stm32f746g-disco";

/// The backbones that it takes operators from.
pub const OPERATORS_BACKBONES: [&str; 3] =
    ["proxylessnas-thesis", "mnasnet-thesis", "mobilenet-v3-thesis"];

/// Its widths in hundredths, each 5, and its resolutions in pixels, each 16 (5.1.3.1).
const WIDTHS: RangeInclusive<u8> = 10..=100;
const RESOLUTIONS: RangeInclusive<usize> = 48..=224;

/// The experiment under way.
pub struct Operators {
    board: Board,
    options: Options,
    networks: Vec<OperatorsNetwork>,
    /// Networks that were taken apart.
    apart: usize,
    operators: Vec<Operator>,
    by_shape: BTreeMap<OperatorShape, usize>,
    uses: Vec<OperatorUse>,
    /// Operators that were planned.
    planned: usize,
}

/// A distinct operator, and how to run it.
struct Operator {
    model: Model,
    record: DistinctOperator,
}

impl Operators {
    /// Begins the experiment; planning asks `stop` whether anybody still waits. A backbone that is given twice
    /// counts once.
    ///
    /// # Errors
    /// If the zoo does not have a backbone in these sizes.
    pub fn new(backbones: &[String], board: &Board, stop: Stop) -> Result<Self, ExploreError> {
        let sizes = WIDTHS.step_by(5).flat_map(|width| {
            RESOLUTIONS.step_by(16).map(move |pixels| (f64::from(width) / 100.0, pixels))
        });
        let is_first = |(at, name): &(usize, &String)| !backbones[..*at].contains(name);
        let backbones = backbones.iter().enumerate().filter(is_first).map(|(_, name)| name);
        let networks = backbones.flat_map(|backbone| {
            sizes.clone().map(move |(width, resolution)| OperatorsNetwork {
                name: format!("{backbone}-w{width}-r{resolution}"),
                backbone: backbone.clone(),
                width,
                resolution,
            })
        });
        let networks: Vec<OperatorsNetwork> = networks.collect();
        for network in &networks {
            tilewright_zoo::canonical(&network.name)?;
        }
        Ok(Self {
            board: board.clone(),
            options: Options { stop, ..Options::default() },
            networks,
            apart: 0,
            operators: Vec::new(),
            by_shape: BTreeMap::new(),
            uses: Vec::new(),
            planned: 0,
        })
    }

    /// How many distinct operators there are, once all networks were taken apart.
    #[must_use]
    pub const fn distinct(&self) -> usize {
        self.operators.len()
    }

    /// The operator of this number as a model of its own, to be planned with strategy `resident` and run; nothing
    /// if the board does not hold it, or if it has more multiply-accumulates than `most_macs`.
    #[must_use]
    pub fn runnable(&self, operator: usize, most_macs: u64) -> Option<&Model> {
        let Operator { model, record } = self.operators.get(operator)?;
        (record.fits && *record.macs <= most_macs).then_some(model)
    }

    /// Notes what a run of an operator counted.
    pub fn ran(&mut self, operator: usize, run: OperatorRun) {
        if let Some(operator) = self.operators.get_mut(operator) {
            operator.record.run = Some(run);
        }
    }

    /// What is known by now.
    #[must_use]
    pub fn report(&self) -> OperatorsReport {
        let operators: Vec<_> = self.operators.iter().map(|one| one.record.clone()).collect();
        let networks = self.networks[..self.apart].to_vec();
        OperatorsReport {
            board: self.board.id.clone(),
            classes: findings::classes(&operators),
            claims: findings::claims(&networks, &operators, &self.uses),
            depthwise: findings::depthwise(&networks, &operators, &self.uses),
            networks,
            operators,
            uses: self.uses.clone(),
        }
    }

    fn take_apart(&mut self) -> Result<(), ExploreError> {
        let int8 = tilewright_zoo::network(&self.networks[self.apart].name)?.int8()?;
        for index in 0..int8.nodes.len() {
            let Some(shape) = shape_of(&int8, index) else { continue };
            let operator = match self.by_shape.get(&shape) {
                Some(known) => *known,
                None => {
                    let Some(model) = int8.alone(NodeId(index)) else { continue };
                    let record = DistinctOperator {
                        shape: shape.clone(),
                        uses: 0.into(),
                        macs: int8.macs(&int8.nodes[index]).into(),
                        fits: false,
                        predicted_cycles: None,
                        run: None,
                    };
                    self.operators.push(Operator { model, record });
                    self.by_shape.insert(shape, self.operators.len() - 1);
                    self.operators.len() - 1
                }
            };
            *self.operators[operator].record.uses += 1;
            self.uses.push(OperatorUse { network: self.apart, index, operator });
        }
        self.apart += 1;
        Ok(())
    }

    fn plan(&self, model: &Model) -> Result<Option<Planned>, ExploreError> {
        match plan(model, &self.board, Strategy::Resident, &self.options) {
            Ok(planned) => Ok(Some(planned)),
            Err(PlanError::Stopped) => Err(ExploreError::Stopped),
            Err(_) => Ok(None),
        }
    }
}

impl Experiment for Operators {
    fn steps(&self) -> usize {
        self.networks.len() + self.operators.len()
    }

    fn done(&self) -> usize {
        self.apart + self.planned
    }

    fn last(&self) -> Option<String> {
        match self.planned {
            0 => Some(self.networks.get(self.apart.checked_sub(1)?)?.name.clone()),
            planned => Some(format!("operator {planned} of {}", self.operators.len())),
        }
    }

    fn advance(&mut self) -> Result<bool, ExploreError> {
        if self.apart < self.networks.len() {
            return self.take_apart().map(|()| true);
        }
        let Some(operator) = self.operators.get(self.planned) else { return Ok(false) };
        let planned = self.plan(&operator.model)?;
        let record = &mut self.operators[self.planned].record;
        let report = planned.map(|planned| planned.report);
        // A reshape alone computes nothing.
        if let Some(report) = report.filter(|plan| plan.runnable && !plan.layers.is_empty()) {
            record.fits = report.fits;
            record.predicted_cycles = Some(report.layers.iter().map(|layer| layer.cycles).sum());
        }
        self.planned += 1;
        Ok(true)
    }
}

/// What an operator's time depends on; nothing for one without a result.
fn shape_of(model: &Model, index: usize) -> Option<OperatorShape> {
    let node = model.nodes.get(index)?;
    let window = node.op.window();
    let dims = |shape: &Shape| shape.dims().to_vec();
    let given = node.inputs.iter().map(|id| model.tensor(*id)).filter(|t| !t.is_constant());
    Some(OperatorShape {
        op: node.op.name().to_owned(),
        window: window.map_or([1; 2], |window| window.size),
        stride: window.map_or([1; 2], |window| window.stride),
        inputs: given.map(|tensor| dims(&tensor.shape)).collect(),
        output: node.outputs.first().map(|id| dims(&model.tensor(*id).shape))?,
        attributes: format!("{:?}", node.op),
    })
}
