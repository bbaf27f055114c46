//! What goes wrong on the board ends the job with a report.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{
    BOARD, ENTRY, assembled, job, program, run, run_on_own, run_on_unicorn, short_job, stores,
};
use tilewright_plan::Bytes;
use tilewright_protocol::{Job, LineNoise, Response};
use tilewright_report::{Fault, FaultKind, StackUse};
use tilewright_worker::{Firmware, JobError};

const CONSOLE: &[u8] = include_bytes!("../programs/console.bin");

fn fault(code: &[u16]) -> Fault {
    run(assembled(code), &job()).0.fault.unwrap()
}

fn console(messages: &[Response]) -> String {
    let bytes = messages.iter().filter_map(|message| match message {
        Response::Console(bytes) => Some(bytes.as_slice()),
        _ => None,
    });
    String::from_utf8(bytes.flatten().copied().collect()).unwrap()
}

#[test]
fn an_unmapped_read_is_told_with_address_place_and_registers() {
    // movs r1,#0x60; lsls r1,r1,#24; ldr r0,[r1]
    let fault = fault(&[0x2160, 0x0609, 0x6808]);
    assert_eq!(fault.kind, FaultKind::UnmappedAccess);
    assert!(fault.message.contains("read of 0x60000000 at 0x08000044 in main + 0x4"), "{fault:?}");
    assert!(fault.message.contains("ldr r0, [r1]"), "{fault:?}");
    assert!(fault.registers.contains(&("r1".into(), 0x6000_0000)));
    assert!(fault.registers.contains(&("pc".into(), ENTRY + 4)));
    assert_eq!(fault.last_blocks, [(ENTRY, "main".to_owned())]);
}

#[test]
fn external_memory_that_is_not_set_up_is_named() {
    // movs r1,#0xc0; lsls r1,r1,#24; str r0,[r1]
    let fault = fault(&[0x21c0, 0x0609, 0x6008]);
    assert_eq!(fault.kind, FaultKind::UnmappedAccess);
    assert!(fault.message.contains("SDRAM (FMC bank 1) is not set up"), "{fault:?}");
    assert!(fault.message.contains("a board's core waits for it for ever"), "{fault:?}");
}

#[test]
fn a_write_to_flash_is_told() {
    // movs r1,#8; lsls r1,r1,#24; str r0,[r1]
    let fault = fault(&[0x2108, 0x0609, 0x6008]);
    assert_eq!(fault.kind, FaultKind::UnmappedAccess);
    assert!(fault.message.contains("write to 0x08000000"), "{fault:?}");
    assert!(fault.message.contains("Flash"), "{fault:?}");
}

#[test]
fn a_register_that_no_peripheral_has_is_told() {
    // movw r1,#0xf000; movt r1,#0x4001; ldr r0,[r1]; b .
    let fault = fault(&[0xf24f, 0x0100, 0xf2c4, 0x0101, 0x6808, 0xe7fe]);
    assert_eq!(fault.kind, FaultKind::UnmappedAccess);
    assert!(fault.message.contains("0x4001f000"), "{fault:?}");
}

#[test]
fn several_words_at_no_word_are_told_as_a_board_tells_them() {
    // The own core faults at the instruction, Unicorn's side before its block: counts differ.
    for run in [run_on_unicorn, run_on_own] {
        let fault = |code: &[u16]| run(BOARD, assembled(code), &short_job()).0.fault.unwrap();
        // movs r1,#0x20; lsls r1,r1,#24; adds r1,#2; b behind; ldrd r2,r3,[r1].
        let ldrd = fault(&[0x2120, 0x0609, 0x3102, 0xe7ff, 0xe9d1, 0x2300, 0xe7fe]);
        assert_eq!(ldrd.kind, FaultKind::HardFault);
        let place = format!(
            "unaligned access at 0x{:08x} in main + 0x8: e9d1 2300  ldrd r2, r3, [r1]:",
            ENTRY + 8
        );
        assert!(ldrd.message.contains(&place), "{ldrd:?}");
        assert!(ldrd.message.contains("a board raises a UsageFault (UNALIGNED)"), "{ldrd:?}");
        assert!(ldrd.registers.contains(&("r1".into(), 0x2000_0002)), "{ldrd:?}");
        assert!(ldrd.registers.contains(&("pc".into(), ENTRY + 8)), "{ldrd:?}");
        // The second turn of a loop. movs r1,#0x20; lsls r1,r1,#24; ldmia r1!,{r2,r3}; adds r1,#2; b to the load.
        let turn = fault(&[0x2120, 0x0609, 0xc90c, 0x3102, 0xe7fc]);
        assert!(turn.message.contains("in main + 0x4: c90c"), "{turn:?}");
    }
}

