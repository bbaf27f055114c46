//! The models run beside each other, sample by sample.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_formats::{FileInput, Limits, ModelFile, file_inputs};
use tilewright_model::{DType, Data, Model, NodeId, Op, RunError, Tensor, TensorId, float, int8};
use tilewright_report::{FloatComparison, NotCompared, TensorComparison};

use crate::layout::{inverse, permuted, ways};
use crate::original::{Array, Given, Original, Takes};
use crate::tally::{Tally, decibels};
use crate::{FloatError, blame};

/// Orders of dimensions that are as good as this are not tried further.
const RIGHT_DB: f64 = 40.0;

/// What is guessed to be a tensor of the file differs less from it than any other tensor would.
const LIKELY_DB: f64 = 20.0;

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'s> {
    /// The model's file, with those beside it; nothing if the model comes from elsewhere.
    pub file: Option<&'s ModelFile<'s>>,
    /// Sizes of dimensions that the file leaves open, as the importer got them.
    pub dims: &'s [(String, usize)],
    /// The float model that was imported; nothing if the file is int8 itself.
    pub float: Option<&'s Model>,
    /// The int8 model.
    pub int8: &'s Model,
    /// Sets of inputs in the model's layout: of the float model, or of the int8 model where there is
    /// no float one.
    pub samples: &'s [Vec<Data>],
}

/// Compares a model with its float form on the samples: time is that of running three models on
/// each, memory that of tract's model and of one sample's values. `progress` is told samples done
/// and samples in all; `cancel` is asked before each layer.
///
/// # Errors
/// If there is no float form, or one of the models does not run; [`FloatError::Stopped`] soon after
/// `cancel` says yes.
pub fn compare(
    subject: &Subject<'_>,
    progress: &mut dyn FnMut(usize, usize),
    cancel: &dyn Fn() -> bool,
) -> Result<FloatComparison, FloatError> {
    if subject.samples.is_empty() {
        return Err(FloatError::NoSamples);
    }
    let inputs = match subject.file {
        Some(file) => file_inputs(file, &Limits::default(), subject.dims)?,
        None => None,
    };
    let base = match (&inputs, subject.float) {
        (None, None) => return Err(FloatError::NoFloat),
        (_, Some(float)) => float,
        (Some(_), None) => subject.int8,
    };
    let mut places = Places::new(base, subject.int8);
    let mut original = match (subject.file, &inputs) {
        (Some(file), Some(inputs)) => {
            let guesses = places.all.iter().filter_map(|place| place.guess.as_ref());
            let wanted: BTreeSet<String> = places.by_name.keys().chain(guesses).cloned().collect();
            let inputs = matched(base, inputs)?;
            let original = Original::open(file, &inputs, &wanted)?;
            for place in places.all.iter_mut().filter(|place| !place.is_output) {
                place
                    .names
                    .extend(original.heirs.get(&place.tensor).into_iter().flatten().cloned());
            }
            Some((original, inputs))
        }
        _ => None,
    };
    let reals = subject.float.map(float::Interpreter::new).transpose()?;
    let integers = int8::Interpreter::new(subject.int8)?;
    let all = subject.samples.len();
    for (done, sample) in subject.samples.iter().enumerate() {
        progress(done, all);
        let stated = stated_inputs(subject, sample)?;
        let mut opinion = match &mut original {
            Some((original, inputs)) => {
                let given = given(subject, &stated, inputs, &original.takes)?;
                Opinion { arrays: original.run(&given, cancel)?, values: BTreeMap::new() }
            }
            None => Opinion::default(),
        };
        if cancel() {
            return Err(FloatError::Stopped);
        }
        for (place, data) in stated.reals.iter().enumerate() {
            opinion.values.insert(place, data.clone());
        }
        if let (Some(reals), Some(model)) = (&reals, subject.float) {
            let is_opinion = original.is_none();
            let mut observe = |NodeId(node): NodeId, results: &[Data]| {
                let made = model.nodes[node].outputs.iter().zip(results);
                for (id, data) in made {
                    let (tensor, values) = (model.tensor(*id), floats(model.tensor(*id), data));
                    places.see(tensor, &values, &mut opinion, Column::Float, is_opinion);
                }
            };
            reals.run_until(sample, &mut observe, cancel).map_err(stopped)?;
        }
        for (place, (data, id)) in stated.integers.iter().zip(&subject.int8.inputs).enumerate() {
            let values = floats(subject.int8.tensor(*id), data);
            places.add(place, &stated.reals[place], &values, Column::Int8);
        }
        let model = subject.int8;
        let mut observe = |NodeId(node): NodeId, results: &[Data]| {
            for (id, data) in model.nodes[node].outputs.iter().zip(results) {
                let (tensor, values) = (model.tensor(*id), floats(model.tensor(*id), data));
                places.see(tensor, &values, &mut opinion, Column::Int8, false);
            }
        };
        integers.run_until(&stated.integers, &mut observe, cancel).map_err(stopped)?;
    }
    progress(all, all);
    let (layers, not_compared) = places.report();
    let is_output = |layer: &&TensorComparison| {
        base.outputs.iter().any(|id| base.tensor(*id).name == layer.tensor)
    };
    Ok(FloatComparison {
        model: subject.int8.name.clone(),
        opinion: match original {
            Some(_) => FloatComparison::TRACT,
            None => FloatComparison::INTERPRETER,
        }
        .to_owned(),
        samples: all,
        outputs: layers.iter().filter(is_output).cloned().collect(),
        not_compared,
        first_float_loss: blame::float(base, &layers),
        first_int8_loss: blame::int8(base, &layers),
        layers,
    })
}

