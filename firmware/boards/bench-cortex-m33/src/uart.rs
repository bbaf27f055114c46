//! The console's serial port: USART1 with the registers of RM0385, 31.8, clocked as the core is, and the
//! only interrupt. It needs no clock to be switched on.

use crate::board;
use core::ptr;
use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::NVIC;
use tilewright_board_support::console::{Console, Line, with_queues};

/// Registers of the port; not all that there are.
#[derive(Clone, Copy)]
enum Register {
    Control1 = 0x00,
    Control2 = 0x04,
    Control3 = 0x08,
    BaudRate = 0x0c,
    Timeout = 0x14,
    Status = 0x1c,
    Clear = 0x20,
    Received = 0x24,
    ToSend = 0x28,
}

const FIRST: usize = 0x4001_1000;

/// Bits of the first control register: port, receiver, transmitter; interrupts for a byte, room for one,
/// silence.
const ON: u32 = 1 << 0 | 1 << 2 | 1 << 3;
const ON_BYTE: u32 = 1 << 5;
const ON_ROOM: u32 = 1 << 7;
const ON_SILENCE: u32 = 1 << 26;
/// Of the second: silence is timed.
const TIMES: u32 = 1 << 23;
/// Of the third: an interrupt for lost bytes.
const ON_LOSS: u32 = 1 << 0;
/// Bits of the status: framing, noise, overrun; a byte, room for one; silence.
const LOST: u32 = 1 << 1 | 1 << 2 | 1 << 3;
const BYTE: u32 = 1 << 5;
const ROOM: u32 = 1 << 7;
const SILENCE: u32 = 1 << 11;

/// A second of silence within a frame, in bits on the line.
const PATIENCE_BITS: u32 = board::BAUD;

impl Register {
    const fn place(self) -> *mut u32 {
        ptr::with_exposed_provenance_mut(FIRST + self as usize)
    }

    fn read(self) -> u32 {
        // SAFETY: the port's registers lie there, and reading them harms no memory.
        #[expect(unsafe_code, reason = "registers are behind addresses")]
        unsafe {
            self.place().read_volatile()
        }
    }

    fn write(self, value: u32) {
        // SAFETY: the port's registers lie there; it reaches no memory by itself.
        #[expect(unsafe_code, reason = "registers are behind addresses")]
        unsafe {
            self.place().write_volatile(value);
        }
    }

    fn change(self, clear: u32, set: u32) {
        self.write(self.read() & !clear | set);
    }
}

/// The port's interrupt.
#[derive(Clone, Copy)]
struct Usart1;

// SAFETY: it is the first of the vector table below.
#[expect(unsafe_code, reason = "numbers of interrupts are promises")]
unsafe impl InterruptNumber for Usart1 {
    fn number(self) -> u16 {
        0
    }
}

/// Interrupts behind the core's own exceptions; cortex-m-rt puts them there.
#[expect(unsafe_code, reason = "the name is a contract with the linker's script")]
#[unsafe(link_section = ".vector_table.interrupts")]
#[unsafe(no_mangle)]
static __INTERRUPTS: [extern "C" fn(); 1] = [serve];

extern "C" fn serve() {
    with_queues(|queues| {
        let status = Register::Status.read();
        if status & LOST != 0 {
            queues.lose();
            Register::Clear.write(LOST);
        }
        if status & SILENCE != 0 {
            queues.fall_silent();
            Register::Clear.write(SILENCE);
        }
        if status & BYTE != 0 {
            // Reading the byte takes the interrupt's cause away.
            queues.receive(Register::Received.read() as u8);
        }
        if status & ROOM != 0 {
            match queues.next_to_send() {
                Some(byte) => Register::ToSend.write(byte.into()),
                None => Register::Control1.change(ON_ROOM, 0),
            }
        }
    });
}

/// Sends without interrupts, if the port is on.
#[expect(unsafe_code, reason = "the symbol's name is a contract; no other function has it")]
#[unsafe(no_mangle)]
fn tilewright_say(bytes: &[u8]) {
    if Register::Control1.read() & ON != ON {
        return;
    }
    for byte in bytes {
        while Register::Status.read() & ROOM == 0 {}
        Register::ToSend.write((*byte).into());
    }
}

/// The port.
pub struct Usart;

/// Sets the port up: the board's baud rate, 8 bits, no parity, one stop bit.
pub fn open() -> Console<Usart> {
    Register::BaudRate.write(board::CLOCK_HERTZ.div_ceil(board::BAUD));
    Register::Timeout.write(PATIENCE_BITS);
    Register::Control2.write(TIMES);
    Register::Control3.write(ON_LOSS);
    Register::Control1.write(ON | ON_BYTE);
    // SAFETY: the handler above is complete, and no critical section relies on this mask.
    #[expect(unsafe_code, reason = "unmasking an interrupt can break critical sections")]
    unsafe {
        NVIC::unmask(Usart1);
    }
    Console::new(Usart)
}

impl Line for Usart {
    fn start_sending(&mut self) {
        Register::Control1.change(0, ON_ROOM);
    }

    fn watch_silence(&mut self, on: bool) {
        Register::Clear.write(SILENCE);
        let (clear, set) = if on { (0, ON_SILENCE) } else { (ON_SILENCE, 0) };
        Register::Control1.change(clear, set);
    }
}
