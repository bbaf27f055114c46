//! Programs whose tensors and weights lie in external memory, on the emulated board.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[allow(dead_code, reason = "a part of it is used here")]
#[path = "../../firmware/runtime/tests/programs/image.rs"]
mod image;

use image::{BOARD, Tables, op};
use tilewright_image::{FirmwareImage, input_frame};
use tilewright_plan::image::{Expected, STORE_ALIGNMENT};
use tilewright_plan::{Kernel, Op, PlanImage, Space, View};
use tilewright_protocol::{Job, Limits, Mode, Watch};
use tilewright_runner::RunOutcome;
use tilewright_runtime::{Memory, run_program};
use tilewright_tests::emulated;

const EXTERNAL_RAM: u32 = 0xc000_0000;
const ARENA: u32 = 0x2000_4000;
const SIZE: u16 = 24;
const CHANNELS: u32 = 8;
/// Bytes of the input and of the output.
const BYTES: u32 = SIZE as u32 * SIZE as u32 * CHANNELS;
const FLASH_BYTES: u32 = STORE_ALIGNMENT as u32 + BYTES;

/// A max pool and an addition whose second operand is constant; the spaces are those of the tensors
/// and of the constant.
fn tables(tensors: Space, constant: Space) -> Tables {
    let mut tables = Tables::default();
    let at = |space, offset| View::whole(space, offset, SIZE, SIZE, CHANNELS);
    let (input, pooled, output) = (at(tensors, 0), at(tensors, BYTES), at(tensors, 2 * BYTES));
    let pool = Op { window: [3; 2], padding: [1; 2], ..op(Kernel::MaxPool) };
    tables.layer("pool", pool, &[input, pooled]);
    let scalars = [1 << 30, 1, 1 << 30, 0, 1 << 30, 1, 0];
    let constant = match constant {
        // A store begins with its header.
        Space::ExternalFlash => at(Space::ExternalFlash, STORE_ALIGNMENT as u32),
        _ => {
            let bytes = tables.weights(&constant_bytes());
            at(Space::Weights, bytes.offset)
        }
    };
    tables.layer("add", Op { scalars, ..op(Kernel::Add) }, &[pooled, constant, output]);
    match tensors {
        Space::Arena => tables.arena_bytes = 3 * BYTES,
        _ => tables.external_ram_bytes = 3 * BYTES,
    }
    tables.external_flash_bytes =
        if constant.space() == Some(Space::ExternalFlash) { FLASH_BYTES } else { 0 };
    tables.io(input, &[]);
    tables.io(output, &[]);
    tables.program();
    tables
}

fn constant_bytes() -> Vec<u8> {
    (0..BYTES).map(|i| (i * 31 + i / 7) as u8).collect()
}

fn input_bytes() -> Vec<u8> {
    (0..BYTES).map(|i| (i * 167 + i / 5) as u8).collect()
}

/// What the runtime computes on the host.
fn expected(tables: &Tables) -> Vec<u8> {
    let (mut arena, mut ram) = (vec![0; 3 * BYTES as usize], vec![0; 3 * BYTES as usize]);
    let flash = tables.store(&constant_bytes());
    arena[..BYTES as usize].copy_from_slice(&input_bytes());
    ram[..BYTES as usize].copy_from_slice(&input_bytes());
    let mut memory = Memory::new(&mut arena).with_external(&mut ram, &flash);
    let image = tables.build();
    let expected = Expected { board: BOARD, space_bytes: memory.space_bytes() };
    let image = PlanImage::read(image.bytes(), &expected).unwrap();
    run_program(&image, 0, &mut memory, &mut ()).unwrap();
    let output = image.view(image.entry_outputs(&image.entries()[0])[0].view).unwrap();
    memory.bytes(&image, &output).unwrap().to_vec()
}

fn run(tables: &Tables, base: u32, external_flash: Vec<u8>) -> RunOutcome {
    let board = tilewright_board::find(BOARD).unwrap();
    let firmware = emulated::firmware(&board).unwrap();
    let image = tables.build();
    let elf = FirmwareImage::new(&firmware, image.bytes(), &board).unwrap().elf;
    // The last compute step is followed by its layer's mark.
    let step = tables.steps.len() as u32 - 2;
    let address = base + 2 * BYTES;
    let job = Job {
        board: BOARD.to_owned(),
        elf,
        external_flash,
        card: None,
        frames: vec![input_frame(&input_bytes()).unwrap()],
        mode: Mode::Full,
        limits: Limits { instructions: 1_000_000_000, console_bytes: 1 << 20 },
        watches: vec![Watch {
            step,
            address,
            rows: 1,
            row_bytes: BYTES,
            pitch: BYTES,
            ..Watch::default()
        }],
    };
    emulated::run_job(job).unwrap()
}

#[test]
fn operands_in_external_memory_give_the_same_bytes_and_take_longer() {
    let inside = tables(Space::Arena, Space::Weights);
    let outside = tables(Space::ExternalRam, Space::ExternalFlash);
    let expected_bytes = expected(&inside);
    assert_eq!(expected(&outside), expected_bytes);
    let internal = run(&inside, ARENA, Vec::new());
    let external = run(&outside, EXTERNAL_RAM, outside.store(&constant_bytes()));
    for outcome in [&internal, &external] {
        assert_eq!(outcome.finish.fault, None);
        assert_eq!(outcome.watched[0].as_deref(), Some(&expected_bytes[..]));
        assert_eq!(outcome.finish.unknown_registers, []);
    }
    // The kernels execute the same instructions, and the runtime two more or less to find an operand in
    // another memory; what is more are stalls. Each byte of the addition comes from a line that is read
    // once: of SDRAM in 52 cycles for 32 bytes, of serial flash in 176.
    let cycles = |outcome: &RunOutcome, step: usize| outcome.steps[step].cycles;
    for step in 0..2 {
        let [inside, outside] =
            [&internal, &external].map(|outcome| outcome.steps[step].instructions);
        assert!(inside.abs_diff(outside) <= 2 * 3, "{inside} and {outside}");
        assert!(cycles(&external, step) > cycles(&internal, step));
    }
    let lines = u64::from(BYTES / 32);
    let stalls = cycles(&external, 1) - cycles(&internal, 1);
    assert!((lines * (52 + 176)..lines * (52 + 176 + 52 + 60)).contains(&stalls), "{stalls}");
}

#[test]
fn a_plan_for_more_external_memory_than_there_is_is_refused() {
    let mut tables = tables(Space::ExternalRam, Space::ExternalFlash);
    tables.external_ram_bytes = (8 << 20) + 1;
    let outcome = run(&tables, EXTERNAL_RAM, Vec::new());
    let fault = outcome.finish.fault.unwrap();
    assert!(fault.message.contains("ExternalRam, the board has 8388608"), "{}", fault.message);
}
