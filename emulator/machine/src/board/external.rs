//! External memories that the core addresses: each access is seen here, passes the model of the data
//! cache, and takes what the board's file says. Bytes are the machine's: the cache model knows of time only.
//!
//! SDRAM is write-back and serial flash write-through. An access fails until controller and MPU are set up.

use tilewright_board::{Access, Board, Memory, MemoryKind, Timing};
use tilewright_cores::DataCache;
use tilewright_devices::{Attributes, Bus, Caching, Line, Maintenance, Operation};
use tilewright_plan::Hertz;
use tilewright_protocol::{BrokenUnit, Hardware, SdramFault};
use tilewright_report::FaultKind;

use crate::board::ahead;
use crate::fault::status;
use crate::machine::Machine;
use crate::rules::written_through;

/// Of so many reads that a broken serial flash answers, one brings a wrong bit.
const WRONG_EVERY: u32 = 10_007;

/// Bytes of an access that passes the cache by.
const WORD: u64 = 4;

/// Core cycles that accesses take.
#[derive(Clone, Copy, Debug)]
struct Costs {
    read_word: u64,
    read_line: u64,
    write_word: u64,
    write_line: u64,
}

/// An external memory.
#[derive(Debug)]
pub(crate) struct External {
    /// Its place and name.
    pub memory: Memory,
    pub address: u32,
    costs: Costs,
    /// Virtual time from which on its bus is free.
    free_at: u64,
    /// While DMA uses it: cycles that an access waits for DMA's burst.
    pub shared: Option<u64>,
    /// Cycles that the core used it while it was shared.
    pub used_by_core: u64,
    /// Bytes that its controller lets the core reach, and how the core may.
    reach: Reach,
    /// What is wrong with it.
    fault: Option<SdramFault>,
    /// Reads of it until one brings a wrong bit, if some do.
    until_wrong: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Reach {
    bytes: u64,
    /// Why it cannot be reached, if that is known.
    why: &'static str,
    /// Offset of a byte that locks the bus.
    locks: Option<u64>,
    attributes: Attributes,
}

const NOWHERE: Reach = Reach {
    bytes: 0,
    why: "is not set up",
    locks: None,
    attributes: Attributes { readable: false, writable: false, caching: Caching::Device },
};

/// Core cycles of an access of so many bytes, rounded up.
fn cycles(access: &Access, bytes: u64, clock: Hertz) -> u64 {
    let wide = |value: u64| u128::from(value);
    let latency = (wide(access.latency_ps) * wide(clock.0)).div_ceil(1_000_000_000_000);
    let rate = wide(access.bytes_per_second.max(1));
    let transfer = (wide(bytes) * wide(clock.0)).div_ceil(rate);
    u64::try_from(latency + transfer).unwrap_or(u64::MAX)
}

impl Costs {
    fn of(timing: &Timing, line: u64, clock: Hertz) -> Self {
        let write = timing.core_write.unwrap_or(timing.core_read);
        Self {
            read_word: cycles(&timing.core_read, WORD, clock),
            read_line: cycles(&timing.core_read, line, clock),
            write_word: cycles(&write, WORD, clock),
            write_line: cycles(&write, line, clock),
        }
    }
}

/// The memories of a board that the core addresses through a controller and whose timing is known.
pub(crate) fn memories(board: &Board, hardware: &Hardware) -> Vec<External> {
    let line = board.core.data_cache.as_ref().map_or(0, |cache| u64::from(cache.line_bytes));
    let external = board.memory.iter().filter_map(|memory| {
        memory.kind.external_space()?;
        let (address, timing) = (memory.address?, memory.timing.as_ref()?);
        let costs = Costs::of(timing, line, board.core.clock.hertz);
        Some(External {
            memory: memory.clone(),
            address,
            costs,
            free_at: 0,
            shared: None,
            used_by_core: 0,
            reach: NOWHERE,
            fault: hardware.sdram.filter(|_| memory.kind == MemoryKind::Sdram),
            until_wrong: (memory.kind == MemoryKind::QspiFlash
                && hardware.broken == Some(BrokenUnit::SerialFlash))
            .then_some(WRONG_EVERY),
        })
    });
    external.collect()
}

/// The board's data cache, empty.
pub(crate) fn data_cache(board: &Board) -> Option<DataCache> {
    let cache = board.core.data_cache.as_ref()?;
    Some(DataCache::new(cache.bytes, cache.line_bytes, cache.ways))
}

impl External {
    /// Looks at what the registers say now.
    pub fn look(&mut self, bus: &Bus) {
        let bytes = bus.addressable(self.memory.kind, self.memory.bytes.0);
        let last = self.address.wrapping_add(self.memory.bytes.0 as u32).wrapping_sub(1);
        let attributes = bus.attributes(self.address);
        let whole = bus.attributes(last) == attributes;
        let attributes = if whole { attributes } else { NOWHERE.attributes };
        let is_flash = self.memory.kind == MemoryKind::QspiFlash;
        let mapped = if is_flash { bus.mapped_flash() } else { Err(NOWHERE.why) };
        let (why, locks) = match mapped {
            // RM0385, 13.7.3; RM0386, 12.7.3: the controller holds the bus until the memory is initialised.
            _ if self.memory.kind == MemoryKind::Sdram => (
                "is not set up, or not initialised in order: a board's core waits for it for ever",
                None,
            ),
            Ok(bytes) => ("", Some(bytes - 1)),
            Err(why) => (why, None),
        };
        self.reach = Reach { bytes, why, locks, attributes };
    }

