//! Blocks that run often become functions of WebAssembly modules.
//!
//! They are made while the firmware runs. Counts, cycles and where it can be stopped stay the same as interpreted: at
//! the border of blocks, functions charge as the host does, and return to the interpreter where they cannot.

mod access;
mod function;
mod operation;
mod region;
mod shared;
mod spans;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use wasm_encoder::{
    BranchHints, CodeSection, EntityType, ExportKind, ExportSection, FunctionSection,
    ImportSection, MemoryType, Module, TypeSection, ValType,
};

use crate::access::{load_by_size, store_by_size};
use crate::blocks::Code;
use crate::execute::operations;
use crate::host::Host;
use crate::memory::Memory;
use access::{WINDOW_WORDS, Window};
use function::{Around, call};
use region::Region;
use shared::Slot;
pub use shared::{Charge, HISTORY, Meter, Shared, Turns, Visits};

/// A block that ran so often is translated.
pub const HOT: u32 = 4096;
/// Of a block that ran so often it is looked where its registers point.
pub const WARM: u32 = 16;
/// Most functions: code that goes everywhere takes no more memory than these.
const MOST_FUNCTIONS: u32 = 1024;

/// Runs modules: a browser, for one.
pub trait Modules {
    /// Where modules find these bytes in the memory that they import as `memory`. Neither moves them.
    fn place(&self, bytes: &[u8]) -> u32;

    /// The same for words.
    fn place_of_words(&self, words: &[u32]) -> u32;

    /// Takes a module. It imports, from `core`: the memory, and the functions `load` (host, address, bytes; the value,
    /// or -1 of 64 bits), `store` (host, address, bytes, value; not 0 if it fails) and `execute` (host, number of an
    /// operation; not 0 if it fails). Gives the number of its function `f`; nothing if it cannot be run.
    fn add(&mut self, module: &[u8]) -> Option<u32>;

    /// Calls a function with the address of the shared words, a number that stands for the host, and a place; what it
    /// returns. Meanwhile the host is asked by what the module imports.
    fn call(&mut self, function: u32, shared: &Shared, place: u32, host: &mut dyn Asked) -> u32;

    /// No function is called again.
    fn forget(&mut self);
}

/// What translated code asks of the interpreter.
pub trait Asked {
    /// Loads 1, 2 or 4 bytes; nothing if that fails.
    fn load(&mut self, address: u32, bytes: u32) -> Option<u32>;

    /// Stores 1, 2 or 4 bytes; nothing if that fails.
    fn store(&mut self, address: u32, bytes: u32, value: u32) -> Option<()>;

    /// Executes the operation of a number; nothing if that fails.
    fn execute(&mut self, number: u32) -> Option<()>;
}

/// Where a block is translated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Translated {
    function: u32,
    place: u32,
}

/// Translates blocks, and runs them.
pub struct Translator {
    modules: Box<dyn Modules>,
    shared: Shared,
    /// By the top byte of an address, the words of each window.
    windows: Vec<u32>,
    /// The state of the memories that it is of.
    of: Option<u32>,
    functions: u32,
}

impl fmt::Debug for Translator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Translator ({} functions)", self.functions)
    }
}

impl Translator {
    /// Nothing translated yet.
    #[must_use]
    pub fn new(modules: Box<dyn Modules>) -> Self {
        let windows = vec![0; 256 * WINDOW_WORDS];
        Self { modules, shared: Shared::default(), windows, of: None, functions: 0 }
    }

    /// Nothing is translated any more.
    pub(crate) fn forget(&mut self) {
        self.modules.forget();
        self.functions = 0;
    }

    /// Translates a block and those that it reaches: their numbers, and where they are.
    pub(crate) fn translate<H: Host>(
        &mut self,
        code: &Code,
        host: &H,
        number: u32,
    ) -> Vec<(u32, Translated)> {
        let region = Region::around(code, host, number);
        if region.blocks.is_empty() || self.functions >= MOST_FUNCTIONS {
            return Vec::new();
        }
        let (turns, stride) = (host.turns(), host.stride());
        let module = module(code, &region, Around { turns, stride });
        let Some(function) = self.modules.add(&module) else { return Vec::new() };
        self.functions += 1;
        let places = (0u32..).zip(&region.blocks);
        places.map(|(place, (number, _))| (*number, Translated { function, place })).collect()
    }

    /// Runs from a block on that was charged. The number of the block that ran last, and how many of its operations
    /// were not executed.
    pub(crate) fn run<H: Host>(
        &mut self,
        code: &Code,
        host: &mut H,
        number: u32,
        Translated { function, place }: Translated,
    ) -> (u32, usize) {
        let (core, memory) = host.parts();
        if self.of != Some(memory.state()) {
            self.of = Some(memory.state());
            find_windows(&mut self.windows, memory, &*self.modules);
        }
        self.shared.give(core);
        self.shared.set(Slot::Block, number);
        let meter = host.meter();
        self.shared.set(Slot::Counting, meter.counting);
        self.shared.set(Slot::Generation, meter.generation);
        self.shared.set(Slot::Visits, meter.visits);
        self.shared.set(Slot::History, meter.history);
        self.shared.set(Slot::Windows, self.modules.place_of_words(&self.windows));
        self.shared.set(Slot::Entered, meter.entered);
        self.shared.set_long(Slot::Instructions, meter.instructions);
        let unseen = host.parts().1.unseen();
        let constants = (unseen.memory, self.modules.place(unseen.bytes));
        let mut asked = Asking { code, host, shared: &self.shared, constants };
        asked.tell_time();
        asked.tell_unseen();
        let left = self.modules.call(function, &self.shared, place, &mut asked);
        asked.hear();
        self.shared.take(host.parts().0);
        (self.shared.get(Slot::Block), left as usize)
    }
}

