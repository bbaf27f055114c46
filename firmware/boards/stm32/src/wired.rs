//! What is wired to the microcontroller: oscillator, console, external memories and card, on the pins that the board's
//! file names.

use cortex_m::Peripherals as CorePeripherals;
use embassy_stm32::interrupt;
use embassy_stm32::mode::Blocking;
use embassy_stm32::pac::usart::Usart as Registers;
use embassy_stm32::pac::{self, RCC};
use embassy_stm32::qspi::Qspi;
use embassy_stm32::rcc::HseMode;
use embassy_stm32::usart::Uart;
use embassy_stm32::{Peripherals, peripherals};
use tilewright_board_support::console::Console;

use crate::memory::Memories;
use crate::sdmmc::power_up;
use crate::uart::{self, Usart};
use crate::{BOARD, Oscillator, serial_flash};

const _: () = assert!(BOARD.places.can_be_told());

/// Makes functions of what the build script makes of the board's file: names of pins in the order in which
/// `embassy-stm32` takes them.
macro_rules! wired {
    (
        oscillator $hertz:literal $mode:ident;
        console $port:ident [$rx:ident $tx:ident] $enabling:ident $enabled:ident;
        $(sdram $sdram:ident $lines:literal [$($ram:ident)*];)?
        $(serial_flash [$($flash:ident)*];)?
        $(card [$($card:ident)*];)?
    ) => {
        /// The board's oscillator.
        pub const OSCILLATOR: Oscillator = Oscillator { hertz: $hertz, mode: HseMode::$mode };

        const PORT: Registers = pac::$port;

        #[interrupt]
        fn $port() {
            uart::interrupted(PORT);
        }

        /// Sends without interrupts, if the port has a clock.
        #[expect(unsafe_code, reason = "the symbol's name is a contract; no other function has it")]
        #[unsafe(no_mangle)]
        fn tilewright_say(bytes: &[u8]) {
            if RCC.$enabling().read().$enabled() {
                uart::say(PORT, bytes);
            }
        }

        /// Sets the console alone up.
        pub fn console(p: Peripherals) -> Console<Usart> {
            let port = Uart::new_blocking(p.$port, p.$rx, p.$tx, uart::config());
            uart::console(port, PORT, interrupt::$port)
        }

        /// Sets everything up that lies outside of the microcontroller; gives the console and the memories.
        /// Called once.
        pub fn set_up(p: Peripherals, core: &mut CorePeripherals) -> (Console<Usart>, Memories) {
            let port = Uart::new_blocking(p.$port, p.$rx, p.$tx, uart::config());
            let console = uart::console(port, PORT, interrupt::$port);
            BOARD.places.protect(&mut core.MPU);
            $(crate::sdram::start(embassy_stm32::fmc::Fmc::$sdram(
                p.FMC,
                $(p.$ram,)*
                crate::sdram::Mt48lc4m32b2::<$lines>,
            ));)?
            let flash: [Qspi<'static, peripherals::QUADSPI, Blocking>; _] = [
                $(Qspi::new_blocking_bank1(p.QUADSPI, $(p.$flash,)* serial_flash::config()))?
            ];
            $(power_up([$(p.$card.into()),*]);)?
            let answer = flash.into_iter().next().map(serial_flash::start);
            // SAFETY: the build script takes all places from the board's file, which keeps them apart from the
            // firmware's own flash and SRAM; FMC and MPU are set up; programs call this once.
            #[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
            let memories = unsafe { BOARD.places.take(answer, &mut core.CBP) };
            (console, memories)
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/wired.rs"));