    /// Whether an address lies in it.
    pub fn holds(&self, address: u32) -> bool {
        let offset = address.checked_sub(self.address);
        offset.is_some_and(|offset| u64::from(offset) < self.memory.bytes.0)
    }

    /// Whether bytes lie elsewhere, or where its controller lets them be reached.
    pub fn reaches(&self, address: u32, bytes: u32) -> bool {
        let end = u64::from(address.wrapping_sub(self.address)) + u64::from(bytes);
        let locks = self.reach.locks.is_some_and(|last| end > last);
        !self.holds(address) || end <= self.reach.bytes && !locks
    }

    /// Why the core cannot make an access, which brings bytes up to `end`, if it cannot.
    fn obstacle(&self, offset: u64, end: u64, write: bool) -> Option<&'static str> {
        let Reach { bytes, why, locks, attributes } = self.reach;
        if offset >= bytes {
            return Some(if bytes == 0 { why } else { "is set up for fewer bytes" });
        }
        if locks.is_some_and(|last| end > last) {
            // STM32F4 and STM32F7 erratum "Memory-mapped read of last memory byte fails".
            return Some(
                "locks up a board's bus, debugger and all, by the second read of the last byte that its \
                 controller is told of (FSIZE)",
            );
        }
        if write && self.memory.kind == MemoryKind::QspiFlash {
            return Some("cannot be written");
        }
        if !(if write { attributes.writable } else { attributes.readable }) {
            return Some("is protected by the MPU");
        }
        (attributes.caching == Caching::Device).then_some(
            "is Device memory, where unaligned accesses fault: the MPU has to make it Normal memory",
        )
    }

    /// The address at which an access ends up.
    const fn place(&self, offset: u64) -> u32 {
        let offset = match self.fault {
            Some(SdramFault::AddressLine(line)) => offset as u32 & !(1 << line),
            _ => offset as u32,
        };
        self.address.wrapping_add(offset)
    }

    /// What is read where its bytes are `value`.
    fn spoilt(&mut self, address: u32, value: u64) -> u64 {
        if let Some(until) = &mut self.until_wrong {
            *until = until.checked_sub(1).unwrap_or(WRONG_EVERY);
            return value ^ u64::from(*until == 0);
        }
        match self.fault {
            Some(SdramFault::Dead) => u64::MAX,
            Some(SdramFault::StuckLow(bits)) => value & !(u64::from(bits) >> (8 * (address & 3))),
            Some(SdramFault::AddressLine(_)) | None => value,
        }
    }

    /// The bus is used for so many cycles; from when on.
    #[inline]
    fn begin(&mut self, cost: u64, now: u64) -> u64 {
        let mut start = self.free_at.max(now);
        if let Some(burst) = self.shared {
            start += burst;
            self.used_by_core += cost;
        }
        self.free_at = start + cost;
        start
    }

    /// Core cycles that the core waits for an access; `evicts` gets the address of a line that is
    /// written back for it.
    #[inline]
    fn wait(
        &mut self,
        cache: Option<&mut DataCache>,
        address: u32,
        write: bool,
        now: u64,
        evicts: &mut Option<u32>,
    ) -> u64 {
        let caching = self.reach.attributes.caching;
        let cache = cache.filter(|_| caching != Caching::Uncached);
        let back = caching == Caching::WriteBack;
        if let Some(cache) = cache {
            let access = cache.access(address, !write || back, write && back);
            if access.hit && (!write || back) {
                return 0;
            }
            if !write || back {
                *evicts = access.written_back;
                let start = self.begin(self.costs.read_line, now);
                // A store's line arrives behind the store buffer, unless another is on its way.
                return if write { start - now } else { self.free_at - now };
            }
        }
        let cost = if write { self.costs.write_word } else { self.costs.read_word };
        let start = self.begin(cost, now);
        if write { start - now } else { self.free_at - now }
    }
}

