//! Modules of WebAssembly beside this worker's own program, on its memory: what the emulator's core translates.
#![allow(
    unsafe_code,
    reason = "functions of other modules are called by their number in the program's table"
)]

use std::cell::RefCell;
use std::collections::BTreeMap;

use js_sys::WebAssembly::{Instance, Module, Table};
use js_sys::{Function, Object, Reflect, Uint8Array};
use tilewright_machine::translate::{Asked, Modules, Shared};
use wasm_bindgen::{JsCast, JsValue};

use super::sha256;

/// A function of a module: shared words, host, place.
type Translated = extern "C" fn(u32, u32, u32) -> u32;

/// Functions that are kept for later runs: the same firmware is translated to the same modules.
const MOST_KNOWN: usize = 256;

thread_local! {
    /// By the checksum of a module, where its function is in the program's table.
    static KNOWN: RefCell<BTreeMap<String, u32>> = const { RefCell::new(BTreeMap::new()) };
    /// Places of the table that hold no function any more: it cannot shrink.
    static FREE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// How many functions are kept.
#[must_use]
pub fn known() -> usize {
    KNOWN.with_borrow(BTreeMap::len)
}

/// Runs modules in this worker.
pub struct Beside {
    table: Table,
    imports: Object,
}

impl Beside {
    /// No module yet; nothing if the browser does not let any be made.
    #[must_use]
    pub fn new() -> Option<Self> {
        let table: Table = wasm_bindgen::function_table().dyn_into().ok()?;
        let core = Object::new();
        Reflect::set(&core, &"memory".into(), &wasm_bindgen::memory()).ok()?;
        let functions = [
            ("load", load as *const ()),
            ("store", store as *const ()),
            ("execute", execute as *const ()),
        ];
        for (name, function) in functions {
            let function = table.get(function.expose_provenance() as u32).ok()?;
            Reflect::set(&core, &name.into(), &function).ok()?;
        }
        let imports = Object::new();
        Reflect::set(&imports, &"core".into(), &core).ok()?;
        Some(Self { table, imports })
    }

    fn make(&self, module: &[u8]) -> Result<Function, JsValue> {
        let module = Module::new(&Uint8Array::from(module).into())?;
        let instance = Instance::new(&module, &self.imports)?;
        Reflect::get(&instance.exports(), &"f".into())?.dyn_into()
    }
}

impl Modules for Beside {
    fn place(&self, bytes: &[u8]) -> u32 {
        bytes.as_ptr().expose_provenance() as u32
    }

    fn place_of_words(&self, words: &[u32]) -> u32 {
        words.as_ptr().expose_provenance() as u32
    }

    fn add(&mut self, module: &[u8]) -> Option<u32> {
        let checksum = sha256(module);
        if let Some(known) = KNOWN.with_borrow(|known| known.get(&checksum).copied()) {
            return Some(known);
        }
        let function = self.make(module).ok()?;
        let free = FREE.with_borrow_mut(Vec::pop);
        let place = free.or_else(|| self.table.grow(1).ok())?;
        self.table.set(place, &function).ok()?;
        KNOWN.with_borrow_mut(|known| known.insert(checksum, place));
        Some(place)
    }

    fn call(&mut self, function: u32, shared: &Shared, place: u32, host: &mut dyn Asked) -> u32 {
        // SAFETY: `add` has put a function of this type there, and `forget` comes after the last call.
        let translated: Translated =
            unsafe { std::mem::transmute::<usize, Translated>(function as usize) };
        let mut host = host;
        let host = (&raw mut host).expose_provenance() as u32;
        translated(shared.words().as_ptr().expose_provenance() as u32, host, place)
    }

    fn forget(&mut self) {
        let mut known = KNOWN.take();
        if known.len() <= MOST_KNOWN {
            KNOWN.set(known);
            return;
        }
        while let Some((_, place)) = known.pop_first() {
            let _ = self.table.set(place, JsValue::NULL.unchecked_ref());
            FREE.with_borrow_mut(|free| free.push(place));
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.forget();
    }
}

/// Who waits in [`Beside::call`] while a module asks.
///
/// # Safety
/// `host` is what was handed to the function that asks.
unsafe fn asked<'a>(host: u32) -> &'a mut &'a mut dyn Asked {
    // SAFETY: `call` has made it from a reference that lives until the function returns, and does not use it before.
    unsafe { &mut *std::ptr::with_exposed_provenance_mut(host as usize) }
}

extern "C" fn load(host: u32, address: u32, bytes: u32) -> i64 {
    // SAFETY: modules hand on what they were given.
    unsafe { asked(host) }.load(address, bytes).map_or(-1, i64::from)
}

extern "C" fn store(host: u32, address: u32, bytes: u32, value: u32) -> u32 {
    // SAFETY: as in `load`.
    u32::from(unsafe { asked(host) }.store(address, bytes, value).is_none())
}

extern "C" fn execute(host: u32, number: u32) -> u32 {
    // SAFETY: as in `load`.
    u32::from(unsafe { asked(host) }.execute(number).is_none())
}
