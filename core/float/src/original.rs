//! The ONNX file itself, run by tract.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tilewright_formats::{FileInput, FormatError, ModelFile, inside};
use tract_onnx::pb;
use tract_onnx::prelude::*;
use tract_onnx::tract_core::plan::eval;
use tract_onnx::tract_hir::infer::Factoid;

use crate::{FloatError, heirs};

/// Most bytes of the file and of the values beside it: tract holds all of them.
const MOST_BYTES: u64 = 1 << 30;

/// Most values of layers that are held at a time.
const MOST_VALUES: usize = 1 << 26;

/// `data_location` of values in another file.
const EXTERNAL: i32 = 1;

/// Values of a tensor of the file.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    /// Dimensions, as the file has them: images NCHW.
    pub(crate) dims: Vec<usize>,
    /// Values; integers as floats.
    pub(crate) values: Vec<f32>,
    /// Whether they are floats in the file.
    pub(crate) is_float: bool,
}

/// A file's input with what it is given.
pub(crate) struct Given {
    /// Dimensions, as the file has them.
    pub(crate) dims: Vec<usize>,
    /// Values in the file's order.
    pub(crate) values: Vec<f32>,
}

/// Whether an input takes the numbers of a quantised model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    Floats,
    Int8,
    Uint8,
}

/// How hard tract is asked. It knows all layers, unless it cannot translate one without leaving it out.
#[derive(Clone, Copy, Debug)]
struct Way {
    all_layers: bool,
    optimised: bool,
}

const WAYS: [Way; 3] = [
    Way { all_layers: true, optimised: false },
    Way { all_layers: true, optimised: true },
    Way { all_layers: false, optimised: true },
];

struct Plan {
    runnable: Arc<TypedRunnableModel>,
    names: Vec<String>,
}

/// A file that tract has read.
pub(crate) struct Original {
    model: InferenceModel,
    /// Tensors whose values are wanted, in the order of the file.
    layers: Vec<(String, OutletId)>,
    outputs: Vec<(String, OutletId)>,
    ways: std::slice::Iter<'static, Way>,
    plan: Option<Plan>,
    /// Other names under which a tensor may be found.
    pub(crate) heirs: BTreeMap<String, Vec<String>>,
    /// What each input takes.
    pub(crate) takes: Vec<Takes>,
}

impl Original {
    /// Reads a file that takes `inputs`; `wanted` says which tensors are compared.
    pub(crate) fn open(
        file: &ModelFile<'_>,
        inputs: &[FileInput],
        wanted: &BTreeSet<String>,
    ) -> Result<Self, FloatError> {
        let size = file.bytes.size();
        if size > MOST_BYTES {
            return Err(FloatError::TooLarge { bytes: size, limit: MOST_BYTES });
        }
        let length = usize::try_from(size).map_err(|_| FloatError::Unreadable)?;
        let bytes = file.bytes.read(0, length).ok_or(FloatError::Unreadable)?;
        let onnx = tract_onnx::onnx().with_ignore_value_info(true).with_ignore_output_shapes(true);
        let mut proto = guarded(|| onnx.proto_model_for_read(&mut bytes.as_slice()))?;
        drop(bytes);
        bring_values(&mut proto, file, size)?;
        let outputs: Vec<String> = proto
            .graph
            .iter()
            .flat_map(|graph| &graph.output)
            .map(|output| output.name.clone())
            .collect();
        let order = made(&proto);
        let heirs = heirs::of(&proto, wanted);
        let wanted: BTreeSet<&String> = wanted.iter().chain(heirs.values().flatten()).collect();
        let parsed = guarded(|| onnx.parse(&proto, None))?;
        drop(proto);
        let mut model = parsed.model;
        let takes = guarded(|| fix_inputs(&mut model, inputs))?;
        let find = |name: &String| parsed.outlets_by_name.get(name).map(|at| (name.clone(), *at));
        Ok(Self {
            layers: order.iter().filter(|name| wanted.contains(name)).filter_map(find).collect(),
            outputs: outputs.iter().filter_map(find).collect(),
            model,
            ways: WAYS.iter(),
            plan: None,
            takes,
            heirs,
        })
    }

