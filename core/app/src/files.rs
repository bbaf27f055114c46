//! Files of models, samples and inputs, as values.

use tilewright_formats::input::Pixels;
use tilewright_formats::{ExportError, FormatError, Limits, ModelFile, TfliteError, input};
use tilewright_model::{Data, Model, Tensor};
use tilewright_report::sentence;

use tilewright_report::{Blame, Diagnostic, Need};

/// A model, float or int8.
///
/// # Errors
/// What is wrong, with the node or input if it is one's.
pub fn open(file: &ModelFile<'_>, dims: &[(String, usize)]) -> Result<Model, Diagnostic> {
    let name = file.name;
    if file.bytes.size() == 0 {
        let what_to_do = "Give a whole file.";
        return Err(Diagnostic::new(Blame::BadInput, "The model is empty.", name, what_to_do));
    }
    tilewright_formats::open_file(file, &Limits::default(), dims).map_err(|error| {
        let text = sentence(&error.to_string());
        let at = |what: &str, inside: &str| format!("{what} '{inside}' of {name}");
        let (place, what_to_do) = match &error {
            FormatError::NotAModel { .. } => {
                (name.to_owned(), "Give an ONNX or TensorFlow Lite file.")
            }
            FormatError::Damaged { .. } => (name.to_owned(), "Export or download the file again."),
            FormatError::UnsupportedOperators { first, .. } => (
                at("node", &first.node),
                "Replace these operators by supported ones before exporting; or write the shapes of \
                 their results into the file (onnx.shape_inference), for its memory to be planned.",
            ),
            FormatError::Unsupported { node, .. } => (
                at("node", node),
                "Change this operator before exporting; or write the shapes of its results into the \
                 file (onnx.shape_inference), for its memory to be planned.",
            ),
            FormatError::DynamicDimensions { input, dims } => {
                let options: Vec<String> =
                    dims.iter().map(|dim| format!("--dim '{dim}=SIZE'")).collect();
                let how = format!(
                    "Give each: {} on the command line, a part `dim` with NAME=SIZE in an upload; \
                     or export the model with fixed shapes.",
                    options.join(" ")
                );
                let diagnostic = Diagnostic::new(Blame::BadInput, text, at("input", input), how);
                return diagnostic.needing(Need::Dimensions(dims.clone()));
            }
            FormatError::UnknownDimension { dim, .. } => (
                format!("--dim '{dim}' of {name}"),
                "Give sizes by the names of open dimensions, or none.",
            ),
            FormatError::Node { node, .. } => {
                (at("node", node), "Change this operator before exporting.")
            }
            FormatError::Interface { name: inside, .. } => {
                (at("tensor", inside), "Change it before exporting.")
            }
            FormatError::MissingData { tensor, file } => {
                let how = format!(
                    "Put {file} into the model's folder, or send it as a part `data` of an upload."
                );
                let diagnostic = Diagnostic::new(Blame::BadInput, text, at("constant", tensor), how);
                return diagnostic.needing(Need::File(file.clone()));
            }
            FormatError::Data { tensor, .. } => (
                at("constant", tensor),
                "Give the data file that was exported with this model, or export both again.",
            ),
            FormatError::TooLarge { .. } => {
                let how = "Give a smaller model.";
                return Diagnostic::new(Blame::TooLarge, text, name, how);
            }
            FormatError::NotFinite { tensor } => {
                (at("constant", tensor), "Train or export the model again.")
            }
            FormatError::Graph(_) => (name.to_owned(), "Export the model again."),
        };
        Diagnostic::new(Blame::BadInput, text, place, what_to_do)
    })
}

/// Writes a float model as ONNX, piece by piece; `failed` says what a failing writer means.
///
/// # Errors
/// [`Blame::BadInput`] if an operator has no form in ONNX, [`Blame::TooLarge`] beyond 2 GiB, both
/// before anything is written; or what `failed` says.
pub fn export<E: std::error::Error + 'static>(
    model: &Model,
    write: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    failed: impl FnOnce(E) -> Diagnostic,
) -> Result<(), Diagnostic> {
    let error = match tilewright_formats::export(model, write) {
        Ok(()) => return Ok(()),
        Err(ExportError::Write(error)) => return Err(failed(error)),
        Err(error) => error,
    };
    let (blame, what_to_do) = match error {
        ExportError::TooLarge { .. } => (Blame::TooLarge, "Choose a smaller size."),
        ExportError::NotFloat { .. } => (
            Blame::BadInput,
            "Write it as TensorFlow Lite: give the file a name that ends in .tflite.",
        ),
        _ => (Blame::BadInput, "Choose a float model of operators that ONNX has."),
    };
    let text = sentence(&error.to_string());
    Err(Diagnostic::new(blame, text, model.name.clone(), what_to_do))
}

