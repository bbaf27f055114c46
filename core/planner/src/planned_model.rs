//! What is decided in front of all else: which layers are made in tiles, and which weights are stored without their
//! zeros. Strategies plan the model that this makes.

use std::sync::Arc;

use crate::strategy::Brings;
use crate::{Options, PlanError, sparse, tiles};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_model::tiling::{self, Tiled};

/// The model that is planned.
#[derive(Clone)]
pub struct PlannedModel {
    /// The given model in tiles, if it is.
    pub tiled: Option<Arc<Tiled>>,
    /// The model, if some of its weights are stored without their zeros.
    model: Option<Arc<Model>>,
}

impl PlannedModel {
    /// The planned_model of a model on a board, in tiles if some are asked for.
    ///
    /// # Errors
    /// [`PlanError`] says why it cannot be in these tiles.
    pub fn new(
        given: &Model,
        board: &Board,
        options: &Options,
        brings: Brings,
    ) -> Result<Self, PlanError> {
        let tiling = options.tiling.as_ref();
        let tiled = tiling.map(|tiling| tiling::tile(given, tiling)).transpose();
        let tiled = tiled.map_err(|error| tiles::unsupported(&error))?.map(Arc::new);
        Ok(Self::of(given, tiled, board, options, brings))
    }

    fn of(
        given: &Model,
        tiled: Option<Arc<Tiled>>,
        board: &Board,
        options: &Options,
        brings: Brings,
    ) -> Self {
        let model = Tiled::model_or(tiled.as_deref(), given);
        let sparse = sparse::choose(model, board, options, brings);
        let model = (!sparse.is_empty()).then(|| Arc::new(Model { sparse, ..model.clone() }));
        Self { tiled, model }
    }

    /// Whether nothing else is decided in the same tiles for another board or other options.
    pub fn serves(&self, given: &Model, board: &Board, options: &Options, brings: Brings) -> bool {
        let other = Self::of(given, self.tiled.clone(), board, options, brings);
        let sparse =
            |planned_model: &Self| planned_model.model.as_ref().map(|model| model.sparse.clone());
        sparse(self) == sparse(&other)
    }

    /// The model that is planned where this one is given.
    pub fn model<'m>(&'m self, given: &'m Model) -> &'m Model {
        self.model.as_deref().unwrap_or_else(|| Tiled::model_or(self.tiled.as_deref(), given))
    }
}