    /// Runs the file on one set of inputs: the values of each tensor that was wanted, or of the
    /// outputs alone if tract has no others.
    pub(crate) fn run(
        &mut self,
        inputs: &[Given],
        cancel: &dyn Fn() -> bool,
    ) -> Result<BTreeMap<String, Array>, FloatError> {
        let mut last = FloatError::Tract { reason: "it has no plan for it".to_owned() };
        loop {
            if self.plan.is_none() {
                let Some(way) = self.ways.next() else { return Err(last) };
                match guarded(|| self.planned(*way)) {
                    Ok(plan) => self.plan = Some(plan),
                    Err(error) => {
                        last = error;
                        continue;
                    }
                }
            }
            let Some(plan) = &self.plan else { return Err(last) };
            let stopped = Cell::new(false);
            match guarded(|| run(plan, inputs, &self.takes, cancel, &stopped)) {
                Ok(arrays) => return Ok(arrays),
                Err(_) if stopped.get() => return Err(FloatError::Stopped),
                Err(error) => {
                    last = error;
                    self.plan = None;
                }
            }
        }
    }

    fn planned(&self, way: Way) -> TractResult<Plan> {
        let mut model = self.model.clone();
        let mut named = self.outputs.clone();
        if way.all_layers {
            let layers = self
                .layers
                .iter()
                .filter(|(name, _)| !self.outputs.iter().any(|(output, _)| output == name));
            named.extend(layers.cloned());
        }
        let outlets: Vec<OutletId> = named.iter().map(|(_, outlet)| *outlet).collect();
        model.select_output_outlets(&outlets)?;
        let mut model = model.into_typed()?;
        let kept = held(&model, &named, self.outputs.len())?;
        let outlets: Vec<OutletId> = kept.iter().map(|index| model.outputs[*index]).collect();
        model.select_output_outlets(&outlets)?;
        if way.optimised {
            model = model.into_optimized()?;
        }
        let names = kept.iter().map(|index| named[*index].0.clone()).collect();
        Ok(Plan { runnable: model.into_runnable()?, names })
    }
}

/// Indices of the tensors that have room in memory together; the first `outputs` come first.
fn held(
    model: &TypedModel,
    named: &[(String, OutletId)],
    outputs: usize,
) -> TractResult<Vec<usize>> {
    let mut values = 0usize;
    let mut kept = Vec::new();
    for index in 0..named.len() {
        let fact = model.outlet_fact(model.outputs[index])?;
        let count = fact.shape.as_concrete().map_or(0, |dims| dims.iter().product());
        if index < outputs || values.saturating_add(count) <= MOST_VALUES {
            values = values.saturating_add(count);
            kept.push(index);
        }
    }
    Ok(kept)
}

fn run(
    plan: &Plan,
    inputs: &[Given],
    takes: &[Takes],
    cancel: &dyn Fn() -> bool,
    stopped: &Cell<bool>,
) -> TractResult<BTreeMap<String, Array>> {
    let model = plan.runnable.model();
    let mut values: TVec<TValue> = tvec!();
    for (index, input) in inputs.iter().enumerate() {
        let mut tensor = Tensor::from_shape(&input.dims, &input.values)?;
        let kind = model.input_fact(index)?.datum_type;
        if kind != f32::datum_type() {
            // Unsigned bytes are those of int8 and 128 more.
            if takes.get(index) == Some(&Takes::Uint8) {
                let moved: Vec<f32> = input.values.iter().map(|value| value + 128.0).collect();
                tensor = Tensor::from_shape(&input.dims, &moved)?;
            }
            tensor = tensor.cast_to_dt(kind)?.into_owned();
        }
        values.push(tensor.into());
    }
    let results =
        plan.runnable.spawn()?.run_plan_with_eval(values, |at, state, node, operands| {
            stopped.set(stopped.get() || cancel());
            if stopped.get() {
                return Err(TractError::msg("stopped"));
            }
            eval(at, state, node, operands)
        })?;
    let mut arrays = BTreeMap::new();
    for (name, result) in plan.names.iter().zip(&results) {
        let kind = result.datum_type();
        if !(kind.is_float() || kind.is_integer()) {
            continue;
        }
        let floats = result.cast_to::<f32>()?;
        let array = floats.to_plain_array_view::<f32>()?;
        let dims = array.shape().to_vec();
        let values = array.iter().copied().collect();
        arrays.insert(name.clone(), Array { dims, values, is_float: kind.is_float() });
    }
    Ok(arrays)
}

