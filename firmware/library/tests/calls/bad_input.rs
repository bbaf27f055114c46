//! Arguments that are wrong: each has its status and its text, and nothing else happens.

use std::ptr::{null, null_mut};

use tilewright_board::Board;
use tilewright_library::abi::{Tilewright, WORDS};
use tilewright_library::calls::{
    tilewright_describe, tilewright_failed_step, tilewright_input, tilewright_inputs,
    tilewright_invoke, tilewright_label, tilewright_layers, tilewright_open, tilewright_output,
    tilewright_select, tilewright_status_text,
};
use tilewright_model::Model;
use tilewright_plan::Bytes;
use tilewright_plan::image::AlignedBytes;
use tilewright_planner::{Integrity, Options, Strategy};
use tilewright_seal::{KEY_BYTES, Key};

use crate::support::{Firmware, expected, inputs, least, network, planned};

fn lenet() -> (Model, Board, Firmware) {
    let model = network("lenet5");
    let board = tilewright_board::find("nrf52840-dk").unwrap();
    let planned = planned(&model, &board, Strategy::Resident, &least()).unwrap();
    let firmware = Firmware::new(&planned, &model, &board, Integrity::Trusted);
    (model, board, firmware)
}

#[test]
fn null_and_unaligned_pointers_are_told_apart() {
    let (_, _, mut firmware) = lenet();
    let (plan, bytes) = (firmware.plan.bytes().as_ptr(), firmware.plan.bytes().len());
    let (board, given) = (firmware.board.as_ptr(), firmware.given);
    let model = firmware.model();
    // SAFETY: what is not null is there.
    unsafe {
        assert_eq!(tilewright_open(null_mut(), plan.cast(), bytes, board, &raw const given), 1);
        let odd = model.cast::<u8>().add(1).cast::<Tilewright>();
        assert_eq!(tilewright_open(odd, plan.cast(), bytes, board, &raw const given), 2);
        assert_eq!(tilewright_open(model, null(), bytes, board, &raw const given), 1);
        assert_eq!(tilewright_open(model, plan.cast(), bytes, null(), &raw const given), 1);
        assert_eq!(tilewright_open(model, plan.cast(), bytes, board, null()), 1);
        assert_eq!(firmware.said(), "tilewright_memory is NULL; give a pointer to it");
        let odd = plan.add(4).cast();
        assert_eq!(tilewright_open(model, odd, bytes - 4, board, &raw const given), 2);
        assert_eq!(tilewright_open(model, plan.cast(), usize::MAX, board, &raw const given), 3);
        assert_eq!(tilewright_open(model, plan.cast(), 0, board, &raw const given), 6);

        for broken in [null(), null_mut::<Tilewright>().cast_const()] {
            assert_eq!(tilewright_inputs(broken), 0);
            assert_eq!(tilewright_layers(broken), 0);
            assert_eq!(tilewright_input(broken, 0, null_mut()), 1);
            assert_eq!(tilewright_failed_step(broken), -1);
            assert!(tilewright_describe(broken, null_mut(), 0) > 0);
        }
        assert_eq!(tilewright_invoke(null_mut()), 1);
        // Memory that was never opened.
        let mut never = Tilewright { private_words: [0; WORDS] };
        assert_eq!(tilewright_invoke(&raw mut never), 4);
        assert_eq!(tilewright_output(&raw const never, 0, null_mut()), 4);
        // What could not be opened is not open.
        assert_eq!(tilewright_invoke(model), 4);
        assert_eq!(tilewright_open(model, plan.cast(), bytes, board, &raw const given), 0);
        assert_eq!(tilewright_input(model, 0, null_mut()), 1);
        assert_eq!(tilewright_select(model, 1000), 0x0c);
    }
    assert_eq!(firmware.tensor(true, 1).unwrap_err(), 12);
    assert_eq!(firmware.tensor(false, u32::MAX).unwrap_err(), 12);
}

#[test]
fn memories_that_cannot_be_are_refused() {
    let (_, _, mut firmware) = lenet();
    let good = firmware.given;
    let lines = firmware.arena.len();
    firmware.given.arena_bytes = (lines - 1) * 32;
    assert_eq!(firmware.open(), 9);
    let said = firmware.said();
    assert!(said.contains("in space Arena") && said.contains("as much as model.h says"), "{said}");
    firmware.given.arena = good.arena.wrapping_byte_add(8);
    assert_eq!((firmware.open(), firmware.said().contains("TILEWRIGHT_ALIGNED")), (2, true));
    firmware.given.arena = null_mut();
    assert_eq!(firmware.open(), 1);
    firmware.given = good;
    firmware.given.arena_bytes = usize::MAX - 31;
    assert_eq!(firmware.open(), 3);
    firmware.given = good;
    (firmware.given.external_ram, firmware.given.external_ram_bytes) = (good.arena, 32);
    assert_eq!(firmware.open(), 3);
    assert_eq!(firmware.said(), "the arena and external RAM share bytes; give each its own bytes");
    firmware.given = good;
    firmware.given.arena = firmware.plan.bytes().as_ptr().cast_mut().cast();
    assert_eq!(firmware.open(), 3);
    firmware.given = good;
    assert_eq!(firmware.open(), 0);
}

