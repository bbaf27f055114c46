//! The state beside the processor: devices, costs, counts, what the job asks for.

use std::collections::VecDeque;
use std::time::Duration;

use tilewright_board::{Board, CoreKind, MemoryKind};
use tilewright_cores::{DataCache, Flags, waits_for_stores};
use tilewright_cpu::{HISTORY, Memory};
use tilewright_desk::Line;
use tilewright_devices::{Bus, CardQuirks, NoDevices, Noise, SerialFlash, Time};
use tilewright_protocol::{self as protocol, BrokenUnit, Job, LineNoise, Mode, Response};
use tilewright_report::FaultKind;

use crate::board::access::BadAccess;
use crate::board::ahead::Ahead;
use crate::board::card::{self, Card};
use crate::board::console::Console;
use crate::board::constants::Constants;
use crate::board::dma::{self, Transfers};
use crate::board::external::{self, External};
use crate::board::flash::Fetch;
use crate::board::host::Host;
use crate::board::memories::{self, Range};
use crate::core::account::{Account, Bucket};
use crate::core::lines::Loop;
use crate::core::table::{Charged, Table};
use crate::elf::Firmware;
use crate::rules::written_through;
use crate::watch::marks::Marks;
use crate::watch::observer::Observer;
use crate::watch::plan::{Programs, Steps};
use crate::watch::profile::Profile;
use crate::watch::recording::Recording;
use crate::watch::sampling::Sampling;
use crate::watch::stack::Stack;

/// Virtual time without a sign of life after which the board counts as dead, in seconds.
const SILENCE_SECONDS: u64 = 60;
/// Cycles between looks at limits and the clock.
const LOOK: u64 = 2_000_000;
const PROGRESS_INSTRUCTIONS: u64 = 50_000_000;
const PROGRESS_MILLIS: u128 = 200;
/// Looks for one at the clock; without interrupts there are 50 a second or more.
const LOOKS_A_TIME: u32 = 8;

/// Why emulation ends.
#[derive(Clone, Debug)]
pub enum End {
    /// All frames are answered.
    Done,
    /// Something went wrong.
    Fault(FaultKind, String),
}

/// A clock: the time since some moment.
pub type Clock = Box<dyn Fn() -> Duration>;

/// Where messages go.
pub type Sink = Box<dyn FnMut(Response)>;

/// The state. See the modules for what each part is for.
pub struct Machine {
    /// What the board's file says.
    pub board: Board,
    /// The kind of its core.
    pub core: CoreKind,
    /// What is loaded.
    pub firmware: Firmware,
    pub(crate) bus: Bus,
    /// What memories hold.
    pub memories: Memory,
    /// Where they lie, as the core sees them.
    pub ranges: Vec<Range>,
    /// The firmware's, if it lies where the board's file says.
    pub(crate) stack: Option<Stack>,
    pub(crate) external: Vec<External>,
    /// Whether words across the end of DTCM are looked for.
    pub(crate) torn_words: bool,
    /// Lines that the data cache reads ahead, on a board that is to do so.
    pub(crate) ahead: Option<Ahead>,
    /// Those of the plan, if they make the core wait.
    pub(crate) constants: Option<Constants>,
    pub(crate) transfers: Transfers,
    pub(crate) card: Card,
    pub(crate) data_cache: Option<DataCache>,
    pub(crate) data_cache_on: bool,
    /// Loops that may maintain it.
    pub(crate) loops: Vec<Loop>,
    /// A register was written since external memories were looked at last.
    pub(crate) registers_changed: bool,
    pub(crate) table: Table,
    pub(crate) account: Account,
    pub(crate) marks: Marks,
    programs: Programs,
    pub(crate) sampling: Option<Sampling>,
    /// Of a memory, if one is recorded.
    pub(crate) recording: Option<Recording>,
    /// Runs of blocks; nothing if steps are passed over.
    pub(crate) profile: Option<Profile>,
    /// Who talks with the board; nothing if the job brings all frames.
    pub(crate) host: Option<Box<dyn Host>>,
    /// Who sees each block, if somebody does.
    pub(crate) observer: Option<Observer>,
    console: Console,
    frames: VecDeque<Vec<u8>>,
    /// In how many parts the last frame comes.
    last_parts: usize,
    frame_count: usize,
    frames_done: usize,
    limits: tilewright_protocol::Limits,
    /// Virtual time at which something is to be done at the next block; 0: at once.
    pub(crate) deadline: u64,
    /// Blocks with one of these flags are looked at.
    pub(crate) attention: Flags,
    /// Flags of the block that was entered last, and the address behind it.
    pub last: (Flags, u32),
    /// WFE's event register.
    pub(crate) event: bool,
    /// Whether floating-point registers are in use in this context (CONTROL.FPCA).
    pub(crate) float_context: bool,
    /// Exceptions being handled, and the float context of what they interrupted.
    pub(crate) handlers: Vec<(u32, bool)>,
    /// Why emulation is to end, if it is.
    pub end: Option<End>,
    /// Bits of CFSR for the fault that ended emulation.
    pub(crate) fault_status: u32,
    /// The access that ended emulation, if one did.
    pub bad_access: Option<BadAccess>,
    /// A board would go on behind the fault that ended emulation, with wrong values.
    pub(crate) board_goes_on: bool,
    /// Virtual time of the last sign of life.
    alive: u64,
    /// Where the last blocks begin, and how many were entered.
    pub(crate) history: [u32; HISTORY],
    pub(crate) entered: usize,
    progress: (u64, Duration),
    looks: u32,
    clock: Clock,
    /// The clock when the job was begun.
    began: Duration,
    sink: Sink,
}