/// The bytes of a model as TensorFlow Lite.
///
/// # Errors
/// [`Blame::BadInput`] if an operator has no exact form there, [`Blame::TooLarge`] beyond 2 GiB.
pub fn export_tflite(model: &Model) -> Result<Vec<u8>, Diagnostic> {
    tilewright_formats::export_tflite(model).map_err(|error| {
        let (blame, what_to_do) = match error {
            TfliteError::TooLarge { .. } => (Blame::TooLarge, "Choose a smaller model."),
            _ => (Blame::BadInput, "Change the model there, or write its float form as ONNX."),
        };
        Diagnostic::new(blame, sentence(&error.to_string()), model.name.clone(), what_to_do)
    })
}

/// Sets of inputs of a model with one input, from a .npy file.
///
/// # Errors
/// If the file is none or its samples have another size than the input.
pub fn samples(name: &str, bytes: &[u8], model: &Model) -> Result<Vec<Vec<Data>>, Diagnostic> {
    let [input] = *model.inputs.as_slice() else {
        return Err(Diagnostic::new(
            Blame::BadInput,
            format!("The model has {} inputs; samples can be given for one.", model.inputs.len()),
            name,
            "Use random samples to see memory and time: `--samples random`.",
        ));
    };
    let tensor = model.tensor(input);
    let pixels = Pixels::of(model);
    let all = match bytes.starts_with(b"\x89PNG") {
        true => input::read(tensor, pixels.as_ref(), bytes).map(|sample| vec![sample]),
        false => input::samples(tensor, pixels.as_ref(), bytes),
    };
    let all = all.map_err(|error| {
        Diagnostic::new(
            Blame::BadInput,
            sentence(&error.to_string()),
            name,
            "Give a .npy file of float32 or uint8 whose first dimension counts the samples and whose \
             others are the input's, or PNG pictures.",
        )
    })?;
    Ok(all.into_iter().map(|sample| vec![sample]).collect())
}

/// An input file as int8 values for each of `tensors` (int8, quantised), with `pixels` as the model takes them: for one tensor a PNG
/// picture, a WAV sound, a .npy or .npz array or raw int8 bytes; for several a .npz archive, or their raw bytes, one
/// behind the other.
///
/// # Errors
/// If the file is none of these or has another size than the inputs.
pub fn inputs(
    name: &str,
    bytes: &[u8],
    tensors: &[Tensor],
    pixels: Option<&Pixels>,
) -> Result<Vec<Data>, Diagnostic> {
    if let [tensor] = tensors {
        let data = input::read(tensor, pixels, bytes);
        return data
            .map(|data| vec![data])
            .map_err(|error| wrong_input(name, sentence(&error.to_string())));
    }
    if input::is_archive(bytes) {
        let data = input::several(tensors, pixels, bytes);
        return data.map_err(|error| wrong_input(name, sentence(&error.to_string())));
    }
    let elements = |tensor: &Tensor| tensor.shape.elements().unwrap_or(0);
    int8_inputs(name, bytes, &tensors.iter().map(elements).collect::<Vec<_>>())
}

/// Raw int8 bytes as inputs of these lengths, one behind the other.
///
/// # Errors
/// If there are more or fewer.
pub fn int8_inputs(name: &str, bytes: &[u8], lengths: &[usize]) -> Result<Vec<Data>, Diagnostic> {
    let needed: usize = lengths.iter().sum();
    if bytes.len() != needed {
        let had = bytes.len();
        let error = format!("The input has {had} bytes, the model takes {needed}.");
        return Err(wrong_input(name, error));
    }
    let mut rest = bytes;
    let split = lengths.iter().map(|length| {
        let (these, others) = rest.split_at(*length);
        rest = others;
        Data::I8(these.iter().map(|byte| byte.cast_signed()).collect())
    });
    Ok(split.collect())
}

fn wrong_input(name: &str, error: String) -> Diagnostic {
    Diagnostic::new(
        Blame::BadInput,
        error,
        name,
        "Give a PNG picture, a WAV sound or a .npy or .npz array of the input's shape, or the int8 bytes \
         of all inputs, one behind the other.",
    )
}
