//! Instructions are counted exactly: by hand, and against a hook on every instruction.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::cell::Cell;
use std::rc::Rc;

use common::{ENTRY, FLASH, assembled, job, program, run};
use tilewright_protocol::{Job, Response, Watch};
use tilewright_report::{Cause, Counts, FaultKind};
use unicorn_engine::{Arch, ArmCpuModel, Mode, Prot, Unicorn};

const COUNT: &[u8] = include_bytes!("../programs/count.bin");
const SLEEP: &[u8] = include_bytes!("../programs/sleep.bin");
const PRESERVE: &[u8] = include_bytes!("../programs/preserve.bin");
const MULTIPLY: &[u8] = include_bytes!("../programs/multiply.bin");

/// Of count.s: before the loop 1, in the loop 10 × 11, `b` 1, nops 1024, then 6 and 6.
const COUNTED: u64 = 1 + 110 + 1 + 1024 + 6 + 6;
/// Of those, in IT blocks with a false condition: 10 in the first, 5 in the second, 1, 1.
const NOT_TAKEN: u64 = 10 + 5 + 1 + 1;

/// How often a hook on every instruction fires, in Unicorn alone.
fn code_hook(bytes: &[u8]) -> u64 {
    let count = Rc::new(Cell::new(0));
    let counter = Rc::clone(&count);
    let mut uc = Unicorn::new(Arch::ARM, Mode::THUMB).unwrap();
    uc.ctl_set_cpu_model(ArmCpuModel::CORTEX_M7 as i32).unwrap();
    uc.mem_map(u64::from(FLASH), 1 << 20, Prot::ALL).unwrap();
    uc.mem_map(0x2000_0000, 1 << 16, Prot::ALL).unwrap();
    uc.mem_write(u64::from(FLASH), bytes).unwrap();
    uc.add_code_hook(1, 0, move |_, _, _| counter.set(counter.get() + 1)).unwrap();
    uc.emu_start(u64::from(FLASH | 0x41), u64::from(FLASH) + bytes.len() as u64, 0, 0).unwrap();
    count.get()
}

#[test]
fn it_blocks_calls_loops_and_pages_are_counted() {
    let (finish, _) = run(program(COUNT), &job());
    assert_eq!(finish.boot.instructions(), COUNTED);
    assert_eq!(finish.fault.unwrap().kind, FaultKind::Deadlock);
    // Unicorn's own hook misses instructions whose condition fails.
    assert_eq!(code_hook(COUNT), COUNTED - NOT_TAKEN);
}

#[test]
fn a_long_run_is_counted_as_by_a_hook_on_every_instruction() {
    let mut bytes = MULTIPLY.to_vec();
    // 1000 rows instead of 400000: movw r7, #1000; movt r7, #0.
    bytes[0x40..0x48].copy_from_slice(&[0x40, 0xf2, 0xe8, 0x37, 0xc0, 0xf2, 0x00, 0x07]);
    let (finish, _) = run(program(&bytes), &job());
    assert_eq!(finish.boot.instructions(), code_hook(&bytes));
    assert_eq!(finish.boot.instructions(), 2 + 1000 * (5 + 64 * 14 + 5) + 1);
}

#[test]
fn sleep_is_time_without_instructions() {
    let (finish, _) = run(program(SLEEP), &job());
    let counts = finish.boot;
    // Before the loop 8, five times wfi, cmp, bne, then movs, str, wfi.
    assert_eq!(counts.dispatch_instructions, 8 + 5 * 3 + 3);
    assert_eq!(counts.interrupt_instructions, 5 * 2);
    // SysTick strikes every 10000 cycles from when it is switched on.
    let cycles = counts.cycles().0;
    assert!((50_000..50_100).contains(&cycles), "{cycles}");
    assert!(counts.wait_cycles.0 > 49_000);
}

#[test]
fn handlers_leave_no_trace() {
    let (finish, _) = run(program(PRESERVE), &job());
    let fault = finish.fault.unwrap();
    assert_eq!(fault.kind, FaultKind::Deadlock, "{}", fault.message);
    assert!(finish.boot.interrupt_instructions > 100 * 13);
}