/// A serial flash as its controller's model takes it.
const fn flash_of(flash: protocol::SerialFlash) -> SerialFlash {
    match flash {
        protocol::SerialFlash::N25q128a => SerialFlash::N25Q128A,
        protocol::SerialFlash::W25q128jvIq => SerialFlash::W25Q128JV_IQ,
        protocol::SerialFlash::W25q128jvIm => SerialFlash::W25Q128JV_IM,
        protocol::SerialFlash::Other(identification) => {
            SerialFlash { identification, ..SerialFlash::N25Q128A }
        }
    }
}

impl Machine {
    /// A board after reset with a job to do; messages go to `sink`.
    pub(crate) fn new(
        board: Board,
        firmware: Firmware,
        job: &Job,
        clock: Clock,
        sink: Sink,
    ) -> Result<Self, NoDevices> {
        let began = clock();
        let mut bus = Bus::new(&board)?;
        bus.solder_flash(flash_of(job.hardware.serial_flash));
        if job.hardware.crystal_dead {
            bus.stop_oscillator();
        }
        if let Some(LineNoise { seed, noisy_in, broken_in }) = job.hardware.line_noise {
            bus.disturb_console(Noise::new(seed, noisy_in, broken_in));
        }
        match job.hardware.broken {
            Some(BrokenUnit::Checksums) => bus.break_checksums(),
            Some(BrokenUnit::RandomNumbers) => bus.break_random_numbers(),
            Some(BrokenUnit::Copies | BrokenUnit::SerialFlash) | None => {}
        }
        bus.spoil_card(CardQuirks {
            fastest_hertz: job.hardware.card_fastest_hertz.map(u64::from),
            full_flag_missing: job.hardware.full_flag_missing,
            flow_control_fails: false,
        });
        if job.strict {
            bus.be_strict();
        }
        let core = board.core.kind;
        let place = |kind: MemoryKind| {
            let memory = board.memory.iter().find(|memory| memory.kind == kind);
            let place = memory.and_then(|m| Some((m.address?, m.bytes.0 as u32)));
            place.unwrap_or((0, 0))
        };
        let (flash, coupled) = (place(MemoryKind::Flash), place(MemoryKind::Itcm));
        let branches = tilewright_cores::branches(core);
        let table = Table::new(flash, coupled, branches, Fetch::new(&board));
        let programs = Programs::of(&board, &firmware);
        let Steps { lanes, kinds } = programs.first();
        let marks = Marks::new(lanes, job.watches.clone());
        let data_cache = external::data_cache(&board);
        let mut constants = Constants::new(&board);
        let external = external::memories(&board, &job.hardware);
        let ranges = memories::ranges(&board, constants.as_ref(), &external);
        let memories = memories::empty(&ranges);
        if let Some(constants) = &mut constants {
            constants.find(&memories);
        }
        let recording = Recording::of(job.recorded, &memories);
        Ok(Self {
            core,
            bus,
            memories,
            ranges,
            stack: None,
            external,
            torn_words: job.hardware.torn_words,
            ahead: job.hardware.reads_ahead.map(Ahead::new),
            constants,
            transfers: Transfers::new(&board, data_cache.as_ref(), job.hardware.broken),
            card: Card::default(),
            data_cache,
            data_cache_on: false,
            loops: Vec::new(),
            registers_changed: true,
            table,
            account: Account::default(),
            marks,
            programs,
            sampling: Sampling::new(job.mode, kinds),
            recording,
            profile: (job.mode == Mode::Full).then(Profile::default),
            host: None,
            observer: None,
            console: Console::default(),
            frames: job.frames.iter().flatten().cloned().collect(),
            last_parts: job.frames.last().map_or(0, Vec::len),
            frame_count: job.frames.len(),
            frames_done: 0,
            limits: job.limits,
            deadline: 0,
            attention: Flags::FLOAT.with(Flags::MARKED).with(Flags::SENDS_EVENT),
            last: (Flags::default(), 0),
            event: false,
            float_context: false,
            handlers: Vec::new(),
            end: None,
            fault_status: 0,
            bad_access: None,
            board_goes_on: false,
            alive: 0,
            history: [0; HISTORY],
            entered: 0,
            progress: (0, began),
            looks: 0,
            clock,
            began,
            sink,
            board,
            firmware,
        })
    }

