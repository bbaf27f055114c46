//! A file without the values of its constants: those stay where they are until they are asked for.

use prost::Message;
use prost::bytes::Bytes;

use super::messages::{GraphProto, ModelProto, TensorProto};
use super::window::{Window, Wrong};
use crate::FormatError;

/// Numbers of the fields that are treated apart.
const MODEL_GRAPH: u64 = 7;
const GRAPH_INITIALIZER: u64 = 5;
const TENSOR_FLOATS: u64 = 4;
const TENSOR_RAW: u64 = 9;

/// Packed floats from this length on stay in the file.
const LONG: usize = 1 << 16;

/// A constant's values in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// A constant of the graph and where its values are; nowhere here if they are in the message or in
/// another file.
pub(super) struct Initializer {
    pub(super) tensor: TensorProto,
    pub(super) place: Option<Place>,
}

/// A file whose graph has no initializers, and these.
pub(super) struct Skeleton {
    pub(super) model: ModelProto,
    pub(super) initializers: Vec<Initializer>,
}

/// Reads a file that [`super::wire::check`] lets through.
pub(super) fn read(mut file: Window<'_>) -> Result<Skeleton, FormatError> {
    let length = file.length();
    split(&mut file).map_err(|stop| match stop {
        Stop::Wrong(wrong) => wrong.damaged(length),
        Stop::Decode(error) => FormatError::Damaged { reason: error.to_string() },
    })
}

enum Stop {
    Wrong(Wrong),
    Decode(prost::DecodeError),
}

impl From<Wrong> for Stop {
    fn from(wrong: Wrong) -> Self {
        Self::Wrong(wrong)
    }
}

impl From<prost::DecodeError> for Stop {
    fn from(error: prost::DecodeError) -> Self {
        Self::Decode(error)
    }
}

/// Messages one behind the other are one message, so that fields can be taken out of one without
/// writing its length anew.
fn split(file: &mut Window<'_>) -> Result<Skeleton, Stop> {
    let mut initializers = Vec::new();
    let mut graph = Vec::new();
    let mut graphs = Vec::new();
    let rest = without(file, 0, file.length(), &[MODEL_GRAPH], &mut |_, from, to| {
        graphs.push((from, to));
    })?;
    for (from, to) in &graphs {
        let mut places = Vec::new();
        graph.extend(without(file, *from, *to, &[GRAPH_INITIALIZER], &mut |_, from, to| {
            places.push((from, to));
        })?);
        for (from, to) in places {
            initializers.push(initializer(file, from, to)?);
        }
    }
    let mut model = ModelProto::decode(Bytes::from(rest))?;
    if !graphs.is_empty() {
        model.graph = Some(GraphProto::decode(Bytes::from(graph))?);
    }
    Ok(Skeleton { model, initializers })
}

fn initializer(file: &mut Window<'_>, start: usize, end: usize) -> Result<Initializer, Stop> {
    let (mut raw, mut floats) = (None, Vec::new());
    let mut rest = without(file, start, end, &[TENSOR_RAW, TENSOR_FLOATS], &mut |field, a, b| {
        match field {
            // Nothing in it stands for values in another field.
            TENSOR_RAW => raw = (b > a).then_some((a, b)),
            _ => floats.push((a, b)),
        }
    })?;
    let place = match (raw, floats.as_slice()) {
        (Some(place), _) => Some(place),
        (None, [place]) if place.1 - place.0 >= LONG => Some(*place),
        (None, _) => {
            rest = file.bytes(start, end)?;
            None
        }
    };
    let tensor = TensorProto::decode(Bytes::from(rest))?;
    let place = place.map(|(from, to)| Place { offset: from as u64, length: (to - from) as u64 });
    Ok(Initializer { tensor, place })
}

/// The fields of a message but for those of `numbers` that hold bytes; `take` gets these with their
/// number, start and end.
fn without(
    file: &mut Window<'_>,
    start: usize,
    end: usize,
    numbers: &[u64],
    take: &mut dyn FnMut(u64, usize, usize),
) -> Result<Vec<u8>, Wrong> {
    let mut rest = Vec::new();
    let (mut at, mut kept) = (start, start);
    while at < end {
        let field = file.field(at, end)?;
        if let (Some((from, to)), true) = (field.inside.bytes(), numbers.contains(&field.number)) {
            rest.extend(file.bytes(kept, at)?);
            take(field.number, from, to);
            kept = to;
        }
        at = field.inside.end();
    }
    rest.extend(file.bytes(kept, end)?);
    Ok(rest)
}
