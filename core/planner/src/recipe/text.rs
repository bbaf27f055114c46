//! Recipes as text: JSON with one decision a line, which people and other tools can read and change.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Recipe;
use crate::PlanError;
use crate::aliasing::Aliasing;
use crate::lower::{self, InImage, Layer, Stored};
use crate::schedule::boot::Load;
use crate::schedule::cut::Group;
use crate::schedule::frames::Frames;
use crate::schedule::{Layout, Schedule};
use crate::sparse;
use crate::static_layout::{Heights, StaticLayout};
use crate::tiles::Tiles;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tilewright_model::tiling::{Tiled, TilingError};
use tilewright_model::{Model, NodeId};
use tilewright_plan::{SectorChecksums, Space, SparseCuts, Window};

/// Why a text is no recipe for a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RecipeError {
    /// It is no JSON, or has other fields.
    #[error("the recipe cannot be read: {0}")]
    Syntax(String),
    /// It is of another model.
    #[error(
        "the recipe is of another model: {what} {number} is '{found}' there, '{known}' in the model"
    )]
    Other {
        /// Layer or tensor.
        what: &'static str,
        /// Its number in the recipe.
        number: usize,
        /// The name in the recipe.
        found: String,
        /// The name in the model; empty if it has no such.
        known: String,
    },
    /// Some number cannot be.
    #[error("the recipe's {place} cannot be: {reason}")]
    Number {
        /// The entry.
        place: String,
        /// What about it.
        reason: String,
    },
    /// Its checksums are not those that are asked for.
    #[error(
        "the recipe has checksums or tags of a card's sectors, but not those that are asked for"
    )]
    Integrity,
    /// What it says has no room where it says.
    #[error("the recipe has no room: what comes to SRAM does not fit the bytes of its layout")]
    NoRoom,
    /// The model has no such tiles.
    #[error("the recipe's tiles cannot be: {0}")]
    Tiles(#[from] TilingError),
    /// No plan is made of it.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

/// The text's fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    tiles: Option<Tiles>,
    layers: Vec<LayerLine>,
    tensors: Vec<TensorLine>,
    uncopied: Vec<usize>,
    heights: Heights,
    weights: Stored,
    checksums: Option<SectorChecksums>,
    window: Option<Window>,
    boot: Vec<Load>,
    groups: Vec<Group>,
    layout: Option<Layout>,
    frames: Option<Frames>,
    transformed: Vec<u32>,
    weights_in_sram: Vec<Load>,
}

/// A layer: a node, with the max pool that is computed with it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LayerLine {
    node: usize,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pool: Option<usize>,
    /// Output channels of a block of its weights without their zeros, if they are stored so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sparse: Option<u32>,
    #[serde(default, skip_serializing_if = "is_default")]
    in_image: InImage,
    #[serde(default, skip_serializing_if = "is_default")]
    depth_first: bool,
}

