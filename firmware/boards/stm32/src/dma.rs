//! Stream 0 of DMA2: moves pieces from memory to memory (RM0385, 8.3). Only DMA2 can.

use cortex_m::asm;
use embassy_stm32::pac::DMA2;
use embassy_stm32::pac::dma::vals::{Burst, Dir, Dmdis, Fth, Pl, Size};
use tilewright_runtime::{Piece, Width};

/// The stream.
pub const STREAM: usize = 0;

/// How often a stream that stops is asked whether it has: it ends the burst under way.
const STOPS: u32 = 1000;

/// How a piece ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All of it was moved.
    Complete,
    /// A bus error, or a setting that the controller refuses.
    Failed,
}

/// Begins to move a piece; the stream's interrupt says how it ended.
pub fn begin(piece: &Piece) {
    // What the core wrote is to be in memory.
    asm::dsb();
    let stream = DMA2.st(STREAM);
    let size = match piece.width {
        Width::Byte => Size::BITS8,
        Width::Half => Size::BITS16,
        Width::Word => Size::BITS32,
    };
    let burst = if piece.in_bursts() { Burst::INCR4 } else { Burst::SINGLE };
    stream.par().write_value(piece.source);
    stream.m0ar().write_value(piece.destination);
    stream.ndtr().write(|count| count.set_ndt(piece.items));
    stream.fcr().write(|fifo| {
        fifo.set_dmdis(Dmdis::DISABLED);
        fifo.set_fth(Fth::FULL);
        fifo.set_feie(true);
    });
    stream.cr().write(|control| {
        control.set_dir(Dir::MEMORY_TO_MEMORY);
        control.set_pinc(true);
        control.set_minc(true);
        control.set_psize(size);
        control.set_msize(size);
        control.set_pburst(burst);
        control.set_mburst(burst);
        control.set_pl(Pl::HIGH);
        control.set_tcie(true);
        control.set_teie(true);
        control.set_en(true);
    });
}

/// Stops a piece under way; the stream is off soon after (RM0385, 8.3.15).
pub fn abort() {
    let stream = DMA2.st(STREAM);
    stream.cr().modify(|control| control.set_en(false));
    for _ in 0..STOPS {
        if !stream.cr().read().en() {
            break;
        }
    }
    take_end();
}

/// What the stream's interrupt is about; nothing if it is not.
pub fn take_end() -> Option<Ended> {
    let flags = DMA2.isr(0).read();
    let (complete, error) = (flags.tcif(STREAM), flags.teif(STREAM) || flags.feif(STREAM));
    DMA2.ifcr(0).write(|clear| {
        clear.set_tcif(STREAM, complete);
        clear.set_htif(STREAM, true);
        clear.set_teif(STREAM, flags.teif(STREAM));
        clear.set_feif(STREAM, flags.feif(STREAM));
        clear.set_dmeif(STREAM, flags.dmeif(STREAM));
    });
    match (complete, error) {
        (_, true) => Some(Ended::Failed),
        (true, false) => Some(Ended::Complete),
        (false, false) => None,
    }
}