    /// Somebody talks with the board while it runs: the job's frames are not looked at.
    pub fn connect(&mut self, host: Box<dyn Host>) {
        self.host = Some(host);
    }

    /// From now on, somebody sees the core before each block.
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// Whether somebody does.
    #[must_use]
    pub const fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Blocks that have run since reset, or are about to.
    #[must_use]
    pub const fn blocks(&self) -> usize {
        self.entered
    }

    /// Time by the clock since the job was begun.
    pub(crate) fn passed(&self) -> Duration {
        (self.clock)().saturating_sub(self.began)
    }

    /// Instructions that were executed since reset.
    #[must_use]
    pub const fn instructions(&self) -> u64 {
        self.account.instructions
    }

    /// Virtual time.
    #[must_use]
    pub const fn now(&self) -> Time {
        Time(self.account.cycles)
    }

    /// Sends a message.
    pub(crate) fn say(&mut self, response: Response) {
        (self.sink)(response);
    }

    /// The first reason to end is the one that counts.
    pub(crate) fn finish(&mut self, end: End) {
        self.end.get_or_insert(end);
        self.deadline = 0;
    }

    /// Ends with a fault.
    pub(crate) fn fault(&mut self, kind: FaultKind, message: impl Into<String>) {
        self.finish(End::Fault(kind, message.into()));
    }

    /// Ends with what a board would not tell, but go on with wrong values.
    pub(crate) fn silent_fault(&mut self, kind: FaultKind, message: impl Into<String>) {
        self.board_goes_on = true;
        self.fault(kind, message);
    }

    /// Ends with a fault of the core; `status` is what CFSR shows of it.
    pub(crate) fn core_fault(&mut self, kind: FaultKind, status: u32, message: impl Into<String>) {
        self.fault_status = status;
        self.fault(kind, message);
    }

    /// Goes on behind a fault, for so many instructions at most.
    pub(crate) fn go_on(&mut self, instructions: u64) {
        self.end = None;
        self.bad_access = None;
        self.limits.instructions = self.account.instructions.saturating_add(instructions);
        self.deadline = 0;
    }

    /// Charges a block that is about to run.
    #[inline]
    pub(crate) fn enter(&mut self, index: usize, address: u32, size: u32, flags: Flags) {
        let Charged { instructions, cycles, waits } = self.table.charge(index, address);
        if waits > 0 {
            self.account.wait_for_code(waits);
        }
        self.note(address, size, flags, instructions, cycles);
    }

