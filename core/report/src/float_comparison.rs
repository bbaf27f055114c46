//! An int8 model beside its float form, as `verify --float` and the page show it.

use serde::{Deserialize, Serialize};

/// How far one model's values of a tensor are from the opinion's, over all samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Power of the opinion's values over the power of the difference, in decibels, from −200 to
    /// 200; nothing where nothing differs.
    pub sqnr_db: Option<f64>,
    /// Largest difference of a value.
    pub max_difference: f64,
    /// Cosine of the angle between the two, from −1 to 1; nothing if one is zero everywhere.
    pub cosine: Option<f64>,
    /// Of outputs the share of rows, along the last dimension, whose largest value is at the same
    /// place, from 0 to 1; nothing if a row has one value.
    pub top1_agreement: Option<f64>,
}

/// A tensor that both have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorComparison {
    /// The tensor, as the file names it.
    pub tensor: String,
    /// The layer that makes it; the tensor itself if it is an input.
    pub layer: String,
    /// The layer's operator; "Input" of an input.
    pub op: String,
    /// Our float interpreter beside the opinion: how right the importer is. Nothing if the file is
    /// int8 itself, or the interpreter is the opinion.
    pub float: Option<Agreement>,
    /// The int8 model beside the opinion: what quantising costs. Nothing if the int8 model does not
    /// have the tensor.
    pub int8: Option<Agreement>,
}

/// A tensor that was not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotCompared {
    /// The tensor.
    pub tensor: String,
    /// The layer that makes it.
    pub layer: String,
    /// Why not, as a part of a sentence.
    pub reason: String,
}

/// The first layer, in order of execution, whose result is much worse than its operands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// The layer.
    pub layer: String,
    /// Its result.
    pub tensor: String,
    /// Signal-to-noise ratio of the worst operand in decibels; nothing if all are exact, or unknown.
    pub before_sqnr_db: Option<f64>,
    /// Signal-to-noise ratio of the result in decibels.
    pub sqnr_db: f64,
}

/// A model beside its float form, layer by layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloatComparison {
    /// The model.
    pub model: String,
    /// Whose values the others are held against: [`FloatComparison::TRACT`] or [`FloatComparison::INTERPRETER`].
    pub opinion: String,
    /// Samples that were run.
    pub samples: usize,
    /// The model's outputs.
    pub outputs: Vec<TensorComparison>,
    /// Inputs and layers, in order of execution; outputs among them.
    pub layers: Vec<TensorComparison>,
    /// Layers that were not compared.
    pub not_compared: Vec<NotCompared>,
    /// Where our float interpreter departs from the opinion by more than rounding.
    pub first_float_loss: Option<Loss>,
    /// Where quantising first loses much.
    pub first_int8_loss: Option<Loss>,
}

impl FloatComparison {
    /// The opinion where tract runs the file.
    pub const TRACT: &str = "tract-onnx 0.23";
    /// The opinion where there is no ONNX file.
    pub const INTERPRETER: &str = "float interpreter";
    /// An int8 result whose signal-to-noise ratio is lower, in decibels, has lost much.
    pub const LOW_DB: f64 = 25.0;
    /// Samples that are run at most.
    pub const MOST_SAMPLES: usize = 8;

    /// What it comes to: one sentence on the importer, if it was compared, and one on the quantiser.
    #[must_use]
    pub fn verdicts(&self) -> Vec<String> {
        let at = |loss: &Loss| {
            let before =
                loss.before_sqnr_db.map_or("exact".to_owned(), |ratio| format!("{ratio:.1} dB"));
            format!("'{}': {:.1} dB, its operands {before}", loss.layer, loss.sqnr_db)
        };
        let mut verdicts = Vec::new();
        let has_float = self.layers.iter().any(|layer| layer.float.is_some());
        match &self.first_float_loss {
            Some(loss) => verdicts.push(format!(
                "float: the first layer that differs by more than rounding is {}. The importer, or the \
                 opinion, is wrong there.",
                at(loss)
            )),
            None if has_float => {
                verdicts.push("float: the importer is right on all layers".to_owned());
            }
            None => {}
        }
        verdicts.push(match &self.first_int8_loss {
            Some(loss) => format!("int8: the first layer that loses much is {}", at(loss)),
            None => match self.sum_of_losses() {
                Some(words) => format!("int8: {words}"),
                None => "int8: no layer loses much".to_owned(),
            },
        });
        verdicts
    }

    /// What adds up where no layer alone loses much, though an output has lost much.
    fn sum_of_losses(&self) -> Option<String> {
        let low = |row: &TensorComparison| {
            row.int8.as_ref().and_then(|own| own.sqnr_db).filter(|ratio| *ratio < Self::LOW_DB)
        };
        let (output, ratio) = self.outputs.iter().find_map(|row| Some((row, low(row)?)))?;
        let (first, at) = self.layers.iter().find_map(|row| Some((row, low(row)?)))?;
        Some(format!(
            "no layer alone loses much, but losses add up: output '{}' has {ratio:.1} dB. The first \
             layer below {} dB is '{}': {at:.1} dB",
            output.tensor,
            Self::LOW_DB,
            first.layer
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ratios: [f64; 3]) -> FloatComparison {
        let layer = |(index, ratio): (usize, f64)| TensorComparison {
            tensor: format!("t{index}"),
            layer: format!("layer {index}"),
            op: "Conv2D".to_owned(),
            float: None,
            int8: Some(Agreement {
                sqnr_db: Some(ratio),
                max_difference: 1.0,
                cosine: None,
                top1_agreement: None,
            }),
        };
        let layers: Vec<_> = ratios.into_iter().enumerate().map(layer).collect();
        FloatComparison {
            model: "net".to_owned(),
            opinion: FloatComparison::INTERPRETER.to_owned(),
            samples: 1,
            outputs: layers[2..].to_vec(),
            layers,
            not_compared: Vec::new(),
            first_float_loss: None,
            first_int8_loss: None,
        }
    }

    #[test]
    fn losses_that_add_up_are_said_with_the_layer_where_they_show() {
        assert_eq!(found([40.0, 33.0, 26.0]).verdicts(), ["int8: no layer loses much"]);
        assert_eq!(
            found([33.0, 24.5, 16.0]).verdicts(),
            [
                "int8: no layer alone loses much, but losses add up: output 't2' has 16.0 dB. The first \
              layer below 25 dB is 'layer 1': 24.5 dB"
            ]
        );
    }

    #[test]
    fn a_layer_that_is_to_blame_is_named() {
        let mut found = found([33.0, 12.0, 12.0]);
        found.first_int8_loss = Some(Loss {
            layer: "layer 1".to_owned(),
            tensor: "t1".to_owned(),
            before_sqnr_db: Some(33.0),
            sqnr_db: 12.0,
        });
        assert_eq!(
            found.verdicts(),
            ["int8: the first layer that loses much is 'layer 1': 12.0 dB, its operands 33.0 dB"]
        );
    }
}