#[test]
fn one_word_may_lie_anywhere() {
    // movs r1,#0x20; lsls r1,r1,#24; ldr r2,[r1,#1]; str r2,[r1,#6]; b .
    let code = [0x2120, 0x0609, 0xf8d1, 0x2001, 0xf8c1, 0x2006, 0xe7fe];
    assert_eq!(fault(&code).kind, FaultKind::InstructionLimit);
}

/// Enables the clock of USART1 and writes to its BRR, with something between.
fn enabled(between: &[u16]) -> Fault {
    // movw r1,#0x3844; movt r1,#0x4002; movw r2,#0x100c; movt r2,#0x4001; movs r0,#16; str r0,[r1]
    let first = [0xf643, 0x0144, 0xf2c4, 0x0102, 0xf241, 0x020c, 0xf2c4, 0x0201, 0x2010, 0x6008];
    // str r0,[r2]; b .
    fault(&[&first, between, &[0x6010, 0xe7fe]].concat())
}

#[test]
fn a_peripheral_is_not_written_before_its_clock_runs() {
    let early = enabled(&[]);
    assert_eq!(early.kind, FaultKind::UnmappedAccess);
    assert!(early.message.contains("0x4001100c 0 cycles after its clock was enabled"), "{early:?}");
    assert!(early.message.contains("a board may lose it"), "{early:?}");
    // ldr r3,[r1], which some boards take no time for; dsb sy; a branch behind nops.
    assert_eq!(enabled(&[0x680b]).kind, FaultKind::UnmappedAccess);
    assert_eq!(enabled(&[0xf3bf, 0x8f4f]).kind, FaultKind::InstructionLimit);
    assert_eq!(enabled(&[0xe7ff, 0xbf00, 0xbf00]).kind, FaultKind::InstructionLimit);
}

/// Gives serial flash its pins: PB2, PB6, PD11 to PD13, PE2.
fn flash_pins() -> Vec<u16> {
    let ports = [
        (0x4002_0400, 2 << 4 | 2 << 12, 3 << 4 | 3 << 12, [9 << 8 | 10 << 24, 0]),
        (0x4002_0c00, 0x2a << 22, 0x3f << 22, [0, 0x999 << 12]),
        (0x4002_1000, 2 << 4, 3 << 4, [9 << 8, 0]),
    ];
    let mut writes = vec![(0x4002_3830, 0x0010_001a)];
    for (port, modes, speeds, [low, high]) in ports {
        writes.extend([(port, modes), (port + 8, speeds), (port + 0x20, low), (port + 0x24, high)]);
    }
    stores(&writes)
}

/// Maps serial flash, of so many bits of addresses and one more, and reads the last of its 16 MiB.
fn end_of_flash(size: u16) -> Fault {
    // movs r2, its number. Its clock: movw r0; movt r0; movs r1,#2; str r1,[r0]; dsb. QUADSPI: movw r0; movt r0.
    // CR: movs r1,#1; str r1,[r0]. DCR: lsls r2,r2,#16; str r2,[r0,#4]. CCR, QUAD READ: movw r1; movt r1;
    // str r1,[r0,#20]. 0x90fffffc: mvn r1,#3; movt r1,#0x90ff; ldr r3,[r1]. b .
    let code = [
        0x2200 | size,
        0xf643,
        0x0038,
        0xf2c4,
        0x0002,
        0x2102,
        0x6001,
        0xf3bf,
        0x8f4f,
        0xf241,
        0x0000,
        0xf2ca,
        0x0000,
        0x2101,
        0x6001,
        0x0412,
        0x6042,
        0xf642,
        0x51eb,
        0xf6c0,
        0x7128,
        0x6141,
        0xf06f,
        0x0103,
        0xf2c9,
        0x01ff,
        0x680b,
        0xe7fe,
    ];
    fault(&[&flash_pins()[..], &code].concat())
}