/// What a loop takes that stores addresses line by line to the word at `base` and 4 bytes on, for 4096 bytes,
/// while SysTick strikes every 100 cycles, and the sum of the addresses that it strikes at.
fn stored_line_by_line(base: [u16; 4]) -> (Counts, u32) {
    // movw r0,#0xe010; movt r0,#0xe000; movs r1,#99; str r1,[r0,#4]; movs r1,#0; str r1,[r0,#8]; movs r1,#7;
    // str r1,[r0]; base to r5.
    let begins = [0xf24e, 0x0010, 0xf2ce, 0x0000, 0x2163, 0x6041, 0x2100, 0x6081, 0x2107, 0x6001];
    // mov.w r2,#0x20000000; add.w r3,r2,#4096; str r2,[r5,#4]; adds r2,#32; cmp r2,r3; blo to the store;
    // movs r1,#0; str r1,[r0]; wfi; the handler: add r4,r2; bx lr.
    let turns = [
        0xf04f, 0x5200, 0xf502, 0x5380, 0x606a, 0x3220, 0x429a, 0xd3fb, 0x2100, 0x6001, 0xbf30,
        0x4414, 0x4770,
    ];
    let code: Vec<u16> = begins.into_iter().chain(base).chain(turns).collect();
    let mut firmware = assembled(&code);
    let handler = ENTRY + 2 * (code.len() as u32 - 2);
    firmware.segments[0].1[0x3c..0x40].copy_from_slice(&(handler | 1).to_le_bytes());
    let finish = run(firmware, &job()).0;
    let registers = finish.fault.unwrap().registers;
    (finish.boot, registers.iter().find(|(name, _)| name == "r4").unwrap().1)
}

#[test]
fn maintenance_line_by_line_is_counted_as_any_other_loop() {
    // movw r5,#0xef5c; movt r5,#0xe000: lines are maintained. 0x20008000: only memory.
    let maintains = stored_line_by_line([0xf64e, 0x755c, 0xf2ce, 0x0500]);
    let stores = stored_line_by_line([0xf248, 0x0500, 0xf2c2, 0x0500]);
    assert_eq!(maintains.0.dispatch_instructions, 8 + 4 + 128 * 4 + 3);
    assert!(maintains.0.interrupt_instructions > 4, "{maintains:?}");
    assert_eq!(maintains, stores);
}

/// Calls `mark(0, 0)`, `mark(2, 5)`, three instructions, `mark(3, 5)`, `mark(1, 0)`.
fn marked() -> tilewright_worker::Firmware {
    let mut firmware = assembled(&[
        0x2000, 0x2100, 0xf000, 0xf810, // movs r0,#0; movs r1,#0; bl mark
        0x2002, 0x2105, 0xf000, 0xf80c, // movs r0,#2; movs r1,#5; bl mark
        0x2001, 0x2002, 0x2003, // the step
        0x2003, 0x2105, 0xf000, 0xf805, // movs r0,#3; movs r1,#5; bl mark
        0x2001, 0x2100, 0xf000, 0xf801, // movs r0,#1; movs r1,#0; bl mark
        0xbf30, // wfi
        0x46c0, 0xbf00, 0x4770, // mark: mov r8,r8; nop; bx lr
    ]);
    firmware.mark = Some(common::ENTRY + 2 * 20);
    firmware
}

/// Calls `mark(0, 0)`, `mark(2, 5)`, a hundred turns of a loop of a load and a sum, `mark(3, 5)`,
/// `mark(1, 0)`.
fn looping() -> tilewright_worker::Firmware {
    let mut firmware = assembled(&[
        0x2000, 0x2100, 0xf000, 0xf814, // movs r0,#0; movs r1,#0; bl mark
        0x2002, 0x2105, 0xf000, 0xf810, // movs r0,#2; movs r1,#5; bl mark
        0x2764, 0xf04f, 0x5500, // movs r7,#100; mov.w r5,#0x20000000
        0x682c, 0x3401, 0x3f01, 0xd1fb, // ldr r4,[r5]; adds r4,#1; subs r7,#1; bne
        0x2003, 0x2105, 0xf000, 0xf805, // movs r0,#3; movs r1,#5; bl mark
        0x2001, 0x2100, 0xf000, 0xf801, // movs r0,#1; movs r1,#0; bl mark
        0xbf30, // wfi
        0x46c0, 0xbf00, 0x4770, // mark: mov r8,r8; nop; bx lr
    ]);
    firmware.mark = Some(common::ENTRY + 2 * 24);
    firmware
}

