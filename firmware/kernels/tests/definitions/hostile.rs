//! Kernels refuse nonsense: they never panic, write nothing outside of what their tile names, and what they
//! compute where they do not refuse is right.

mod calls;
mod meaning;

use crate::support::Numbers;
use crate::support::place::Placed;
use calls::{Case, KERNELS};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::panic::catch_unwind;
use tilewright_kernels::{KernelError, Layout, Source, Target};

/// Runs a kernel on nonsense; whether it was refused.
///
/// # Panics
/// If it wrote what it may not, or something wrong.
fn run(numbers: &mut Numbers, kernel: usize) -> Result<(), KernelError> {
    let case = Case::new(numbers, kernel);
    let ops = numbers.clone();
    numbers.next();
    let mut bytes = case.before.clone();
    let input = Source::new(&case.input, case.from)?;
    let target = &mut Target::new(&mut bytes, case.to)?;
    let result = case.call(kernel, &mut ops.clone(), &input, target);

    let told = || format!("kernel {kernel}: {case:#?}");
    let to = Placed { bytes, layout: case.to };
    let places = to.elements();
    let own: BTreeSet<usize> = places.iter().map(|(offset, _)| *offset).collect();
    let is_kept = |offset: &usize| to.bytes[*offset] == case.before[*offset];
    let beside = (0..to.bytes.len()).filter(|offset| !own.contains(offset));
    assert!(beside.clone().all(|offset| is_kept(&offset)), "bytes beside the box: {}", told());
    assert_eq!(own.len(), places.len(), "elements share bytes: {}", told());
    result?;
    let outside = places.iter().filter(|(_, [y, x, _])| !case.is_in_tile(kernel, *y, *x));
    for (offset, _) in outside {
        assert!(is_kept(offset), "bytes of the box beside the tile: {}", told());
    }

    // The same elements at other places give the same.
    let (from, dense) = (dense(&case.input, case.from), dense(&case.before, case.to));
    let mut bytes = dense.bytes;
    let target = &mut Target::new(&mut bytes, dense.layout)?;
    let again =
        case.call(kernel, &mut ops.clone(), &Source::new(&from.bytes, from.layout)?, target);
    assert_eq!(again, Ok(()), "refused where dense: {}", told());
    let found: Vec<u8> = places.iter().map(|(offset, _)| to.bytes[*offset]).collect();
    assert_eq!(found, bytes, "differs where dense: {}", told());

    let meaning = catch_unwind(|| case.meaning(kernel, &mut ops.clone(), &dense.layout));
    match meaning {
        Ok(Some(expected)) => assert_eq!(found, expected, "is wrong: {}", told()),
        Ok(None) => {}
        Err(_) => panic!("has no meaning: {}", told()),
    }
    Ok(())
}

/// The elements of a box without what lies between them.
fn dense(bytes: &[u8], layout: Layout) -> Placed {
    let placed = Placed { bytes: bytes.to_vec(), layout };
    let bytes = placed.elements().iter().map(|(offset, _)| placed.bytes[*offset]).collect();
    let whole = Layout::whole(layout.rows, layout.columns, layout.channels);
    Placed { bytes, layout: Layout { first: layout.first, ..whole } }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn nonsense_is_refused_or_computed(seed: u64) {
        let numbers = &mut Numbers::new(seed);
        for round in 0..2200 {
            let _ = run(numbers, round % KERNELS);
        }
    }
}

/// The test above would say little if all were refused.
#[test]
fn each_kernel_accepts_some_nonsense() {
    let numbers = &mut Numbers::new(7);
    // Small kernels take no transformed weights.
    let kernels = if cfg!(feature = "small") { 0..KERNELS - 1 } else { 0..KERNELS };
    for kernel in kernels {
        let accepted = (0..30_000).filter(|_| run(numbers, kernel).is_ok()).count();
        assert!(accepted > 20, "kernel {kernel} accepted {accepted}");
    }
}

#[test]
fn boxes_that_are_empty_or_overlap_themselves_are_refused() {
    let whole = Layout::whole(2, 3, 4);
    let mut bytes = [0; 64];
    for layout in [
        Layout { rows: 0, ..whole },
        Layout { columns: 0, ..whole },
        Layout { channels: 0, ..whole },
        Layout { column_pitch: 0, ..whole },
        Layout { column_pitch: 3, ..whole },
        Layout { row_pitch: 0, ..whole },
        Layout { row_pitch: 11, ..whole },
        Layout { ring_rows: 0, ..whole },
        Layout { ring_rows: 1, ..whole },
        Layout { ring_first: 2, ..whole },
        Layout { columns: 1, row_pitch: 0, column_pitch: 0, ..whole },
        Layout {
            columns: usize::MAX,
            column_pitch: 0,
            row_pitch: 0,
            ring_rows: 1,
            rows: 1,
            ..whole
        },
    ] {
        let refused = Some(KernelError::OutOfBounds);
        assert_eq!(Source::new(&bytes, layout).err(), refused, "{layout:?}");
        assert_eq!(Target::new(&mut bytes, layout).err(), refused, "{layout:?}");
    }
    // A column beside the only one would be the same bytes.
    let single = Layout { columns: 1, column_pitch: 0, ..Layout::whole(1, 1, 4) };
    assert!(Target::new(&mut bytes, single).is_err());
    assert!(Target::new(&mut bytes, Layout { column_pitch: 4, ..single }).is_ok());
}
