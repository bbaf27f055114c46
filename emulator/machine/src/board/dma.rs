//! What DMA moves, while the core computes: bytes are read when a stream begins and written when it
//! ends. In between the destination holds none of them, so that whoever reads it too early is seen;
//! source and destination must not change, and their lines must have been maintained.

use tilewright_board::{Access, Board, Memory, MemoryKind};
use tilewright_cores::DataCache;
use tilewright_devices::{DmaEvent, Line, Maintenance, Move, Operation, Time};
use tilewright_plan::Hertz;
use tilewright_protocol::BrokenUnit;
use tilewright_report::FaultKind;

use crate::board::ahead;
use crate::machine::Machine;

/// What a destination holds while it is written.
pub const POISON: u8 = 0xa5;

/// A transfer under way.
#[derive(Debug)]
struct Moving {
    this: Move,
    /// What the source held when it began.
    bytes: Vec<u8>,
    end: u64,
}

/// A line that was cleaned, or invalidated, since a transfer used it last.
const CLEAN: u8 = 1;
const INVALID: u8 = 2;
/// A line that the core wrote since it was cleaned last, where its writes are seen.
const WRITTEN: u8 = 4;

/// The lines of a memory that may be cached, and what was asked for of each.
#[derive(Debug)]
struct Lines {
    address: u32,
    maintained: Vec<u8>,
    /// Whether each write of the core is seen: only what it wrote must be cleaned then.
    seen: bool,
}

/// Transfers from memory to memory.
#[derive(Debug)]
pub struct Transfers {
    moving: Vec<Moving>,
    lines: Vec<Lines>,
    /// Bits of an address within a line.
    line_bits: u32,
    /// Bytes that were moved since reset.
    pub moved: u64,
    /// They never end.
    stand: bool,
}

impl Transfers {
    /// Of a board with this data cache, if it has one.
    pub fn new(board: &Board, cache: Option<&DataCache>, broken: Option<BrokenUnit>) -> Self {
        let line_bytes = cache.map_or(1, DataCache::line_bytes);
        let line_bits = line_bytes.ilog2();
        let is_cached = |memory: &&Memory| {
            cache.is_some() && matches!(memory.kind, MemoryKind::Sram | MemoryKind::Sdram)
        };
        let lines = board.memory.iter().filter(is_cached).filter_map(|memory| {
            let count = memory.bytes.0.div_ceil(line_bytes.into());
            let seen = memory.kind.external_space().is_some();
            Some(Lines { address: memory.address?, maintained: vec![0; count as usize], seen })
        });
        let stand = broken == Some(BrokenUnit::Copies);
        Self { moving: Vec::new(), lines: lines.collect(), line_bits, moved: 0, stand }
    }

    /// Notes maintenance of the data cache by address.
    pub fn maintained(&mut self, maintenance: &Maintenance) {
        let Line::Of(address) = maintenance.line else { return };
        let what = match maintenance.operation {
            Operation::Invalidate => INVALID,
            Operation::Clean => CLEAN,
            Operation::CleanAndInvalidate => CLEAN | INVALID,
        };
        let bits = self.line_bits;
        for lines in &mut self.lines {
            let line = address.checked_sub(lines.address).map(|offset| (offset >> bits) as usize);
            if let Some(line) = line.and_then(|line| lines.maintained.get_mut(line)) {
                *line |= what;
                if what & CLEAN != 0 {
                    *line &= !WRITTEN;
                }
            }
        }
    }

    /// Notes that the core writes where its writes are seen.
    pub fn written(&mut self, address: u32) {
        let bytes = 1u32 << self.line_bits;
        let lines = self.lines.iter_mut().find(|lines| {
            let end = lines.maintained.len() as u64 * u64::from(bytes);
            let offset = address.checked_sub(lines.address);
            lines.seen && offset.is_some_and(|offset| u64::from(offset) < end)
        });
        let Some(lines) = lines else { return };
        let line = ((address - lines.address) / bytes) as usize;
        if let Some(line) = lines.maintained.get_mut(line) {
            *line |= WRITTEN;
        }
    }

