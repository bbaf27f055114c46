//! The card in the slot: its bytes, and what moves between it and memory. As with DMA, bytes that are
//! read arrive when all have, and what is written must not change meanwhile.

use std::collections::BTreeMap;

use tilewright_board::{Card as Class, CardError};
use tilewright_devices::{
    Bus, CardBytes, CardEvent, CardFault, CardMove, CardTrouble, Paced, SdCard,
};
use tilewright_protocol::{CardJob, CardProblem};
use tilewright_report::FaultKind;

use crate::dma::{self, POISON};
use crate::machine::Machine;

/// Bytes of a sector.
const SECTOR: usize = 512;

/// A bit of the card that turns over before a transfer.
#[derive(Clone, Copy, Debug)]
struct Flip {
    transfer: u64,
    byte: u64,
    bit: u8,
}

/// A transfer under way.
#[derive(Debug)]
struct Moving {
    by: Paced,
    /// What memory held when it began, of a write; poison otherwise.
    held: Vec<u8>,
}

/// The card's bytes.
#[derive(Debug, Default)]
pub struct Card {
    image: Vec<u8>,
    /// Sectors that were written since.
    written: BTreeMap<u32, Vec<u8>>,
    flips: Vec<Flip>,
    moving: Option<Moving>,
    /// Bytes that were moved since reset.
    pub moved: u64,
}

impl Card {
    /// Puts the card of a job into the slot.
    ///
    /// # Errors
    /// If its class is not known.
    pub fn insert(job: &CardJob, bus: &mut Bus) -> Result<Self, CardError> {
        let Class { read, write, .. } = tilewright_board::find_card(&job.class)?;
        let faults = job.faults.iter().filter_map(|fault| {
            let trouble = match fault.problem {
                CardProblem::Removed => CardTrouble::Removed,
                CardProblem::Checksum => CardTrouble::Checksum,
                CardProblem::Silent => CardTrouble::Silent,
                CardProblem::Busy { ns } => CardTrouble::Busy(ns),
                CardProblem::Flip { .. } => return None,
            };
            Some(CardFault { transfer: fault.transfer, every: fault.every, trouble })
        });
        let flips = job.faults.iter().filter_map(|fault| match fault.problem {
            CardProblem::Flip { byte, bit } => Some(Flip { transfer: fault.transfer, byte, bit }),
            _ => None,
        });
        let curve = |curve: &tilewright_board::Curve| (curve.fixed_ns, curve.bytes_per_second);
        bus.insert_card(SdCard::new(job.bytes, curve(&read), curve(&write), faults.collect()));
        let image = job.image.clone();
        Ok(Self { image, flips: flips.collect(), ..Self::default() })
    }

    fn sector(&self, number: u32) -> Vec<u8> {
        if let Some(sector) = self.written.get(&number) {
            return sector.clone();
        }
        let start = (number as usize).saturating_mul(SECTOR).min(self.image.len());
        let end = start.saturating_add(SECTOR).min(self.image.len());
        let mut sector = self.image.get(start..end).unwrap_or(&[]).to_vec();
        sector.resize(SECTOR, 0);
        sector
    }

    /// Turns over the bits that are due before a transfer.
    fn flip(&mut self, transfer: u64) {
        let due: Vec<Flip> =
            self.flips.iter().copied().filter(|flip| flip.transfer == transfer).collect();
        for Flip { byte, bit, .. } in due {
            let number = u32::try_from(byte / SECTOR as u64).unwrap_or(u32::MAX);
            let mut sector = self.sector(number);
            if let Some(byte) = sector.get_mut((byte % SECTOR as u64) as usize) {
                *byte ^= 1 << (bit & 7);
            }
            self.written.insert(number, sector);
        }
    }

    fn read(&self, what: &CardBytes, bytes: u32) -> Vec<u8> {
        let mut read = match what {
            CardBytes::Register(register) => register.clone(),
            CardBytes::Sectors(first, _) => {
                let count = bytes.div_ceil(SECTOR as u32);
                (0..count).flat_map(|n| self.sector(first.saturating_add(n))).collect()
            }
        };
        read.resize(bytes as usize, 0);
        read
    }

    fn write(&mut self, what: &CardBytes, bytes: &[u8]) {
        let CardBytes::Sectors(first, _) = what else { return };
        for (number, sector) in (*first..).zip(bytes.chunks(SECTOR)) {
            self.written.insert(number, sector.to_vec());
        }
    }
}

/// Does what the card's controller began, ended or gave up since the last call.
pub fn serve(machine: &mut Machine) {
    for event in machine.bus.take_card() {
        match event {
            CardEvent::Begins(this) => begin(machine, &this),
            CardEvent::Ends(this) => end(machine, &this),
            CardEvent::Stops(_) => machine.card.moving = None,
        }
    }
}

fn begin(machine: &mut Machine, this: &CardMove) {
    if let CardBytes::Sectors(_, transfer) = this.what {
        machine.card.flip(transfer);
    }
    let Some(by) = machine.bus.card_stream(this.write, this.bytes) else {
        return machine.bus.card_starves();
    };
    let mut held = vec![POISON; this.bytes as usize];
    let answers = if this.write {
        machine.memories.read(by.memory, &mut held)
    } else {
        dma::can_write(machine, by.memory, this.bytes)
    };
    if !answers {
        machine.bus.card_moved(by.stream, None);
        return machine.bus.card_starves();
    }
    dma::check_lines(machine, &[(by.memory, !this.write)], this.bytes, by.stream);
    if !this.write {
        machine.memories.write(by.memory, &held);
    }
    machine.card.moving = Some(Moving { by, held });
}

fn end(machine: &mut Machine, this: &CardMove) {
    let Some(Moving { by, held }) = machine.card.moving.take() else { return };
    let mut now = vec![0; held.len()];
    machine.memories.read(by.memory, &mut now);
    if let Some(place) = now.iter().zip(&held).position(|(now, held)| now != held) {
        let address = by.memory.wrapping_add(place as u32);
        let what = if this.write { "wrote" } else { "read" };
        let message = format!(
            "a race: the core changed the byte at 0x{address:08x} while the card's controller \
             {what} it"
        );
        machine.fault(FaultKind::Firmware, message);
    }
    if this.write {
        machine.card.write(&this.what, &held);
    } else {
        let bytes = machine.card.read(&this.what, this.bytes);
        machine.memories.write(by.memory, &bytes);
    }
    machine.card.moved += u64::from(this.bytes);
    machine.bus.card_moved(by.stream, Some(this.bytes));
}
