//! Runs plan images on the host, with the firmware's own runtime and kernels.

use tilewright_model::Data;
use tilewright_plan::PlanImage;
use tilewright_plan::image::{AlignedBytes, Expected};
use tilewright_runtime::{Memory, run_program};

/// A tensor's bytes as they lie in memory.
#[must_use]
pub fn bytes(data: &Data) -> Vec<i8> {
    match data {
        Data::I8(values) => values.clone(),
        Data::I32(values) => {
            values.iter().flat_map(|value| value.to_le_bytes()).map(u8::cast_signed).collect()
        }
        Data::F32(_) => Vec::new(),
    }
}

/// Runs the first program of `image` on `inputs` with an arena of `arena_bytes`, which is filled
/// with `garbage` first; gives the outputs.
///
/// # Errors
/// What the reader or the runtime says.
pub fn run(
    image: &[u8],
    board: &str,
    arena_bytes: usize,
    inputs: &[Data],
    garbage: u8,
) -> Result<Vec<Vec<i8>>, String> {
    let aligned = AlignedBytes::copy_of(image);
    let mut arena = vec![garbage; arena_bytes];
    let mut memory = Memory::new(&mut arena);
    let expected = Expected { board, space_bytes: memory.space_bytes() };
    let image = PlanImage::read(aligned.bytes(), &expected).map_err(|e| e.to_string())?;
    let entry = image.entries().first().ok_or("no program")?;
    for (io, data) in image.entry_inputs(entry).iter().zip(inputs) {
        let view = image.view(io.view).ok_or("no view")?;
        let bytes = memory.bytes_mut(view).map_err(|e| e.to_string())?;
        let values = data.as_i8().ok_or("an input is not int8")?;
        if bytes.len() != values.len() {
            return Err("an input has the wrong length".to_owned());
        }
        for (byte, value) in bytes.iter_mut().zip(values) {
            *byte = value.cast_unsigned();
        }
    }
    run_program(&image, 0, &mut memory, &mut ()).map_err(|e| e.to_string())?;
    image
        .entry_outputs(entry)
        .iter()
        .map(|io| {
            let view = image.view(io.view).ok_or("no view")?;
            let bytes = memory.bytes(&image, view).map_err(|e| e.to_string())?;
            Ok(bytes.iter().map(|byte| byte.cast_signed()).collect())
        })
        .collect()
}
