//! A firmware of one's own: a plan, its memories and a card.

use std::ffi::{CString, c_char, c_int, c_void};

use tilewright_board::Board;
use tilewright_check::{check, reference};
use tilewright_image::Images;
use tilewright_library::abi::{
    Tilewright, TilewrightCard, TilewrightMemory, TilewrightTensor, WORDS,
};
use tilewright_library::calls::{
    tilewright_describe, tilewright_input, tilewright_inputs, tilewright_invoke, tilewright_open,
    tilewright_output, tilewright_outputs,
};
use tilewright_model::{Data, Model};
use tilewright_plan::Space;
use tilewright_plan::image::AlignedBytes;
use tilewright_planner::{Integrity, Objective, Options, PlanError, Planned, Strategy};

/// 32 bytes that begin at a multiple of 32.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub struct Line([u8; 32]);

/// Memory of whole lines, filled with what RAM may hold at first.
pub fn memory(bytes: u64) -> Vec<Line> {
    vec![Line([0xa5; 32]); (bytes as usize).div_ceil(32)]
}

/// A card as its driver sees it.
pub struct Card {
    pub bytes: Vec<u8>,
    pub reads: usize,
    pub writes: usize,
    /// What the driver returns.
    pub code: c_int,
    /// A bit of this byte, if any, is wrong whenever it is read.
    pub flipped: Option<usize>,
}

/// All that firmware has.
pub struct Firmware {
    pub model: Box<Tilewright>,
    pub plan: AlignedBytes,
    pub board: CString,
    pub arena: Vec<Line>,
    pub ram: Vec<Line>,
    pub flash: AlignedBytes,
    pub card: Box<Card>,
    pub given: TilewrightMemory,
    driver: Box<TilewrightCard>,
}

pub const SECTOR: usize = 512;

unsafe extern "C" fn read(
    context: *mut c_void,
    sector: u32,
    sectors: u32,
    to: *mut c_void,
) -> c_int {
    // SAFETY: the library calls with what it was given.
    let (card, to) = unsafe {
        let to = std::slice::from_raw_parts_mut(to.cast::<u8>(), sectors as usize * SECTOR);
        (&mut *context.cast::<Card>(), to)
    };
    let start = sector as usize * SECTOR;
    to.copy_from_slice(&card.bytes[start..start + to.len()]);
    let flipped = card.flipped.and_then(|at| to.get_mut(at.checked_sub(start)?));
    flipped.into_iter().for_each(|byte| *byte ^= 1);
    card.reads += 1;
    card.code
}

unsafe extern "C" fn write(
    context: *mut c_void,
    sector: u32,
    sectors: u32,
    from: *const c_void,
) -> c_int {
    // SAFETY: as above.
    let (card, from) = unsafe {
        let from = std::slice::from_raw_parts(from.cast::<u8>(), sectors as usize * SECTOR);
        (&mut *context.cast::<Card>(), from)
    };
    let start = sector as usize * SECTOR;
    card.bytes[start..start + from.len()].copy_from_slice(from);
    card.writes += 1;
    card.code
}

/// A proved plan.
pub fn planned(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    options: &Options,
) -> Result<Planned, PlanError> {
    let planned = tilewright_planner::plan(model, board, strategy, options)?;
    check(&planned.plan, planned.model(model), board).unwrap();
    Ok(planned)
}

/// As little memory as there can be.
pub fn least() -> Options {
    Options { objective: Objective::Memory, ..Options::default() }
}

impl Firmware {
    /// For a plan.
    pub fn new(planned: &Planned, model: &Model, board: &Board, integrity: Integrity) -> Self {
        let (plan, model) = (&planned.plan, planned.model(model));
        let images = match integrity {
            Integrity::Checked => tilewright_image::checked_images(plan, model),
            _ => tilewright_image::images(plan, model),
        };
        let images = images.unwrap();
        let bytes = |space: Space| {
            let header = 16 + space as usize * 4;
            u64::from(u32::from_le_bytes(images.plan[header..header + 4].try_into().unwrap()))
        };
        Self::of(&images, &board.id, &bytes)
    }

