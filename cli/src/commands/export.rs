//! `tilewright export`: a model in another format.

use tilewright_app::Diagnostic;
use tilewright_runner::Native;

use crate::args::Export;
use crate::text::number;
use crate::{Said, interrupt, load, outputs, progress};

/// Writes a model's int8 form as TensorFlow Lite, or its float form as ONNX.
pub fn export(options: &Export) -> Result<Said, Diagnostic> {
    let Export { quantised, output } = options;
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let mut teller = progress::Teller::new();
    let mut tell = |p| teller.tell(&p);
    let host = Native::new(&mut tell, &cancel);
    let model = match outputs::is_tflite(output) {
        true => {
            outputs::apart(&[output], &load::files(quantised))?;
            load::prepared(quantised, &host)?.model
        }
        false => {
            outputs::apart(&[output], std::slice::from_ref(&quantised.file.model))?;
            load::model(&quantised.file, &host)?
        }
    };
    drop(teller);
    let bytes = outputs::write_model(output, &model)?;
    Ok(Said::well(format!("{}: {}, {} bytes\n", output.display(), model.name, number(bytes))))
}