/// Gives tract's inputs their sizes; what each takes.
fn fix_inputs(model: &mut InferenceModel, inputs: &[FileInput]) -> TractResult<Vec<Takes>> {
    let mut takes = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        let kind = model.input_fact(index)?.datum_type.concretize();
        let kind = kind.unwrap_or_else(f32::datum_type);
        takes.push(match kind {
            DatumType::I8 => Takes::Int8,
            DatumType::U8 => Takes::Uint8,
            _ => Takes::Floats,
        });
        model.set_input_fact(index, InferenceFact::dt_shape(kind, input.dims.as_slice()))?;
    }
    Ok(takes)
}

/// Names of all that nodes make, in the order of the file.
fn made(proto: &pb::ModelProto) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let nodes = proto.graph.iter().flat_map(|graph| &graph.node);
    let names = nodes.flat_map(|node| &node.output).filter(|name| !name.is_empty());
    names.filter(|name| seen.insert(*name)).cloned().collect()
}

/// Brings values that lie beside the file into it: tract would look for them itself.
fn bring_values(
    proto: &mut pb::ModelProto,
    file: &ModelFile<'_>,
    own: u64,
) -> Result<(), FloatError> {
    let mut bytes = own;
    let Some(graph) = &mut proto.graph else { return Ok(()) };
    let attributes = graph.node.iter_mut().flat_map(|node| &mut node.attribute);
    let inner = attributes.filter_map(|attribute| attribute.t.as_mut());
    for tensor in graph.initializer.iter_mut().chain(inner) {
        if tensor.data_location != Some(EXTERNAL) {
            continue;
        }
        let entry = |key: &str| tensor.external_data.iter().rfind(|entry| entry.key == key);
        let location = entry("location").map_or("", |entry| entry.value.as_str()).to_owned();
        let number = |key: &str| entry(key).and_then(|entry| entry.value.trim().parse().ok());
        let bad = |reason: String| FormatError::Data {
            tensor: tensor.name.clone(),
            file: location.clone(),
            reason,
        };
        let path = inside(&location).ok_or_else(|| bad("it leads out of the folder".to_owned()))?;
        let store = (file.beside)(&path).map_err(bad)?.ok_or_else(|| FormatError::MissingData {
            tensor: tensor.name.clone(),
            file: path.clone(),
        })?;
        let offset: u64 = number("offset").unwrap_or(0);
        let rest = store.size().saturating_sub(offset);
        let length: u64 = number("length").unwrap_or(rest);
        bytes = bytes.saturating_add(length);
        if bytes > MOST_BYTES {
            return Err(FloatError::TooLarge { bytes, limit: MOST_BYTES });
        }
        let length = usize::try_from(length).map_err(|_| FloatError::Unreadable)?;
        let read = store.read(offset, length);
        let read = read.ok_or_else(|| bad("it cannot be read".to_owned()))?;
        tensor.raw_data = read;
        tensor.external_data.clear();
        tensor.data_location = None;
    }
    Ok(())
}

/// What tract does, where a panic of its own is an error as any other.
fn guarded<T>(work: impl FnOnce() -> TractResult<T>) -> Result<T, FloatError> {
    let done = catch_unwind(AssertUnwindSafe(work));
    let reason = match done {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => format!("{error:#}"),
        Err(_) => "it panicked".to_owned(),
    };
    Err(FloatError::Tract { reason })
}