    pub const fn line_bytes(&self) -> u32 {
        1 << self.line_bits
    }

    /// Whether the data cache may hold the line at an address.
    pub fn may_hold(&self, address: u32) -> bool {
        let holds = |lines: &Lines| {
            let line = address.checked_sub(lines.address).map(|offset| offset >> self.line_bits);
            line.is_some_and(|line| (line as usize) < lines.maintained.len())
        };
        self.lines.iter().any(holds)
    }

    /// What was asked for of the lines that hold bytes from an address on, with the first line's
    /// address and whether the core's writes are seen there; nothing if they are not cached.
    fn lines(&mut self, start: u32, bytes: u32) -> Option<(u32, bool, &mut [u8])> {
        let line_bytes = 1u32 << self.line_bits;
        self.lines.iter_mut().find_map(|lines| {
            let offset = start.checked_sub(lines.address)?;
            let first = offset / line_bytes;
            let end = offset.checked_add(bytes)?.div_ceil(line_bytes);
            let found = lines.maintained.get_mut(first as usize..end as usize)?;
            Some((lines.address + first * line_bytes, lines.seen, found))
        })
    }
}

/// Does what streams began, ended or gave up since the last call.
pub fn serve(machine: &mut Machine) {
    for event in machine.bus.take_dma() {
        match event {
            DmaEvent::Begins(this) => begin(machine, this),
            DmaEvent::Ends(this) => end(machine, this),
            DmaEvent::Stops(this) => {
                machine.transfers.moving.retain(|moving| moving.this.stream != this.stream);
                share(machine);
            }
        }
    }
}

fn begin(machine: &mut Machine, this: Move) {
    if std::mem::take(&mut machine.registers_changed) {
        machine.look_at_registers();
    }
    let mut bytes = vec![0; this.bytes as usize];
    let sides = [(this.source, false), (this.destination, true)];
    if !reach(machine, &sides, this.bytes, this.stream) {
        return machine.bus.dma_takes(this.stream, None);
    }
    let reaches = |address| machine.external.iter().all(|e| e.reaches(address, this.bytes));
    let answers = reaches(this.source)
        && ahead::read(machine, this.source, &mut bytes)
        && can_write(machine, this.destination, this.bytes);
    if !answers {
        machine.bus.dma_takes(this.stream, None);
        return;
    }
    check_lines(machine, &sides, this.bytes, this.stream);
    machine.memories.write(this.destination, &vec![POISON; bytes.len()]);
    let end = match machine.transfers.stand {
        true => u64::MAX,
        false => machine.account.cycles.saturating_add(cycles(&machine.board, &this)),
    };
    machine.bus.dma_takes(this.stream, Some(Time(end)));
    machine.transfers.moving.push(Moving { this, bytes, end });
    share(machine);
}

/// Whether the bus matrix lets DMA2 come to memories: bytes from each address on, and whether it writes them. If
/// not, that ends the run. A memory's file says how fast DMA is there, if it is; flash is read at any rate.
pub fn reach(machine: &mut Machine, sides: &[(u32, bool)], bytes: u32, stream: usize) -> bool {
    let is_out = |address: u32, writes: bool| {
        let memory = memory_at(&machine.board, address)?;
        let timing = memory.timing.as_ref();
        let access = timing.and_then(|it| if writes { it.dma_write } else { it.dma_read });
        let is_in = match memory.kind {
            MemoryKind::Itcm => false,
            MemoryKind::Flash => true,
            // Written by nobody: the transfer fails.
            MemoryKind::QspiFlash if writes => true,
            _ => access.is_some(),
        };
        (!is_in).then(|| memory.name.clone())
    };
    for &(start, writes) in sides {
        let last = start.saturating_add(bytes.saturating_sub(1));
        if let Some(name) = [start, last].into_iter().find_map(|at| is_out(at, writes)) {
            let what = if writes { "write" } else { "read" };
            let message = format!(
                "DMA2 stream {stream} is to {what} {bytes} bytes at 0x{start:08x} in {name}, which the bus matrix \
                 keeps out of its reach (RM0385, RM0410 and RM0386, 2.1): a board ends the transfer with an error"
            );
            machine.fault(FaultKind::Firmware, message);
            return false;
        }
    }
    true
}

