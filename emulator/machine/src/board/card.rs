//! The card in the slot: its bytes, and what moves between it and memory. As with DMA, bytes that are
//! read arrive when all have, and what is written must not change meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;

use tilewright_board::{Card as Class, CardError};
use tilewright_devices::{
    Bus, CardBytes, CardEvent, CardFault, CardMove, CardTrouble, Paced, SdCard,
};
use tilewright_protocol::{CardJob, CardProblem};
use tilewright_report::FaultKind;

use crate::board::ahead;
use crate::board::dma::{self, POISON};
use crate::machine::Machine;

/// Bytes of a sector.
const SECTOR: usize = 512;

/// A transfer under way.
#[derive(Debug)]
struct Moving {
    by: Paced,
    /// What memory held when it began, of a write; poison otherwise.
    held: Vec<u8>,
}

/// What a card holds from its first byte on; zeros follow. It is read bit by bit: it may be as large as a network.
pub trait CardImage {
    /// How many bytes.
    fn count(&self) -> usize;

    /// The bytes from an offset on, of which it has as many.
    fn read(&self, offset: usize, to: &mut [u8]);
}

impl CardImage for Arc<Vec<u8>> {
    fn count(&self) -> usize {
        self.len()
    }

    fn read(&self, offset: usize, to: &mut [u8]) {
        if let Some(from) = self.get(offset..offset.saturating_add(to.len())) {
            to.copy_from_slice(from);
        }
    }
}

