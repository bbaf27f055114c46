//! Loads and stores in translated code: plain memory and bytes that are loaded unseen are reached directly, all else
//! through the host.

use wasm_encoder::BlockType;

use crate::execute::Kind;
use crate::operation::{Operation, R};
use crate::translate::function::{Writer, at, call, local};
use crate::translate::shared::Slot;
use crate::translate::spans::{Span, Spans};

/// A window as translated code finds it: by an address' top byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Address of the first byte that is loaded plainly, at how many offsets from it words can be loaded, and where
    /// that byte is for translated code.
    pub loads: Reached,
    /// The same for stores.
    pub stores: Reached,
}

/// Bytes that are reached plainly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    pub start: u32,
    pub words: u32,
    pub place: u32,
}

/// Words of a [`Window`] in the table: a power of two.
pub const WINDOW_WORDS: usize = 8;

impl Window {
    pub const fn words(self) -> [u32; WINDOW_WORDS] {
        let Self { loads, stores } = self;
        [loads.start, loads.words, loads.place, stores.start, stores.words, stores.place, 0, 0]
    }
}

/// Where these are in a window, in bytes.
const LOADS: u64 = 0;
const STORES: u64 = 12;

/// What an access moves.
#[derive(Clone, Copy)]
pub enum Moves {
    Word,
    Half { signed: bool },
    Byte { signed: bool },
}

impl Moves {
    const fn bytes(self) -> i32 {
        match self {
            Self::Word => 4,
            Self::Half { .. } => 2,
            Self::Byte { .. } => 1,
        }
    }
}

