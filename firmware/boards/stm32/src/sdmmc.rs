//! The card's controller, SDMMC1 of the STM32F7 and SDIO of the STM32F4, and the stream of DMA2 that
//! serves it: registers alone (RM0385, 35 and 8; RM0386, 31 and 9). All waits are bounded.

use cortex_m::asm;
use embassy_stm32::Peri;
use embassy_stm32::gpio::{AfType, AnyPin, Flex, OutputType, Pull, Speed};
use embassy_stm32::interrupt::{InterruptExt, typelevel};
#[cfg(feature = "stm32f4")]
use embassy_stm32::pac::SDIO as CONTROLLER;
#[cfg(feature = "stm32f7")]
use embassy_stm32::pac::SDMMC1 as CONTROLLER;
use embassy_stm32::pac::dma::vals::{Burst, Dir, Dmdis, Fth, Pfctrl, Pl, Size};
use embassy_stm32::pac::sdmmc::regs::{Dctrl, Icr, Maskr, Star};
use embassy_stm32::pac::{DMA2, RCC};
use tilewright_runtime::card::CardError;

use crate::clock_runs;

/// Most bytes of a transfer: the stream counts 65,535 words (8.3.15), in whole sectors.
pub const LARGEST: u32 = 511 * 512;

/// The controller's stream and channel (RM0385, table 28; RM0386, table 35).
pub const STREAM: usize = 3;
const CHANNEL: u8 = 4;
/// Alternate function of all its pins (DS10916, table 12; DS11189, table 12).
const FUNCTION: u8 = 12;
/// A line on which data did not begin with the others (STBITERR, which the STM32F7 no longer has).
const NO_START: u32 = 1 << 9;
const FAMILY_FLAGS: u32 = if cfg!(feature = "stm32f4") { NO_START } else { 0 };
/// Flags that ICR clears, and those that end a command or a transfer.
const FLAGS: u32 = 0x0040_05ff | FAMILY_FLAGS;
const ENDS: u32 = 0x0000_017f | FAMILY_FLAGS;
/// Whether a read may wait for room in memory with its command open. The STM32F7 stops the card's clock
/// meanwhile (RM0385, 35.3.2, hardware flow control); the same on the STM32F4 gives a clock with glitches and is not
/// to be used (ES0321, SDIO hardware flow control).
pub const MAY_WAIT: bool = cfg!(feature = "stm32f7");
/// Most sectors of the data path (DLEN, 25 bits).
pub const LONGEST: u32 = 65_535;
/// The FIFO is full of what was received; it holds some (STA). It has 32 words.
const FULL: u32 = 1 << 17;
const FIFO_WORDS: u32 = 32;
/// Reads of a register that end every wait: some milliseconds.
const PATIENCE: u32 = 100_000;
/// Clocks that data may take to come, and a card to be busy: half a second at 48 MHz.
const DATA_PATIENCE: u32 = 24_000_000;

/// The clock [`Speed48::Default`].
pub const DEFAULT_HERTZ: u32 = 24_000_000;

/// The fastest of the card's clocks, [`Speed48::High`].
pub const HIGH_HERTZ: u32 = 48_000_000;

/// The card's clock, from the 48 MHz of the controller.
#[derive(Clone, Copy)]
pub enum Speed48 {
    /// 400 kHz, for identification.
    Identification,
    /// 24 MHz.
    Default,
    /// 48 MHz.
    High,
}

/// What answers a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    None,
    /// 48 bits.
    Short,
    /// 48 bits without a checksum.
    Unchecked,
    /// 136 bits.
    Long,
}

