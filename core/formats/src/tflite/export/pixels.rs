//! Images of another size.

use crate::numbers::whole as cut;
use tilewright_model::integer::{self, BilinearParams};
use tilewright_model::{DType, Model, Node, Op, Places, ResizeMode, Shape, Tensor, TensorId};
use tilewright_tflite_schema::BuiltinOperator as Code;

use super::graph::{Made, Writer, int};
use super::options::Options;

/// The grids of the format: whether corners are aligned, and whether pixels have half-pixel centres.
const GRIDS: [(bool, bool); 3] = [(false, false), (false, true), (true, false)];

/// Most sizes beside the one that the step says which are tried.
const AROUND: usize = 2;

/// Distance of places, in pixels, below which float results are the same but for rounding.
const NEAR: f64 = 1e-4;

impl Writer<'_> {
    pub(super) fn resize(&mut self, node: &Node, output: i32) -> Made<()> {
        let Op::Resize { mode, align_corners, half_pixel_centers, places } = node.op else {
            return Err("it is no resize".to_owned());
        };
        let (from, to) = (self.dims(node.inputs[0]), self.dims(node.outputs[0]));
        let (&[batch, height, width, channels], &[_, rows, columns, _]) = (from, to) else {
            return Err("its images have not four dimensions".to_owned());
        };
        let input = self.tensor(node.inputs[0])?;
        let Some(places) = places else {
            let grid = (align_corners, half_pixel_centers);
            return self.resized(node, (mode, grid), input, [rows, columns], output);
        };
        let is_int8 = self.is_int8;
        let axis = |grid: (bool, bool), axis: usize, lengths: [usize; 2]| {
            let wanted = Wanted { mode, is_int8, places: places[axis], lengths };
            wanted.among(grid)
        };
        let found = GRIDS.into_iter().find_map(|grid| {
            let vertical = axis(grid, 0, [height, rows])?;
            Some((grid, vertical, axis(grid, 1, [width, columns])?))
        });
        let Some((grid, (whole_rows, top), (whole_columns, left))) = found else {
            let reason = "its rows and columns lie where no grid of TensorFlow Lite has them: tile \
                          the model otherwise, or not at this layer";
            return Err(reason.to_owned());
        };
        let whole = [batch, whole_rows, whole_columns, channels];
        let made = self.like(node, node.outputs[0], "whole", &whole)?;
        self.resized(node, (mode, grid), input, [whole_rows, whole_columns], made)?;
        self.slice(node, made, (&[0, top, left, 0], to, &[1; 4]), output)
    }

    fn resized(
        &mut self,
        node: &Node,
        (mode, (align_corners, half_pixel_centers)): (ResizeMode, (bool, bool)),
        input: i32,
        size: [usize; 2],
        output: i32,
    ) -> Made<()> {
        let name = format!("{}.pixels", self.name(node.outputs[0]));
        let size = self.integers(&name, &[2], &[int(size[0])?, int(size[1])?]);
        let (code, options) = match mode {
            ResizeMode::Nearest => (
                Code::RESIZE_NEAREST_NEIGHBOR,
                Options::ResizeNearest { align_corners, half_pixel_centers },
            ),
            ResizeMode::Bilinear => (
                Code::RESIZE_BILINEAR,
                Options::ResizeBilinear { align_corners, half_pixel_centers },
            ),
        };
        self.push(code, options, &[input, size], &[output]);
        Ok(())
    }
}

/// Rows or columns at places of their own.
struct Wanted {
    mode: ResizeMode,
    is_int8: bool,
    places: Places,
    /// How many the image has, and how many the result.
    lengths: [usize; 2],
}

impl Wanted {
    /// How many a whole image on this grid has among which these lie side by side, and where they begin.
    fn among(&self, grid: (bool, bool)) -> Option<(usize, usize)> {
        let [input, output] = self.lengths;
        let step = f64::from(self.places.step);
        let spaces = if grid.0 { input.saturating_sub(1) } else { input };
        let guess = if step > 0.0 { (spaces as f64 / step).round() } else { output as f64 };
        let guess = cut(guess.min(f64::from(1 << 16))) + usize::from(grid.0);
        let lengths = guess.saturating_sub(AROUND).max(output).max(1)..=guess + AROUND;
        lengths.into_iter().find_map(|whole| {
            let first = match (self.mode, self.is_int8) {
                (ResizeMode::Nearest, _) => self.nearest(grid, whole),
                (ResizeMode::Bilinear, true) => self.fixed(grid, whole),
                (ResizeMode::Bilinear, false) => self.real(grid, whole),
            };
            first.map(|first| (whole, first))
        })
    }

    /// A resize of one column.
    fn column(&self, grid: (bool, bool), places: Option<Places>, output: usize) -> (Model, Node) {
        let mut model = Model::default();
        let ids: Vec<TensorId> = [self.lengths[0], output]
            .map(|rows| {
                let (shape, dtype) = (Shape::new([1, rows, 1, 1]), DType::F32);
                let name = String::new();
                model.add_tensor(Tensor { name, shape, dtype, quantisation: None, source: None })
            })
            .to_vec();
        let still = Places { first: 0.0, step: 0.0 };
        let op = Op::Resize {
            mode: self.mode,
            align_corners: grid.0,
            half_pixel_centers: grid.1,
            places: places.map(|places| [places, still]),
        };
        let (inputs, outputs) = (vec![ids[0]], vec![ids[1]]);
        (model, Node { name: String::new(), op, inputs, outputs })
    }

    fn nearest(&self, grid: (bool, bool), whole: usize) -> Option<usize> {
        let rows = |(model, node): (Model, Node)| {
            integer::nearest(&model, &node).ok().map(|[rows, _]| rows)
        };
        let wanted = rows(self.column((false, false), Some(self.places), self.lengths[1]))?;
        let all = rows(self.column(grid, None, whole))?;
        all.windows(wanted.len()).position(|part| *part == wanted)
    }

    fn fixed(&self, grid: (bool, bool), whole: usize) -> Option<usize> {
        let params = |(model, node): (Model, Node)| integer::bilinear(&model, &node).ok();
        let wanted = params(self.column((false, false), Some(self.places), self.lengths[1]))?;
        let BilinearParams { step: [step, _], first: [first, _] } =
            params(self.column(grid, None, whole))?;
        let distance = wanted.first[0] - first;
        let at = match step {
            0 => (distance == 0).then_some(0),
            step => (distance % step == 0).then_some(distance / step),
        };
        let at = usize::try_from(at?).ok()?;
        (wanted.step[0] == step && at + self.lengths[1] <= whole).then_some(at)
    }

    fn real(&self, grid: (bool, bool), whole: usize) -> Option<usize> {
        let [input, output] = self.lengths.map(|length| length as f64);
        let (step, first) = match grid {
            (true, _) if whole > 1 => ((input - 1.0) / (whole as f64 - 1.0), 0.0),
            (_, false) => (input / whole as f64, 0.0),
            (_, true) => (input / whole as f64, 0.5 * input / whole as f64 - 0.5),
        };
        let at = ((f64::from(self.places.first) - first) / step).round();
        let differs = |index: f64| {
            let place = f64::from(self.places.first) + index * f64::from(self.places.step);
            (place - (first + (at + index) * step)).abs() > NEAR
        };
        let is_outside = !(0.0..=whole as f64 - output).contains(&at);
        if is_outside || differs(0.0) || differs(output - 1.0) { None } else { Some(cut(at)) }
    }
}
