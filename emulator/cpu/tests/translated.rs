//! Drawn code, interpreted and translated: everything that can be seen is the same after each run.
#![allow(clippy::unwrap_used, reason = "a test")]
#![expect(
    unsafe_code,
    reason = "the interpreter's memory is copied to that of the modules, and back"
)]

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tilewright_cpu::{
    Architecture, Asked, Charge, Code, Core, Entry, HISTORY, Host, Leaves, Memory, Meter, Modules,
    R, Reach, Shared, Translator, Turns, Visits, run,
};
use wasmi::{Caller, Engine, Linker, MemoryType, Module, Store, TypedFunc};

const CODE: u32 = 0x0800_0000;
const CODE_BYTES: usize = 512;
const CONSTANTS: u32 = 0x0801_0000;
const RAM: u32 = 0x2000_0000;
const RAM_BYTES: usize = 256;
/// A device: a store to it moves the deadline, a load takes time.
const DEVICE: u32 = 0x4000_0000;
/// Blocks that a run may enter.
const MOST_BLOCKS: u64 = 24;
/// Bytes of a line of constants.
const LINE: u32 = 16;

fn registers() -> impl Iterator<Item = R> {
    (0..16).map(R::number)
}

/// Numbers that are the same each time (Numerical Recipes).
struct Drawn(u64);

impl Drawn {
    fn next(&mut self) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    fn below(&mut self, most: u32) -> u32 {
        self.next() % most
    }

    fn of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len() as u32) as usize]
    }
}

/// Bytes of this program that modules see.
#[derive(Clone, Copy)]
struct Place {
    bytes: *mut u8,
    count: usize,
    at: usize,
}

/// The memory of modules, and what lies in it.
#[derive(Default)]
struct Places {
    places: RefCell<Vec<Place>>,
    end: Cell<usize>,
}

impl Places {
    fn of(&self, bytes: *const u8, count: usize) -> u32 {
        let bytes = bytes.cast_mut();
        if let Some(known) = self.places.borrow().iter().find(|it| it.bytes == bytes) {
            return known.at as u32;
        }
        let at = self.end.get().next_multiple_of(16) + 1024;
        self.end.set(at + count);
        self.places.borrow_mut().push(Place { bytes, count, at });
        at as u32
    }

    fn enter(&self, memory: &mut [u8]) {
        for Place { bytes, count, at } in self.places.borrow().iter().copied() {
            // SAFETY: whoever gave these bytes keeps them where they are while modules run.
            let from = unsafe { std::slice::from_raw_parts(bytes, count) };
            memory[at..at + count].copy_from_slice(from);
        }
    }

    fn leave(&self, memory: &[u8]) {
        for Place { bytes, count, at } in self.places.borrow().iter().copied() {
            // SAFETY: as above; nothing else reaches them meanwhile.
            let to = unsafe { std::slice::from_raw_parts_mut(bytes, count) };
            to.copy_from_slice(&memory[at..at + count]);
        }
    }
}

thread_local! {
    /// The host of the call that runs: a `*mut &mut dyn Asked`.
    static HOST: Cell<*mut ()> = const { Cell::new(std::ptr::null_mut()) };
}

/// Modules in an interpreter of WebAssembly.
struct Interpreted {
    places: Rc<Places>,
    store: Store<Rc<Places>>,
    memory: wasmi::Memory,
    linker: Linker<Rc<Places>>,
    functions: Vec<TypedFunc<(i32, i32, i32), i32>>,
    called: Rc<Cell<u32>>,
}

impl Interpreted {
    fn new(places: Rc<Places>, called: Rc<Cell<u32>>) -> Self {
        let engine = Engine::default();
        let mut store = Store::new(&engine, Rc::clone(&places));
        let memory = wasmi::Memory::new(&mut store, MemoryType::new(2, None)).unwrap();
        let mut linker = Linker::new(&engine);
        linker.define("core", "memory", memory).unwrap();
        let asks = move |mut caller: Caller<'_, Rc<Places>>,
                         ask: &mut dyn FnMut(&mut dyn Asked)| {
            let (bytes, places) = memory.data_and_store_mut(&mut caller);
            places.leave(bytes);
            // SAFETY: `call` has put it there, and waits.
            ask(unsafe { *HOST.get().cast::<&mut dyn Asked>() });
            places.enter(bytes);
        };
        let load = move |caller: Caller<'_, Rc<Places>>, _: i32, address: i32, bytes: i32| {
            let mut value = None;
            asks(caller, &mut |host| value = host.load(address as u32, bytes as u32));
            value.map_or(-1, i64::from)
        };
        let store_to =
            move |caller: Caller<'_, Rc<Places>>, _: i32, to: i32, bytes: i32, value: i32| {
                let mut done = None;
                asks(caller, &mut |host| done = host.store(to as u32, bytes as u32, value as u32));
                i32::from(done.is_none())
            };
        let execute = move |caller: Caller<'_, Rc<Places>>, _: i32, number: i32| {
            let mut done = None;
            asks(caller, &mut |host| done = host.execute(number as u32));
            i32::from(done.is_none())
        };
        linker.func_wrap("core", "load", load).unwrap();
        linker.func_wrap("core", "store", store_to).unwrap();
        linker.func_wrap("core", "execute", execute).unwrap();
        Self { places, store, memory, linker, functions: Vec::new(), called }
    }
}