/// Gives the card's controller its clock and its pins, which are all of function 12.
pub fn power_up(pins: [Peri<'static, AnyPin>; 6]) {
    for pin in pins {
        let mut pin = Flex::new(pin);
        let kind = AfType::output_pull(OutputType::PushPull, Speed::VeryHigh, Pull::Up);
        pin.set_as_af_unchecked(FUNCTION, kind);
        // It keeps its function.
        core::mem::forget(pin);
    }
    critical_section::with(|_| {
        RCC.apb2enr().modify(|clocks| {
            #[cfg(feature = "stm32f4")]
            clocks.set_sdioen(true);
            #[cfg(feature = "stm32f7")]
            clocks.set_sdmmc1en(true);
        });
    });
    clock_runs(RCC.apb2enr());
    CONTROLLER.power().write(|power| power.set_pwrctrl(3));
}

/// Lets the controller's interrupt through.
pub fn unmask() {
    // SAFETY: the handler is complete, and no critical section relies on this mask.
    #[expect(unsafe_code, reason = "unmasking an interrupt can break critical sections")]
    unsafe {
        #[cfg(feature = "stm32f4")]
        <typelevel::SDIO as typelevel::Interrupt>::IRQ.enable();
        #[cfg(feature = "stm32f7")]
        <typelevel::SDMMC1 as typelevel::Interrupt>::IRQ.enable();
    }
}

/// Sets the card's clock, and the lines that carry data.
pub fn set_clock(speed: Speed48, four_lines: bool) {
    CONTROLLER.clkcr().write(|control| {
        match speed {
            Speed48::Identification => control.set_clkdiv(118),
            Speed48::Default => {}
            Speed48::High => control.set_bypass(true),
        }
        control.set_widbus(u8::from(four_lines));
        control.set_hwfc_en(MAY_WAIT);
        control.set_clken(true);
    });
}

/// What raises the interrupt.
#[derive(Clone, Copy)]
pub enum Listen {
    /// Nothing.
    Nothing,
    /// What ends commands and transfers.
    Ends,
    /// Likewise, and a piece of a read that is in memory, behind which the FIFO has filled.
    Pieces,
}

/// Says what raises the interrupt.
pub fn listen(to: Listen) {
    let mask = match to {
        Listen::Nothing => 0,
        Listen::Ends => ENDS,
        Listen::Pieces => ENDS | FULL,
    };
    CONTROLLER.maskr().write_value(Maskr(mask));
}

/// Takes the flags.
pub fn take_flags() -> Star {
    let flags = CONTROLLER.star().read();
    CONTROLLER.icr().write_value(Icr(flags.0 & FLAGS));
    flags
}

/// Sends a command.
pub fn send(command: u8, argument: u32, answer: Answer) {
    CONTROLLER.argr().write(|register| register.set_cmdarg(argument));
    CONTROLLER.cmdr().write(|register| {
        register.set_cmdindex(command);
        register.set_waitresp(match answer {
            Answer::None => 0,
            Answer::Short | Answer::Unchecked => 1,
            Answer::Long => 3,
        });
        register.set_cpsmen(true);
    });
}

/// The first word of the last answer.
pub fn answer() -> u32 {
    CONTROLLER.respr(0).read().cardstatus()
}

/// All of a long answer.
pub fn long_answer() -> [u32; 4] {
    core::array::from_fn(|word| CONTROLLER.respr(word).read().cardstatus())
}

/// Why a command failed, if it did.
pub fn check_command(command: u8, flags: Star) -> Result<(), CardError> {
    if flags.ctimeout() {
        return Err(CardError::Silent { command });
    }
    if flags.ccrcfail() {
        return Err(CardError::Answer { command });
    }
    Ok(())
}

/// Sends a command and waits for its answer; gives the first word.
pub fn command(command: u8, argument: u32, answer: Answer) -> Result<u32, CardError> {
    take_flags();
    send(command, argument, answer);
    for _ in 0..PATIENCE {
        let flags = CONTROLLER.star().read();
        if answer == Answer::Unchecked && flags.ccrcfail() {
            return Ok(self::answer());
        }
        check_command(command, flags)?;
        if flags.cmdrend() || flags.cmdsent() {
            return Ok(self::answer());
        }
    }
    Err(CardError::Silent { command })
}

/// Who says when a stream has moved all.
#[derive(Clone, Copy)]
pub enum Count {
    /// The controller.
    Controller,
    /// The stream, after so many bytes, a multiple of 16 and at most [`LARGEST`].
    Stream(u32),
}

/// Lets the stream serve the controller.
pub fn begin_stream(write: bool, memory: u32, count: Count) {
    // What the core wrote is to be in memory.
    asm::dsb();
    take_stream_error();
    let stream = DMA2.st(STREAM);
    stream.par().write_value(CONTROLLER.fifor().as_ptr() as u32);
    stream.m0ar().write_value(memory);
    stream.fcr().write(|fifo| {
        fifo.set_dmdis(Dmdis::DISABLED);
        fifo.set_fth(Fth::FULL);
    });
    let paced = match count {
        Count::Controller => Pfctrl::PERIPHERAL,
        Count::Stream(bytes) => {
            stream.ndtr().write(|items| items.set_ndt((bytes / 4) as u16));
            Pfctrl::DMA
        }
    };
    stream.cr().write(|control| {
        control.set_chsel(CHANNEL);
        control.set_pfctrl(paced);
        control.set_dir(if write { Dir::MEMORY_TO_PERIPHERAL } else { Dir::PERIPHERAL_TO_MEMORY });
        control.set_minc(true);
        control.set_psize(Size::BITS32);
        control.set_msize(Size::BITS32);
        control.set_pburst(Burst::INCR4);
        control.set_mburst(Burst::INCR4);
        control.set_pl(Pl::VERY_HIGH);
        control.set_en(true);
    });
}

/// Whether the stream met an error; forgets it.
fn take_stream_error() -> bool {
    let failed = DMA2.isr(0).read().teif(STREAM);
    DMA2.ifcr(0).write(|clear| {
        clear.set_tcif(STREAM, true);
        clear.set_htif(STREAM, true);
        clear.set_teif(STREAM, true);
        clear.set_feif(STREAM, true);
        clear.set_dmeif(STREAM, true);
    });
    failed
}

/// Lets data come or go: `bytes` in blocks of two to the power of `block`.
pub fn begin_data(write: bool, bytes: u32, block: u8) {
    CONTROLLER.dtimer().write(|timer| timer.set_datatime(DATA_PATIENCE));
    CONTROLLER.dlenr().write(|length| length.set_datalength(bytes));
    CONTROLLER.dctrl().write(|control| {
        control.set_dtdir(!write);
        control.set_dblocksize(block);
        control.set_dmaen(true);
        control.set_dten(true);
    });
}

/// Bytes of a transfer that are still to come or to go.
pub fn data_left() -> u32 {
    CONTROLLER.dcntr().read().0
}

/// Why a transfer failed, if it did; whether it is over.
pub fn data_ended(flags: Star) -> Result<bool, CardError> {
    let began = cfg!(not(feature = "stm32f4")) || flags.0 & NO_START == 0;
    if flags.dcrcfail() || !began {
        return Err(CardError::Checksum);
    }
    if flags.dtimeout() {
        return Err(CardError::NoData);
    }
    if flags.rxoverr() || flags.txunderr() {
        return Err(CardError::Memory);
    }
    Ok(flags.dataend())
}

/// Whether a piece of a read is in memory: its stream has ended, and as bytes behind it fill the FIFO, the
/// checksums of all its sectors were seen to hold.
pub fn piece_ended() -> Result<bool, CardError> {
    // Full for a moment, the FIFO may be while the stream runs.
    if CONTROLLER.star().read().0 & FULL == 0 || DMA2.st(STREAM).cr().read().en() {
        return Ok(false);
    }
    if take_stream_error() { Err(CardError::Memory) } else { Ok(true) }
}

/// Waits until the stream has moved the last bytes.
pub fn end_stream() -> Result<(), CardError> {
    let ended = (0..PATIENCE).any(|_| !DMA2.st(STREAM).cr().read().en());
    CONTROLLER.dctrl().write_value(Dctrl(0));
    // What the stream wrote is read behind this, by core and compiler alike.
    asm::dmb();
    if ended && !take_stream_error() { Ok(()) } else { Err(CardError::Memory) }
}

/// Gives a transfer up.
pub fn stop() {
    CONTROLLER.dctrl().write_value(Dctrl(0));
    DMA2.st(STREAM).cr().modify(|control| control.set_en(false));
    let _ = (0..PATIENCE).any(|_| !DMA2.st(STREAM).cr().read().en());
    take_stream_error();
    // While the FIFO is full the card's clock stands, and with it the command path.
    for _ in 0..2 * FIFO_WORDS {
        if !CONTROLLER.star().read().rxdavl() {
            break;
        }
        CONTROLLER.fifor().read();
    }
    take_flags();
}

/// Waits for a transfer that was begun; for those before interrupts are used.
pub fn finish_data() -> Result<(), CardError> {
    for _ in 0..DATA_PATIENCE {
        if data_ended(CONTROLLER.star().read())? {
            return end_stream();
        }
    }
    Err(CardError::NoData)
}