/// Which bytes are reached plainly, and where they are.
fn find_windows(table: &mut [u32], memory: &Memory, modules: &dyn Modules) {
    for (words, window) in table.chunks_exact_mut(WINDOW_WORDS).zip(memory.plain()) {
        let found = window.map(|plain| {
            // Of the last three bytes no word is loaded: the host does it.
            let words = |bytes: usize| (bytes as u32).saturating_sub(3);
            let place = modules.place(plain.bytes);
            let from = plain.stores_from.min(plain.bytes.len() as u32);
            Window {
                loads: access::Reached {
                    start: plain.start,
                    words: words(plain.bytes.len()),
                    place,
                },
                stores: access::Reached {
                    start: plain.start + from,
                    words: words(plain.bytes.len() - from as usize),
                    place: place + from,
                },
            }
        });
        words.copy_from_slice(&found.unwrap_or_default().words());
    }
}

/// The host, while translated code runs.
struct Asking<'a, H> {
    code: &'a Code,
    host: &'a mut H,
    shared: &'a Shared,
    /// Number and place of the memory whose bytes can be loaded unseen.
    constants: (usize, u32),
}

impl<H: Host> Asking<'_, H> {
    /// Tells the host what ran.
    fn hear(&mut self) {
        let number = self.shared.get(Slot::Block) as usize;
        let (tag, behind) = self
            .code
            .blocks
            .get(number)
            .map_or((0, 0), |block| (block.tag, block.address.wrapping_add(block.bytes)));
        let meter = Meter {
            cycles: self.shared.get_long(Slot::Cycles),
            instructions: self.shared.get_long(Slot::Instructions),
            entered: self.shared.get(Slot::Entered),
            ..Meter::default()
        };
        self.host.ran(&meter, tag, behind);
    }

    /// Tells translated code the time. It ends before the next block if code was changed.
    fn tell_time(&mut self) {
        let meter = self.host.meter();
        self.shared.set_long(Slot::Cycles, meter.cycles);
        let is_changed = self.host.parts().1.is_code_changed();
        self.shared.set_long(Slot::Deadline, if is_changed { 0 } else { meter.deadline });
    }

    fn tell_unseen(&mut self) {
        let (memory, place) = self.constants;
        let unseen = self.host.parts().1.unseen();
        // Those of another memory are found when translated code is run next.
        let count = if unseen.memory == memory { unseen.count } else { 0 };
        self.shared.set(Slot::UnseenStart, unseen.start);
        self.shared.set(Slot::UnseenWords, count.saturating_sub(3));
        self.shared.set(Slot::UnseenPlace, place.wrapping_add(unseen.offset));
    }
}

impl<H: Host> Asked for Asking<'_, H> {
    fn load(&mut self, address: u32, bytes: u32) -> Option<u32> {
        self.hear();
        let value = load_by_size(self.host, address, bytes);
        self.tell_time();
        self.tell_unseen();
        value
    }

    fn store(&mut self, address: u32, bytes: u32, value: u32) -> Option<()> {
        self.hear();
        let done = store_by_size(self.host, address, bytes, value);
        self.tell_time();
        done
    }

    fn execute(&mut self, number: u32) -> Option<()> {
        self.hear();
        self.shared.take(self.host.parts().0);
        let operation = self.code.operations.get(number as usize)?;
        let done = operations(self.host, &[function::single(operation)]);
        self.shared.give(self.host.parts().0);
        self.tell_time();
        self.tell_unseen();
        done.ok()
    }
}

/// A module with the function of a region.
fn module(code: &Code, region: &Region, around: Around) -> Vec<u8> {
    use ValType::{I32, I64};
    let mut types = TypeSection::new();
    types.ty().function([I32, I32, I32], [I64]);
    types.ty().function([I32, I32, I32, I32], [I32]);
    types.ty().function([I32, I32], [I32]);
    types.ty().function([I32, I32, I32], [I32]);
    let mut imports = ImportSection::new();
    for (name, number) in [("load", call::LOAD), ("store", call::STORE), ("execute", call::EXECUTE)]
    {
        imports.import("core", name, EntityType::Function(number));
    }
    let memory = MemoryType {
        minimum: 0,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    imports.import("core", "memory", EntityType::Memory(memory));
    let mut functions = FunctionSection::new();
    functions.function(call::FIRST);
    let mut exports = ExportSection::new();
    exports.export("f", ExportKind::Func, call::FIRST);
    let (function, branches) = function::function(code, region, around);
    let mut hints = BranchHints::new();
    hints.function_hints(call::FIRST, branches);
    let mut bodies = CodeSection::new();
    bodies.function(&function);
    let mut module = Module::new();
    module.section(&types).section(&imports).section(&functions).section(&exports);
    module.section(&hints).section(&bodies);
    module.finish()
}
