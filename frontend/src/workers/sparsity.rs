//! Pruning what was opened, before it is quantised.

use std::num::NonZeroUsize;

use tilewright_model::Model;
use tilewright_model::prune::{self, Pruning, prunable_weights};
use tilewright_report::sentence;

use crate::message::{SparsityFacts, SparsityLayer, trouble};
use tilewright_report::Diagnostic;

/// Weights of a group, as `tilewright prune` has it.
const GROUP: NonZeroUsize = NonZeroUsize::new(2).expect("two is not zero");

/// Most weights that are pruned in a browser: each is held as a float meanwhile.
const MOST_WEIGHTS: u64 = 20_000_000;

/// Prunes a model, of each layer as much; what that was, without the places of its layers.
///
/// # Errors
/// If it cannot be pruned.
pub fn prune(name: &str, model: &mut Model, sparsity: u16) -> Result<SparsityFacts, Diagnostic> {
    let obstacle = obstacle(model);
    if sparsity == 0 {
        return Ok(SparsityFacts { obstacle, ..SparsityFacts::default() });
    }
    let cannot = |detail: String| {
        let remedy = "Open it with all its weights: sparsity 0.";
        trouble(format!("{name} cannot be pruned"), detail, remedy)
    };
    if !obstacle.is_empty() {
        return Err(cannot(obstacle));
    }
    let pruning = Pruning { sparsity, group: GROUP, is_global: false };
    let (pruned, layers) =
        prune::prune(model, &pruning).map_err(|error| cannot(sentence(&error.to_string())))?;
    *model = pruned;
    let layers = layers.into_iter().map(|layer| SparsityLayer {
        node: 0,
        name: layer.name,
        weights: layer.weights as u64,
        zeros_before: layer.zeros_before as u64,
        zeros: layer.zeros as u64,
    });
    Ok(SparsityFacts { sparsity, layers: layers.collect(), obstacle })
}

/// The same with the places of its layers in the int8 model, which quantising may have moved.
pub fn of_nodes(facts: SparsityFacts, model: &Model) -> SparsityFacts {
    let layers = facts.layers.into_iter().filter_map(|layer| {
        let node = model.nodes.iter().position(|node| node.name == layer.name)?;
        Some(SparsityLayer { node: u32::try_from(node).unwrap_or(u32::MAX), ..layer })
    });
    SparsityFacts { layers: layers.collect(), ..facts }
}

/// Why a model cannot be pruned; empty if it can.
fn obstacle(model: &Model) -> String {
    let weights = prunable_weights(model);
    if model.opaque_in_words().is_some() {
        "Nothing here computes some of its operators.".to_owned()
    } else if weights == 0 {
        "No layer has weights that could be pruned: depthwise ones stay dense.".to_owned()
    } else if weights > MOST_WEIGHTS {
        format!(
            "It has {} million weights: too many to prune in a browser. The command \
             `tilewright prune` takes them.",
            weights / 1_000_000
        )
    } else {
        String::new()
    }
}