fn stopped(error: RunError) -> FloatError {
    if error == RunError::Stopped { FloatError::Stopped } else { error.into() }
}

/// The file's inputs in the order of the file, each with its place in the model.
fn matched(model: &Model, inputs: &[FileInput]) -> Result<Vec<FileInput>, FloatError> {
    let has =
        |input: &FileInput| model.inputs.iter().any(|id| model.tensor(*id).name == input.name);
    match inputs.iter().find(|input| !has(input)) {
        None => Ok(inputs.to_vec()),
        Some(input) => Err(FloatError::Input {
            input: input.name.clone(),
            reason: "the imported model does not take it".to_owned(),
        }),
    }
}

/// One sample in both forms.
struct Stated {
    reals: Vec<Vec<f32>>,
    integers: Vec<Data>,
}

fn stated_inputs(subject: &Subject<'_>, sample: &[Data]) -> Result<Stated, FloatError> {
    let (model, given) = (subject.int8, sample.len());
    if given != model.inputs.len() {
        return Err(RunError::InputCount { given, taken: model.inputs.len() }.into());
    }
    let mut stated = Stated { reals: Vec::new(), integers: Vec::new() };
    for (data, id) in sample.iter().zip(&model.inputs) {
        let tensor = model.tensor(*id);
        match (data, &tensor.quantisation) {
            (Data::F32(values), Some(quantisation)) if tensor.dtype == DType::I8 => {
                stated.integers.push(Data::I8(quantisation.quantise(values)));
            }
            _ => stated.integers.push(data.clone()),
        }
        stated.reals.push(floats(tensor, data));
    }
    Ok(stated)
}

/// What tract's inputs are given.
fn given(
    subject: &Subject<'_>,
    stated: &Stated,
    inputs: &[FileInput],
    takes: &[Takes],
) -> Result<Vec<Given>, FloatError> {
    let model = subject.int8;
    let one = |(input, takes): (&FileInput, &Takes)| {
        let bad = |reason: &str| FloatError::Input {
            input: input.name.clone(),
            reason: reason.to_owned(),
        };
        let find = |id: &TensorId| model.tensor(*id).name == input.name;
        let place = model.inputs.iter().position(find).ok_or_else(|| bad("it has gone"))?;
        let tensor = model.tensor(model.inputs[place]);
        let values: Vec<f32> = match (takes, &stated.integers[place]) {
            (Takes::Floats, _) => stated.reals[place].clone(),
            (_, Data::I8(values)) => values.iter().map(|value| f32::from(*value)).collect(),
            _ => return Err(bad("the file takes 8-bit integers, and the model does not")),
        };
        let dims = tensor.shape.dims();
        let count: usize = input.dims.iter().product();
        if dims.len() != input.order.len() || count != values.len() {
            return Err(bad("its size in the file is not that of the model"));
        }
        let values = permuted(&values, dims, &inverse(&input.order));
        Ok(Given { dims: input.dims.clone(), values })
    };
    inputs.iter().zip(takes).map(one).collect()
}