/// An activation with its place and life.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TensorLine {
    tensor: u32,
    name: String,
    space: Space,
    offset: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pitch: Option<[u32; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ring: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    block: Option<u32>,
    first: u32,
    end: u32,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Most bytes of a memory that a recipe may name: sums of some stay numbers.
const MOST: u64 = 1 << 40;

impl Recipe {
    /// The recipe as text, for the model that it is of.
    #[must_use]
    pub fn text(&self, model: &Model) -> String {
        let Self { tiles, static_layout, schedule, transformed, weights_in_sram } = self;
        // Of a model that they are not of nothing is named right, whatever is written.
        let tiled = tiles.and_then(|tiles| tiles.tiled(model).ok());
        let model = Tiled::model_or(tiled.as_ref(), model);
        let layer = |(index, layer): (usize, &Layer)| LayerLine {
            node: layer.node.0,
            name: model.nodes[layer.node.0].name.clone(),
            pool: layer.pool.map(|pool| pool.0),
            sparse: layer.sparse.as_ref().map(SparseCuts::each),
            in_image: static_layout.in_image.get(index).copied().unwrap_or_default(),
            depth_first: static_layout.depth_first.get(index).copied().unwrap_or_default(),
        };
        let tensors = static_layout.tensors.iter().map(|tensor| TensorLine {
            tensor: tensor.tensor,
            name: tensor.name.clone(),
            space: tensor.space,
            offset: tensor.offset,
            pitch: tensor.pitch,
            ring: tensor.ring,
            block: tensor.block,
            first: tensor.first,
            end: tensor.end,
        });
        let (groups, layout, frames) = match schedule {
            Some(schedule) => (schedule.groups.as_slice(), Some(&schedule.layout), schedule.frames),
            None => (&[][..], None, None),
        };
        let mut lines = Lines(String::from("{\n"));
        lines.field("tiles", tiles);
        lines.list("layers", static_layout.layers.iter().enumerate().map(layer));
        lines.list("tensors", tensors);
        lines.list("uncopied", static_layout.parts.nodes());
        lines.field("heights", &static_layout.heights);
        lines.field("weights", &static_layout.stored);
        lines.field("checksums", &static_layout.sector_checksums);
        lines.field("window", &static_layout.window);
        lines.list("boot", &static_layout.boot);
        lines.list("groups", groups);
        lines.field("layout", &layout);
        lines.field("frames", &frames);
        lines.list("transformed", transformed);
        lines.list("weights_in_sram", weights_in_sram);
        lines.end()
    }

    /// The recipe that a text says, for a model.
    ///
    /// # Errors
    /// [`RecipeError`] says what about it cannot be.
    pub fn read(text: &str, model: &Model) -> Result<Self, RecipeError> {
        let text: Text =
            serde_json::from_str(text).map_err(|error| RecipeError::Syntax(error.to_string()))?;
        let tiled = text.tiles.map(|tiles| tiles.tiled(model)).transpose()?;
        let model = Tiled::model_or(tiled.as_ref(), model);
        let layers = layers(&text.layers, model)?;
        let mut tensors = lower::tensors(model, &layers)?;
        if tensors.len() != text.tensors.len() {
            let reason = format!("there are {}, of {}", text.tensors.len(), tensors.len());
            return Err(number("tensors", reason));
        }
        let largest = u64::from(u32::MAX);
        for (index, (line, tensor)) in text.tensors.iter().zip(&mut tensors).enumerate() {
            if (line.tensor, &line.name) != (tensor.tensor, &tensor.name) {
                let (found, known) = (line.name.clone(), tensor.name.clone());
                return Err(RecipeError::Other { what: "tensor", number: index, found, known });
            }
            let is_wrong = line.offset > largest
                || line.ring.is_some_and(|rows| rows == 0 || rows > tensor.shape[0])
                || line.block.is_some_and(|channels| channels == 0 || channels > tensor.shape[2])
                || line.first > line.end
                || line.pitch.is_some_and(|pitch| pitch.iter().any(|bytes| *bytes > 1 << 28));
            if is_wrong {
                let place = format!("tensor '{}'", line.name);
                return Err(number(&place, "its place or life is no number that it could have"));
            }
            (tensor.space, tensor.offset) = (line.space, line.offset);
            (tensor.pitch, tensor.ring, tensor.block) = (line.pitch, line.ring, line.block);
            (tensor.first, tensor.end) = (line.first, line.end);
        }
        let aliasing = Aliasing { parts: true, slices: true, ..Aliasing::default() };
        let mut parts = aliasing.parts_of(model, &layers);
        let copied = parts.nodes().into_iter().filter(|node| !text.uncopied.contains(node));
        let copied: Vec<usize> = copied.collect();
        if !copied.is_empty() {
            parts = parts.without(model, &layers, &copied);
        }
        if parts.nodes() != text.uncopied {
            return Err(number("uncopied", "not all of these can do without copies"));
        }
        let Heights { sram, external_ram, card } = text.heights;
        if [sram, external_ram, card].into_iter().any(|bytes| bytes.0 > MOST) {
            return Err(number("bytes", "a memory has no more than 1 TiB"));
        }
        for (place, loads) in [("boot", &text.boot), ("weights_in_sram", &text.weights_in_sram)] {
            let ends = loads.iter().flat_map(|load| {
                [load.from, load.to].map(|place| place.offset.saturating_add(load.bytes))
            });
            if ends.max().is_some_and(|end| end > largest) {
                return Err(number(
                    place,
                    "it copies bytes beyond the first 4 GiB, which no address reaches",
                ));
            }
        }
        let Stored { weights, channels, alignment, .. } = text.weights;
        if !alignment.is_power_of_two() || !(16..=4096).contains(&alignment) {
            return Err(number("weights", "the alignment is a power of two from 16 to 4096"));
        }
        let is_read_only = |space: Space| !matches!(space, Space::Arena | Space::ExternalRam);
        if !is_read_only(weights) || !matches!(channels, Space::Constants) && channels != weights {
            let reason =
                "weights lie in flash or on a card, channels' constants there or with them";
            return Err(number("weights", reason));
        }
        let schedule =
            text.layout.map(|layout| Schedule { groups: text.groups, layout, frames: text.frames });
        let recipe = Self {
            tiles: text.tiles,
            static_layout: StaticLayout {
                in_image: text.layers.iter().map(|line| line.in_image).collect(),
                depth_first: text.layers.iter().map(|line| line.depth_first).collect(),
                layers,
                tensors,
                parts,
                heights: text.heights,
                stored: text.weights,
                sector_checksums: text.checksums,
                window: text.window,
                boot: text.boot,
            },
            schedule,
            transformed: text.transformed,
            weights_in_sram: text.weights_in_sram,
        };
        if let Some(reason) = recipe.schedule.as_ref().and_then(Schedule::fault) {
            return Err(number("schedule", reason));
        }
        Ok(recipe)
    }
}

fn number(place: &str, reason: impl Into<String>) -> RecipeError {
    RecipeError::Number { place: place.to_owned(), reason: reason.into() }
}

/// The layers that lines name: each of the model's once.
fn layers(lines: &[LayerLine], model: &Model) -> Result<Vec<Layer>, RecipeError> {
    let apart = lower::layers(model);
    let fused = lower::fuse_pools(model, apart.clone());
    let key = |layer: &Layer| (layer.node, layer.pool);
    let known: BTreeMap<(NodeId, Option<NodeId>), &Layer> =
        fused.iter().chain(&apart).map(|layer| (key(layer), layer)).collect();
    let mut missing: Vec<NodeId> = apart.iter().map(|layer| layer.node).collect();
    let mut layers = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let name = model.nodes.get(line.node).map_or("", |node| node.name.as_str());
        if name != line.name {
            let (found, known) = (line.name.clone(), name.to_owned());
            return Err(RecipeError::Other { what: "layer", number: index, found, known });
        }
        let place = || format!("layer '{}'", line.name);
        let found = known.get(&(NodeId(line.node), line.pool.map(NodeId)));
        let layer = found.ok_or_else(|| {
            number(&place(), "it is no layer of its own, or no pool is computed with it")
        })?;
        for node in [Some(layer.node), layer.pool].into_iter().flatten() {
            let at = missing.iter().position(|missing| *missing == node);
            let at = at.ok_or_else(|| number(&place(), "it comes twice"))?;
            missing.swap_remove(at);
        }
        let sparse = match line.sparse {
            Some(each) => {
                let weights = model.nodes[layer.node.0].inputs.get(1);
                let cuts = weights.and_then(|id| sparse::Rows::of(model, *id)?.cuts(each));
                let wrong = "it has no weights to be sparse in such blocks";
                Some(cuts.ok_or_else(|| number(&place(), wrong))?)
            }
            None => None,
        };
        layers.push(Layer { sparse, ..(*layer).clone() });
    }
    match missing.first() {
        Some(node) => {
            let reason = format!("'{}' is missing", model.nodes[node.0].name);
            Err(number("layers", reason))
        }
        None => Ok(layers),
    }
}

