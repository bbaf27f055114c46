//! The int8 model, and our reading of its file, beside the float model.

use tilewright_report::{Agreement, FloatComparison, Loss, TensorComparison, csv_row, sentence};

use super::figures;
use super::quantisation::{decibels, real};

/// Megabytes that the comparison's program takes to fetch, at most; a browser test holds it.
pub const DOWNLOAD_MB: f64 = 3.1;

/// Bars end here: what is beyond differs by rounding of floats.
pub const MOST_DB: f64 = 100.0;

/// What happens until the program is there.
#[must_use]
pub fn loading() -> String {
    format!("Loading the comparison ({DOWNLOAD_MB} MB)")
}

/// What a comparison will do, for a file of this name; of one that is not ONNX, or of none, tract
/// runs nothing.
#[must_use]
pub fn promise(file: &str) -> String {
    let how = if is_onnx(file) {
        "Runs the original ONNX file in tract, an independent runtime, and compares our float interpreter \
         and the int8 model with it: what differs as float is the importer's fault, what differs \
         only as int8 is the price of quantising."
    } else {
        "Runs our float interpreter and compares the int8 model with it, layer by layer. tract, which \
         is independent of it, runs ONNX files alone."
    };
    format!("{how} Loads {DOWNLOAD_MB} MB the first time.")
}

/// Whether tract could run a file of this name.
#[must_use]
pub fn is_onnx(file: &str) -> bool {
    file.to_ascii_lowercase().ends_with(".onnx")
}

/// What was compared with what, and where the figures come from.
#[must_use]
pub fn summary(found: &FloatComparison) -> String {
    let samples = match found.samples {
        1 => "1 sample".to_owned(),
        count => format!("{count} samples"),
    };
    let opinion = if found.opinion == FloatComparison::INTERPRETER {
        format!("Compared with our float interpreter on {samples}.")
    } else {
        format!("Compared with {}, which ran the original file, on {samples}.", found.opinion)
    };
    format!(
        "{opinion} All figures are computed on this computer, by the browser; no board has run."
    )
}

/// What it comes to, in the command line's words.
#[must_use]
pub fn verdicts(found: &FloatComparison) -> Vec<String> {
    found.verdicts().iter().map(|verdict| sentence(verdict)).collect()
}

/// What was left out; nothing if that is nothing.
#[must_use]
pub fn left_out(found: &FloatComparison) -> Option<String> {
    let first = found.not_compared.first()?;
    let (tensor, reason) = (&first.tensor, &first.reason);
    Some(match found.not_compared.len() {
        1 => format!("'{tensor}' is not compared: {reason}."),
        count => format!("{count} layers are not compared, the first '{tensor}': {reason}."),
    })
}

/// A layer's two bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    pub layer: String,
    /// Our float interpreter beside the opinion, in decibels, and whether this is the first that
    /// differs by more than rounding.
    pub float: Option<(f64, bool)>,
    /// The int8 model beside the opinion, and whether this is the first that loses much.
    pub int8: Option<(f64, bool)>,
    /// What they say.
    pub text: String,
}

/// Inputs and layers in order of execution.
#[must_use]
pub fn bars(found: &FloatComparison) -> Vec<Bars> {
    let height =
        |own: Option<&Agreement>| Some(own?.sqnr_db.unwrap_or(f64::INFINITY).clamp(0.0, MOST_DB));
    let bars = |layer: &TensorComparison| {
        let [is_float, is_int8] = losses(found).map(|loss| is(loss, layer));
        let of = |what: &str, own: Option<&Agreement>| {
            own.map(|own| format!(", {what} {}", ratio(Some(own)))).unwrap_or_default()
        };
        Bars {
            layer: layer.layer.clone(),
            float: height(layer.float.as_ref()).map(|height| (height, is_float)),
            int8: height(layer.int8.as_ref()).map(|height| (height, is_int8)),
            text: format!(
                "{}{}{}",
                layer.layer,
                of("float", layer.float.as_ref()),
                of("int8", layer.int8.as_ref())
            ),
        }
    };
    found.layers.iter().map(bars).collect()
}

fn losses(found: &FloatComparison) -> [&Option<Loss>; 2] {
    [&found.first_float_loss, &found.first_int8_loss]
}

fn is(loss: &Option<Loss>, layer: &TensorComparison) -> bool {
    loss.as_ref().is_some_and(|loss| loss.tensor == layer.tensor)
}

/// What is to be said of a layer; mostly nothing.
#[must_use]
pub fn note(found: &FloatComparison, layer: &TensorComparison) -> &'static str {
    match losses(found).map(|loss| is(loss, layer)) {
        [true, _] => "the first that differs as float",
        [_, true] => "the first that loses much",
        _ => "",
    }
}

/// Signal-to-noise ratio.
#[must_use]
pub fn ratio(found: Option<&Agreement>) -> String {
    found.map_or("–".to_owned(), |found| decibels(found.sqnr_db.unwrap_or(f64::INFINITY)))
}

