//! A DMA controller of the F4 and F7 series (RM0385, 8): streams from memory to memory, and those that
//! a peripheral paces and ends. The bytes are moved by whoever holds the memories, who is told of
//! [`DmaEvent`]s and says how long a transfer takes.

use crate::access::{Device, Moment, Time, Write, earlier};

/// Streams of a controller.
const STREAMS: usize = 8;
const ENABLE: u32 = 1;
/// Flags of a stream within its bits of ISR: transfer error, FIFO error, transfer complete.
const FIFO_ERROR: u32 = 1;
const TRANSFER_ERROR: u32 = 1 << 3;
const COMPLETE: u32 = 1 << 5;
const ALL_FLAGS: u32 = 0x3d;
/// RM0385, 8.5.5; RM0386, 9.5.5 (EN).
const FLAGS_STAND: &str = "a stream is enabled while flags of its last transfer stand: a board does not start it; \
                           clear them in LIFCR or HIFCR before (RM0385, 8.5.5; RM0386, 9.5.5)";
/// RM0385, 8.3.12 and table 29; RM0386, 9.3.12 and table 38.
const ODD_COUNT: &str = "NDTR is no multiple of a burst: a board leaves the last items in the FIFO, or transfers \
                         them wrongly (RM0385, 8.3.12; RM0386, 9.3.12)";

/// Bytes that a stream is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Stream of the controller.
    pub stream: usize,
    /// Where they are read.
    pub source: u32,
    /// Where they are written.
    pub destination: u32,
    /// How many.
    pub bytes: u32,
    /// How many are read at a time, and written at a time.
    pub burst: [u32; 2],
}

/// A stream that a peripheral paces (8.3.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paced {
    /// Stream of the controller.
    pub stream: usize,
    /// The address in memory.
    pub memory: u32,
    /// After how many bytes it ends by itself; nothing: the peripheral ends it (8.3.15, peripheral flow
    /// controller).
    pub limit: Option<u32>,
}

/// What a stream does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmaEvent {
    /// It begins; it ends when [`Bus::dma_takes`](crate::Bus::dma_takes) says.
    Begins(Move),
    /// It has moved all of its bytes.
    Ends(Move),
    /// It was switched off before.
    Stops(Move),
}

#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// CR, NDTR, PAR, M0AR, M1AR, FCR.
    registers: [u32; 6],
    running: Option<(Move, Option<Time>)>,
}

/// The registers.
#[derive(Clone, Debug)]
pub struct Dma {
    /// Only the second controller moves from memory to memory.
    second: bool,
    flags: [u32; STREAMS],
    streams: [Stream; STREAMS],
    events: Vec<DmaEvent>,
    broken: Option<&'static str>,
}

impl Dma {
    /// DMA1, or DMA2.
    pub fn new(second: bool) -> Self {
        let reset = Stream { registers: [0, 0, 0, 0, 0, 0x21], running: None };
        let (flags, streams) = ([0; STREAMS], [reset; STREAMS]);
        Self { second, flags, streams, events: Vec::new(), broken: None }
    }

    /// Whether it is DMA2.
    pub const fn is_second(&self) -> bool {
        self.second
    }

    /// What happened since the last call.
    pub fn take_events(&mut self) -> Vec<DmaEvent> {
        std::mem::take(&mut self.events)
    }

    /// A transfer that began ends at a time; nothing: it cannot be made at all.
    pub fn takes(&mut self, stream: usize, until: Option<Time>) {
        let Some(running) = self.streams.get_mut(stream) else { return };
        match (until, &mut running.running) {
            (Some(_), Some((_, end))) => *end = until,
            (None, Some(_)) => self.fail(stream, TRANSFER_ERROR),
            (_, None) => {}
        }
    }

    /// The stream that serves the register at an address for one of these streams and channels,
    /// by words, as its peripheral says; nothing if none is set up so for as many bytes. One that counts by
    /// itself takes no more than these.
    pub fn paced(
        &self,
        register: u32,
        by: &[(usize, u32)],
        to_peripheral: bool,
        bytes: u32,
    ) -> Option<Paced> {
        by.iter().find_map(|(index, channel)| {
            let [control, items, peripheral, memory, _, fifo] = self.streams.get(*index)?.registers;
            let direction = control >> 6 & 3;
            // Words on both sides, the memory's address counts up, the peripheral's does not; the
            // FIFO, whose threshold holds a burst.
            let by_words = control >> 11 & 15 == 10 && control >> 9 & 3 == 2;
            let serves = control & ENABLE != 0
                && self.second
                && control >> 25 & 7 == *channel
                && direction == u32::from(to_peripheral)
                && by_words
                && fifo & 7 == 7
                && peripheral == register
                && memory.is_multiple_of(16);
            let limit = (control & 1 << 5 == 0).then_some(items * 4);
            let counts = match limit {
                Some(limit) => !to_peripheral && limit > 0 && limit <= bytes,
                None => bytes / 4 <= u32::from(u16::MAX),
            };
            (serves && counts).then_some(Paced { stream: *index, memory, limit })
        })
    }

    /// A peripheral has moved its bytes with a stream, or memory did not answer.
    pub fn paced_ends(&mut self, stream: usize, moved: Option<u32>) {
        match moved {
            Some(bytes) => {
                let Some(ended) = self.streams.get_mut(stream) else { return };
                ended.registers[0] &= !ENABLE;
                let counted = ended.registers[0] & 1 << 5 == 0;
                let from = if counted { ended.registers[1] } else { u32::from(u16::MAX) };
                ended.registers[1] = from.saturating_sub(bytes / 4);
                self.flags[stream] |= COMPLETE;
            }
            None => self.fail(stream, TRANSFER_ERROR),
        }
    }