    /// Charges a block that is not in the table.
    #[inline]
    pub(crate) fn note(
        &mut self,
        address: u32,
        size: u32,
        flags: Flags,
        instructions: u64,
        cycles: u64,
    ) {
        self.account.instructions += instructions;
        self.account.cycles += cycles;
        self.history[self.entered % HISTORY] = address;
        self.entered = self.entered.wrapping_add(1);
        self.last = (flags, address.wrapping_add(size));
    }

    /// Whether the block that runs waits until its stores have taken effect.
    pub(crate) fn block_waits_for_stores(&self) -> bool {
        let start = self.history[self.entered.wrapping_sub(1) % HISTORY];
        let size = self.last.1.wrapping_sub(start) as usize;
        let mut bytes = vec![0; size.min(HISTORY * 64)];
        self.memories.read(start, &mut bytes) && waits_for_stores(&bytes)
    }

    /// Start addresses of the last blocks, newest last.
    pub(crate) fn last_blocks(&self) -> Vec<(u32, String)> {
        let count = self.entered.min(HISTORY);
        (self.entered - count..self.entered)
            .map(|number| self.history[number % HISTORY])
            .map(|address| (address, self.firmware.function(address)))
            .collect()
    }

    /// The firmware has chosen the program of the frames that follow.
    pub(crate) fn selected(&mut self, entry: u32) {
        let Steps { lanes, kinds } = self.programs.entry(entry as usize);
        self.marks.lanes = lanes;
        if let Some(sampling) = &mut self.sampling {
            sampling.begin(kinds);
        }
    }

    /// Whether the frame that is worked on is the job's last. Of a host nobody knows that.
    pub(crate) fn in_last_frame(&self) -> bool {
        self.host.is_none() && (self.frames.is_empty() || self.frames.len() < self.last_parts)
    }

    /// A sign of life.
    pub(crate) fn lives(&mut self) {
        self.alive = self.account.cycles;
    }

    /// Whether nothing was heard of the firmware for so long that nothing will be; while it hears inputs, which
    /// take minutes if they are large, it need not say anything.
    pub(crate) fn is_silent(&mut self) -> bool {
        if self.bus.feeds_console() {
            self.lives();
        }
        self.account.cycles - self.alive > SILENCE_SECONDS * self.board.core.clock.hertz.0
    }

    /// Counts runs of blocks from now on, if a kernel of the last frame runs and nothing interrupts it.
    pub(crate) fn count_blocks(&mut self) {
        let on = self.profile.is_some()
            && self.marks.in_step()
            && self.handlers.is_empty()
            && self.in_last_frame();
        self.table.count(on);
    }

    /// The bucket that thread mode's instructions go to.
    pub(crate) fn thread_bucket(&self) -> Bucket {
        if self.marks.in_step() { Bucket::Compute } else { Bucket::Dispatch }
    }

    /// Looks at what registers say of external memories and the data cache.
    pub(crate) fn look_at_registers(&mut self) {
        self.data_cache_on = self.bus.data_cache_on();
        for external in &mut self.external {
            external.look(&self.bus);
        }
        written_through::check(self);
    }

    /// Lets time pass in sleep.
    pub(crate) fn sleep_until(&mut self, time: Time) {
        self.account.wait(time.since(self.now()));
        self.advance();
    }

    fn advance(&mut self) {
        dma::settle(self);
        self.bus.advance(self.now());
        dma::serve(self);
        card::serve(self);
    }

    /// Lets devices catch up, and hears what they said.
    pub(crate) fn catch_up(&mut self) {
        self.advance();
        while let Some(bytes) = self.host.as_mut().and_then(|host| host.arrived()) {
            self.bus.feed_console(&bytes, self.now());
        }
        self.listen();
        if self.bus.reset_requested() {
            self.fault(FaultKind::Firmware, "the firmware asked for a system reset");
        }
    }

    fn listen(&mut self) {
        if !self.bus.has_console() {
            return;
        }
        self.lives();
        let bytes = self.bus.take_console();
        let lines = self.console.take(&bytes);
        // A host waits for each byte, and makes of them what it wants.
        let has_host = self.host.is_some();
        if let Some(chunk) = self.console.chunk(has_host) {
            self.say(Response::Console(chunk));
        }
        for line in lines.into_iter().filter(|_| !has_host) {
            self.hear(line);
        }
        if self.console.total() > self.limits.console_bytes {
            let limit = self.limits.console_bytes;
            self.fault(
                FaultKind::OutputLimit,
                format!("the firmware wrote more than {limit} bytes to its console"),
            );
        }
    }