/// Largest difference of a value.
#[must_use]
pub fn difference(found: Option<&Agreement>) -> String {
    found.map_or("–".to_owned(), |found| real(found.max_difference as f32))
}

/// Cosine of the angle between both.
#[must_use]
pub fn cosine(found: Option<&Agreement>) -> String {
    let cosine = found.and_then(|found| found.cosine);
    cosine.map_or("–".to_owned(), |cosine| figures::fixed(cosine, 5))
}

/// How often the largest value is at the same place.
#[must_use]
pub fn top1(found: Option<&Agreement>, samples: usize) -> String {
    let share = found.and_then(|found| found.top1_agreement);
    share.map_or("–".to_owned(), |share| {
        format!("{} of {samples} samples", figures::percent(share, 1.0))
    })
}

/// The layers as CSV, in order of execution.
#[must_use]
pub fn csv(found: &FloatComparison) -> String {
    let mut text = String::from(
        "layer,op,tensor,float_sqnr_db,float_max_difference,int8_sqnr_db,int8_max_difference,\
         int8_cosine\n",
    );
    for layer in &found.layers {
        let (float, int8) = (layer.float.as_ref(), layer.int8.as_ref());
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        text.push_str(&csv_row(&[
            layer.layer.clone(),
            layer.op.clone(),
            layer.tensor.clone(),
            number(float.and_then(|own| own.sqnr_db)),
            number(float.map(|own| own.max_difference)),
            number(int8.and_then(|own| own.sqnr_db)),
            number(int8.map(|own| own.max_difference)),
            number(int8.and_then(|own| own.cosine)),
        ]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_report::NotCompared;

    fn agreement(sqnr_db: Option<f64>) -> Option<Agreement> {
        Some(Agreement {
            sqnr_db,
            max_difference: 0.25,
            cosine: Some(0.99),
            top1_agreement: Some(0.875),
        })
    }

    fn layer(name: &str, float: Option<f64>, int8: Option<f64>) -> TensorComparison {
        TensorComparison {
            tensor: format!("{name}_out"),
            layer: name.to_owned(),
            op: "Conv2D".to_owned(),
            float: agreement(float),
            int8: agreement(int8),
        }
    }

    fn found() -> FloatComparison {
        let layers =
            vec![layer("conv1", None, Some(40.0)), layer("conv2", Some(130.0), Some(-3.0))];
        FloatComparison {
            model: "net".to_owned(),
            opinion: FloatComparison::TRACT.to_owned(),
            samples: 8,
            outputs: vec![layers[1].clone()],
            layers,
            not_compared: vec![NotCompared {
                tensor: "x".to_owned(),
                layer: "y".to_owned(),
                reason: "there is none".to_owned(),
            }],
            first_float_loss: None,
            first_int8_loss: Some(Loss {
                layer: "conv2".to_owned(),
                tensor: "conv2_out".to_owned(),
                before_sqnr_db: Some(40.0),
                sqnr_db: -3.0,
            }),
        }
    }

    #[test]
    fn the_layer_that_loses_is_named_and_marked() {
        let found = found();
        let said = verdicts(&found);
        assert_eq!(said[0], "Float: the importer is right on all layers.");
        assert!(said[1].contains("'conv2': -3.0 dB, its operands 40.0 dB"), "{said:?}");
        assert_eq!(note(&found, &found.layers[0]), "");
        assert_eq!(note(&found, &found.layers[1]), "the first that loses much");
        let bars = bars(&found);
        assert_eq!((bars[0].float, bars[0].int8), (Some((MOST_DB, false)), Some((40.0, false))));
        assert_eq!((bars[1].float, bars[1].int8), (Some((MOST_DB, false)), Some((0.0, true))));
        assert_eq!(bars[0].text, "conv1, float exact, int8 40.0 dB");
        assert_eq!(left_out(&found).unwrap(), "'x' is not compared: there is none.");
    }

    #[test]
    fn who_gave_the_values_is_said() {
        let mut found = found();
        let text = summary(&found);
        assert!(text.contains("tract-onnx 0.23") && text.contains("8 samples"), "{text}");
        assert!(text.contains("computed on this computer"), "{text}");
        found.opinion = FloatComparison::INTERPRETER.to_owned();
        found.samples = 1;
        assert!(summary(&found).contains("our float interpreter on 1 sample."));
        assert!(promise("a.ONNX").contains("independent runtime"));
        assert!(promise("a.tflite").contains("runs ONNX files alone"));
    }

    #[test]
    fn figures_are_for_people_and_csv_for_programs() {
        let own = agreement(Some(31.25));
        assert_eq!(ratio(own.as_ref()), "31.3 dB");
        assert_eq!(top1(own.as_ref(), 8), "88 % of 8 samples");
        assert_eq!(difference(own.as_ref()), "0.2500");
        assert_eq!(
            (ratio(None), difference(None), top1(None, 8)),
            ("–".into(), "–".into(), "–".into())
        );
        let text = csv(&found());
        assert_eq!(text.lines().count(), 3);
        assert!(text.contains("conv2,Conv2D,conv2_out,130,0.25,-3,0.25,0.99"), "{text}");
    }
}