    fn fail(&mut self, stream: usize, flag: u32) {
        self.flags[stream] |= flag;
        self.streams[stream].registers[0] &= !ENABLE;
        self.streams[stream].running = None;
    }

    fn start(&mut self, index: usize) {
        let [control, items, source, destination, _, fifo] = self.streams[index].registers;
        if self.flags[index] != 0 {
            self.broken = Some(FLAGS_STAND);
            self.streams[index].registers[0] &= !ENABLE;
            return;
        }
        let sizes = [11, 13].map(|shift| 1u32 << (control >> shift & 3).min(2));
        let beats = [21, 23].map(|shift| match control >> shift & 3 {
            0 => 1,
            beats => 2u32 << beats,
        });
        let burst = [sizes[0] * beats[0], sizes[1] * beats[1]];
        let bytes = items * sizes[0];
        // A peripheral that ends the stream counts for it.
        if control & 1 << 5 == 0 && burst.iter().any(|burst| !bytes.is_multiple_of(*burst)) {
            self.broken = Some(ODD_COUNT);
        }
        if control >> 6 & 3 != 2 || items == 0 {
            return;
        }
        // The FIFO, not direct mode, and no double buffer or circle (8.3.3, 8.3.11); addresses on
        // items; what has to fit into the FIFO's threshold (table 29); bursts inside of 1 KB (8.3.12).
        let threshold = (fifo & 3) * 4 + 4;
        let crosses = |address: u32, burst: u32| !address.is_multiple_of(burst);
        if !self.second || fifo & 4 == 0 || control & (1 << 8 | 1 << 18) != 0 {
            return self.fail(index, TRANSFER_ERROR);
        }
        if burst.iter().any(|burst| *burst > 16 || !threshold.is_multiple_of(*burst))
            || crosses(source, burst[0])
            || crosses(destination, burst[1])
            || !bytes.is_multiple_of(burst[1])
        {
            return self.fail(index, FIFO_ERROR);
        }
        let this = Move { stream: index, source, destination, bytes, burst };
        self.streams[index].running = Some((this, None));
        self.events.push(DmaEvent::Begins(this));
    }

    fn control(&mut self, index: usize, value: u32) {
        let stream = &mut self.streams[index];
        let was = std::mem::replace(&mut stream.registers[0], value);
        if was & ENABLE == 0 && value & ENABLE != 0 {
            self.start(index);
        } else if value & ENABLE == 0
            && let Some((moving, _)) = stream.running.take()
        {
            self.flags[index] |= COMPLETE;
            self.events.push(DmaEvent::Stops(moving));
        }
    }

    /// Levels of the interrupt lines.
    pub fn lines(&self) -> [bool; STREAMS] {
        std::array::from_fn(|index| {
            let [control, .., fifo] = self.streams[index].registers;
            let flags = self.flags[index];
            control >> 4 & 1 != 0 && flags & COMPLETE != 0
                || control >> 2 & 1 != 0 && flags & TRANSFER_ERROR != 0
                || fifo >> 7 & 1 != 0 && flags & FIFO_ERROR != 0
        })
    }

    fn status(&self, first: usize) -> u32 {
        (0..4).fold(0, |word, n| word | self.flags[first + n] << SHIFTS[n])
    }
}

/// Where the flags of four streams lie in a status register.
const SHIFTS: [u32; 4] = [0, 6, 16, 22];

impl Device for Dma {
    fn read(&mut self, offset: u32, _: Moment) -> Option<u32> {
        Some(match offset {
            0x00 => self.status(0),
            0x04 => self.status(4),
            0x08 | 0x0c => 0,
            0x10..=0xcc => {
                let (stream, register) = ((offset - 0x10) / 0x18, (offset - 0x10) % 0x18 / 4);
                self.streams[stream as usize].registers[register as usize]
            }
            _ => return None,
        })
    }

    fn write(&mut self, offset: u32, write: Write, _: Moment) -> bool {
        match offset {
            0x00 | 0x04 => {}
            0x08 | 0x0c => {
                let first = if offset == 0x08 { 0 } else { 4 };
                for (flags, shift) in self.flags[first..].iter_mut().zip(SHIFTS) {
                    *flags &= !(write.value >> shift & ALL_FLAGS);
                }
            }
            0x10..=0xcc => {
                let (index, register) = ((offset - 0x10) / 0x18, (offset - 0x10) % 0x18 / 4);
                let (index, register) = (index as usize, register as usize);
                let registers = &mut self.streams[index].registers;
                let value = write.over(registers[register]);
                match register {
                    0 => self.control(index, value),
                    // All but M1AR are locked while the stream is on (8.5.5 to 8.5.10).
                    _ if registers[0] & ENABLE != 0 => {}
                    1 => registers[1] = value & 0xffff,
                    _ => registers[register] = value,
                }
            }
            _ => return false,
        }
        true
    }

    fn take_broken(&mut self) -> Option<&'static str> {
        self.broken.take()
    }

    fn advance(&mut self, at: Moment) {
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if let Some((moving, Some(end))) = stream.running
                && end <= at.now
            {
                stream.running = None;
                stream.registers[0] &= !ENABLE;
                stream.registers[1] = 0;
                self.flags[index] |= COMPLETE;
                self.events.push(DmaEvent::Ends(moving));
            }
        }
    }

    fn next_event(&self, _: crate::clocks::Clocks) -> Option<Time> {
        let ends = self.streams.iter().map(|stream| stream.running.and_then(|(_, end)| end));
        ends.fold(None, earlier)
    }
}
