//! The file with another order and with offsets.

use flatbuffers::{Table, VOffsetT};
use tilewright_model::file_graph::{FileGraph, FileOperator, NO_OFFSET};
use tilewright_tflite_schema as fb;

use super::head::{Field, Head};
use super::{OFFSETS, ReorderError, graph};
use crate::Limits;
use crate::numbers::word;
use crate::tflite::verified_file::verified;

/// Version of the metadata; the runtime looks at neither it nor the number of graphs.
const VERSION: u32 = 1;

/// Fields of the root that are known: all but the first are references.
const ROOT_FIELDS: VOffsetT = 10;

/// The file with the operators of its main graph in `order` and with `offsets` of the tensors of
/// all graphs prescribed, [`NO_OFFSET`] for those that the runtime is to place.
///
/// The list of operators is permuted where it stands. If the file prescribes offsets already, they
/// are overwritten; else a new root, with longer lists of buffers and of metadata, goes before the
/// old bytes. All other bytes stay, at most 64 bytes and what the lists take are added, and what
/// comes out has been read again and compared.
///
/// # Errors
/// [`ReorderError`] if [`graph()`] refuses the file, or order or offsets are not for it.
pub fn write(
    bytes: &[u8],
    limits: &Limits,
    order: &[usize],
    offsets: &[i32],
) -> Result<Vec<u8>, ReorderError> {
    let old = graph(bytes, limits)?;
    check(&old, order, offsets)?;
    let model = verified(bytes, limits)?;
    let mut new = bytes.to_vec();
    permute(&model, &mut new, order)?;
    let header = [VERSION, word(old.subgraphs.len()), word(offsets.len())].map(u32::to_le_bytes);
    let words = header.into_iter().chain(offsets.iter().map(|offset| offset.to_le_bytes()));
    let words: Vec<u8> = words.flatten().collect();
    let new = match place(&model, words.len()) {
        Some(at) => {
            new[at..at + words.len()].copy_from_slice(&words);
            new
        }
        None => head(&model, &words)?.before(&new).ok_or_else(|| {
            ReorderError::NotForThis("the file would be larger than 2 GiB".to_owned())
        })?,
    };
    compare(&old, &model, &new, limits, order, offsets)?;
    Ok(new)
}

/// Whether order and offsets are those of this file.
fn check(graph: &FileGraph, order: &[usize], offsets: &[i32]) -> Result<(), ReorderError> {
    let wrong = |reason: String| Err(ReorderError::NotForThis(reason));
    let operators = graph.main().map_or(&[][..], |main| &main.operators);
    let mut position = vec![usize::MAX; operators.len()];
    for (index, operator) in order.iter().enumerate() {
        if let Some(position) = position.get_mut(*operator) {
            *position = index;
        }
    }
    if order.len() != operators.len() || position.contains(&usize::MAX) {
        return wrong(format!("the order does not hold each of {} operators once", position.len()));
    }
    // Who wrote what an operator reads, in the file's order.
    let mut writer = vec![None; graph.main().map_or(0, |main| main.tensors.len())];
    for (index, operator) in operators.iter().enumerate() {
        let writers = operator.inputs.iter().filter_map(|tensor| writer[*tensor]);
        for needed in writers.chain(operator.after.iter().copied()) {
            if position[needed] > position[index] {
                let (operator, needed) = (&operator.name, &operators[needed].name);
                return wrong(format!("{operator} stands before {needed}, which it needs"));
            }
        }
        for tensor in &operator.outputs {
            writer[*tensor] = Some(index);
        }
    }
    let tensors = graph.tensors().count();
    if offsets.len() != tensors {
        return wrong(format!("{} offsets for {tensors} tensors", offsets.len()));
    }
    if let Some(offset) = offsets.iter().find(|offset| **offset < NO_OFFSET) {
        return wrong(format!("{offset} is no offset"));
    }
    Ok(())
}