#[test]
fn the_last_byte_that_the_flash_controller_is_told_of_locks_the_bus() {
    let locked = end_of_flash(23);
    assert_eq!(locked.kind, FaultKind::UnmappedAccess);
    assert!(locked.message.contains("read of 0x90fffffc"), "{locked:?}");
    assert!(locked.message.contains("locks up a board's bus"), "{locked:?}");
    assert_eq!(end_of_flash(24).kind, FaultKind::InstructionLimit);
}

#[test]
fn a_stack_that_grows_past_its_end_is_told_apart() {
    // push {r0-r7}; b -: the stack has 64 bytes
    let fault = fault(&[0xb4ff, 0xe7fd]);
    assert_eq!(fault.kind, FaultKind::StackOverflow, "{fault:?}");
}

#[test]
fn the_depth_of_the_stack_is_counted() {
    // push {r0-r7}; sub sp,#16; b .; of 64 bytes
    let (finish, _) = run(assembled(&[0xb4ff, 0xb084, 0xe7fe]), &job());
    let stack = finish.stack.unwrap();
    assert_eq!(stack, StackUse::new(Bytes(48), Bytes(0), Bytes(64)));
    // One that lies elsewhere is not known.
    let mut elsewhere = assembled(&[0xe7fe]);
    elsewhere.segments[0].1[..4].copy_from_slice(&0x2002_0000u32.to_le_bytes());
    assert_eq!(run(elsewhere, &job()).0.stack, None);
}

#[test]
fn an_undefined_instruction_is_a_hard_fault() {
    let fault = fault(&[0x2000, 0xde07]);
    assert_eq!(fault.kind, FaultKind::HardFault);
    assert!(fault.message.contains("at 0x08000042"), "{fault:?}");
    // Behind WFE, where Unicorn reports WFE itself in the same way: sev; wfe; udf
    let fault = self::fault(&[0xbf40, 0xbf20, 0xde07]);
    assert_eq!(fault.kind, FaultKind::HardFault, "{fault:?}");
    assert!(fault.message.contains("at 0x08000044"), "{fault:?}");
}

#[test]
fn code_in_sram_runs_and_may_change() {
    // mov.w r0,#0x20000000; movw r1,#0x4770, which is bx lr; strh r1,[r0]; adds r3,r0,#1; blx r3;
    // movw r1,#0xde07, which is udf; strh r1,[r0]; blx r3; b -
    let write = [
        0xf04f, 0x5000, 0xf244, 0x7170, 0x8001, 0x1c43, 0x4798, 0xf64d, 0x6107, 0x8001, 0x4798,
        0xe7fe,
    ];
    let fault = fault(&write);
    assert_eq!(fault.kind, FaultKind::HardFault, "{fault:?}");
    assert!(fault.message.contains("at 0x20000000"), "{fault:?}");
}

#[test]
fn a_page_may_be_looked_up_within_an_it_block() {
    // mov.w r0,#0x20000000; add.w r0,r0,#0x8000; movs r3,#0; cmp r0,#0; it ne; ldrne r2,[r0];
    // cmp r0,r0; b behind it; movs r3,#1; udf.
    let fault = fault(&[
        0xf04f, 0x5000, 0xf500, 0x4000, 0x2300, 0x2800, 0xbf18, 0x6802, 0x4280, 0xe7ff, 0x2301,
        0xde07,
    ]);
    assert_eq!(fault.kind, FaultKind::HardFault);
    assert!(fault.registers.contains(&("r3".into(), 1)), "{fault:?}");
}