    fn hear(&mut self, line: Line) {
        match line {
            Line::Ready(_) => match self.frames.pop_front() {
                Some(frame) => self.bus.feed_console(&frame, self.now()),
                None if self.frame_count == 0 => self.finish(End::Done),
                None => {}
            },
            Line::Output { values, .. } => self.marks.invokes.under_way.outputs.push(values),
            Line::Done => {
                self.marks.invokes.ends();
                self.frames_done += 1;
                if self.frames_done >= self.frame_count {
                    self.finish(End::Done);
                }
            }
            Line::Retry(text) => {
                self.fault(FaultKind::Firmware, format!("the firmware refused a frame: {text}"));
            }
            Line::Error(text) => {
                let card = self.marks.failed.card;
                let kind = if card { FaultKind::Card } else { FaultKind::Firmware };
                self.fault(kind, format!("the firmware gave up: {text}"));
            }
            _ => {}
        }
    }

    /// Passes on what is left of the console's output.
    pub(crate) fn flush_console(&mut self) {
        if let Some(chunk) = self.console.chunk(true) {
            self.say(Response::Console(chunk));
        }
    }

    /// Lets so many instructions more be counted: they are not executed.
    pub(crate) fn allow(&mut self, instructions: u64) {
        self.limits.instructions = self.limits.instructions.saturating_add(instructions);
    }

    /// Looks at limits and reports progress.
    pub(crate) fn look(&mut self) {
        let instructions = self.account.instructions;
        if instructions >= self.limits.instructions {
            self.fault(
                FaultKind::InstructionLimit,
                format!("more than {} instructions were executed", self.limits.instructions),
            );
        }
        let (at, since) = self.progress;
        // Looks come at each interrupt, and asking for the time takes longer than all else of one.
        self.looks = self.looks.wrapping_add(1);
        let asks = self.looks.is_multiple_of(LOOKS_A_TIME);
        if instructions - at >= PROGRESS_INSTRUCTIONS
            || asks && (self.clock)().saturating_sub(since).as_millis() >= PROGRESS_MILLIS
        {
            self.progress = (instructions, (self.clock)());
            let step = self.marks.step();
            self.say(Response::Progress { instructions, step });
        }
    }

    /// Sets the virtual time of the next look: soon enough that no more than the allowed number
    /// of instructions is executed, for no core executes more than two a cycle.
    pub(crate) fn set_deadline(&mut self) {
        if self.end.is_some() || self.marks.awaits_return() || self.bus.nvic().any_pending() {
            self.deadline = 0;
            return;
        }
        let now = self.account.cycles;
        let left = self.limits.instructions.saturating_sub(self.account.instructions) / 2;
        let look = now + LOOK.min(left).max(1);
        self.deadline = self.bus.next_event().map_or(look, |event| look.min(event.0));
    }

    /// What a person would do about frames when the board sleeps for ever.
    pub(crate) fn deadlock_message(&mut self) -> String {
        let lost = self.bus.lost_console_bytes();
        let waiting = self.frames.len();
        let mut message = "the core sleeps and nothing will wake it".to_owned();
        if lost > 0 {
            message += &format!("; it missed {lost} bytes that the host sent");
        }
        if waiting > 0 {
            message += &format!("; {waiting} frames wait for a 'ready' line");
        }
        message
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use tilewright_protocol::Limits;

    use super::*;

    /// A board without firmware.
    pub(crate) fn machine() -> Machine {
        let job = Job {
            strict: false,
            ..Job::new(
                "stm32f746g-disco",
                Vec::new(),
                Limits { instructions: u64::MAX, console_bytes: 0 },
            )
        };
        let board = tilewright_board::find(&job.board).unwrap();
        let clock = Box::new(|| Duration::ZERO);
        Machine::new(board, Firmware::default(), &job, clock, Box::new(|_| {})).unwrap()
    }
}
