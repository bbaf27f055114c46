//! The operators of three backbones in 228 sizes each, by themselves (Sadiq's thesis, 5.1.3.1).
//!
//! First every network is taken apart; then each distinct operator is planned once for each core, as a model of its
//! own. Whoever can emulate runs them as well.

mod findings;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use tilewright_board::Board;
use tilewright_model::{Model, NodeId, Shape};
use tilewright_planner::{Options, PlanError, Planned, Stop, Strategy, plan};
use tilewright_report::{
    DataCacheUse, DistinctOperator, OperatorKey, OperatorRun, OperatorShape, OperatorUse,
    OperatorsCore, OperatorsNetwork, OperatorsReport,
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

/// A core that operators are looked at on.
#[derive(Clone, Debug)]
pub struct OperatorsTarget {
    /// Its board, as it is planned for.
    board: Board,
    data_cache: DataCacheUse,
}

impl OperatorsTarget {
    /// A board's core, as its firmware starts it.
    #[must_use]
    pub fn of(board: &Board) -> Self {
        let data_cache = match board.core.data_cache {
            Some(_) => DataCacheUse::On,
            None => DataCacheUse::Absent,
        };
        Self { board: board.clone(), data_cache }
    }

    /// The same with its data cache switched off; nothing if it has none.
    #[must_use]
    pub fn without_data_cache(board: &Board) -> Option<Self> {
        let board = board.without_data_cache()?;
        Some(Self { board, data_cache: DataCacheUse::Off })
    }

    /// The board, as it is planned for and emulated.
    #[must_use]
    pub const fn board(&self) -> &Board {
        &self.board
    }
}

/// The experiment under way.
pub struct Operators {
    targets: Vec<OperatorsTarget>,
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
    shape: OperatorShape,
    uses: usize,
    macs: u64,
    /// On each target.
    costs: Vec<Cost>,
}

/// What an operator takes on a target.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    fits: bool,
    predicted_cycles: Option<u64>,
    run: Option<OperatorRun>,
}

impl Operators {
    /// Begins the experiment; planning asks `stop` whether anybody still waits. A backbone that is given twice
    /// counts once.
    ///
    /// # Errors
    /// If the zoo does not have a backbone in these sizes.
    pub fn new(
        backbones: &[String],
        targets: Vec<OperatorsTarget>,
        stop: Stop,
    ) -> Result<Self, ExploreError> {
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
            targets,
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

    /// The cores.
    #[must_use]
    pub fn targets(&self) -> &[OperatorsTarget] {
        &self.targets
    }

    /// The operator of this number as a model of its own, to be planned with strategy `resident` and run on a target;
    /// nothing if the board does not hold it, or it has more multiply-accumulates than `most_macs`, or without any makes
    /// more values.
    #[must_use]
    pub fn runnable(&self, target: usize, operator: usize, most_macs: u64) -> Option<&Model> {
        let Operator { model, macs, costs, .. } = self.operators.get(operator)?;
        let fits = costs.get(target).is_some_and(|cost| cost.fits);
        let elements =
            model.outputs.iter().map(|id| model.tensor(*id).shape.elements().unwrap_or(0));
        let work = if *macs == 0 { elements.sum::<usize>() as u64 } else { *macs };
        (fits && work <= most_macs).then_some(model)
    }

    /// What a run of an operator on a target is of.
    #[must_use]
    pub fn key(&self, target: usize, operator: usize) -> Option<OperatorKey> {
        let OperatorsTarget { board, data_cache } = self.targets.get(target)?;
        let shape = self.operators.get(operator)?.shape.clone();
        Some(OperatorKey { board: board.id.clone(), data_cache: *data_cache, shape })
    }

    /// Notes what a run of an operator on a target counted.
    pub fn ran(&mut self, target: usize, operator: usize, run: OperatorRun) {
        let operator = self.operators.get_mut(operator);
        if let Some(cost) = operator.and_then(|operator| operator.costs.get_mut(target)) {
            cost.run = Some(run);
        }
    }

    /// What is known by now.
    #[must_use]
    pub fn report(&self) -> OperatorsReport {
        let networks = self.networks[..self.apart].to_vec();
        let core = |(index, target): (usize, &OperatorsTarget)| {
            let operators: Vec<_> = self.operators.iter().map(|one| one.on(index)).collect();
            OperatorsCore {
                board: target.board.id.clone(),
                core: target.board.core.kind.id().to_owned(),
                data_cache: target.data_cache,
                classes: findings::classes(&operators),
                claims: findings::claims(&networks, &operators, &self.uses),
                depthwise: findings::depthwise(&networks, &operators, &self.uses),
                operators,
            }
        };
        let cores = self.targets.iter().enumerate().map(core).collect();
        OperatorsReport { uses: self.uses.clone(), cores, networks }
    }

    fn take_apart(&mut self) -> Result<(), ExploreError> {
        let int8 = tilewright_zoo::network(&self.networks[self.apart].name)?.int8()?;
        for index in 0..int8.nodes.len() {
            let Some(shape) = shape_of(&int8, index) else { continue };
            let operator = match self.by_shape.get(&shape) {
                Some(known) => *known,
                None => {
                    let Some(model) = int8.alone(NodeId(index)) else { continue };
                    self.operators.push(Operator {
                        model,
                        shape: shape.clone(),
                        uses: 0,
                        macs: int8.macs(&int8.nodes[index]),
                        costs: vec![Cost::default(); self.targets.len()],
                    });
                    self.by_shape.insert(shape, self.operators.len() - 1);
                    self.operators.len() - 1
                }
            };
            self.operators[operator].uses += 1;
            self.uses.push(OperatorUse { network: self.apart, index, operator });
        }
        self.apart += 1;
        Ok(())
    }

    fn plan(&self, model: &Model, board: &Board) -> Result<Option<Planned>, ExploreError> {
        match plan(model, board, Strategy::Resident, &self.options) {
            Ok(planned) => Ok(Some(planned)),
            Err(PlanError::Stopped) => Err(ExploreError::Stopped),
            Err(_) => Ok(None),
        }
    }
}

impl Operator {
    /// What a report says of it on a target.
    fn on(&self, target: usize) -> DistinctOperator {
        let Cost { fits, predicted_cycles, run } =
            self.costs.get(target).copied().unwrap_or_default();
        DistinctOperator {
            shape: self.shape.clone(),
            uses: self.uses.into(),
            macs: self.macs.into(),
            fits,
            predicted_cycles: predicted_cycles.map(Into::into),
            run,
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
        let mut costs = Vec::with_capacity(self.targets.len());
        for target in &self.targets {
            let report = self.plan(&operator.model, &target.board)?.map(|planned| planned.report);
            // A reshape alone computes nothing.
            let report = report.filter(|plan| plan.runnable && !plan.layers.is_empty());
            costs.push(report.map_or_else(Cost::default, |report| Cost {
                fits: report.fits,
                predicted_cycles: Some(report.layers.iter().map(|layer| *layer.cycles).sum()),
                run: None,
            }));
        }
        self.operators[self.planned].costs = costs;
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
