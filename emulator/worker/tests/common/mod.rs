//! Runs programs of a few instructions.
#![allow(dead_code, reason = "each file of tests uses a part of this")]

use std::cell::RefCell;
use std::rc::Rc;

use tilewright_protocol::{Finish, Hardware, Job, Limits, Mode, Response};
use tilewright_worker::{Firmware, run_firmware};

pub const BOARD: &str = "stm32f746g-disco";
pub const FLASH: u32 = 0x0800_0000;
/// Where [`assembled`] puts the first instruction.
pub const ENTRY: u32 = FLASH + 0x40;

/// A job without frames.
pub fn job() -> Job {
    Job {
        board: BOARD.into(),
        elf: Vec::new(),
        external_flash: Vec::new(),
        card: None,
        frames: Vec::new(),
        hardware: Hardware::default(),
        mode: Mode::Full,
        limits: Limits { instructions: 10_000_000, console_bytes: 1000 },
        watches: Vec::new(),
    }
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

/// Does a job on a board; gives its end and its messages.
pub fn run_on(board: &str, firmware: Firmware, job: &Job) -> (Finish, Vec<Response>) {
    let messages = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&messages);
    let board = tilewright_board::find(board).unwrap();
    let finish =
        run_firmware(board, firmware, job, move |message| sink.borrow_mut().push(message)).unwrap();
    let messages = messages.borrow().clone();
    (finish, messages)
}
