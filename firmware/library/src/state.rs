//! An open model, in memory of the caller.
#![expect(unsafe_code, reason = "memory and functions of C")]

use core::ffi::c_void;
use core::mem::MaybeUninit;

use tilewright_plan::PlanImage;
use tilewright_plan::image::{EntryRecord, IoRecord};

use crate::abi::{Tilewright, TilewrightObserver};
use crate::failure::{Failure, Status};
use crate::places::Places;

/// What memory holds once `tilewright_open` was called on it; nothing else begins so.
const MAGIC: u32 = 0x5457_4c31;

/// What a model is while it is open. Copied for a run, so that callbacks may look at the model meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    /// The plan.
    pub image: PlanImage<'static>,
    /// Its memories.
    pub places: Places,
    /// The program that runs.
    pub entry: usize,
    /// The output at whose exit the last run ended.
    pub exit: Option<u16>,
    /// Who hears of steps, and what is handed on to it.
    pub observer: (TilewrightObserver, *mut c_void),
}

impl Opened {
    /// The program that runs.
    pub fn program(&self) -> EntryRecord {
        self.image.entries().get(self.entry).copied().unwrap_or_default()
    }

    /// Its inputs.
    pub fn inputs(&self) -> &'static [IoRecord] {
        self.image.entry_inputs(&self.program())
    }

    /// Its outputs, up to the exit that was taken.
    pub fn outputs(&self) -> &'static [IoRecord] {
        let all = self.image.entry_outputs(&self.program());
        self.exit.and_then(|exit| all.get(..=usize::from(exit))).unwrap_or(all)
    }
}

/// What lies in a [`Tilewright`].
#[derive(Debug)]
#[repr(C)]
pub struct State {
    magic: u32,
    /// Whether it runs.
    pub running: bool,
    /// Why the last call failed.
    pub failure: Option<Failure>,
    /// Nothing unless it was opened well.
    pub opened: Option<Opened>,
}

const _: () = assert!(size_of::<State>() <= size_of::<Tilewright>());
const _: () = assert!(align_of::<State>() <= align_of::<Tilewright>());

/// Whether a pointer can be one to a model at all.
fn checked(model: *const Tilewright) -> Result<*mut State, Status> {
    let state = model.cast_mut().cast::<State>();
    match (state.is_null(), state.is_aligned()) {
        (true, _) => Err(Status::NullPointer),
        (false, false) => Err(Status::Misaligned),
        (false, true) => Ok(state),
    }
}

/// Whether the memory holds a state.
///
/// # Safety
/// It leads to a [`Tilewright`].
unsafe fn is_state(state: *const State) -> bool {
    // SAFETY: the caller's memory is there and aligned; it may hold anything, which this only reads as bytes.
    let magic = unsafe { state.cast::<MaybeUninit<u32>>().read_volatile() };
    // SAFETY: C's memory has some value; a model that was never opened is read here alone.
    unsafe { magic.assume_init() == MAGIC }
}

/// The state of a model that was opened, to look at.
///
/// # Safety
/// The pointer is null, or leads to a [`Tilewright`] that nobody changes during the lifetime.
pub unsafe fn look<'s>(model: *const Tilewright) -> Result<&'s State, Status> {
    let state = checked(model)?;
    // SAFETY: as the caller promises; a state begins so, and nothing else was written there since.
    unsafe { if is_state(state) { Ok(&*state) } else { Err(Status::NotOpen) } }
}

/// The same, to be changed.
///
/// # Safety
/// As [`look`], and nobody else looks at it.
pub unsafe fn change<'s>(model: *mut Tilewright) -> Result<&'s mut State, Status> {
    let state = checked(model)?;
    // SAFETY: as above.
    unsafe { if is_state(state) { Ok(&mut *state) } else { Err(Status::NotOpen) } }
}

/// Makes the memory a state in which nothing is open, unless it is one that runs.
///
/// # Safety
/// As [`change`].
pub unsafe fn begin<'s>(model: *mut Tilewright) -> Result<&'s mut State, Status> {
    let state = checked(model)?;
    // SAFETY: as above.
    unsafe {
        if is_state(state) && (*state).running {
            return Err(Status::Busy);
        }
        state.write(State { magic: MAGIC, running: false, failure: None, opened: None });
        Ok(&mut *state)
    }
}