/// Values as real numbers.
fn floats(tensor: &Tensor, data: &Data) -> Vec<f32> {
    match (data, &tensor.quantisation) {
        (Data::F32(values), _) => values.clone(),
        (Data::I8(values), Some(quantisation)) => quantisation.dequantise(values),
        (Data::I8(values), None) => values.iter().map(|value| f32::from(*value)).collect(),
        (Data::I32(values), _) => values.iter().map(|value| *value as f32).collect(),
    }
}

/// The opinion's values of one sample.
#[derive(Default)]
struct Opinion {
    /// As the file has them, until they are needed.
    arrays: BTreeMap<String, Array>,
    /// In the graph's layout, by place.
    values: BTreeMap<usize, Vec<f32>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Float,
    Int8,
}

/// A tensor of the file that may be one of the graph.
struct Match {
    /// Signal-to-noise ratio in decibels.
    ratio: f64,
    /// Its name, and the order of its dimensions in the graph.
    found: (String, Vec<usize>),
    laid_out: Vec<f32>,
}

/// A tensor that an input or a node makes.
struct Place {
    tensor: String,
    layer: String,
    op: String,
    /// Length of the last dimension, if it is an output.
    row: Option<usize>,
    /// Whether it is an output, whose layout is known.
    is_output: bool,
    /// Names of the file to find it under.
    names: Vec<String>,
    /// Another, if it is one of several tensors that the importer made of one.
    guess: Option<String>,
    /// Which of these it is, and the order of the file's dimensions in the graph, once they are found.
    found: Option<(String, Vec<usize>)>,
    /// The place of a reshape's operand: where the graph has another order, the reshape's values are
    /// those of the file's operand, and not those of its result.
    operand: Option<usize>,
    takes_operand: bool,
    float: Tally,
    int8: Tally,
    /// Why it is not compared.
    reason: Option<String>,
}

struct Places {
    all: Vec<Place>,
    by_name: BTreeMap<String, usize>,
}

impl Places {
    fn new(base: &Model, int8: &Model) -> Self {
        let place = |id: &TensorId, layer: &str, op: &str| {
            let tensor = base.tensor(*id);
            let is_output = base.outputs.contains(id);
            let row = tensor.shape.dims().last().copied().filter(|_| is_output);
            Place {
                tensor: tensor.name.clone(),
                layer: layer.to_owned(),
                op: op.to_owned(),
                row,
                is_output,
                names: vec![tensor.name.clone()],
                guess: whole(&tensor.name).map(str::to_owned),
                found: None,
                operand: None,
                takes_operand: false,
                float: Tally::default(),
                int8: Tally::default(),
                reason: None,
            }
        };
        let inputs = base.inputs.iter().zip(&int8.inputs);
        let inputs = inputs.map(|(id, _)| place(id, &base.tensor(*id).name, "Input"));
        let nodes = base
            .nodes
            .iter()
            .flat_map(|node| node.outputs.iter().map(|id| place(id, &node.name, node.op.name())));
        let all: Vec<Place> = inputs.chain(nodes).collect();
        let named = all.iter().enumerate().map(|(index, place)| (place.tensor.clone(), index));
        let by_name: BTreeMap<String, usize> = named.collect();
        let mut places = Self { all, by_name };
        for node in base.nodes.iter().filter(|node| node.op == Op::Reshape) {
            let place = |id: &TensorId| places.by_name.get(&base.tensor(*id).name).copied();
            let operand = node.inputs.first().and_then(place);
            if let Some(index) = node.outputs.first().and_then(place) {
                places.all[index].operand = operand;
            }
        }
        places
    }

    /// Takes a tensor that one of our interpreters made.
    fn see(
        &mut self,
        tensor: &Tensor,
        values: &[f32],
        opinion: &mut Opinion,
        column: Column,
        is_opinion: bool,
    ) {
        let Some(index) = self.by_name.get(&tensor.name).copied() else { return };
        if is_opinion {
            opinion.values.insert(index, values.to_vec());
            return;
        }
        if !opinion.values.contains_key(&index) && !opinion.arrays.is_empty() {
            let operand = self.all[index].operand.and_then(|place| opinion.values.get(&place));
            let operand = operand.filter(|operand| operand.len() == values.len()).cloned();
            match self.all[index].lay_out(&opinion.arrays, tensor, values, operand) {
                Ok(laid_out) => {
                    opinion.values.insert(index, laid_out);
                }
                Err(reason) => self.all[index].reason = reason,
            }
        }
        if let Some(real) = opinion.values.get(&index).filter(|real| real.len() == values.len()) {
            self.add(index, real, values, column);
        }
    }