impl Modules for Interpreted {
    fn place(&self, bytes: &[u8]) -> u32 {
        self.places.of(bytes.as_ptr(), bytes.len())
    }

    fn place_of_words(&self, words: &[u32]) -> u32 {
        self.places.of(words.as_ptr().cast(), size_of_val(words))
    }

    fn add(&mut self, module: &[u8]) -> Option<u32> {
        let module = Module::new(self.store.engine(), module).unwrap();
        let instance = self.linker.instantiate_and_start(&mut self.store, &module).unwrap();
        self.functions.push(instance.get_typed_func(&self.store, "f").unwrap());
        Some(self.functions.len() as u32 - 1)
    }

    fn call(&mut self, function: u32, shared: &Shared, place: u32, host: &mut dyn Asked) -> u32 {
        self.called.set(self.called.get() + 1);
        let words = shared.words();
        let at = self.places.of(words.as_ptr().cast(), size_of_val(words));
        let function = self.functions[function as usize];
        let mut host = host;
        HOST.set((&raw mut host).cast());
        let (bytes, places) = self.memory.data_and_store_mut(&mut self.store);
        places.enter(bytes);
        let left = function.call(&mut self.store, (at as i32, 0, place as i32)).unwrap();
        let (bytes, places) = self.memory.data_and_store_mut(&mut self.store);
        places.leave(bytes);
        left as u32
    }

    fn forget(&mut self) {
        self.functions.clear();
    }
}

/// A board with all that translated code has to do with.
struct Board {
    core: Core,
    memory: Memory,
    places: Rc<Places>,
    /// By tag; 0 stands for none.
    visits: Vec<Visits>,
    /// Address and bytes.
    blocks: Vec<(u32, u32)>,
    history: Box<[u32; HISTORY]>,
    meter: Meter,
    previous: usize,
    behind: u32,
    learns: bool,
    /// Every device access: address and value.
    seen: Vec<(u32, u32)>,
}

const TURN: u32 = 3;

impl Board {
    fn new(code: &[u8], constants: &[u8], learns: bool, places: Rc<Places>) -> Self {
        let mut memory = Memory::default();
        memory.add(CODE, CODE_BYTES, Reach::ReadOnly);
        memory.add(RAM, RAM_BYTES, Reach::Plain);
        memory.add(CONSTANTS, constants.len(), Reach::Seen);
        assert!(memory.write(CODE, code) && memory.write(CONSTANTS, constants));
        // Room for each: they stay where they are.
        let visits = vec![Visits::default(); CODE_BYTES];
        Self {
            core: Core::default(),
            memory,
            places,
            visits,
            blocks: vec![(0, 0)],
            history: Box::new([0; HISTORY]),
            meter: Meter { counting: 1, generation: 1, ..Meter::default() },
            previous: 0,
            behind: 0,
            learns,
            seen: Vec::new(),
        }
    }

    /// Charges a block as the machine does.
    fn enter(&mut self, tag: usize) {
        let (address, bytes) = self.blocks[tag];
        let before = &mut self.visits[self.previous];
        if before.successor == address {
            before.confident = u32::from(self.learns);
        } else {
            before.turns += u32::from(before.runs > 0) & self.meter.counting;
            self.meter.cycles += u64::from(TURN);
            match (self.learns, before.confident) {
                (false, _) => {}
                (true, 0) => before.successor = address,
                (true, _) => before.confident = 0,
            }
        }
        self.previous = tag;
        let Charge { instructions, cycles } = self.charge(tag as u32).unwrap();
        let entry = &mut self.visits[tag];
        entry.runs += self.meter.counting;
        entry.resident = self.meter.generation;
        self.meter.instructions += u64::from(instructions);
        self.meter.cycles += u64::from(cycles);
        self.history[self.meter.entered as usize % HISTORY] = address;
        self.meter.entered += 1;
        self.behind = address + bytes;
    }
}