#[test]
fn other_boards_versions_and_damaged_plans_are_refused() {
    let (model, _, mut firmware) = lenet();
    firmware.board = c"stm32f746g-disco".into();
    assert_eq!(firmware.open(), 8);
    assert!(firmware.said().contains("for board 'nrf52840-dk'"), "{}", firmware.said());
    firmware.board = c"a-name-that-is-longer-than-any-board-has".into();
    assert_eq!(firmware.open(), 8);
    firmware.board = c"nrf52840-dk".into();

    let image = firmware.plan.bytes().to_vec();
    let mut version = image.clone();
    version[4] ^= 1;
    firmware.plan = AlignedBytes::copy_of(&version);
    assert_eq!(firmware.open(), 7);
    // Each byte counts, as does each that is missing.
    for at in (0..image.len()).step_by(97) {
        let mut damaged = image.clone();
        damaged[at] ^= 0x10;
        firmware.plan = AlignedBytes::copy_of(&damaged);
        // Nobody reads what fills the gaps between sections.
        let status = firmware.open();
        assert!(status != 0 || image[at] == 0, "byte {at}: {status}");
        firmware.plan = AlignedBytes::copy_of(&image[..at]);
        assert_eq!(firmware.open(), 6, "cut at {at}");
    }
    firmware.plan = AlignedBytes::copy_of(&image);
    assert_eq!(firmware.open(), 0);
    let inputs = inputs(&model, 5);
    firmware.set_inputs(&inputs);
    assert_eq!(firmware.invoke(), 0);
    assert_eq!(firmware.outputs(), expected(&model, &inputs));
}

#[test]
fn sealed_plans_are_refused_by_name() {
    let (model, board) = (network("lenet5"), tilewright_board::find("stm32f746g-disco").unwrap());
    let options = Options { integrity: Integrity::Sealed, ..least() };
    let planned = planned(&model, &board, Strategy::Stream, &options).unwrap();
    let key = Key::new([7; KEY_BYTES]);
    let images = tilewright_image::sealed_images(&planned.plan, &model, key).unwrap();
    let mut firmware = Firmware::of(&images, &board.id, &|_| 1 << 20);
    assert_eq!(firmware.open(), 10);
    let said = firmware.said();
    assert!(said.contains("encrypted") && said.contains("without --encrypt"), "{said}");
}

#[test]
fn texts_are_cut_between_characters_and_always_end() {
    let (_, _, mut firmware) = lenet();
    firmware.board = c"x".into();
    assert_eq!(firmware.open(), 8);
    let whole = firmware.said();
    for room in 0..40 {
        let mut text = [0x55_u8; 41];
        // SAFETY: there is as much room.
        let length =
            unsafe { tilewright_describe(firmware.model(), text.as_mut_ptr().cast(), room) };
        assert_eq!(length, whole.len());
        let kept = room.saturating_sub(1);
        assert_eq!(text[..kept], whole.as_bytes()[..kept]);
        assert!(room == 0 || text[kept] == 0);
        assert!(text[room..].iter().all(|byte| *byte == 0x55), "{room}");
    }
    // SAFETY: nothing is open.
    assert_eq!(unsafe { tilewright_label(firmware.model(), 0, 0, null_mut(), 9) }, 0);
    for status in -1..20 {
        // SAFETY: each is a text.
        let text = unsafe { std::ffi::CStr::from_ptr(tilewright_status_text(status)) };
        assert!(!text.is_empty());
    }
}

#[test]
fn copies_that_would_never_end_are_refused() {
    let model = network("resnet8");
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let options = Options { sram: Some(Bytes(24 << 10)), ..Options::default() };
    let mut planned = planned(&model, &board, Strategy::Swap, &options).unwrap();
    // One byte is moved again and again: within all memories, and for minutes.
    for span in &mut planned.plan.spans {
        (span.rows, span.row_bytes, span.pitch) = (u32::MAX, 1, 0);
    }
    let mut firmware = Firmware::new(&planned, &model, &board, Integrity::Trusted);
    assert_eq!(firmware.open(), 6);
    assert!(firmware.said().contains("runs of a copy overlap"), "{}", firmware.said());
}