#[test]
fn the_floating_point_unit_must_be_switched_on() {
    // vmov.f32 s0,#1.0
    let fault = fault(&[0xeeb7, 0x0a00]);
    assert_eq!(fault.kind, FaultKind::HardFault);
    assert!(fault.message.contains("CPACR"), "{fault:?}");
}

#[test]
fn a_run_away_ends_at_its_limit() {
    let (finish, _) = run(assembled(&[0xe7fe]), &job());
    assert_eq!(finish.fault.unwrap().kind, FaultKind::InstructionLimit);
    assert_eq!(finish.boot.instructions(), job().limits.instructions);
}

#[test]
fn sleep_without_a_way_out_is_a_deadlock() {
    // wfi, and wfe with the event register clear
    assert_eq!(fault(&[0xbf30]).kind, FaultKind::Deadlock);
    assert_eq!(fault(&[0xbf20]).kind, FaultKind::Deadlock);
}

fn with_frames(frames: &[&[u8]]) -> Job {
    let mut job = job();
    job.frames = frames.iter().map(|frame| vec![frame.to_vec()]).collect();
    job
}

#[test]
fn a_frame_is_sent_when_the_firmware_is_ready() {
    let (finish, messages) = run(program(CONSOLE), &with_frames(&[&[1, 2, 3, 4]]));
    assert_eq!(finish.fault, None);
    assert_eq!(console(&messages), "ready 4\r\ndone\r\n");
    assert_eq!(finish.unknown_registers, []);
    // 19 bytes of 160 clocks went over the wire; polling is skipped.
    assert!(finish.boot.cycles().0 > 19 * 160);
    assert!(finish.boot.instructions() < 500, "{:?}", finish.boot);
}

#[test]
fn an_error_line_is_a_fault() {
    let (finish, messages) = run(program(CONSOLE), &with_frames(&[&[1, 2, 3, 5]]));
    let fault = finish.fault.unwrap();
    assert_eq!(fault.kind, FaultKind::Firmware);
    assert!(fault.message.contains("the sum is wrong"), "{fault:?}");
    assert!(console(&messages).ends_with("error: the sum is wrong\r\n"));
}

#[test]
fn noise_on_the_line_leaves_bytes_and_a_missing_stop_bit_does_not() {
    let with = |noisy_in, broken_in| {
        let mut job = with_frames(&[&[1, 2, 3, 4]]);
        job.hardware.line_noise = Some(LineNoise { seed: 1, noisy_in, broken_in });
        run(program(CONSOLE), &job).0.fault
    };
    assert_eq!(with(1, 0), None);
    assert!(with(0, 1).unwrap().message.contains("the sum is wrong"));
}

#[test]
fn output_has_a_limit() {
    let mut job = with_frames(&[&[1, 2, 3, 4]]);
    job.limits.console_bytes = 8;
    assert_eq!(run(program(CONSOLE), &job).0.fault.unwrap().kind, FaultKind::OutputLimit);
}

#[test]
fn what_is_no_firmware_is_refused() {
    let refused = |elf: &[u8]| {
        let job = Job { elf: elf.to_vec(), ..job() };
        tilewright_worker::run(&job, |_| {}).unwrap_err()
    };
    assert!(matches!(refused(b""), JobError::Elf(_)));
    assert!(matches!(refused(b"\x7fELF\x01\x01\x01"), JobError::Elf(_)));
    let board = || tilewright_board::find(BOARD).unwrap();
    let empty = tilewright_worker::run_firmware(board(), Firmware::default(), &job(), |_| {});
    assert!(matches!(empty, Err(JobError::NoVectors(0x0800_0000))));
    let mut outside = assembled(&[0xbf00]);
    outside.segments.push((0x1000_0000, vec![0; 4]));
    let outside = tilewright_worker::run_firmware(board(), outside, &job(), |_| {});
    assert!(matches!(outside, Err(JobError::Outside { address: 0x1000_0000, bytes: 4 })));
}
