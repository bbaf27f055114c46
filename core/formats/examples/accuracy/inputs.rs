//! Inputs with labels.

use std::error::Error;
use std::io::Read;

use tilewright_model::{Data, Model, RunError, Tensor};

use super::{Outputs, Values};

/// Made-up inputs where there are no others.
const NOISE: usize = 200;

/// Inputs of a model, one set of values each.
pub struct Inputs {
    pub values: Vec<Vec<f32>>,
    /// Classes, as many, if they are known.
    pub labels: Option<Vec<usize>>,
}

type Found = Result<Inputs, Box<dyn Error>>;

fn input(model: &Model) -> Result<&Tensor, Box<dyn Error>> {
    Ok(model.tensor(*model.inputs.first().ok_or("the model has no input")?))
}

impl Inputs {
    /// A test set in gzipped idx files: pixels over 255, between zeros.
    pub fn images(model: &Model, directory: &str) -> Found {
        let [_, height, width, 1] = *input(model)?.shape.dims() else {
            return Err("the model takes no grey images".into());
        };
        let images = idx(directory, "images-idx3", 16)?;
        let labels = idx(directory, "labels-idx1", 8)?;
        let side = ((images.len() / labels.len()) as f64).sqrt() as usize;
        if side == 0 || side > height.min(width) {
            return Err("the images do not fit the model".into());
        }
        let images = images.chunks_exact(side * side);
        Ok(Self {
            values: images.map(|image| centred(image, side, [height, width])).collect(),
            labels: Some(labels.into_iter().map(usize::from).collect()),
        })
    }

    /// Raw int8 with the input quantisation of `like`, and a class number a line.
    pub fn quantised(model: &Model, like: Option<&Model>, values: &str, labels: &str) -> Found {
        let like = like.ok_or("give --like the int8 model that the inputs are made for")?;
        let quantisation = input(like)?.quantisation.as_ref().ok_or("its input has no scale")?;
        let size = input(model)?.shape.elements().filter(|size| *size > 0);
        let integers: Vec<i8> = std::fs::read(values)?.into_iter().map(|b| b as i8).collect();
        let labels = std::fs::read_to_string(labels)?;
        let labels: Vec<usize> =
            labels.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
        let values: Vec<Vec<f32>> = integers
            .chunks_exact(size.ok_or("the model's input is empty")?)
            .map(|input| quantisation.dequantise(input))
            .collect();
        if values.len() != labels.len() {
            return Err(format!("{} inputs, but {} labels", values.len(), labels.len()).into());
        }
        Ok(Self { values, labels: Some(labels) })
    }

    /// Seeded noise, uniform over what the input of `like` represents, else over 0..1.
    pub fn noise(model: &Model, like: Option<&Model>) -> Found {
        let quantisation = like.map(input).transpose()?.and_then(|t| t.quantisation.as_ref());
        let ends = quantisation.map_or(vec![0.0, 1.0], |q| q.dequantise(&[-128, 127]));
        let size = input(model)?.shape.elements().unwrap_or(0);
        let mut state = 1u64;
        let mut value = || {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            let uniform = (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f32;
            ends[0] + (ends[1] - ends[0]) * uniform / (1u32 << 24) as f32
        };
        let values = (0..NOISE).map(|_| (0..size).map(|_| value()).collect()).collect();
        Ok(Self { values, labels: None })
    }

    /// Every `share`th input, and the others.
    pub fn split(self, share: usize) -> (Self, Self) {
        let empty =
            || Self { values: Vec::new(), labels: self.labels.as_ref().map(|_| Vec::new()) };
        let (mut chosen, mut others) = (empty(), empty());
        for (index, values) in self.values.into_iter().enumerate() {
            let part = if index % share == 0 { &mut chosen } else { &mut others };
            part.values.push(values);
            let label = self.labels.as_ref().and_then(|labels| labels.get(index));
            if let Some((all, label)) = part.labels.as_mut().zip(label) {
                all.push(*label);
            }
        }
        (chosen, others)
    }

    /// All outputs that `run` gives for each input, on all processors.
    pub fn each(
        &self,
        run: &(dyn Fn(Vec<f32>) -> Result<Vec<Data>, RunError> + Sync),
    ) -> Result<Outputs, Box<dyn Error>> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let all = |values: &Vec<f32>| {
            let outputs = run(values.clone())?;
            let real = |data: &Data| data.as_f32().map(<[f32]>::to_vec).unwrap_or_default();
            Ok(outputs.iter().map(real).collect())
        };
        // First by input.
        let parts: Vec<Result<Vec<Values>, RunError>> = std::thread::scope(|scope| {
            let chunks = self.values.chunks(self.values.len().div_ceil(threads).max(1));
            let parts: Vec<_> =
                chunks.map(|part| scope.spawn(move || part.iter().map(all).collect())).collect();
            parts.into_iter().filter_map(|part| part.join().ok()).collect()
        });
        let mut outputs = Outputs::new();
        for input in parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
            outputs.resize(input.len(), Values::new());
            for (output, values) in outputs.iter_mut().zip(input) {
                output.push(values);
            }
        }
        let are_whole = outputs.iter().all(|output| output.len() == self.values.len());
        if are_whole { Ok(outputs) } else { Err("a run failed".into()) }
    }
}

/// Pixels over 255, between zeros.
fn centred(image: &[u8], side: usize, [height, width]: [usize; 2]) -> Vec<f32> {
    let (top, left) = ((height - side) / 2, (width - side) / 2);
    let mut values = vec![0.0; height * width];
    for (y, row) in image.chunks_exact(side).enumerate() {
        for (x, pixel) in row.iter().enumerate() {
            values[(y + top) * width + x + left] = f32::from(*pixel) / 255.0;
        }
    }
    values
}

/// The bytes behind the header of the file in `directory` whose name contains `part`.
fn idx(directory: &str, part: &str, header: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.contains("t10k") && name.contains(part) && name.ends_with(".gz") {
            let mut bytes = Vec::new();
            flate2::read::GzDecoder::new(std::fs::File::open(&path)?).read_to_end(&mut bytes)?;
            return Ok(bytes.split_off(header.min(bytes.len())));
        }
    }
    Err(format!("{directory} holds no t10k-{part}-ubyte.gz").into())
}
