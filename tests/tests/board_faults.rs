//! The boards' firmware when something goes wrong: what it says is readable, and the emulated
//! core's faults reach its handler as on a board.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use object::{Object, ObjectSegment, ObjectSymbol};
use tilewright_board::Board;
use tilewright_planner::Strategy;
use tilewright_protocol::{Engine, Job, RunOutcome};
use tilewright_report::{Fault, FaultKind};
use tilewright_tests::emulated;
use tilewright_tests::random_model::{random_inputs, random_model};

fn job(board: &Board) -> Job {
    let model = random_model(42);
    let inputs = random_inputs(&model, 42);
    emulated::job(&model, board, Strategy::Resident, &inputs).unwrap().1
}

/// Where a run's marks are.
fn mark(job: &Job) -> u64 {
    let file = object::File::parse(job.elf.as_slice()).unwrap();
    let mark = file.symbols().find(|symbol| symbol.name() == Ok("tilewright_mark")).unwrap();
    mark.address() & !1
}

/// The firmware with other instructions there.
fn broken(board: &Board, code: &[u16]) -> Job {
    let mut job = job(board);
    let address = mark(&job);
    let file = object::File::parse(job.elf.as_slice()).unwrap();
    let segment = file
        .segments()
        .find(|segment| (segment.address()..segment.address() + segment.size()).contains(&address))
        .unwrap();
    let at = (segment.file_range().0 + address - segment.address()) as usize;
    for (index, halfword) in code.iter().enumerate() {
        let place = at + index * 2;
        job.elf[place..place + 2].copy_from_slice(&halfword.to_le_bytes());
    }
    job
}

/// The fault of a job on both engines, which tell the same.
fn fault(job: Job) -> (Fault, String) {
    let outcome: RunOutcome = emulated::run_job_on(Engine::Both, job).unwrap();
    let console = String::from_utf8_lossy(&outcome.console).into_owned();
    (outcome.finish.fault.unwrap_or_else(|| panic!("no fault:\n{console}")), console)
}

#[test]
fn an_undefined_instruction_reaches_the_firmwares_handler() {
    for board in emulated::of_every_core() {
        let job = broken(&board, &[0xde00]);
        let place = mark(&job);
        let (fault, console) = fault(job);
        assert_eq!(fault.kind, FaultKind::HardFault);
        assert!(fault.message.contains("in tilewright_mark: de00"), "{}", fault.message);
        let said = console.lines().last().unwrap();
        assert!(said.starts_with(&format!("error: HardFault at pc {place:#010x} ")), "{console}");
        assert!(said.contains("cfsr 0x00010000 hfsr 0x40000000"), "{said}");
        assert!(
            fault.message.ends_with(said.strip_prefix("error: ").unwrap()),
            "{}",
            fault.message
        );
        let pc = fault.registers.iter().find(|(name, _)| name == "pc").unwrap().1;
        assert!(said.contains(&format!("pc {pc:#010x} lr")), "{said}, the worker says {pc:#010x}");
    }
}

#[test]
fn a_read_of_nothing_reaches_the_firmwares_handler_with_its_address() {
    for board in emulated::of_every_core() {
        // movs r0,#0x60; lsls r0,r0,#24; ldr r0,[r0]
        let (fault, console) = fault(broken(&board, &[0x2060, 0x0600, 0x6800]));
        assert_eq!(fault.kind, FaultKind::UnmappedAccess);
        assert!(fault.message.contains("read of 0x60000000"), "{}", fault.message);
        let said = console.lines().last().unwrap();
        assert!(said.contains("cfsr 0x00008200"), "{said}");
        assert!(said.contains("bfar 0x60000000"), "{said}");
    }
}

#[test]
fn an_unaligned_pair_of_words_reaches_the_firmwares_handler() {
    for board in emulated::of_every_core() {
        // movs r0,#0x20; lsls r0,r0,#24; adds r0,#1; ldrd r0,r1,[r0]
        let (fault, console) = fault(broken(&board, &[0x2020, 0x0600, 0x3001, 0xe9d0, 0x0100]));
        assert_eq!(fault.kind, FaultKind::HardFault, "{}", fault.message);
        assert!(fault.message.starts_with("unaligned access at 0x"), "{}", fault.message);
        let said = console.lines().last().unwrap();
        assert!(said.contains("cfsr 0x01000000 hfsr 0x40000000"), "{said}");
        let pc = fault.registers.iter().find(|(name, _)| name == "pc").unwrap().1;
        assert!(said.contains(&format!("pc {pc:#010x} lr")), "{said}, the worker says {pc:#010x}");
    }
}

#[test]
fn a_stack_overflow_is_said_by_the_firmware_itself() {
    for board in emulated::of_every_core() {
        // push {r0-r7}; b -
        let (fault, console) = fault(broken(&board, &[0xb4ff, 0xe7fd]));
        assert_eq!(fault.kind, FaultKind::StackOverflow, "{}", fault.message);
        let said = console.lines().last().unwrap();
        assert!(
            said.starts_with("error: HardFault, stack overflow, at pc 0x00000000"),
            "{console}"
        );
    }
}

#[test]
fn a_frame_that_stops_before_its_end_is_said() {
    for board in emulated::of_every_core() {
        let mut job = job(&board);
        let frame = &mut job.frames[0][0];
        frame.truncate(frame.len() / 2);
        let (fault, _) = fault(job);
        assert_eq!(fault.kind, FaultKind::Firmware);
        assert!(fault.message.contains("the frame stopped before its end"), "{}", fault.message);
    }
}
