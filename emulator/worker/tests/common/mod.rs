//! Runs programs of a few instructions.
#![allow(dead_code, reason = "each file of tests uses a part of this")]

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use tilewright_machine::{Own, prepare};
use tilewright_protocol::{Finish, Job, Limits, Response};
use tilewright_worker::{Firmware, run_firmware};

pub const BOARD: &str = "stm32f746g-disco";
pub const FLASH: u32 = 0x0800_0000;
/// Where [`assembled`] puts the first instruction.
pub const ENTRY: u32 = FLASH + 0x40;

/// A job without frames.
pub fn job() -> Job {
    Job::new(BOARD, Vec::new(), Limits { instructions: 10_000_000, console_bytes: 1000 })
}

/// The same for code that ends in a loop soon.
pub fn short_job() -> Job {
    Job { limits: Limits { instructions: 100_000, console_bytes: 1000 }, ..job() }
}

/// Firmware from bytes that lie at the start of flash.
pub fn program(bytes: &[u8]) -> Firmware {
    Firmware { segments: vec![(FLASH, bytes.to_vec())], ..Firmware::default() }
}

/// Firmware from instructions, with a stack of 64 bytes at the bottom of RAM.
pub fn assembled(code: &[u16]) -> Firmware {
    let mut bytes = vec![0; 0x40];
    bytes[..4].copy_from_slice(&0x2000_0040u32.to_le_bytes());
    bytes[4..8].copy_from_slice(&(ENTRY | 1).to_le_bytes());
    bytes.extend(code.iter().flat_map(|halfword| halfword.to_le_bytes()));
    let end = ENTRY + code.len() as u32 * 2;
    Firmware { functions: vec![(ENTRY, end, "main".into())], ..program(&bytes) }
}

/// Does a job; gives its end and its messages.
pub fn run(firmware: Firmware, job: &Job) -> (Finish, Vec<Response>) {
    run_on(BOARD, firmware, job)
}

/// Does a job on a board, on Unicorn and on the own core, which must not differ; gives its end and its messages.
pub fn run_on(board: &str, firmware: Firmware, job: &Job) -> (Finish, Vec<Response>) {
    let ran = run_on_unicorn(board, firmware.clone(), job);
    let (own, said) = run_on_own(board, firmware, job);
    assert_eq!(own, Finish { wall_ns: own.wall_ns, ..ran.0.clone() }, "own core, Unicorn");
    assert_eq!(said, ran.1, "own core, Unicorn");
    ran
}

/// Does a job on Unicorn alone.
pub fn run_on_unicorn(board: &str, firmware: Firmware, job: &Job) -> (Finish, Vec<Response>) {
    let board = tilewright_board::find(board).unwrap();
    heard(|sink| run_firmware(board, firmware, job, sink).unwrap())
}

/// Does a job on the own core alone.
pub fn run_on_own(board: &str, firmware: Firmware, job: &Job) -> (Finish, Vec<Response>) {
    let board = tilewright_board::find(board).unwrap();
    heard(|sink| {
        let clock = Box::new(|| Duration::ZERO);
        let machine = prepare(board, firmware, job, clock, Box::new(sink)).unwrap();
        tilewright_machine::run_on(&mut Own::new(machine)).unwrap()
    })
}

/// What a job gives, and its messages, but those that come by the clock.
fn heard(run: impl FnOnce(Box<dyn FnMut(Response)>) -> Finish) -> (Finish, Vec<Response>) {
    let messages = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&messages);
    let finish = run(Box::new(move |message| {
        if !matches!(message, Response::Progress { .. }) {
            sink.borrow_mut().push(message);
        }
    }));
    let messages = messages.borrow().clone();
    (finish, messages)
}

/// Code that writes words to addresses by r0 and r1, each behind the last's effect.
pub fn stores(writes: &[(u32, u32)]) -> Vec<u16> {
    let wide = |opcode: u32, register: u32, half: u32| {
        let [imm4, i, imm3, imm8] = [half >> 12, half >> 11 & 1, half >> 8 & 7, half & 0xff];
        [(opcode | i << 10 | imm4) as u16, (imm3 << 12 | register << 8 | imm8) as u16]
    };
    let load = |register: u32, value: u32| {
        // MOVW, MOVT.
        [wide(0xf240, register, value & 0xffff), wide(0xf2c0, register, value >> 16)].concat()
    };
    // STR r1,[r0]; DSB; a branch to what follows.
    let store = |&(address, value)| {
        [load(0, address), load(1, value), vec![0x6001, 0xf3bf, 0x8f4f, 0xe7ff]].concat()
    };
    writes.iter().flat_map(store).collect()
}