    fn add(&mut self, index: usize, real: &[f32], values: &[f32], column: Column) {
        let place = &mut self.all[index];
        let row = place.row;
        match column {
            Column::Float => place.float.add(real, values, row),
            Column::Int8 => place.int8.add(real, values, row),
        }
    }

    /// What was compared, and what was not, in order of execution.
    fn report(self) -> (Vec<TensorComparison>, Vec<NotCompared>) {
        let (mut layers, mut not_compared) = (Vec::new(), Vec::new());
        for place in self.all {
            let (float, int8) = (place.float.agreement(), place.int8.agreement());
            let Place { tensor, layer, op, .. } = place;
            if float.is_none() && int8.is_none() {
                let reason = match place.reason {
                    Some(reason) => reason,
                    None if place.float.is_unfit || place.int8.is_unfit => {
                        "it takes values that are infinite or no number".to_owned()
                    }
                    None => "there is no tensor of this name to compare it with".to_owned(),
                };
                not_compared.push(NotCompared { tensor, layer, reason });
            } else {
                layers.push(TensorComparison { tensor, layer, op, float, int8 });
            }
        }
        (layers, not_compared)
    }
}

impl Place {
    /// The file's values in the graph's layout; or why there are none. Where names or equal dimensions
    /// leave several open, the best match of the first sample holds for all samples.
    fn lay_out(
        &mut self,
        arrays: &BTreeMap<String, Array>,
        tensor: &Tensor,
        values: &[f32],
        operand: Option<Vec<f32>>,
    ) -> Result<Vec<f32>, Option<String>> {
        let shape = tensor.shape.dims();
        if self.takes_operand {
            return operand.ok_or(None);
        }
        if let Some((name, order)) = &self.found {
            let array = arrays.get(name).ok_or(None)?;
            return Ok(permuted(&array.values, &ways(&array.dims, shape, false).dims, order));
        }
        let mut reason = None;
        let mut best: Option<Match> = None;
        for name in self.names.iter().chain(&self.guess) {
            let is_guess = self.guess.as_ref() == Some(name);
            let Some(array) = arrays.get(name) else { continue };
            if is_guess && best.is_some() {
                continue;
            }
            let ways = ways(&array.dims, shape, self.is_output);
            if array.is_float == (tensor.dtype == DType::I32) {
                reason = Some("it holds integers in one of the two".to_owned());
                continue;
            }
            if ways.orders.is_empty() && reason.is_none() && !is_guess {
                reason =
                    Some(format!("its shape is {:?} in the file and {shape:?} here", array.dims));
            }
            for order in ways.orders {
                if best.as_ref().is_some_and(|best| best.ratio > RIGHT_DB) {
                    break;
                }
                let laid_out = permuted(&array.values, &ways.dims, &order);
                let ratio = ratio(&laid_out, values);
                if best.as_ref().is_none_or(|best| ratio > best.ratio)
                    && (!is_guess || ratio > LIKELY_DB)
                {
                    best = Some(Match { ratio, found: (name.clone(), order), laid_out });
                }
            }
        }
        let most = best.as_ref().map_or(f64::NEG_INFINITY, |best| best.ratio);
        if let Some(operand) = operand
            && most <= RIGHT_DB
            && ratio(&operand, values) > most
        {
            self.takes_operand = true;
            return Ok(operand);
        }
        let Some(Match { found, laid_out, .. }) = best else { return Err(reason) };
        self.found = Some(found);
        Ok(laid_out)
    }
}

/// The file's tensor that one of this name is a part of, as the importer counts parts. A convolution
/// over a signal is the second part, between reshapes.
fn whole(name: &str) -> Option<&str> {
    let (whole, part) = name.rsplit_once('.')?;
    (!part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit())).then_some(whole)
}

fn ratio(real: &[f32], values: &[f32]) -> f64 {
    let (mut signal, mut noise) = (0.0, 0.0);
    for (real, value) in real.iter().zip(values) {
        let (real, value) = (f64::from(*real), f64::from(*value));
        signal += real * real;
        noise += (value - real) * (value - real);
    }
    decibels(signal, noise).unwrap_or(f64::INFINITY)
}
