//! Tensors that a file stores without their zeros: levels, one for each dimension and block, of which each is whole or
//! lists the places that have values (TensorFlow Lite's `SparsityParameters`).

use std::borrow::Cow;

use tilewright_tflite_schema as fb;

/// Elements of a tensor for each byte that a file stores of it, at most: few bytes must not fill the memory.
const MOST_PLACES: usize = 256;

/// A level: an index for each of so many places, or those that a list names.
enum Level {
    Dense { size: usize },
    Sparse { segments: Vec<usize>, indices: Vec<usize> },
}

/// The way from levels to elements.
struct Walk<'w> {
    levels: &'w [Level],
    /// For each level the dimension that it goes along, and by how many elements a step of it moves.
    steps: Vec<usize>,
    values: std::slice::Chunks<'w, u8>,
    width: usize,
    /// Places that may be visited still.
    left: usize,
}

/// The bytes of a tensor of these dimensions with elements `width` bytes wide, of which `bytes` are stored.
///
/// # Errors
/// A sentence on what does not fit.
pub(super) fn dense(
    sparsity: fb::SparsityParameters<'_>,
    dims: &[usize],
    width: usize,
    bytes: &[u8],
) -> Result<Cow<'static, [u8]>, String> {
    let order: Vec<i32> = sparsity.traversal_order().iter().flatten().collect();
    let order: Option<Vec<usize>> =
        order.iter().map(|place| usize::try_from(*place).ok()).collect();
    let map: Vec<i32> = sparsity.block_map().iter().flatten().collect();
    let map: Option<Vec<usize>> = map.iter().map(|place| usize::try_from(*place).ok()).collect();
    let (order, map) = order.zip(map).ok_or("its sparse form names places below zero")?;
    let levels: Vec<Level> = match sparsity.dim_metadata() {
        Some(levels) => levels.iter().map(level).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let count: usize = dims.iter().product();
    if count > MOST_PLACES * bytes.len() {
        return Err(format!("it has {} bytes of values for {dims:?}", bytes.len()));
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let is_order = sorted.iter().copied().eq(0..dims.len() + map.len());
    let is_mapped = map.len() <= dims.len() && map.iter().all(|dim| *dim < dims.len());
    if !is_order || !is_mapped || levels.len() != order.len() {
        return Err("its sparse form does not fit its shape".to_owned());
    }
    let steps = steps(dims, &map, &order, &levels)?;
    let mut made = vec![0; count * width];
    let values = bytes.chunks(width.max(1));
    // Each level is visited once for each place of the one before.
    let left = (count + bytes.len()).saturating_mul(levels.len() + 1);
    let mut walk = Walk { levels: &levels, steps, values, width, left };
    walk.go(0, 0, 0, &mut made)?;
    match walk.values.next() {
        None => Ok(Cow::Owned(made)),
        Some(_) => Err("it has more values than its sparse form has places".to_owned()),
    }
}

/// How far a step of each level moves, in elements.
fn steps(
    dims: &[usize],
    map: &[usize],
    order: &[usize],
    levels: &[Level],
) -> Result<Vec<usize>, String> {
    // Blocks are whole, and one dimension has one at most.
    let mut blocks = vec![1; dims.len()];
    for (block, dim) in map.iter().enumerate() {
        let level = order.iter().position(|place| *place == dims.len() + block);
        let size = match level.and_then(|level| levels.get(level)) {
            Some(Level::Dense { size }) if *size > 0 && blocks[*dim] == 1 => *size,
            _ => return Err("its sparse form has blocks that are not whole".to_owned()),
        };
        blocks[*dim] = size;
    }
    let inner = |dim: usize| dims.get(dim + 1..).unwrap_or_default().iter().product::<usize>();
    let step = |place: &usize| match place.checked_sub(dims.len()) {
        None => inner(*place) * blocks[*place],
        Some(block) => inner(map[block]),
    };
    Ok(order.iter().map(step).collect())
}

fn level(metadata: fb::DimensionMetadata<'_>) -> Result<Level, String> {
    let bad = || "its sparse form has a size or an index below zero".to_owned();
    if metadata.format() == fb::DimensionType::DENSE {
        let size = usize::try_from(metadata.dense_size()).map_err(|_| bad())?;
        return Ok(Level::Dense { size });
    }
    let segments = indices(
        metadata.array_segments_as_int_32_vector(),
        metadata.array_segments_as_uint_16_vector(),
        metadata.array_segments_as_uint_8_vector(),
    );
    let places = indices(
        metadata.array_indices_as_int_32_vector(),
        metadata.array_indices_as_uint_16_vector(),
        metadata.array_indices_as_uint_8_vector(),
    );
    let (segments, indices) = segments.zip(places).ok_or_else(bad)?;
    Ok(Level::Sparse { segments, indices })
}

/// The numbers of a list in one of three widths.
fn indices(
    wide: Option<fb::Int32Vector<'_>>,
    half: Option<fb::Uint16Vector<'_>>,
    byte: Option<fb::Uint8Vector<'_>>,
) -> Option<Vec<usize>> {
    if let Some(list) = wide {
        return list.values()?.iter().map(|value| usize::try_from(value).ok()).collect();
    }
    if let Some(list) = half {
        return Some(list.values()?.iter().map(usize::from).collect());
    }
    Some(byte?.values()?.iter().map(usize::from).collect())
}

impl Walk<'_> {
    /// Visits what is below a place of the level before, whose first element is at `at`.
    fn go(&mut self, level: usize, place: usize, at: usize, made: &mut [u8]) -> Result<(), String> {
        self.left =
            self.left.checked_sub(1).ok_or("its sparse form has more places than values")?;
        let Some(of_level) = self.levels.get(level) else {
            let value =
                self.values.next().ok_or("it has fewer values than its sparse form says")?;
            let start = at.checked_mul(self.width).ok_or("an index is out of its shape")?;
            let to = made.get_mut(start..start.saturating_add(value.len()));
            to.ok_or("an index is out of its shape")?.copy_from_slice(value);
            return Ok(());
        };
        let step = self.steps[level];
        let moved = |index: usize| {
            let far = index.checked_mul(step).and_then(|far| far.checked_add(at));
            far.ok_or("an index is out of its shape")
        };
        match of_level {
            Level::Dense { size } => {
                for index in 0..*size {
                    self.go(level + 1, place * size + index, moved(index)?, made)?;
                }
            }
            Level::Sparse { segments, indices } => {
                let ends = segments.get(place).zip(segments.get(place + 1));
                let (start, end) = ends.ok_or("its sparse form lacks a segment")?;
                let within = indices.get(*start..*end).ok_or("a segment lacks indices")?;
                for (index, number) in within.iter().zip(*start..) {
                    self.go(level + 1, number, moved(*index)?, made)?;
                }
            }
        }
        Ok(())
    }
}
