//! Programs whose tensors and weights lie in external memory, on the emulated boards.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[allow(dead_code, reason = "a part of it is used here")]
#[path = "../../firmware/runtime/tests/programs/image.rs"]
mod image;

use image::{Tables, op};
use tilewright_board::Board;
use tilewright_image::FirmwareImage;
use tilewright_plan::image::{Expected, STORE_ALIGNMENT, input_frame};
use tilewright_plan::{Kernel, Op, PlanImage, Space, View};
use tilewright_protocol::{Hardware, Job, Limits, RunOutcome, SdramFault, SerialFlash, Watch};
use tilewright_runtime::{Memory, run_program};
use tilewright_tests::emulated;

const BOARDS: [&str; 2] = ["stm32f746g-disco", "stm32f469i-disco"];
const SIZE: u16 = 24;
const CHANNELS: u32 = 8;
/// Bytes of the input and of the output.
const BYTES: u32 = SIZE as u32 * SIZE as u32 * CHANNELS;
const FLASH_BYTES: u32 = STORE_ALIGNMENT as u32 + BYTES;

/// A max pool and an addition whose second operand is constant; the spaces are those of the tensors
/// and of the constant.
fn tables(board: &'static str, tensors: Space, constant: Space) -> Tables {
    let mut tables = Tables { board: Some(board), ..Tables::default() };
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
    let board = tables.board.unwrap();
    let expected = Expected { board, space_bytes: memory.space_bytes() };
    let image = PlanImage::read(image.bytes(), &expected).unwrap();
    run_program(&image, 0, &mut memory, &mut ()).unwrap();
    let output = image.view(image.entry_outputs(&image.entries()[0])[0].view).unwrap();
    memory.bytes(&image, &output).unwrap().to_vec()
}

/// Where a space begins.
fn address(board: &Board, space: Space) -> u32 {
    match space {
        Space::Arena => board.firmware.as_ref().unwrap().arena_address,
        _ => board.external(space).unwrap().address.unwrap(),
    }
}

fn run(tables: &Tables, tensors: Space, external_flash: Vec<u8>) -> RunOutcome {
    run_on(Hardware::default(), tables, tensors, external_flash)
}

fn run_on(
    hardware: Hardware,
    tables: &Tables,
    tensors: Space,
    external_flash: Vec<u8>,
) -> RunOutcome {
    let board = tilewright_board::find(tables.board.unwrap()).unwrap();
    let firmware = emulated::firmware(&board).unwrap();
    let image = tables.build();
    let elf = FirmwareImage::new(&firmware, image.bytes(), &board).unwrap().elf;
    let step = tables.steps.len() as u32 - 1;
    let address = address(&board, tensors) + 2 * BYTES;
    let job = Job {
        external_flash,
        frames: vec![vec![input_frame(&input_bytes()).unwrap()]],
        hardware,
        watches: vec![Watch {
            step,
            address,
            rows: 1,
            row_bytes: BYTES,
            pitch: BYTES,
            ..Watch::default()
        }],
        ..Job::new(board.id, elf, Limits { instructions: 1_000_000_000, console_bytes: 1 << 20 })
    };
    emulated::run_job(job).unwrap()
}

#[test]
fn operands_in_external_memory_give_the_same_bytes_and_take_longer() {
    // Each byte of the addition is read once. On the F746 it comes with a line of 32: of SDRAM in 52 cycles,
    // of serial flash in 176. On the F469 it comes by itself: in 14 and in 64.
    for (board, bytes, read, more) in
        [(BOARDS[0], 32, 52 + 176, 52 + 60), (BOARDS[1], 1, 14 + 64, 1)]
    {
        let inside = tables(board, Space::Arena, Space::Weights);
        let outside = tables(board, Space::ExternalRam, Space::ExternalFlash);
        let expected_bytes = expected(&inside);
        assert_eq!(expected(&outside), expected_bytes);
        let internal = run(&inside, Space::Arena, Vec::new());
        let external = run(&outside, Space::ExternalRam, outside.store(&constant_bytes()));
        for outcome in [&internal, &external] {
            assert_eq!(outcome.finish.fault, None, "{board}");
            assert_eq!(outcome.watched[0].as_deref(), Some(&expected_bytes[..]));
            assert_eq!(outcome.finish.unknown_registers, [], "{board}");
        }
        // The kernels execute the same instructions, and the runtime two more or less to find an operand
        // in another memory; what is more are stalls.
        let cycles = |outcome: &RunOutcome, step: usize| {
            let step = &outcome.steps[step];
            step.cycles - step.code_waits - step.constant_waits
        };
        for step in 0..2 {
            let [inside, outside] =
                [&internal, &external].map(|outcome| outcome.steps[step].instructions);
            assert!(inside.abs_diff(outside) <= 2 * 3, "{board}: {inside} and {outside}");
            assert!(cycles(&external, step) > cycles(&internal, step), "{board}");
        }
        let reads = u64::from(BYTES) / bytes;
        let stalls = cycles(&external, 1) - cycles(&internal, 1);
        assert!((reads * read..reads * (read + more)).contains(&stalls), "{board}: {stalls}");
    }
}