/// Ends the run if the core sleeps while a stream needs a clock that stands meanwhile.
pub fn check_asleep(machine: &mut Machine) {
    let moving = machine.transfers.moving.iter().map(|moving| {
        (moving.this.stream, vec![moving.this.source, moving.this.destination], false)
    });
    let card = machine.card.stream().map(|by| (by.stream, vec![by.memory], true));
    let stands = moving.chain(card).find_map(|(stream, addresses, by_card)| {
        let at = |address: &u32| memory_at(&machine.board, *address);
        let memories: Vec<&Memory> = addresses.iter().filter_map(at).collect();
        machine.bus.stands_asleep(&memories, by_card).map(|bit| (stream, bit))
    });
    if let Some((stream, bit)) = stands {
        let message = format!(
            "the core sleeps while DMA2 stream {stream} moves bytes, and {bit} is 0: a board's transfer stands \
             still until something else wakes the core; set the bit before sleep"
        );
        machine.fault(FaultKind::Firmware, message);
    }
}

/// Whether an engine can write bytes there.
pub fn can_write(machine: &Machine, address: u32, bytes: u32) -> bool {
    let written = memory_at(&machine.board, address).map(|memory| memory.kind);
    machine.external.iter().all(|external| external.reaches(address, bytes))
        && machine.memories.holds(address, bytes as usize)
        && !matches!(written, None | Some(MemoryKind::Flash | MemoryKind::QspiFlash))
}

/// Where bytes differ first. Most are equal, which is told of all at once.
pub fn first_difference(now: &[u8], was: &[u8]) -> Option<usize> {
    if now == was { None } else { now.iter().zip(was).position(|(now, was)| now != was) }
}

fn end(machine: &mut Machine, this: Move) {
    let found = machine.transfers.moving.iter().position(|m| m.this.stream == this.stream);
    let Some(moving) = found.map(|index| machine.transfers.moving.swap_remove(index)) else {
        return;
    };
    let mut now = vec![0; moving.bytes.len()];
    let mut differs = |address: u32, was: &[u8]| {
        ahead::read(machine, address, &mut now);
        first_difference(&now, was).map(|index| address.wrapping_add(index as u32))
    };
    let race = differs(this.source, &moving.bytes).map(|address| (address, "read")).or_else(|| {
        let poisoned = differs(this.destination, &vec![POISON; moving.bytes.len()]);
        poisoned.map(|address| (address, "wrote"))
    });
    if let Some((address, what)) = race {
        let message = format!(
            "a race: the core changed the byte at 0x{address:08x} while DMA2 stream {} {what} it",
            this.stream
        );
        machine.fault(FaultKind::Firmware, message);
    }
    ahead::arrive(machine, this.destination, &moving.bytes);
    machine.transfers.moved += u64::from(this.bytes);
    share(machine);
}

/// Tells memories whether they share their bus with DMA.
fn share(machine: &mut Machine) {
    let clock = machine.board.core.clock.hertz;
    for external in &mut machine.external {
        let touches = |moving: &&Moving| {
            external.holds(moving.this.source) || external.holds(moving.this.destination)
        };
        let burst = machine.transfers.moving.iter().find(touches).map(|m| m.this.burst[0]);
        let read = external.memory.timing.as_ref().and_then(|timing| timing.dma_read);
        let wait = burst.zip(read).map(|(burst, read)| {
            picoseconds(Some(read), burst, clock).saturating_mul(u128::from(clock.0)) / SECOND
        });
        external.shared = wait.map(|cycles| u64::try_from(cycles).unwrap_or(u64::MAX));
    }
}