impl Host for Board {
    fn core(&mut self) -> &mut Core {
        &mut self.core
    }

    fn parts(&mut self) -> (&mut Core, &mut Memory) {
        (&mut self.core, &mut self.memory)
    }

    fn enters(&mut self, tag: &mut u32, address: u32, bytes: u32) -> Entry {
        if self.meter.cycles >= self.meter.deadline {
            return Entry::Ends;
        }
        if *tag == 0 {
            *tag = match self.blocks.iter().position(|block| *block == (address, bytes)) {
                Some(known) => known as u32,
                None => {
                    self.blocks.push((address, bytes));
                    let tag = self.blocks.len() - 1;
                    self.visits[tag].successor = address + bytes;
                    tag as u32
                }
            };
        }
        self.enter(*tag as usize);
        Entry::Runs
    }

    fn load(&mut self, address: u32, bytes: u32) -> Option<u32> {
        if let Some(value) = self.memory.load_unseen(address, bytes) {
            return Some(value);
        }
        if address == DEVICE {
            self.meter.cycles += 5;
            self.seen.push((address, self.meter.cycles as u32));
            return Some(0x1234_5678);
        }
        let mut value = [0; 4];
        if !self.memory.read(address, &mut value[..bytes as usize]) {
            return None;
        }
        if (CONSTANTS..RAM).contains(&address) {
            self.meter.cycles += 7;
            self.seen.push((address, self.meter.cycles as u32));
            let number = self.memory.number(CONSTANTS).unwrap();
            self.memory.pass_unseen(number, (address - CONSTANTS) & !(LINE - 1), LINE);
        }
        Some(u32::from_le_bytes(value))
    }

    fn store(&mut self, address: u32, bytes: u32, value: u32) -> Option<()> {
        if address == DEVICE {
            self.meter.deadline -= 2;
            self.seen.push((address, value));
            return Some(());
        }
        let value = value.to_le_bytes();
        (address >= RAM && self.memory.write(address, &value[..bytes as usize])).then_some(())
    }

    fn charge(&self, tag: u32) -> Option<Charge> {
        let (_, bytes) = self.blocks[tag as usize];
        Some(Charge { instructions: bytes.div_ceil(2), cycles: bytes })
    }

    fn turns(&self) -> Turns {
        Turns { cycles: TURN, learns: self.learns }
    }

    fn meter(&mut self) -> Meter {
        let visits = self.visits.as_ptr().cast();
        Meter {
            visits: self.places.of(visits, size_of_val(&*self.visits)),
            history: self.places.of(self.history.as_ptr().cast(), 4 * HISTORY),
            ..self.meter
        }
    }

    fn ran(&mut self, meter: &Meter, tag: u32, behind: u32) {
        self.meter.cycles = meter.cycles;
        self.meter.instructions = meter.instructions;
        self.meter.entered = meter.entered;
        (self.previous, self.behind) = (tag as usize, behind);
    }
}

/// Drawn instructions, of which few go elsewhere, then a breakpoint.
fn code(drawn: &mut Drawn) -> Vec<u8> {
    let mut halves: Vec<u16> = Vec::new();
    for _ in 0..2 + drawn.below(14) {
        let second = drawn.next() as u16;
        match drawn.below(13) {
            // Shifts, sums, moves and compares of 16 bits.
            0 => halves.push(drawn.below(0x4000) as u16),
            1 => halves.push(0x4000 | drawn.below(0x0500) as u16),
            // Loads and stores of 16 bits.
            2 => halves.push(0x5000 | drawn.below(0x4000) as u16),
            // Extensions, reversals, PUSH and POP without PC.
            3 => {
                halves.push(drawn.of(&[0xb200, 0xba00, 0xb400, 0xbc00]) | drawn.below(0x100) as u16)
            }
            // LDM and STM of all kinds.
            4 => halves.push(0xc000 | drawn.below(0x1000) as u16),
            // IT, of one or two instructions.
            5 => halves.push(0xbf08 | (drawn.below(14) as u16) << 4 | drawn.of(&[0, 4, 12])),
            // A branch back or on, by a few instructions.
            6 => halves
                .push(0xd000 | (drawn.below(14) as u16) << 8 | drawn.of(&[0xf8, 0xfc, 0xfd, 0, 2])),
            // CBZ and CBNZ.
            7 => halves.push(drawn.of(&[0xb100, 0xb900]) | drawn.below(0x20) as u16),
            8 => halves.extend([0xfb00 | drawn.below(0x100) as u16, second]),
            9 => halves.extend([0xfa00 | drawn.below(0x100) as u16, second | 0xf000]),
            10 => halves.extend([0xea00 | drawn.below(0x200) as u16, second & 0x7fff]),
            11 => halves.extend([0xf000 | drawn.below(0x400) as u16, second & 0x7fff]),
            _ => {
                let first = drawn.of(&[0xf800u16, 0xf880, 0xf910, 0xf990, 0xe940, 0xe9c0, 0xe8a0]);
                halves.extend([first | drawn.below(0x80) as u16, second]);
            }
        }
    }
    halves.push(0xbe00);
    halves.resize(CODE_BYTES / 2, 0xbe00);
    halves.iter().flat_map(|half| half.to_le_bytes()).collect()
}

