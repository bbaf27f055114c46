//! A model as a drawing.

use serde::{Deserialize, Serialize};

use super::tiles::TiledRegion;
use crate::view_model::layers::Family;

/// A model as a drawing: what is on it, and where it lies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphFacts {
    /// Inputs, operators in order of execution, outputs.
    pub nodes: Vec<GraphNode>,
    /// Activations that run between them.
    pub nets: Vec<GraphNet>,
    /// How many layers there are, from top to bottom.
    pub layers: u32,
    /// From the left to the right edge, in pixels at natural size.
    pub width: f32,
    /// Which layers are in tiles; nothing: it is the model as it was opened.
    pub tiled: Option<TiledRegion>,
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeRole {
    /// A tensor that the user gives.
    Input,
    /// A tensor that the user gets.
    Output,
    /// An operator: its index in the model.
    Operator(u32),
    /// An operator that nothing here computes: its index in the model.
    Opaque(u32),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphNode {
    /// What it stands for.
    pub role: NodeRole,
    pub name: String,
    /// Operator, for people.
    pub op: String,
    /// Window, stride, activation, for people; empty if there is nothing to say.
    pub detail: String,
    /// Colour and outline.
    pub family: Family,
    /// Shapes of the activations that it takes.
    pub inputs: Vec<String>,
    /// Shape of the first result.
    pub output: String,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Elements of its constants.
    pub parameters: u64,
    /// Bytes of its constants.
    pub weight_bytes: u64,
    /// Bytes of its results.
    pub output_bytes: u64,
    /// Layer of the drawing.
    pub layer: u32,
    /// Its middle, in pixels at natural size from the left edge.
    pub x: f32,
}

/// An activation on its way from the node that makes it to those that take it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphNet {
    /// Index of the tensor in the model.
    pub tensor: u32,
    /// Name of the tensor.
    pub name: String,
    pub shape: String,
    pub bytes: u64,
    /// Node that it leaves.
    pub from: u32,
    /// Nodes that it reaches.
    pub to: Vec<u32>,
    /// Where it crosses the layers that it passes, from the one below its beginning on.
    pub trunk: Vec<f32>,
}