impl Writer<'_> {
    /// Whether an operation is an access that is translated; then it is.
    pub fn access(&mut self, o: &Operation) -> bool {
        use Moves::{Byte, Half, Word};
        let (signed, plain) = (true, false);
        match o.kind {
            Kind::Ldr => self.load_at(o, Word),
            Kind::Ldrh => self.load_at(o, Half { signed: plain }),
            Kind::Ldrsh => self.load_at(o, Half { signed }),
            Kind::Ldrb => self.load_at(o, Byte { signed: plain }),
            Kind::Ldrsb => self.load_at(o, Byte { signed }),
            Kind::LdrR => self.load_indexed(o, Word),
            Kind::LdrhR => self.load_indexed(o, Half { signed: plain }),
            Kind::LdrshR => self.load_indexed(o, Half { signed }),
            Kind::LdrbR => self.load_indexed(o, Byte { signed: plain }),
            Kind::LdrsbR => self.load_indexed(o, Byte { signed }),
            Kind::Str => self.store_at(o, Word),
            Kind::Strh => self.store_at(o, Half { signed: plain }),
            Kind::Strb => self.store_at(o, Byte { signed: plain }),
            Kind::StrR => self.store_indexed(o, Word),
            Kind::StrhR => self.store_indexed(o, Half { signed: plain }),
            Kind::StrbR => self.store_indexed(o, Byte { signed: plain }),
            Kind::LdrPost => {
                self.load_from(local::REGISTER + o.n as u32, 0, 0, Word);
                self.f().local_set(local::D);
                self.move_on(o.n, o.immediate);
                self.f().local_get(local::D);
                self.set(o.d);
            }
            Kind::StrPost => {
                self.store_to(local::REGISTER + o.n as u32, 0, 0, Word, o.d);
                self.move_on(o.n, o.immediate);
            }
            Kind::Ldrd => {
                self.words_at(o.n, o.immediate);
                self.load_from(local::B, 0, 0, Word);
                self.f().local_set(local::D);
                self.load_from(local::B, 0, 1, Word);
                // Both are loaded before one is set.
                self.f().local_set(local::B).local_get(local::D);
                self.set(o.d);
                self.f().local_get(local::B);
                self.set(o.m);
            }
            Kind::Strd => {
                self.words_at(o.n, o.immediate);
                self.store_to(local::B, 0, 0, Word, o.d);
                self.store_to(local::B, 0, 1, Word, o.m);
            }
            Kind::Ldm | Kind::Stm => {
                self.words_at(o.n, 0);
                let registers = (0..16).filter(|register| o.immediate >> register & 1 != 0);
                for (word, register) in (0..).zip(registers) {
                    if o.kind == Kind::Ldm {
                        self.load_from(local::B, 0, word, Word);
                        self.set(R::number(register));
                    } else {
                        self.store_to(local::B, 0, word, Word, R::number(register));
                    }
                }
            }
            _ => return false,
        }
        true
    }

    fn move_on(&mut self, register: R, by: u32) {
        self.get(register).i32_const(by as i32).i32_add();
        self.set(register);
    }

    /// Whether all spans are in plain memory. Puts where they are into their locals.
    pub fn are_plain(&mut self, spans: &Spans) {
        for (number, Span { base, low, high, stores }) in spans.spans.iter().enumerate() {
            let which = if *stores { STORES } else { LOADS };
            self.get(*base).i32_const(*low).i32_add();
            self.finds(which);
            // From there on there is room for the span: of the last three bytes of a window no word is loaded.
            let mut f = self.f();
            f.local_get(local::W).i32_load(at(which + 4)).local_get(local::OFFSET).i32_sub();
            f.i32_const(high.wrapping_sub(*low).saturating_sub(3).max(1)).i32_ge_u().i32_and();
            f.local_get(local::W).i32_load(at(which + 8)).local_get(local::OFFSET).i32_add();
            f.local_set(local::SPAN + *base as u32);
            if number > 0 {
                f.i32_and();
            }
        }
    }

    /// A load of the operation's word of a number, from an address in a register.
    fn load_from(&mut self, register: u32, offset: u32, word: u32, moves: Moves) {
        let Some((address, low)) = self.plain else {
            self.f().local_get(register).i32_const((offset + 4 * word) as i32).i32_add();
            return self.load(moves);
        };
        self.f().local_get(local::SPAN + address.base as u32);
        self.loaded(moves, (address.offset - low) as u64 + 4 * u64::from(word));
    }

    /// The same for a store of a register.
    fn store_to(&mut self, register: u32, offset: u32, word: u32, moves: Moves, value: R) {
        let Some((address, low)) = self.plain else {
            self.f().local_get(register).i32_const((offset + 4 * word) as i32).i32_add();
            return self.store(moves, value);
        };
        self.f().local_get(local::SPAN + address.base as u32);
        self.stored(moves, value, (address.offset - low) as u64 + 4 * u64::from(word));
    }

    fn indexed(&mut self, o: &Operation) {
        self.get(o.n);
        self.get(o.m).i32_const(o.immediate as i32 & 3).i32_shl().i32_add();
    }

    fn load_at(&mut self, o: &Operation, moves: Moves) {
        self.load_from(local::REGISTER + o.n as u32, o.immediate, 0, moves);
        self.set(o.d);
    }

    fn load_indexed(&mut self, o: &Operation, moves: Moves) {
        self.indexed(o);
        self.load(moves);
        self.set(o.d);
    }

    fn store_at(&mut self, o: &Operation, moves: Moves) {
        self.store_to(local::REGISTER + o.n as u32, o.immediate, 0, moves, o.d);
    }

    fn store_indexed(&mut self, o: &Operation, moves: Moves) {
        self.indexed(o);
        self.store(moves, o.d);
    }

    /// Puts an address of words into [`local::B`]; anything else fails.
    fn words_at(&mut self, register: R, offset: u32) {
        self.get(register).i32_const(offset as i32).i32_add().local_tee(local::B);
        self.f().i32_const(3).i32_and();
        self.fail_if();
    }

    /// Puts the address into [`local::A`], its window into [`local::W`] and its offset there into [`local::OFFSET`];
    /// whether the window has it.
    fn finds(&mut self, which: u64) {
        let mut f = self.f();
        f.local_tee(local::A).i32_const(24).i32_shr_u().i32_const(5).i32_shl();
        f.local_get(local::WINDOWS).i32_add().local_set(local::W);
        f.local_get(local::A).local_get(local::W).i32_load(at(which)).i32_sub();
        f.local_tee(local::OFFSET).local_get(local::W).i32_load(at(which + 4)).i32_lt_u();
    }

    /// Loads from the address.
    fn load(&mut self, moves: Moves) {
        let gives = BlockType::Result(wasm_encoder::ValType::I32);
        self.finds(LOADS);
        self.open_if_mostly(true, gives);
        self.f().local_get(local::W).i32_load(at(LOADS + 8)).local_get(local::OFFSET).i32_add();
        self.loaded(moves, 0);
        self.f().else_();
        let mut f = self.f();
        f.local_get(local::A).local_get(local::SHARED).i32_load(at(Slot::UnseenStart.offset()));
        f.i32_sub().local_tee(local::OFFSET);
        f.local_get(local::SHARED).i32_load(at(Slot::UnseenWords.offset())).i32_lt_u();
        self.open_if_mostly(true, gives);
        let place = at(Slot::UnseenPlace.offset());
        self.f().local_get(local::SHARED).i32_load(place).local_get(local::OFFSET).i32_add();
        self.loaded(moves, 0);
        self.f().else_();
        let mut f = self.f();
        f.local_get(local::HOST).local_get(local::A).i32_const(moves.bytes()).call(call::LOAD);
        f.local_tee(local::LONG).i64_const(0).i64_lt_s();
        self.fail_if();
        let mut f = self.f();
        f.local_get(local::LONG).i32_wrap_i64();
        match moves {
            Moves::Half { signed: true } => drop(f.i32_extend16_s()),
            Moves::Byte { signed: true } => drop(f.i32_extend8_s()),
            _ => {}
        }
        self.close();
        self.close();
    }

    /// Loads from where the bytes are, and an offset.
    fn loaded(&mut self, moves: Moves, offset: u64) {
        let mut f = self.f();
        match moves {
            Moves::Word => f.i32_load(at(offset)),
            Moves::Half { signed: true } => f.i32_load16_s(at(offset)),
            Moves::Half { signed: false } => f.i32_load16_u(at(offset)),
            Moves::Byte { signed: true } => f.i32_load8_s(at(offset)),
            Moves::Byte { signed: false } => f.i32_load8_u(at(offset)),
        };
    }

    /// Stores a register at the address.
    fn store(&mut self, moves: Moves, value: R) {
        self.finds(STORES);
        self.open_if_mostly(true, BlockType::Empty);
        self.f().local_get(local::W).i32_load(at(STORES + 8)).local_get(local::OFFSET).i32_add();
        self.stored(moves, value, 0);
        self.f().else_();
        self.f().local_get(local::HOST).local_get(local::A).i32_const(moves.bytes());
        self.get(value).call(call::STORE);
        self.fail_if();
        self.close();
    }

    /// Stores where the bytes are, and an offset.
    fn stored(&mut self, moves: Moves, value: R, offset: u64) {
        let mut f = self.get(value);
        match moves {
            Moves::Word => f.i32_store(at(offset)),
            Moves::Half { .. } => f.i32_store16(at(offset)),
            Moves::Byte { .. } => f.i32_store8(at(offset)),
        };
    }
}