/// A core whose registers are drawn: addresses for the most part.
fn core(drawn: &mut Drawn) -> Core {
    let mut core = Core::default();
    core.set_xpsr(drawn.next() & 0xf80f_0000);
    for register in registers() {
        let value = match drawn.below(16) {
            0 => drawn.below(64),
            1 => DEVICE,
            2 => drawn.of(&[0, 1, 0x8000_0000, 0x7fff_ffff, 0x8000_8000, u32::MAX]),
            3..6 => drawn.next(),
            6..9 => CONSTANTS + drawn.below(60),
            9 => RAM + drawn.below(RAM_BYTES as u32 + 4),
            _ => RAM + 4 * drawn.below(RAM_BYTES as u32 / 4),
        };
        core.set_register(register, value);
    }
    core.set_register(R::Pc, CODE);
    core
}

/// All that can be seen after a run, word by word.
fn state(board: &Board) -> Vec<u32> {
    let mut words: Vec<u32> = registers().map(|it| board.core.register(it)).collect();
    words.push(board.core.xpsr());
    let Meter { cycles, instructions, deadline, entered, .. } = board.meter;
    words.extend([cycles, instructions, deadline].map(|it| it as u32));
    words.extend([entered, board.previous as u32, board.behind]);
    words.extend(*board.history);
    for Visits { successor, confident, runs, turns, resident } in board.visits.iter().copied() {
        words.extend([successor, confident, runs, turns, resident]);
    }
    words.extend(board.seen.iter().flat_map(|(address, value)| [*address, *value]));
    let mut ram = [0; RAM_BYTES];
    assert!(board.memory.read(RAM, &mut ram));
    words.extend(ram.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())));
    words
}

/// Runs code from the same states interpreted and translated; how many calls of functions that took.
fn compare(drawn: &mut Drawn, runs: u32) -> u32 {
    let (code_bytes, learns) = (code(drawn), drawn.below(2) == 1);
    let constants: Vec<u8> = (0..64).map(|_| drawn.next() as u8).collect();
    let places = Rc::new(Places::default());
    let called = Rc::new(Cell::new(0));
    let mut boards =
        [(); 2].map(|()| Board::new(&code_bytes, &constants, learns, Rc::clone(&places)));
    let mut codes = [(); 2].map(|()| Code::new(Architecture::Armv7));
    let modules = Interpreted::new(Rc::clone(&places), Rc::clone(&called));
    codes[1].translate(Translator::new(Box::new(modules)));
    for number in 0..runs {
        let start = core(drawn);
        let ram: Vec<u8> = (0..RAM_BYTES).map(|_| drawn.next() as u8).collect();
        let cycles = drawn.below(8 * MOST_BLOCKS as u32);
        let leaves: [Leaves; 2] = std::array::from_fn(|which| {
            let board = &mut boards[which];
            board.core = start.clone();
            board.seen.clear();
            assert!(board.memory.write(RAM, &ram));
            board.meter.deadline = board.meter.cycles + u64::from(cycles);
            run(&mut codes[which], board)
        });
        let [interpreted, translated] = boards.each_ref().map(state);
        if leaves[0] != leaves[1] || interpreted != translated {
            let words = interpreted.iter().zip(&translated).enumerate();
            let others: Vec<_> = words.filter(|(_, (a, b))| a != b).collect();
            let halves = code_bytes.chunks(2).map(|half| u16::from_le_bytes([half[0], half[1]]));
            let halves: Vec<u16> = halves.take_while(|half| *half != 0xbe00).collect();
            panic!(
                "run {number} of {halves:04x?}: {leaves:?}, interpreted and translated {others:x?}"
            );
        }
    }
    called.get()
}

#[test]
fn translated_code_is_as_interpreted() {
    let mut drawn = Drawn(1);
    let programs = std::env::var("PROGRAMS").map_or(300, |count| count.parse().unwrap());
    let called: u32 = (0..programs).map(|_| compare(&mut drawn, 4500)).sum();
    // Some programs end before they were run through; all others are called for each run behind the first 4096.
    assert!(called > 100 * programs, "{called}");
}
