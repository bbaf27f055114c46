//! The runtime's own planner: tensors by size, the largest first, each at the first gap among those
//! that live with it; tensors with prescribed offsets before all others.

use super::lives::{Life, lives};
use super::{ALIGNMENT, MOST_TENSORS, TflmError};
use tilewright_model::file_graph::{FileGraph, NO_OFFSET, Storage};
use tilewright_plan::Bytes;

/// A tensor to place.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Size, rounded up.
    pub bytes: u64,
    /// When it lives.
    pub life: Life,
    /// The offset that the file prescribes.
    pub offset: Option<u64>,
}

/// The arena that the runtime makes for the tensors of `graph` when the main graph runs in `order`
/// and `offsets`, one for each tensor of all graphs, are prescribed; without what its kernels ask
/// for besides.
///
/// # Errors
/// [`TflmError`] if there are too many tensors, or order or offsets are not of this graph.
pub fn arena(
    graph: &FileGraph,
    order: &[usize],
    offsets: Option<&[i32]>,
) -> Result<Bytes, TflmError> {
    let lives = lives(graph, order)?.tensors;
    if let Some(offsets) = offsets.filter(|offsets| offsets.len() != lives.len()) {
        let (given, wanted) = (offsets.len(), lives.len());
        return Err(TflmError::Mismatch(format!("{given} offsets for {wanted} tensors")));
    }
    let mut requests = Vec::new();
    for (index, (tensor, life)) in graph.tensors().zip(lives).enumerate() {
        let given = offsets.map_or(NO_OFFSET, |offsets| offsets[index]);
        let offset = u64::try_from(given).ok();
        let in_arena = match tensor.storage {
            Storage::Constant => false,
            Storage::Variable => given != NO_OFFSET,
            Storage::Arena => true,
        };
        if in_arena && tensor.bytes > 0 {
            let bytes = tensor.bytes.saturating_add(ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            requests.push(Request { bytes, life, offset });
        }
    }
    if requests.len() > MOST_TENSORS {
        return Err(TflmError::TooMany { tensors: requests.len() });
    }
    let tops = place(&requests).into_iter().zip(&requests);
    let tops = tops.map(|(offset, request)| offset.saturating_add(request.bytes));
    Ok(Bytes(tops.max().unwrap_or(0)))
}

/// Offsets of these tensors, which are given in the order in which the runtime lists them.
pub fn place(requests: &[Request]) -> Vec<u64> {
    let (given, mut free): (Vec<usize>, Vec<usize>) =
        (0..requests.len()).partition(|index| requests[*index].offset.is_some());
    // Those of a size come in the reverse of their order.
    free.reverse();
    free.sort_by_key(|index| std::cmp::Reverse(requests[*index].bytes));
    let mut offsets = vec![0; requests.len()];
    // Ascending by offset; of equal ones the later after the earlier.
    let mut placed: Vec<(u64, &Request)> = Vec::with_capacity(requests.len());
    for index in given.into_iter().chain(free) {
        let request = &requests[index];
        let offset = request.offset.unwrap_or_else(|| gap(&placed, request));
        let at = placed.partition_point(|(other, _)| *other <= offset);
        placed.insert(at, (offset, request));
        offsets[index] = offset;
    }
    offsets
}

/// The first gap that is large enough, between tensors that live with `wanted`.
fn gap(placed: &[(u64, &Request)], wanted: &Request) -> u64 {
    let mut offset = 0u64;
    for (start, other) in placed {
        let apart = other.life.first > wanted.life.last || wanted.life.first > other.life.last;
        if apart {
            continue;
        }
        if start.saturating_sub(offset) >= wanted.bytes {
            break;
        }
        offset = offset.max(start.saturating_add(other.bytes));
    }
    offset
}
