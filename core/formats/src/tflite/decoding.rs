//! Networks that end with operators which decode their outputs. A microcontroller's program does their work in the
//! application, as whoever reads the outputs here does. The model ends before them.

use std::collections::BTreeSet;

use tilewright_tflite_schema::BuiltinOperator;

use super::importer::Importer;
use super::verified_file::Place;

/// An operator that decodes.
struct Decoder {
    op: &'static str,
    /// What its first operands are, for people. The others are constants.
    operands: &'static [&'static str],
}

const DECODERS: [Decoder; 2] = [
    Decoder {
        op: "custom operator TFLite_Detection_PostProcess",
        operands: &["codes of boxes", "scores"],
    },
    Decoder {
        op: "custom operator PosenetDecoderOp",
        operands: &["heat maps of key points", "offsets", "offsets from point to point"],
    },
];

/// What may follow where scores of places are enlarged to those of pixels.
const CHOOSING: [BuiltinOperator; 5] = [
    BuiltinOperator::ARG_MAX,
    BuiltinOperator::CAST,
    BuiltinOperator::RESHAPE,
    BuiltinOperator::SOFTMAX,
    BuiltinOperator::SQUEEZE,
];

/// Takes what a decoder decodes for outputs in place of its results, if these are outputs that no operator reads. The
/// operators that are left out, by their index.
pub(super) fn decoded(
    importer: &mut Importer<'_, '_>,
    place: &Place<'_>,
    outputs: &mut Vec<usize>,
) -> BTreeSet<usize> {
    let decoder = DECODERS.iter().find(|decoder| decoder.op == place.op);
    decoder
        .and_then(|decoder| end(importer, place, decoder.operands, &[], outputs))
        .unwrap_or_default()
}

/// Takes the scores that an operator enlarges, which nothing here computes, for an output in place of what is chosen by
/// them. The operators that are left out, by their index.
pub(super) fn enlarged(
    importer: &mut Importer<'_, '_>,
    place: &Place<'_>,
    outputs: &mut Vec<usize>,
) -> BTreeSet<usize> {
    let computes = |input: &usize| importer.file.places.iter().any(|p| p.outputs.contains(input));
    let is_computed = place.inputs.first().and_then(Option::as_ref).is_some_and(computes);
    if place.code != BuiltinOperator::RESIZE_BILINEAR || !is_computed {
        return BTreeSet::new();
    }
    end(importer, place, &["scores of fewer places"], &CHOOSING, outputs).unwrap_or_default()
}

/// Ends the model before a place, if outputs alone come of it and no operator but such as `may_follow` is between.
fn end(
    importer: &mut Importer<'_, '_>,
    place: &Place<'_>,
    operands: &[&str],
    may_follow: &[BuiltinOperator],
    outputs: &mut Vec<usize>,
) -> Option<BTreeSet<usize>> {
    let of = place.inputs.iter().take(operands.len()).copied().collect::<Option<Vec<usize>>>()?;
    let mut made: BTreeSet<usize> = place.outputs.iter().copied().collect();
    let mut left = BTreeSet::from([place.index]);
    for other in importer.file.places.iter().filter(|other| other.index > place.index) {
        if other.inputs.iter().flatten().any(|input| made.contains(input)) {
            if !may_follow.contains(&other.code) {
                return None;
            }
            left.insert(other.index);
            made.extend(&other.outputs);
        }
    }
    let at = outputs.iter().position(|output| made.contains(output))?;
    let before = outputs[..at].iter().filter(|output| !of.contains(output)).count();
    outputs.retain(|output| !made.contains(output) && !of.contains(output));
    let names = of.iter().zip(operands);
    let names: Vec<String> = names
        .map(|(index, what)| format!("{what} '{}'", importer.file.tensors[*index].name))
        .collect();
    let op = place.op.trim_start_matches("custom operator ");
    let names = names.join(", ");
    importer.model.notes.push(format!("The model ends before {op}: its outputs are {names}."));
    outputs.splice(before..before, of);
    Some(left)
}
