//! A recipe: all that a plan decides, as absolute numbers. Strategies write recipes; the passes that make a plan of
//! one know no strategy. The same recipe gives the same plan whatever memory there is.
//!
//! A recipe is a static_layout (`static_layout.rs`) and a schedule (`schedule.rs`). `cut` makes tasks and residences of it, `place` gives them
//! bytes, `issue` puts all into one order, `emit` makes lanes. Recipes from a file are held against the model and proved as any plan.

mod text;

pub use text::RecipeError;

use crate::Stop;
use crate::packing;
use crate::schedule::Schedule;
use crate::schedule::boot::{self, Load};
use crate::schedule::depth_first::Network;
use crate::schedule::operator::Operator;
use crate::static_layout::StaticLayout;
use crate::tiles::Tiles;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Plan, Space};

/// What a plan is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Which layers are made in tiles; all else is of the graph in these.
    pub(crate) tiles: Option<Tiles>,
    /// What stays where it is.
    pub(crate) static_layout: StaticLayout,
    /// What comes and goes; nothing: all is used where it lies.
    pub(crate) schedule: Option<Schedule>,
    /// Ops whose weights lie in the wider and faster packing.
    pub(crate) transformed: Vec<u32>,
    /// Weights that come to SRAM at start and stay.
    pub(crate) weights_in_sram: Vec<Load>,
}

/// A plan with its recipe.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Made {
    pub recipe: Recipe,
    pub plan: Plan,
}

impl Made {
    /// A lowered plan as it is.
    pub const fn whole(static_layout: StaticLayout, plan: Plan) -> Self {
        Self { recipe: Recipe::of(static_layout, None), plan }
    }

    /// A plan of the static_layout's lowered one by a schedule.
    pub const fn scheduled(static_layout: StaticLayout, schedule: Schedule, plan: Plan) -> Self {
        Self { recipe: Recipe::of(static_layout, Some(schedule)), plan }
    }
}

impl Recipe {
    /// What stands for the strategy in plans of recipes that were read.
    pub const STRATEGY: &str = "recipe";

    const fn of(static_layout: StaticLayout, schedule: Option<Schedule>) -> Self {
        Self {
            tiles: None,
            static_layout,
            schedule,
            transformed: Vec::new(),
            weights_in_sram: Vec::new(),
        }
    }

    /// The plan, of the model in tiles if the recipe says so.
    ///
    /// # Errors
    /// [`RecipeError`] says that there is no room where the recipe says, or names what does not fit the model.
    pub fn plan(&self, model: &Model, board: &Board, stop: &Stop) -> Result<Plan, RecipeError> {
        let Self { static_layout, schedule, transformed, weights_in_sram, .. } = self;
        let mut plan = static_layout.lowered(model, board)?;
        packing::transform(&mut plan, transformed);
        if let Some(schedule) = schedule.as_ref().filter(|_| plan.main.is_some()) {
            let operators = Operator::of(&plan);
            let network =
                Network::new(model, &static_layout.layers, &plan, &operators, Space::Arena);
            let schedule = schedule.resolved(&network, &operators).map_err(|misfit| {
                let layer = misfit.layer.and_then(|layer| plan.layers.get(layer));
                let place = layer.map_or("groups".to_owned(), |l| format!("layer '{}'", l.name));
                RecipeError::Number { place, reason: misfit.what.to_owned() }
            })?;
            let work = schedule.work(&plan, &operators);
            plan = schedule.plan(&plan, &work, board, stop)?.ok_or(RecipeError::NoRoom)?;
        }
        boot::bring(&mut plan, weights_in_sram, board);
        Ok(plan)
    }
}