/// A job that lets kernels run with the caches off, as they are at reset.
fn lenient() -> Job {
    Job { strict: false, ..job() }
}

#[test]
fn a_kernel_that_runs_with_the_caches_off_is_slower_than_is_modelled() {
    let fault = run(marked(), &job()).0.fault.unwrap();
    assert!(fault.message.contains("kernels run while CCR (0xe000ed14)"), "{fault:?}");
    assert!(fault.message.contains("a board takes longer than is modelled"), "{fault:?}");
}

#[test]
fn hot_blocks_are_listed_with_what_each_instruction_costs() {
    let (_, messages) = run(looping(), &lenient());
    let profile = messages.iter().find_map(|message| match message {
        Response::Layer(layer) => Some(&layer.profile),
        _ => None,
    });
    let block = &profile.unwrap().blocks[0];
    // The first turn belongs to the block before it.
    assert_eq!(block.runs, 99);
    let costs: Vec<(Cause, u32, u32)> =
        block.listing.iter().map(|line| (line.cause, *line.cycles, *line.stall_cycles)).collect();
    let loops = (Cause::Loop, 1, 0);
    assert_eq!(costs[0], (Cause::Load, 1, 0));
    assert_eq!(costs[1], (Cause::Other, 1, 1));
    assert_eq!(costs[2..], [(Cause::Loop, 0, 0), loops]);
    // A turn takes four cycles; the first way back and the way out were not foreseen.
    assert_eq!((block.cycles.0, block.branch_cycles.0), (99 * 4 + 14, 14));
}

#[test]
fn steps_are_counted_without_their_marks() {
    let watch = Watch {
        step: 5,
        address: common::ENTRY,
        rows: 2,
        row_bytes: 2,
        pitch: 8,
        ..Watch::default()
    };
    let mut job = lenient();
    job.watches = vec![watch];
    let (finish, messages) = run(marked(), &job);
    // Up to the mark's entry: movs, movs, bl.
    assert_eq!(finish.boot.instructions(), 3);
    let Counts { compute_instructions, dispatch_instructions, .. } = finish.invoke;
    // The step: three instructions, and movs, movs, bl towards the mark that ends it.
    assert_eq!(compute_instructions, 6);
    // Four marks of 3 (the last is entered when the invoke ends), and two calls of 3.
    assert_eq!(dispatch_instructions, 3 * 3 + 2 * 3);
    let Some(Response::Step(step)) = messages.iter().find(|m| matches!(m, Response::Step(_)))
    else {
        panic!("no step")
    };
    assert_eq!((step.step, step.instructions), (5, 6));
    assert_eq!(step.end - step.start, step.cycles);
    let Some(Response::Layer(layer)) = messages.iter().find(|m| matches!(m, Response::Layer(_)))
    else {
        panic!("no profile")
    };
    let block = &layer.profile.blocks[0];
    assert_eq!((block.address, *block.runs), (common::ENTRY + 16, 1));
    assert!(block.listing[0].text.starts_with("2001  mov"), "{}", block.listing[0].text);
    assert_eq!(block.listing.len(), 6);
    let counted: u64 = layer.profile.causes.iter().map(|count| *count.instructions).sum();
    assert_eq!(counted, 6);
    // The way into the step is the mark's, and no block's of the step.
    assert!((step.cycles - layer.profile.cycles()) <= 7, "{:?}", layer.profile.causes);
    let bytes = vec![0x00, 0x20, 0x02, 0x20];
    assert!(messages.contains(&Response::Watched { watch: 0, bytes }));
}