/// The core accesses external memory `index`: cycles that it waited; nothing if that is a fault, which ends
/// emulation. Time passes.
#[inline]
fn access(
    machine: &mut Machine,
    index: usize,
    offset: u64,
    size: usize,
    write: bool,
) -> Option<u64> {
    if std::mem::take(&mut machine.registers_changed) {
        machine.look_at_registers();
    }
    let now = machine.account.cycles;
    let external = &mut machine.external[index];
    let address = external.address.wrapping_add(offset as u32);
    let cached = machine.data_cache.as_ref().filter(|_| machine.data_cache_on);
    let line = cached.map_or(1, |cache| u64::from(cache.line_bytes()));
    let end = (offset + size as u64).next_multiple_of(line);
    if let Some(why) = external.obstacle(offset, end, write) {
        let what = if write { "write to" } else { "read of" };
        let message = format!("{what} 0x{address:08x}: {} {why}", external.memory.name);
        let status = if write { status::IMPRECISE } else { status::PRECISE };
        machine.core_fault(FaultKind::UnmappedAccess, status, message);
        return None;
    }
    let caching = external.reach.attributes.caching;
    if write
        && caching == Caching::WriteThrough
        && machine.data_cache_on
        && machine.bus.loses_writes_through()
    {
        let name = &external.memory.name;
        let what = format!("write to 0x{address:08x} in {name}");
        written_through::end(machine, &what);
        return None;
    }
    let external = &mut machine.external[index];
    let cache = machine.data_cache.as_mut().filter(|_| machine.data_cache_on);
    if write && cache.is_some() {
        machine.transfers.written(address);
    }
    let mut evicted = None;
    let waits = external.wait(cache, address, write, now, &mut evicted);
    machine.account.cycles += waits;
    if let Some(line) = evicted {
        write_back(machine, line);
    }
    Some(waits)
}

/// A line goes to its memory, which is busy for as long.
fn write_back(machine: &mut Machine, address: u32) {
    let now = machine.account.cycles;
    if let Some(external) = machine.external.iter_mut().find(|e| e.holds(address)) {
        external.begin(external.costs.write_line, now);
    }
}

/// The core reads `size` bytes at an offset into external memory `index`. What the cache holds is right, whatever is wrong with the memory.
#[inline]
pub fn read(machine: &mut Machine, index: usize, offset: u64, size: usize) -> u64 {
    let mut bytes = [0; 8];
    if let Some(waits) = access(machine, index, offset, size, false) {
        let external = &machine.external[index];
        let address = external.place(offset);
        let _ = machine.memories.read(address, &mut bytes[..size.min(8)]);
        if waits > 0 {
            let value = u64::from_le_bytes(bytes);
            return machine.external[index].spoilt(address, value);
        }
    }
    u64::from_le_bytes(bytes)
}

/// The core writes `size` bytes at an offset into external memory `index`.
#[inline]
pub fn write(machine: &mut Machine, index: usize, offset: u64, size: usize, value: u64) {
    if access(machine, index, offset, size, true).is_some() {
        let address = machine.external[index].place(offset);
        machine.memories.write(address, &value.to_le_bytes()[..size.min(8)]);
    }
}

/// Does maintenance of the data cache that firmware asks for.
pub(crate) fn maintain(machine: &mut Machine, maintenance: Maintenance) {
    let Some(cache) = machine.data_cache.as_mut() else { return };
    machine.transfers.maintained(&maintenance);
    let address = match maintenance.line {
        Line::Of(address) => Some(address),
        Line::SetAndWay(place) => cache.line_in(place),
    };
    let Some(address) = address else { return };
    let (clean, forget) = match maintenance.operation {
        Operation::Invalidate => (false, true),
        Operation::Clean => (true, false),
        Operation::CleanAndInvalidate => (true, true),
    };
    let written = clean && cache.clean(address);
    if forget {
        cache.invalidate(address);
    }
    if written {
        write_back(machine, address);
    }
    if forget {
        ahead::forget(machine, address);
    }
}