#[test]
fn a_plan_for_more_external_memory_than_there_is_is_refused() {
    for board in BOARDS {
        let mut tables = tables(board, Space::ExternalRam, Space::ExternalFlash);
        let there =
            tilewright_board::find(board).unwrap().external(Space::ExternalRam).unwrap().bytes;
        tables.external_ram_bytes = there.0 as u32 + 1;
        let outcome = run(&tables, Space::ExternalRam, Vec::new());
        let message = outcome.finish.fault.unwrap().message;
        let what = format!("ExternalRam, the board has {}", there.0);
        assert!(message.contains(&what), "{message}");
    }
}

#[test]
fn boards_with_each_serial_flash_give_the_same_bytes_and_say_which_it_is() {
    let flashes = [
        (SerialFlash::N25q128a, "serial flash N25Q128A or MT25QL128"),
        (SerialFlash::W25q128jvIq, "serial flash W25Q128JV-IQ"),
        (SerialFlash::W25q128jvIm, "serial flash W25Q128JV-IM"),
    ];
    let tables = tables(BOARDS[0], Space::ExternalRam, Space::ExternalFlash);
    let expected = expected(&tables);
    for (serial_flash, said) in flashes {
        let hardware = Hardware { serial_flash, ..Hardware::default() };
        let store = tables.store(&constant_bytes());
        let outcome = run_on(hardware, &tables, Space::ExternalRam, store);
        assert_eq!(outcome.finish.fault, None, "{said}");
        assert_eq!(outcome.watched[0].as_deref(), Some(&expected[..]), "{said}");
        let console = String::from_utf8_lossy(&outcome.console);
        assert!(console.lines().any(|line| line == said), "{console}");
    }
}

#[test]
fn a_serial_flash_that_is_not_known_is_named_and_not_used() {
    for board in BOARDS {
        let tables = tables(board, Space::ExternalRam, Space::ExternalFlash);
        let serial_flash = SerialFlash::Other([0xc8, 0x40, 0x18]);
        let hardware = Hardware { serial_flash, ..Hardware::default() };
        let outcome = run_on(hardware, &tables, Space::ExternalRam, Vec::new());
        let console = String::from_utf8_lossy(&outcome.console);
        assert!(console.contains("serial flash unknown, it says c84018: not used"), "{console}");
        let message = outcome.finish.fault.unwrap().message;
        assert!(message.contains("ExternalFlash, the board has 0"), "{message}");
    }
}

#[test]
fn broken_sdram_is_told_before_anything_is_computed_with_it() {
    let faults = [
        (SdramFault::Dead, "SDRAM at 0xc0000000 wrote 0x55555555, read 0xffffffff"),
        (SdramFault::StuckLow(1 << 13), "SDRAM at 0xc0000000 wrote 0xaaaaaaaa, read 0xaaaa8aaa"),
        (SdramFault::StuckLow(1 << 30), "SDRAM at 0xc0000000 wrote 0x55555555, read 0x15555555"),
        (SdramFault::AddressLine(2), "SDRAM at 0xc0000000 wrote 0x3fffffff, read 0x3ffffffb"),
        (SdramFault::AddressLine(22), "SDRAM at 0xc0000000 wrote 0x3fffffff, read 0x3fbfffff"),
    ];
    for board in BOARDS {
        let tables = tables(board, Space::ExternalRam, Space::ExternalFlash);
        for (fault, said) in faults {
            let hardware = Hardware { sdram: Some(fault), ..Hardware::default() };
            let outcome = run_on(hardware, &tables, Space::ExternalRam, Vec::new());
            let message = outcome.finish.fault.unwrap_or_else(|| panic!("{board}: {said}")).message;
            assert!(message.contains(said), "{board}: {message}");
        }
    }
}