    /// For images, with so many bytes in each space.
    pub fn of(images: &Images, board: &str, bytes: &dyn Fn(Space) -> u64) -> Self {
        let store = |space| {
            let found = images.stores.iter().find(|(there, _)| *there == space);
            found.map_or(Vec::new(), |(_, bytes)| bytes.clone())
        };
        let mut card = store(Space::Card);
        card.resize((bytes(Space::Card) as usize).next_multiple_of(SECTOR).max(card.len()), 0xee);
        let mut this = Self {
            model: Box::new(Tilewright { private_words: [0xdead_beef_dead_beef; WORDS] }),
            plan: AlignedBytes::copy_of(&images.plan),
            board: CString::new(board).unwrap(),
            arena: memory(bytes(Space::Arena)),
            ram: memory(bytes(Space::ExternalRam)),
            flash: AlignedBytes::copy_of(&store(Space::ExternalFlash)),
            card: Box::new(Card { bytes: card, reads: 0, writes: 0, code: 0, flipped: None }),
            given: TilewrightMemory {
                arena: std::ptr::null_mut(),
                arena_bytes: 0,
                external_ram: std::ptr::null_mut(),
                external_ram_bytes: 0,
                external_flash: std::ptr::null(),
                external_flash_bytes: 0,
                card: std::ptr::null(),
            },
            driver: Box::new(TilewrightCard {
                context: std::ptr::null_mut(),
                sectors: 0,
                read: Some(read),
                write: Some(write),
            }),
        };
        this.driver.context = (&raw mut *this.card).cast();
        this.driver.sectors = (this.card.bytes.len() / SECTOR) as u32;
        this.given = TilewrightMemory {
            arena: this.arena.as_mut_ptr().cast(),
            arena_bytes: this.arena.len() * 32,
            external_ram: this.ram.as_mut_ptr().cast(),
            external_ram_bytes: this.ram.len() * 32,
            external_flash: this.flash.bytes().as_ptr().cast(),
            external_flash_bytes: this.flash.bytes().len(),
            card: if this.card.bytes.is_empty() {
                std::ptr::null()
            } else {
                &raw const *this.driver
            },
        };
        this
    }

    /// The model, as functions take it.
    pub fn model(&mut self) -> *mut Tilewright {
        &raw mut *self.model
    }

    pub fn open(&mut self) -> i32 {
        let (plan, bytes) = (self.plan.bytes().as_ptr().cast(), self.plan.bytes().len());
        // SAFETY: all of it is there.
        unsafe {
            tilewright_open(self.model(), plan, bytes, self.board.as_ptr(), &raw const self.given)
        }
    }

    pub fn invoke(&mut self) -> i32 {
        // SAFETY: as above.
        unsafe { tilewright_invoke(self.model()) }
    }

    pub fn said(&mut self) -> String {
        let mut text = [0x7f_u8; 256];
        // SAFETY: as above.
        let length = unsafe {
            tilewright_describe(self.model(), text.as_mut_ptr().cast::<c_char>(), text.len())
        };
        let end = text.iter().position(|byte| *byte == 0).expect("it ends in a 0");
        assert_eq!(end, length.min(text.len() - 1));
        String::from_utf8(text[..end].to_vec()).unwrap()
    }

    pub fn tensor(&mut self, is_input: bool, index: u32) -> Result<TilewrightTensor, i32> {
        let mut tensor = TilewrightTensor {
            data: std::ptr::null_mut(),
            bytes: 0,
            height: 0,
            width: 0,
            channels: 0,
            scale: 0.0,
            zero_point: 0,
        };
        let get = if is_input { tilewright_input } else { tilewright_output };
        // SAFETY: as above.
        let status = unsafe { get(self.model(), index, &raw mut tensor) };
        if status == 0 { Ok(tensor) } else { Err(status) }
    }

    pub fn set_inputs(&mut self, inputs: &[Data]) {
        // SAFETY: as above.
        assert_eq!(unsafe { tilewright_inputs(self.model()) }, inputs.len() as u32);
        for (index, input) in (0..).zip(inputs) {
            let (tensor, values) = (self.tensor(true, index).unwrap(), input.as_i8().unwrap());
            assert_eq!(tensor.bytes, values.len());
            // SAFETY: the library says that they are there.
            unsafe { std::ptr::copy(values.as_ptr(), tensor.data, tensor.bytes) };
        }
    }

    pub fn outputs(&mut self) -> Vec<Vec<i8>> {
        // SAFETY: as above.
        let count = unsafe { tilewright_outputs(self.model()) };
        let values = |index| {
            let tensor = self.tensor(false, index).unwrap();
            // SAFETY: the library says that they are there.
            unsafe { std::slice::from_raw_parts(tensor.data, tensor.bytes).to_vec() }
        };
        (0..count).map(values).collect()
    }
}

/// Random inputs of a model.
pub fn inputs(model: &Model, seed: u64) -> Vec<Data> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut values = |input| {
        let elements = model.tensor(input).shape.elements().unwrap();
        Data::I8((0..elements).map(|_| rng.i8(..)).collect())
    };
    model.inputs.iter().map(|input| values(*input)).collect()
}

/// What the reference makes of them.
pub fn expected(model: &Model, inputs: &[Data]) -> Vec<Vec<i8>> {
    reference::expected_outputs(model, inputs, &|| false).unwrap()
}

/// A network of the zoo.
pub fn network(name: &str) -> Model {
    tilewright_zoo::network(name).unwrap().int8().unwrap()
}