/// The card's bytes.
#[derive(Default)]
pub struct Card {
    /// Nothing: the slot is empty.
    image: Option<Box<dyn CardImage>>,
    /// Sectors that were written since.
    written: BTreeMap<u32, Vec<u8>>,
    /// Transfers that bring or leave other bytes than they should.
    wrong: Vec<CardFault>,
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
        let fault = |fault: &tilewright_protocol::CardFault| {
            let trouble = match fault.problem {
                CardProblem::Removed => CardTrouble::Removed,
                CardProblem::Checksum => CardTrouble::Checksum,
                CardProblem::Silent => CardTrouble::Silent,
                CardProblem::Busy { ns } => CardTrouble::Busy(ns),
                CardProblem::Lost => CardTrouble::Lost,
                CardProblem::Astray { sectors } => CardTrouble::Astray(sectors),
                CardProblem::Garbled { bit } => CardTrouble::Bit { bit, stays: false },
                CardProblem::Turned { bit } => CardTrouble::Bit { bit, stays: true },
                CardProblem::Unheard => CardTrouble::Unheard,
                CardProblem::Answer => CardTrouble::Answer,
            };
            CardFault { transfer: fault.transfer, every: fault.every, trouble }
        };
        let is_silent = |fault: &CardFault| {
            let trouble = fault.trouble;
            matches!(trouble, CardTrouble::Bit { .. } | CardTrouble::Lost | CardTrouble::Astray(_))
        };
        let (wrong, faults) = job.faults.iter().map(fault).partition(is_silent);
        let curve = |curve: &tilewright_board::Curve| (curve.fixed_ns, curve.bytes_per_second);
        bus.insert_card(SdCard::new(job.bytes, curve(&read), curve(&write), faults));
        let image: Box<dyn CardImage> = Box::new(Arc::clone(&job.image));
        Ok(Self { image: Some(image), wrong, ..Self::default() })
    }

    /// The card holds this instead of what its job says.
    pub fn hold(&mut self, image: Box<dyn CardImage>) {
        self.image = Some(image);
    }

    /// The stream of the transfer under way.
    pub fn stream(&self) -> Option<Paced> {
        self.moving.as_ref().map(|moving| moving.by)
    }

    /// What it holds from a byte on; false if these are more than it can hold.
    pub fn look(&self, start: u32, to: &mut [u8]) -> bool {
        let inside = start as usize % SECTOR;
        let held = self.sectors(start / SECTOR as u32, inside.saturating_add(to.len()));
        let found = held.get(inside..inside + to.len());
        found.map(|found| to.copy_from_slice(found)).is_some()
    }

    fn sector(&self, number: u32) -> Vec<u8> {
        self.sectors(number, SECTOR)
    }

    /// The bit that is wrong in a transfer, and whether it is on the card.
    fn wrong(&self, transfer: u64) -> Option<(u8, bool)> {
        match self.trouble(transfer)? {
            CardTrouble::Bit { bit, stays } => Some((1 << (bit & 7), stays)),
            _ => None,
        }
    }

    fn trouble(&self, transfer: u64) -> Option<CardTrouble> {
        self.wrong.iter().find(|fault| fault.hits(transfer)).map(|fault| fault.trouble)
    }

    /// The sector at which a transfer begins that should at `first`.
    fn astray(&self, first: u32, transfer: u64) -> u32 {
        match self.trouble(transfer) {
            Some(CardTrouble::Astray(sectors)) => first.saturating_add(sectors),
            _ => first,
        }
    }

    /// Turns over a bit of a sector.
    fn turn(&mut self, sector: u32, place: usize, mask: u8) {
        let number = sector.saturating_add((place / SECTOR) as u32);
        let mut held = self.sector(number);
        if let Some(byte) = held.get_mut(place % SECTOR) {
            *byte ^= mask;
        }
        self.written.insert(number, held);
    }

    fn read(&mut self, what: &CardBytes, bytes: u32) -> Vec<u8> {
        let mut read = match what {
            CardBytes::Register(register) => register.clone(),
            CardBytes::Sectors(first, transfer) => {
                let middle = bytes as usize / 2;
                let wrong = self.wrong(*transfer);
                if let Some((mask, true)) = wrong {
                    self.turn(*first, middle, mask);
                }
                let first = self.astray(*first, *transfer);
                let mut read = self.sectors(first, bytes as usize);
                if let (Some((mask, false)), Some(byte)) = (wrong, read.get_mut(middle)) {
                    *byte ^= mask;
                }
                read
            }
        };
        read.resize(bytes as usize, 0);
        read
    }

    /// So many bytes from a sector on.
    fn sectors(&self, first: u32, bytes: usize) -> Vec<u8> {
        let count = bytes.div_ceil(SECTOR);
        let mut read = vec![0; count * SECTOR];
        if let Some(image) = &self.image {
            let start = (first as usize).saturating_mul(SECTOR).min(image.count());
            let there = read.len().min(image.count() - start);
            image.read(start, &mut read[..there]);
        }
        let behind = first.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        for (number, written) in self.written.range(first..behind) {
            let start = (number - first) as usize * SECTOR;
            if let Some(sector) = read.get_mut(start..start + SECTOR) {
                sector.fill(0);
                let held = written.len().min(SECTOR);
                sector[..held].copy_from_slice(&written[..held]);
            }
        }
        read
    }

    fn write(&mut self, what: &CardBytes, bytes: &[u8]) {
        let CardBytes::Sectors(first, transfer) = what else { return };
        if self.trouble(*transfer) == Some(CardTrouble::Lost) {
            return;
        }
        let numbers = self.astray(*first, *transfer)..;
        for (number, sector) in numbers.zip(bytes.chunks(SECTOR)) {
            self.written.insert(number, sector.to_vec());
        }
        if let Some((mask, true)) = self.wrong(*transfer) {
            self.turn(*first, bytes.len() / 2, mask);
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
    let Some(by) = machine.bus.card_stream(this.write, this.bytes) else {
        return machine.bus.card_starves();
    };
    let bytes = by.limit.unwrap_or(this.bytes);
    machine.bus.card_takes(bytes);
    let mut held = vec![POISON; bytes as usize];
    if !dma::reach(machine, &[(by.memory, !this.write)], bytes, by.stream) {
        return machine.bus.card_starves();
    }
    let answers = if this.write {
        ahead::read(machine, by.memory, &mut held)
    } else {
        dma::can_write(machine, by.memory, bytes)
    };
    if !answers {
        machine.bus.card_moved(by.stream, None);
        return machine.bus.card_starves();
    }
    dma::check_lines(machine, &[(by.memory, !this.write)], bytes, by.stream);
    if !this.write {
        machine.memories.write(by.memory, &held);
    }
    machine.card.moving = Some(Moving { by, held });
}

fn end(machine: &mut Machine, this: &CardMove) {
    let Some(Moving { by, held }) = machine.card.moving.take() else { return };
    let mut now = vec![0; held.len()];
    ahead::read(machine, by.memory, &mut now);
    if let Some(place) = dma::first_difference(&now, &held) {
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
        ahead::arrive(machine, by.memory, &bytes);
    }
    machine.card.moved += u64::from(this.bytes);
    machine.bus.card_moved(by.stream, Some(this.bytes));
}