/// A JSON object under way, with one entry of a list a line.
struct Lines(String);

impl Lines {
    fn field(&mut self, name: &str, value: &impl Serialize) {
        let value = json(value);
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "\"{name}\": {value},");
    }

    fn list<T: Serialize>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        let values: Vec<String> = values.into_iter().map(|value| json(&value)).collect();
        let values = values.join(",\n  ");
        let _ = match values.is_empty() {
            true => writeln!(self.0, "\"{name}\": [],"),
            false => writeln!(self.0, "\"{name}\": [\n  {values}\n],"),
        };
    }

    /// Without the comma behind the last field.
    fn end(mut self) -> String {
        self.0.truncate(self.0.trim_end_matches([',', '\n']).len());
        self.0.push_str("\n}\n");
        self.0
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("all of a recipe has a form in JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Strategy, plan};
    use tilewright_model::{Activation, DType, Node, Op, Quantisation, Shape, Tensor};

    fn relu() -> Model {
        let mut model = Model::default();
        let ids = ["x", "y"].map(|name| {
            let quantisation = Some(Quantisation { scales: vec![0.5], zeros: vec![0], axis: None });
            let (name, shape, dtype) = (name.to_owned(), Shape::new([1, 4, 4, 4]), DType::I8);
            model.add_tensor(Tensor { name, shape, dtype, quantisation, source: None })
        });
        let [inputs, outputs] = ids.map(|id| vec![id]);
        (model.inputs, model.outputs) = (inputs.clone(), outputs.clone());
        let op = Op::Activation(Activation::Relu);
        model.nodes.push(Node { name: "relu".to_owned(), op, inputs, outputs });
        model
    }

    #[test]
    fn copies_beyond_what_addresses_reach_are_refused() {
        let model = relu();
        let board = tilewright_board::find("stm32f746g-disco").unwrap();
        let planned = plan(&model, &board, Strategy::ALL[0], &Options::default()).unwrap();
        let text = planned.recipe.text(&model);
        for list in ["boot", "weights_in_sram"] {
            let with = |from: u64, to: u64, bytes: u64| {
                let place = |space, offset| format!(r#"{{"space":"{space}","offset":{offset}}}"#);
                let [from, to] = [place("weights", from), place("arena", to)];
                let load = format!(r#""{list}": [{{"from":{from},"to":{to},"bytes":{bytes}}}]"#);
                let changed = text.replace(&format!("\"{list}\": []"), &load);
                assert_ne!(changed, text);
                Recipe::read(&changed, &model)
            };
            with(0, 4096, 64).unwrap();
            for (from, to, bytes) in
                [(1 << 32, 4096, 64), (0, (1 << 32) + 4096, 64), (0, 64, 1 << 32), (u64::MAX, 0, 1)]
            {
                let error = with(from, to, bytes).unwrap_err();
                assert!(error.to_string().contains(list), "{error}");
            }
        }
    }
}
