//! What JavaScript gives: an options object, as plain values.

use std::collections::BTreeMap;

use js_sys::{Array, Object, Reflect};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_bytes::ByteBuf;
use serde_json::Value;
use tilewright_app::{Diagnostic, Resolved, resolve};
use tilewright_model::quantise::{QuantiseOptions, RangeRule};
use tilewright_plan::Micros;
use tilewright_report::{Blame, PlanSettings, sentence};
use wasm_bindgen::{JsCast, JsValue};

/// What a model's file leaves to be given, and what is told of the plan.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileOptions {
    /// The file's name.
    pub name: String,
    /// Sizes of dimensions that the file leaves open.
    pub dims: BTreeMap<String, usize>,
    /// Files that the model's weights lie in, by name.
    pub data: BTreeMap<String, ByteBuf>,
    /// A .npy file to quantise on.
    pub samples: Option<ByteBuf>,
    /// How ranges follow from the samples.
    pub calibration: Option<String>,
    /// Microseconds from one frame to the next, for wear.
    pub period_us: Option<f64>,
}

impl FileOptions {
    const KEYS: [&str; 6] = ["name", "dims", "data", "samples", "calibration", "period_us"];

    /// The time from one frame to the next.
    ///
    /// # Errors
    /// If it is no time.
    pub fn period(&self) -> Result<Option<Micros>, Diagnostic> {
        match self.period_us {
            Some(period) if period.is_nan() || period <= 0.0 => {
                Err(wrong("period_us", "this is no time above zero", "Leave it out."))
            }
            period => Ok(period.map(Micros)),
        }
    }

    /// How a float model is quantised.
    ///
    /// # Errors
    /// If there is no such calibration.
    pub fn quantising(&self) -> Result<QuantiseOptions, Diagnostic> {
        let mut options = QuantiseOptions::default();
        if let Some(rule) = &self.calibration {
            options.rule = rule
                .parse::<RangeRule>()
                .map_err(|error| wrong("calibration", &error.to_string(), "Choose another."))?;
        }
        Ok(options)
    }
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            name: "model".to_owned(),
            dims: BTreeMap::new(),
            data: BTreeMap::new(),
            samples: None,
            calibration: None,
            period_us: None,
        }
    }
}

/// All that is asked for.
#[derive(Debug, Default)]
pub struct Wishes {
    /// What the file leaves open.
    pub file: FileOptions,
    settings: PlanSettings,
}

impl Wishes {
    /// The wishes of an options object.
    ///
    /// # Errors
    /// If an option is unknown, or its value is not as it must be.
    pub fn of(options: &JsValue) -> Result<Self, Diagnostic> {
        if options.is_undefined() || options.is_null() {
            return Ok(Self::default());
        }
        let Some(options) = options.dyn_ref::<Object>() else {
            return Err(wrong("", "the options are no object", "Give an object."));
        };
        let (file, settings) = (Object::new(), Object::new());
        for entry in Object::entries(options).iter().map(|entry| Array::from(&entry)) {
            let (key, value) = (entry.get(0), entry.get(1));
            let is_of_file = key.as_string().is_some_and(|k| FileOptions::KEYS.contains(&&*k));
            // What is undefined or null is as if it had not been given.
            if !value.is_undefined() && !value.is_null() {
                // Nothing hinders a key of an object that has just been made.
                let _ = Reflect::set(if is_of_file { &file } else { &settings }, &key, &value);
            }
        }
        let [file, settings] = [file, settings].map(JsValue::from);
        // Of objects serde-wasm-bindgen reads the known keys alone; of JSON's an unknown one is an error.
        let settings: Value = values(serde_wasm_bindgen::Deserializer::from(settings))?;
        let file = values(serde_wasm_bindgen::Deserializer::from(file))?;
        Ok(Self { file, settings: values(settings)? })
    }

    /// The wishes of an options object, or of a file's name alone.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn of_name(name: &JsValue) -> Result<Self, Diagnostic> {
        match name.as_string() {
            Some(name) => {
                Ok(Self { file: FileOptions { name, ..FileOptions::default() }, ..Self::default() })
            }
            None => Self::of(name),
        }
    }

    /// The board, the strategy and the planner's choices.
    ///
    /// # Errors
    /// If a setting names nothing that exists.
    pub fn resolved(&self) -> Result<Resolved, Diagnostic> {
        resolve(&self.settings).map_err(|problem| Diagnostic {
            place: format!("options.{}", problem.place),
            ..problem
        })
    }
}

/// The values of an object's entries.
fn values<'de, T: DeserializeOwned>(from: impl Deserializer<'de>) -> Result<T, Diagnostic> {
    serde_path_to_error::deserialize(from).map_err(|error| {
        let what_to_do = "The types of the package list the options and their values.";
        wrong(&error.path().to_string(), &error.inner().to_string(), what_to_do)
    })
}

/// A problem of one option.
fn wrong(option: &str, what: &str, what_to_do: &str) -> Diagnostic {
    Diagnostic::new(Blame::BadInput, sentence(what), format!("options.{option}"), what_to_do)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = [
            ("sram", json!(1)),
            ("sram_bytes", json!(1.5)),
            ("sram_bytes", json!("64KiB")),
            ("frames", json!(-1)),
            ("inside", json!(1)),
            ("packing", json!("tight")),
            ("integrity", json!(true)),
        ];
        for (option, value) in wrong {
            let problem = values::<PlanSettings>(json!({ option: value })).unwrap_err();
            assert_eq!(problem.place, format!("options.{option}"));
            assert!(problem.what.ends_with('.'), "{}", problem.what);
        }
        let settings = values::<PlanSettings>(json!({ "board": "x", "frames": 2 })).unwrap();
        let problem = Wishes { settings, ..Wishes::default() }.resolved().unwrap_err();
        assert_eq!(problem.place, "options.board");
    }

    #[test]
    fn every_option_of_a_file_is_known_by_its_key() {
        let given = json!({
            "name": "a", "dims": { "batch": 1 }, "data": {}, "calibration": "mse", "period_us": 1.5,
        });
        assert!(given.as_object().unwrap().keys().all(|key| FileOptions::KEYS.contains(&&**key)));
        let options = values::<FileOptions>(given).unwrap();
        assert_eq!(options.dims["batch"], 1);
        assert_eq!(options.quantising().unwrap().rule, "mse".parse().unwrap());
        assert!(FileOptions { calibration: Some("x".to_owned()), ..options }.quantising().is_err());
    }
}