/// Transfers end later by as long as the core used the bus of their memories.
pub fn settle(machine: &mut Machine) {
    for external in &mut machine.external {
        let delay = std::mem::take(&mut external.used_by_core);
        if delay == 0 {
            continue;
        }
        for moving in &mut machine.transfers.moving {
            if external.holds(moving.this.source) || external.holds(moving.this.destination) {
                moving.end = moving.end.saturating_add(delay);
                machine.bus.dma_takes(moving.this.stream, Some(Time(moving.end)));
            }
        }
    }
}

/// Ends the run if lines that the core may hold were not cleaned before DMA reads them, or not
/// invalidated before it writes them: bytes from each address on, and whether it writes them.
pub fn check_lines(machine: &mut Machine, sides: &[(u32, bool)], bytes: u32, stream: usize) {
    if machine.data_cache.is_none() || !machine.data_cache_on {
        return;
    }
    let line_bytes = 1u32 << machine.transfers.line_bits;
    for &(start, writes) in sides {
        let Some((first, seen, lines)) = machine.transfers.lines(start, bytes) else { continue };
        let is_wrong = |line: &u8| match (writes, seen) {
            (true, _) => line & INVALID == 0,
            (false, true) => line & WRITTEN != 0,
            (false, false) => line & CLEAN == 0,
        };
        if let Some(place) = lines.iter().position(is_wrong) {
            let address = first + place as u32 * line_bytes;
            let what = if writes { "invalidated" } else { "cleaned" };
            let message = format!(
                "the line of the data cache at 0x{address:08x} was not {what} before DMA2 stream \
                 {stream} began"
            );
            machine.fault(FaultKind::Firmware, message);
            return;
        }
    }
    // The next transfer of these lines needs its own maintenance; pieces share lines at their ends.
    for &(start, _) in sides {
        let first = start.next_multiple_of(line_bytes);
        let end = start.saturating_add(bytes) / line_bytes * line_bytes;
        let lines = machine.transfers.lines(first, end.saturating_sub(first));
        if let Some((_, _, lines)) = lines {
            lines.iter_mut().for_each(|line| *line &= WRITTEN);
        }
    }
}

const SECOND: u128 = 1_000_000_000_000;

/// The memory that an address lies in.
fn memory_at(board: &Board, address: u32) -> Option<&Memory> {
    board.memory.iter().find(|memory| {
        let offset = memory.address.and_then(|start| address.checked_sub(start));
        offset.is_some_and(|offset| u64::from(offset) < memory.bytes.0)
    })
}

/// Picoseconds of an access of so many bytes; a word a cycle where the board's file says nothing.
fn picoseconds(access: Option<Access>, bytes: u32, clock: Hertz) -> u128 {
    let bytes = u128::from(bytes);
    match access {
        Some(access) => {
            let rate = u128::from(access.bytes_per_second.max(1));
            u128::from(access.latency_ps) + bytes * SECOND / rate
        }
        None => bytes.div_ceil(4) * SECOND / u128::from(clock.0.max(1)),
    }
}

/// Core cycles of a transfer: bursts are read and written by turns.
fn cycles(board: &Board, this: &Move) -> u64 {
    let clock = board.core.clock.hertz;
    let timing = |address| memory_at(board, address).and_then(|memory| memory.timing.as_ref());
    let read = timing(this.source).and_then(|timing| timing.dma_read);
    let write = timing(this.destination).and_then(|timing| timing.dma_write);
    let time = |access, burst: u32| {
        u128::from(this.bytes.div_ceil(burst.max(1))) * picoseconds(access, burst, clock)
    };
    let total = time(read, this.burst[0]) + time(write, this.burst[1]);
    u64::try_from((total * u128::from(clock.0)).div_ceil(SECOND)).unwrap_or(u64::MAX)
}
