//! The functions of `tilewright.h`.
//!
//! # Safety
//! Each pointer is null or leads to what the header says; the model's, its plan and its memories are used by nobody else
//! meanwhile. Everything else is checked.
#![expect(unsafe_code, reason = "symbols and memory of C; the header names both")]
#![expect(clippy::missing_safety_doc, reason = "all have the module's")]

use core::ffi::{c_char, c_int, c_void};
use core::fmt::Write;

use tilewright_plan::image::IoRecord;

use crate::abi::{Tilewright, TilewrightMemory, TilewrightObserver, TilewrightTensor};
use crate::failure::{Failure, Status};
use crate::state::{self, Opened, State};
use crate::text::Text;
use crate::{invoke, open};

/// Notes how a call ended.
fn ended(state: &mut State, result: Result<(), Failure>) -> c_int {
    state.failure = result.err();
    state.failure.map_or(Status::Ok, Failure::status) as c_int
}

/// An open model that does not run; or why there is none.
unsafe fn at_rest<'s>(model: *mut Tilewright) -> Result<&'s mut State, Status> {
    // SAFETY: as the module says.
    let state = unsafe { state::change(model)? };
    match (state.running, &state.opened) {
        (true, _) => Err(Status::Busy),
        (false, None) => Err(Status::NotOpen),
        (false, Some(_)) => Ok(state),
    }
}

/// What is open; or why nothing is.
unsafe fn opened<'s>(model: *const Tilewright) -> Result<&'s Opened, Status> {
    // SAFETY: as the module says.
    unsafe { state::look(model)?.opened.as_ref().ok_or(Status::NotOpen) }
}

/// Checks a plan image and its memories, and runs what is run once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_open(
    model: *mut Tilewright,
    plan: *const c_void,
    plan_bytes: usize,
    board: *const c_char,
    memory: *const TilewrightMemory,
) -> c_int {
    // SAFETY: as the module says.
    match unsafe { state::begin(model) } {
        // The card's functions and boot programs run meanwhile.
        Ok(state) => state.running = true,
        Err(status) => return status as c_int,
    }
    let given = open::Given { plan, plan_bytes, board, memory };
    // SAFETY: the same.
    let opened = unsafe { open::open(model, &given) };
    // SAFETY: the same.
    let Ok(state) = (unsafe { state::change(model) }) else { return Status::NotOpen as c_int };
    state.running = false;
    let result = opened.map(|opened| state.opened = Some(opened));
    ended(state, result)
}

/// Computes outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_invoke(model: *mut Tilewright) -> c_int {
    // SAFETY: as the module says.
    let copy = match unsafe { at_rest(model) } {
        Ok(state) => {
            state.running = true;
            if let Some(opened) = &mut state.opened {
                opened.exit = None;
            }
            state.opened
        }
        Err(status) => return status as c_int,
    };
    // Nothing of the state is borrowed here, since callbacks may look at it.
    let Some(copy) = copy else { return Status::NotOpen as c_int };
    // SAFETY: the same.
    let result = unsafe { invoke::invoke(&copy) };
    // SAFETY: the same.
    let Ok(state) = (unsafe { state::change(model) }) else { return Status::NotOpen as c_int };
    state.running = false;
    let result = result.map(|exit| {
        if let Some(opened) = &mut state.opened {
            opened.exit = exit;
        }
    });
    ended(state, result)
}

/// Number of inputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_inputs(model: *const Tilewright) -> u32 {
    // SAFETY: as the module says.
    unsafe { opened(model).map_or(0, |opened| opened.inputs().len() as u32) }
}

/// Number of outputs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_outputs(model: *const Tilewright) -> u32 {
    // SAFETY: as the module says.
    unsafe { opened(model).map_or(0, |opened| opened.outputs().len() as u32) }
}

/// Says where an input or output lies and what it is.
unsafe fn describe_tensor(
    opened: Result<&Opened, Status>,
    all: impl Fn(&Opened) -> &'static [IoRecord],
    index: u32,
    tensor: *mut TilewrightTensor,
) -> Status {
    let opened = match opened {
        Ok(opened) => opened,
        Err(status) => return status,
    };
    if tensor.is_null() {
        return Status::NullPointer;
    }
    if !tensor.is_aligned() {
        return Status::Misaligned;
    }
    let io = all(opened).get(index as usize);
    let view = io.and_then(|io| opened.image.view(io.view));
    let (Some(io), Some(view)) = (io, view) else { return Status::OutOfRange };
    let Some(data) = opened.places.pointer(&opened.image, &view) else {
        return Status::OutOfRange;
    };
    let filled = TilewrightTensor {
        data: data.cast(),
        bytes: view.extent() as usize,
        height: view.h.into(),
        width: view.w.into(),
        channels: view.c,
        scale: f32::from_bits(io.scale_bits),
        zero_point: io.zero.into(),
    };
    // SAFETY: neither null nor misaligned; the rest as the module says.
    unsafe { tensor.write(filled) };
    Status::Ok
}

