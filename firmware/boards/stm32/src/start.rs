//! Start-up: code that is coupled to the core, clocks, caches.

use cortex_m::Peripherals as CorePeripherals;
#[cfg(feature = "stm32f4")]
use embassy_stm32::pac::FLASH;
use embassy_stm32::{Config, Peripherals};
#[cfg(feature = "stm32f7")]
use tilewright_board_support::coupled;
use tilewright_board_support::stop;

use crate::{Oscillator, board, clocks, power};

const _: () = assert!(clocks::CLOCK_HERTZ == board::CLOCK_HERTZ);

/// A microcontroller that has begun.
pub struct Started {
    /// Its peripherals.
    pub peripherals: Peripherals,
    /// Those of its core.
    pub core: CorePeripherals,
    /// The board's oscillator, if it gives no clock: the core has 16 MHz of its own then.
    pub missing: Option<Oscillator>,
}

/// Makes everything ready that does not depend on what is wired to the pins: once, before anything else.
///
/// # Panics
/// If it is called again.
pub fn start(oscillator: Oscillator) -> Started {
    #[cfg(feature = "stm32f7")]
    coupled::fill();
    let missing = (!oscillator.starts()).then_some(oscillator);
    let config = missing.map_or_else(|| clocks::config(oscillator), |_| Config::default());
    let peripherals = embassy_stm32::init(config);
    let Some(core) = CorePeripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    power::prepare();
    let core = with_caches(core);
    Started { peripherals, core, missing }
}

/// Switches the core's caches on.
#[cfg(feature = "stm32f7")]
fn with_caches(mut core: CorePeripherals) -> CorePeripherals {
    core.SCB.enable_icache();
    core.SCB.enable_dcache(&mut core.CPUID);
    core
}

/// Switches the flash accelerator on, in front of five wait states (RM0386, 3.5.2).
#[cfg(feature = "stm32f4")]
fn with_caches(core: CorePeripherals) -> CorePeripherals {
    FLASH.acr().modify(|control| {
        control.set_prften(true);
        control.set_icen(true);
        control.set_dcen(true);
    });
    core
}

/// Says on the console, which is open, that the board's clock is missing, and stops; else nothing.
pub fn stop_without(missing: Option<Oscillator>) {
    if let Some(oscillator) = missing {
        stop(format_args!("{oscillator}"));
    }
}
