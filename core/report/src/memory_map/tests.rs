use super::*;
use crate::fixture;

#[test]
fn each_byte_counts_once_and_buffers_of_an_operator_are_seen() {
    let map = MemoryMap::of(&fixture::plan());
    let figures: Vec<[u64; 6]> = map
        .rows
        .iter()
        .map(|row| {
            [
                row.input_bytes.0,
                row.output_bytes.0,
                row.other_bytes.0,
                row.scratch_bytes.0,
                row.shared_bytes.0,
                row.live_bytes.0,
            ]
        })
        .collect();
    // The second operator writes 8 bytes over its 16 of input, and uses 8 bytes of no tensor.
    assert_eq!(figures, [[16, 16, 16, 0, 0, 48], [16, 8, 16, 8, 8, 40]]);
    assert_eq!((map.peak_row, map.peak_live_bytes, map.arena_bytes.0), (0, Bytes(48), 56));
    assert_eq!(map.rows[1].stack().map(|part| part.0), [16, 0, 16, 0, 8]);
    for row in &map.rows {
        assert_eq!(row.stack().into_iter().sum::<Bytes>(), row.live_bytes);
    }
}

#[test]
fn tiles_of_tensors_that_lie_elsewhere_and_weights_are_told_apart() {
    let mut plan = fixture::plan();
    for tensor in &mut plan.tensors {
        tensor.space = Space::ExternalRam;
    }
    let view = |offset, bytes| tilewright_plan::View::bytes(Space::Arena, offset, bytes);
    // In the order of the kernel's operands: input, output, table.
    plan.views =
        vec![view(0, 16), view(16, 16), view(32, 4), view(0, 16), view(8, 16), view(32, 4)];
    let map = MemoryMap::of(&plan);
    let stacks: Vec<[u64; 5]> = map.rows.iter().map(|row| row.stack().map(|p| p.0)).collect();
    // What the second writes over its input counts as the operator's own.
    assert_eq!(stacks, [[16, 16, 0, 4, 0], [8, 8, 0, 4, 8]]);
    assert_eq!(map.live_at(0, &PlacedTensor::of(&plan)).count(), 0);
    assert_eq!((&map.rows[1].reads[..], &map.rows[1].writes[..]), (&[1][..], &[2][..]));
    let outside = MemoryMap::of_space(&plan, Space::ExternalRam);
    assert_eq!((outside.space, outside.peak_live_bytes), (Space::ExternalRam, Bytes(48)));
    assert_eq!(outside.live_at(0, &PlacedTensor::of(&plan)).count(), 3);
}

#[test]
fn rows_name_the_tensors_that_live_and_why() {
    let plan = fixture::plan();
    let (map, tensors) = (MemoryMap::of(&plan), PlacedTensor::of(&plan));
    let live = |position| map.live_at(position, &tensors).collect::<Vec<_>>();
    let (input, output, other) = (TensorUse::Input, TensorUse::Output, TensorUse::Other);
    assert_eq!(live(0), [(0, input), (1, output), (3, other)]);
    assert_eq!(live(1), [(1, input), (2, output), (3, other)]);
}

#[test]
fn bytes_outside_the_arena_and_lives_beyond_the_end_do_no_harm() {
    let mut plan = fixture::plan();
    plan.tensors[0].space = Space::ExternalRam;
    plan.views[0].space = Space::ExternalRam as u8;
    plan.tensors[3].end = u32::MAX;
    plan.tensors[3].first = 1;
    let map = MemoryMap::of(&plan);
    assert_eq!(map.rows[0].live_bytes, Bytes(16));
    assert_eq!(map.rows[1].other_bytes, Bytes(16));
    plan.layers.clear();
    let map = MemoryMap::of(&plan);
    assert_eq!((map.rows.len(), map.peak_live_bytes), (0, Bytes(0)));
}