/// Where a field of a table stands; nothing if it is left out.
fn field(table: &Table<'_>, field: VOffsetT) -> Option<usize> {
    let offset = table.vtable().get(field);
    (offset != 0).then(|| table.loc() + usize::from(offset))
}

/// Where the reference at `at` points to.
fn target(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..)?.first_chunk::<4>()?;
    at.checked_add(u32::from_le_bytes(*word) as usize)
}

/// Permutes the main graph's list of operators.
fn permute(model: &fb::Model<'_>, new: &mut [u8], order: &[usize]) -> Result<(), ReorderError> {
    if order.is_empty() {
        return Ok(());
    }
    let old = model._tab.buf();
    let main = model.subgraphs().map(|graphs| graphs.get(0));
    let list = main
        .and_then(|main| field(&main._tab, fb::SubGraph::VT_OPERATORS))
        .and_then(|at| target(old, at))
        .ok_or(ReorderError::Entangled)?;
    let slot = |index: usize| list + 4 + 4 * index;
    for (position, index) in order.iter().enumerate() {
        let at = slot(position);
        let operator = target(old, slot(*index)).and_then(|to| to.checked_sub(at));
        // Operators stand behind the list that points to them, unless they are inside it.
        let distance = operator.and_then(|distance| u32::try_from(distance).ok());
        let bytes = new.get_mut(at..at + 4).ok_or(ReorderError::Entangled)?;
        bytes.copy_from_slice(&distance.ok_or(ReorderError::Entangled)?.to_le_bytes());
    }
    Ok(())
}

/// Where the offsets of the file stand, if they take just as many bytes and nothing else uses them.
fn place(model: &fb::Model<'_>, bytes: usize) -> Option<usize> {
    let mut entries = model.metadata()?.iter().filter(|entry| entry.name() == Some(OFFSETS));
    let index = entries.next()?.buffer();
    let uses = model.metadata()?.iter().filter(|entry| entry.buffer() == index).count();
    let graphs = model.subgraphs();
    let mut tensors = graphs.iter().flatten().flat_map(|graph| graph.tensors()).flatten();
    let is_used = tensors.any(|tensor| tensor.buffer() == index);
    if entries.next().is_some() || uses > 1 || is_used {
        return None;
    }
    let buffers = model.buffers().filter(|buffers| (index as usize) < buffers.len())?;
    let buffer = buffers.get(index as usize);
    buffer.data().filter(|data| data.len() == bytes)?;
    let list = target(model._tab.buf(), field(&buffer._tab, fb::Buffer::VT_DATA)?)?;
    Some(list + 4)
}