/// An input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_input(
    model: *const Tilewright,
    index: u32,
    tensor: *mut TilewrightTensor,
) -> c_int {
    // SAFETY: as the module says.
    unsafe { describe_tensor(opened(model), Opened::inputs, index, tensor) as c_int }
}

/// An output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_output(
    model: *const Tilewright,
    index: u32,
    tensor: *mut TilewrightTensor,
) -> c_int {
    // SAFETY: as the module says.
    unsafe { describe_tensor(opened(model), Opened::outputs, index, tensor) as c_int }
}

/// Chooses a program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_select(model: *mut Tilewright, limit_us: u32) -> c_int {
    // SAFETY: as the module says.
    let state = match unsafe { at_rest(model) } {
        Ok(state) => state,
        Err(status) => return status as c_int,
    };
    let result = match &mut state.opened {
        Some(opened) => match opened.image.select(limit_us) {
            Some(entry) => {
                (opened.entry, opened.exit) = (entry, None);
                Ok(())
            }
            None => Err(Failure::NoProgram),
        },
        None => Ok(()),
    };
    ended(state, result)
}

/// Says who hears of steps.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_observe(
    model: *mut Tilewright,
    observer: TilewrightObserver,
    context: *mut c_void,
) -> c_int {
    // SAFETY: as the module says.
    let state = match unsafe { at_rest(model) } {
        Ok(state) => state,
        Err(status) => return status as c_int,
    };
    if let Some(opened) = &mut state.opened {
        opened.observer = (observer, context);
    }
    ended(state, Ok(()))
}

/// Number of layers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_layers(model: *const Tilewright) -> u32 {
    // SAFETY: as the module says.
    unsafe { opened(model).map_or(0, |opened| opened.image.layers().len() as u32) }
}

/// A layer's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_layer_name(
    model: *const Tilewright,
    layer: u32,
    text: *mut c_char,
    bytes: usize,
) -> usize {
    // SAFETY: as the module says.
    let (opened, mut text) = unsafe { (opened(model), Text::new(text, bytes)) };
    if let Ok(Opened { image, .. }) = opened
        && let Some(layer) = image.layers().get(layer as usize)
    {
        // This never fails.
        let _ = text.write_str(image.name(layer.name));
    }
    text.end()
}

/// A class label.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_label(
    model: *const Tilewright,
    output: u32,
    label: u32,
    text: *mut c_char,
    bytes: usize,
) -> usize {
    // SAFETY: as the module says.
    let (opened, mut text) = unsafe { (opened(model), Text::new(text, bytes)) };
    if let Ok(opened) = opened
        && let Some(io) = opened.outputs().get(output as usize)
        && let Ok(label) = u16::try_from(label)
        && label < io.label_count
    {
        // This never fails.
        let _ = text.write_str(opened.image.name(io.label_first + label));
    }
    text.end()
}

/// What the last call said.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_describe(
    model: *const Tilewright,
    text: *mut c_char,
    bytes: usize,
) -> usize {
    // SAFETY: as the module says.
    let (state, mut text) = unsafe { (state::look(model), Text::new(text, bytes)) };
    // Writing never fails.
    let _ = match state {
        Ok(State { failure: None, .. }) => Ok(()),
        Ok(State { failure: Some(failure), opened, .. }) => {
            let layer = match (failure, opened) {
                (Failure::Run(error), Some(opened)) => error.layer_name(&opened.image),
                _ => "",
            };
            let prefix = if layer.is_empty() { "" } else { ": " };
            write!(text, "{layer}{prefix}{failure}")
        }
        Err(status) => text.write_str(status.text().to_str().unwrap_or("")),
    };
    text.end()
}

/// Where the last run failed.
unsafe fn failed(
    model: *const Tilewright,
    part: fn(&tilewright_runtime::Place) -> Option<u32>,
) -> i32 {
    // SAFETY: as the module says.
    let place = match unsafe { state::look(model) } {
        Ok(State { failure: Some(Failure::Run(error)), .. }) => error.place(),
        _ => return -1,
    };
    part(&place).and_then(|number| i32::try_from(number).ok()).unwrap_or(-1)
}

/// The step at which the last run failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_failed_step(model: *const Tilewright) -> i32 {
    // SAFETY: as the module says.
    unsafe { failed(model, |place| place.step) }
}

/// Its layer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tilewright_failed_layer(model: *const Tilewright) -> i32 {
    // SAFETY: as the module says.
    unsafe { failed(model, |place| place.layer.map(u32::from)) }
}

/// A sentence for a status.
#[unsafe(no_mangle)]
pub extern "C" fn tilewright_status_text(status: c_int) -> *const c_char {
    let known = usize::try_from(status).ok().and_then(|index| Status::ALL.get(index));
    known.map_or(c"no status of this library", |status| status.text()).as_ptr()
}
