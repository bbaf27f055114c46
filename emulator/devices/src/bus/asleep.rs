//! Which clocks run while the core sleeps (RM0385, 5.3.15 to 5.3.19; RM0410 likewise; RM0386, 6.3.17 to 6.3.21).

use tilewright_board::{Memory, MemoryKind};

use super::Bus;

/// RCC_AHB1LPENR, RCC_AHB3LPENR and RCC_APB2LPENR.
const AHB1: u32 = 0x50;
const AHB3: u32 = 0x58;
const APB2: u32 = 0x64;
/// Controllers whose clock DMA's transfers need, with the bits that keep it.
const DMA2: (u32, u32, &str) = (AHB1, 22, "RCC_AHB1LPENR.DMA2LPEN");
const CARD: (u32, u32, &str) = (APB2, 11, "RCC_APB2LPENR.SDMMC1LPEN (SDIOLPEN)");

/// The bit that keeps a memory's clock while the core sleeps. CCM has none that matters: DMA does not reach it.
fn bit_of(memory: &Memory) -> Option<(u32, u32, &'static str)> {
    Some(match (memory.kind, memory.name.as_str()) {
        (MemoryKind::Flash, _) => (AHB1, 15, "RCC_AHB1LPENR.FLITFLPEN"),
        (MemoryKind::Sram, "SRAM1") => (AHB1, 16, "RCC_AHB1LPENR.SRAM1LPEN"),
        (MemoryKind::Sram, "SRAM2") => (AHB1, 17, "RCC_AHB1LPENR.SRAM2LPEN"),
        (MemoryKind::Sram, "SRAM3") => (AHB1, 19, "RCC_AHB1LPENR.SRAM3LPEN"),
        (MemoryKind::Dtcm, _) => (AHB1, 20, "RCC_AHB1LPENR.DTCMLPEN"),
        (MemoryKind::Sdram, _) => (AHB3, 0, "RCC_AHB3LPENR.FMCLPEN"),
        (MemoryKind::QspiFlash, _) => (AHB3, 1, "RCC_AHB3LPENR.QSPILPEN"),
        _ => return None,
    })
}

impl Bus {
    /// The core slept for so many cycles.
    pub fn slept(&mut self, cycles: u64) {
        self.core.slept(cycles);
    }

    /// The bit of the clock that stands while the core sleeps and that a stream of DMA2 needs which moves bytes of
    /// these memories, by the card's controller or from one to the other; nothing if all run.
    #[must_use]
    pub fn stands_asleep(&self, memories: &[&Memory], by_card: bool) -> Option<&'static str> {
        let controllers = [Some(DMA2), Some(CARD).filter(|_| by_card)];
        let bits = controllers.into_iter().chain(memories.iter().map(|memory| bit_of(memory)));
        let stands = |(register, bit, _): &(u32, u32, &str)| !self.control.is_on(*register, *bit);
        bits.flatten().find(stands).map(|(_, _, name)| name)
    }
}
