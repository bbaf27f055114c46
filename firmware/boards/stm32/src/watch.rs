//! A bound for waits: while the core sleeps for an engine it is woken twice a second, and looks whether
//! anything has moved.

use cortex_m::peripheral::SYST;
use cortex_m::peripheral::syst::SystClkSource;
use embassy_stm32::pac::DMA2;
use tilewright_board_support::sleep;

use crate::{dma, sdmmc};

/// SysTick counts eighths of the core's clock (PM0253, 4.4.1; PM0214, 4.5.1): for half a second, less than its 24 bits.
const DIVIDER: u32 = 8;
const A_SECOND: u32 = 2;
/// So many looks without any change are too many: longer than a card may be silent or busy.
const PATIENCE: u8 = 3 * A_SECOND as u8;

/// Where the engines are in their transfers.
type Progress = [u32; 3];

/// Who watches.
pub struct Watch {
    timer: SYST,
    runs: bool,
    seen: Progress,
    /// Looks that saw the same.
    idle: u8,
}

/// It has woken the core, which is all.
#[cortex_m_rt::exception]
fn SysTick() {}

impl Watch {
    /// With the timer of a core of so many hertz.
    pub fn new(mut timer: SYST, clock_hertz: u32) -> Self {
        timer.set_clock_source(SystClkSource::External);
        timer.set_reload(clock_hertz / DIVIDER / A_SECOND - 1);
        Self { timer, runs: false, seen: [0; 3], idle: 0 }
    }

    /// Sleeps until an interrupt is pending; whether nothing has moved for seconds.
    pub fn sleep(&mut self) -> bool {
        if !self.runs {
            self.begin();
        }
        sleep::until_interrupt();
        self.timer.has_wrapped() && self.stands_still()
    }

    fn begin(&mut self) {
        (self.runs, self.idle) = (true, 0);
        self.timer.clear_current();
        self.timer.enable_interrupt();
        self.timer.enable_counter();
    }

    // Twice a second, and not from memory that is coupled to the core, which is small.
    #[cold]
    #[inline(never)]
    fn stands_still(&mut self) -> bool {
        let now = [
            DMA2.st(dma::STREAM).ndtr().read().0,
            DMA2.st(sdmmc::STREAM).ndtr().read().0,
            sdmmc::data_left(),
        ];
        self.idle = if now == self.seen { self.idle + 1 } else { 0 };
        self.seen = now;
        let stands_still = self.idle >= PATIENCE;
        if stands_still {
            self.idle = 0;
        }
        stands_still
    }

    /// Nobody waits any more.
    pub fn end(&mut self) {
        if self.runs {
            self.runs = false;
            self.timer.disable_counter();
            self.timer.disable_interrupt();
        }
    }
}