/// A new root with one more buffer, which holds `words`, and metadata that name it.
fn head(model: &fb::Model<'_>, words: &[u8]) -> Result<Head, ReorderError> {
    let old = model._tab.buf();
    let mut fields = Vec::with_capacity(ROOT_FIELDS.into());
    // The list of fields counts its bytes in 16 bits.
    let given = VOffsetT::try_from(model._tab.vtable().num_fields()).unwrap_or(VOffsetT::MAX);
    for index in 0..given.max(ROOT_FIELDS) {
        let place = field(&model._tab, flatbuffers::field_index_to_field_offset(index));
        fields.push(match (index, place) {
            (0, _) => Field::Number(model.version()),
            (1..ROOT_FIELDS, Some(at)) => {
                Field::Old(target(old, at).ok_or(ReorderError::Entangled)?)
            }
            (_, None) => Field::Absent,
            (_, Some(_)) => {
                let reason = format!("its root has a field {index}, which is not known here");
                return Err(ReorderError::NotForThis(reason));
            }
        });
    }
    // The list of fields counts bytes: its own length and the table's come first.
    let number = |field: VOffsetT| usize::from(field) / 2 - 2;
    fields[number(fb::Model::VT_BUFFERS)] = Field::Later;
    fields[number(fb::Model::VT_METADATA)] = Field::Later;

    let mut head = Head::default();
    let root = head.number(0);
    head.bytes(fb::MODEL_IDENTIFIER.as_bytes());
    let places = head.table(&fields, |head| head.point(root));

    let list = |place: Option<usize>| place.and_then(|at| target(old, at));
    let buffers = model.buffers().map_or(0, |buffers| buffers.len());
    let from = list(field(&model._tab, fb::Model::VT_BUFFERS));
    head.point(places[number(fb::Model::VT_BUFFERS)]);
    head.number(word(buffers + 1));
    for index in 0..buffers {
        let buffer = from.and_then(|from| target(old, from + 4 + 4 * index));
        head.reference(buffer.ok_or(ReorderError::Entangled)?);
    }
    let buffer = head.number(0);

    let from = list(field(&model._tab, fb::Model::VT_METADATA));
    let entries = model.metadata();
    let kept = entries.iter().flatten().enumerate();
    let kept = kept.filter(|(_, entry)| entry.name() != Some(OFFSETS)).map(|(index, _)| index);
    let kept: Vec<usize> = kept.collect();
    head.point(places[number(fb::Model::VT_METADATA)]);
    head.number(word(kept.len() + 1));
    for index in kept {
        let entry = from.and_then(|from| target(old, from + 4 + 4 * index));
        head.reference(entry.ok_or(ReorderError::Entangled)?);
    }
    let metadata = head.number(0);

    let fields = [Field::Later, Field::Number(word(buffers))];
    let places = head.table(&fields, |head| head.point(metadata));
    head.point(places[0]);
    head.number(word(OFFSETS.len()));
    head.bytes(OFFSETS.as_bytes());
    head.bytes(&[0]);
    let places = head.table(&[Field::Later], |head| head.point(buffer));
    // The runtime reads words where the values stand, which the format aligns to 16 bytes.
    head.align(16, 4);
    head.point(places[0]);
    head.number(word(words.len()));
    head.bytes(words);
    Ok(head)
}

/// Whether the new file is the old one but for order and offsets: in files whose parts lie inside
/// each other a change can have changed more.
fn compare(
    old: &FileGraph,
    model: &fb::Model<'_>,
    new: &[u8],
    limits: &Limits,
    order: &[usize],
    offsets: &[i32],
) -> Result<(), ReorderError> {
    let limits = Limits { file_bytes: new.len(), ..limits.clone() };
    let read = graph(new, &limits).map_err(|_| ReorderError::Entangled)?;
    let again = verified(new, &limits).map_err(|_| ReorderError::Entangled)?;
    let mut same = read.offsets.as_deref() == Some(offsets);
    same &= read.subgraphs.len() == old.subgraphs.len();
    let mut position = vec![0; order.len()];
    for (index, operator) in order.iter().enumerate() {
        position[*operator] = index;
    }
    for (number, (old, new)) in old.subgraphs.iter().zip(&read.subgraphs).enumerate() {
        same &= old.tensors == new.tensors;
        same &= old.inputs == new.inputs && old.outputs == new.outputs;
        same &= old.operators.len() == new.operators.len();
        for (index, operator) in old.operators.iter().enumerate() {
            let at = if number == 0 { position[index] } else { index };
            let plain =
                |operator: &FileOperator| FileOperator { after: Vec::new(), ..operator.clone() };
            same &= new.operators.get(at).is_some_and(|new| plain(new) == plain(operator));
        }
    }
    let prescribed: Vec<usize> = model
        .metadata()
        .iter()
        .flatten()
        .filter(|entry| entry.name() == Some(OFFSETS))
        .map(|entry| entry.buffer() as usize)
        .collect();
    let (before, after) = (model.buffers(), again.buffers());
    for (index, (old, new)) in before.iter().flatten().zip(after.iter().flatten()).enumerate() {
        same &= prescribed.contains(&index)
            || old.data().map(|data| data.bytes()) == new.data().map(|data| data.bytes());
    }
    if same { Ok(()) } else { Err(ReorderError::Entangled) }
}
