//! Runs plan images on the host, with the firmware's own runtime and kernels.

use tilewright_image::StoreImage;
use tilewright_model::{Data, Model, int8};
use tilewright_plan::image::{AlignedBytes, Expected, StoreHeader};
use tilewright_plan::{Arrival, Arrivals, InputResidency, Plan, PlanImage, Space};
use tilewright_runtime::{LaneDriver, Memory, Pace, Reached, SoftwareEngines, run_from, run_with};

/// A tensor's bytes as they lie in memory.
#[must_use]
pub fn bytes(data: &Data) -> Vec<i8> {
    match data {
        Data::I8(values) => values.clone(),
        Data::I32(values) => {
            values.iter().flat_map(|value| value.to_le_bytes()).map(u8::cast_signed).collect()
        }
        Data::F32(_) => Vec::new(),
    }
}

/// Runs a plan with transfers as early and as late as they can be.
///
/// # Panics
/// If it fails, or gives other bytes than the reference interpreter; `what` says which plan it is.
pub fn runs_bit_equal(plan: &Plan, model: &Model, inputs: &[Data], what: &str) {
    let outputs = int8::run(model, inputs, &mut |_, _| {});
    let outputs = outputs.unwrap_or_else(|error| panic!("{what}: {error}"));
    let expected: Vec<Vec<i8>> = outputs.iter().map(bytes).collect();
    for how in [(0x00, Pace::Early), (0xa5, Pace::Late)] {
        assert_eq!(run(plan, model, inputs, how).as_ref(), Ok(&expected), "{what}");
    }
}

/// Runs the main program of a plan: see [`run_program`].
///
/// # Errors
/// As [`run_program`].
pub fn run(
    plan: &Plan,
    model: &Model,
    inputs: &[Data],
    how: (u8, Pace),
) -> Result<Vec<Vec<i8>>, String> {
    run_program(plan, model, inputs, None, how).map(|(outputs, _)| outputs)
}

/// Runs the main program of a plan of `model`, or one of its sub-networks, on `inputs` with the firmware's runtime, its transfers in
/// software, in memories as large as the plan needs, those that can be written filled with `garbage`
/// first; gives the outputs, and the number of the one at whose exit the run ended.
///
/// # Errors
/// What the builder or the reader of the image, the store, or the runtime says.
pub fn run_program(
    plan: &Plan,
    model: &Model,
    inputs: &[Data],
    subnetwork: Option<usize>,
    (garbage, pace): (u8, Pace),
) -> Result<(Vec<Vec<i8>>, Option<u16>), String> {
    let image = tilewright_image::plan_image(plan, model).map_err(|e| e.to_string())?;
    let store = |space| {
        let mut bytes = Vec::new();
        if tilewright_image::stores(plan).any(|there| there == space) {
            let store = StoreImage::new(plan, model, &image, space).map_err(|e| e.to_string())?;
            store.write(&mut |piece| bytes.extend_from_slice(piece)).map_err(|e| e.to_string())?;
            assert_eq!(bytes.len() as u64, store.bytes());
        }
        Ok::<_, String>(bytes)
    };
    let (flash, mut card) = (store(Space::ExternalFlash)?, store(Space::Card)?);
    let aligned = AlignedBytes::copy_of(&image);
    let filled = |space| vec![garbage; plan.space(space).0 as usize];
    let (mut arena, mut ram) = (filled(Space::Arena), filled(Space::ExternalRam));
    let mut memory = Memory::new(&mut arena).with_external(&mut ram, &flash);
    let mut space_bytes = memory.space_bytes();
    space_bytes[Space::Card as usize] = plan.space(Space::Card).0;
    let expected = Expected { board: &plan.board, space_bytes };
    let image = PlanImage::read(aligned.bytes(), &expected).map_err(|e| e.to_string())?;
    for (space, bytes) in [(Space::ExternalFlash, &flash), (Space::Card, &card)] {
        if !bytes.is_empty() {
            let header = StoreHeader::read(bytes, &image, space).map_err(|e| e.to_string())?;
            header.verify(bytes).map_err(|e| e.to_string())?;
        }
    }
    card.resize(plan.space(Space::Card).0 as usize, garbage);
    let mut engines = SoftwareEngines::new(image, &mut card, pace);
    let mut programs = Vec::new();
    for (index, entry) in image.entries().iter().enumerate() {
        if entry.kind == 0 {
            programs.push(index);
        } else {
            run_with(&image, index, &mut memory, &mut engines, &mut ())
                .map_err(|e| e.to_string())?;
        }
    }
    let main = subnetwork.map_or(0, |subnetwork| subnetwork + 1);
    let main = *programs.get(main).ok_or("no program")?;
    let entry = &image.entries()[main];
    engines.begin_frame(&mut memory).map_err(|e| e.to_string())?;
    let streams = plan.input == InputResidency::Streamed;
    for (io, data) in image.entry_inputs(entry).iter().zip(inputs).filter(|_| !streams) {
        let view = image.view(io.view).ok_or("no view")?;
        let mut values = data.as_i8().ok_or("an input is not int8")?;
        for arrival in Arrivals::of(view, image.window()) {
            let part = match arrival {
                Arrival::Bytes(part) => memory.bytes_mut(&part).map_err(|e| e.to_string())?,
                Arrival::Store { from, to } => {
                    engines.store(&from, &to, &mut memory).map_err(|e| e.to_string())?;
                    continue;
                }
            };
            let (own, rest) = values.split_at_checked(part.len()).ok_or("an input is too short")?;
            for (byte, value) in part.iter_mut().zip(own) {
                *byte = value.cast_unsigned();
            }
            values = rest;
        }
        if !values.is_empty() {
            return Err("an input is too long".to_owned());
        }
    }
    engines.stored(&mut memory).map_err(|e| e.to_string())?;
    let mut arriving = inputs.first().and_then(Data::as_i8).unwrap_or(&[]);
    let mut next = 0;
    let exit = loop {
        let stopped = run_from(&image, (main, next), &mut memory, &mut engines, &mut ());
        let awaited = match stopped.map_err(|e| e.to_string())? {
            Reached::End => break None,
            Reached::Exit { output } => break Some(output),
            Reached::Arrival(awaited) => awaited,
        };
        let rows = memory.bytes_mut(&awaited.rows).map_err(|e| e.to_string())?;
        let own = arriving.split_off(..rows.len()).ok_or("the input is too short")?;
        rows.iter_mut().zip(own).for_each(|(byte, value)| *byte = value.cast_unsigned());
        next = awaited.next;
    };
    if streams && !arriving.is_empty() {
        return Err("not all of the input arrives".to_owned());
    }
    let outputs = image.entry_outputs(entry).iter().map(|io| {
        let view = image.view(io.view).ok_or("no view")?;
        let bytes = memory.bytes(&image, &view).map_err(|e| e.to_string())?;
        Ok(bytes.iter().map(|byte| byte.cast_signed()).collect())
    });
    let outputs: Result<Vec<Vec<i8>>, String> = outputs.collect();
    let mut outputs = outputs?;
    outputs.truncate(exit.map_or(usize::MAX, |exit| usize::from(exit) + 1));
    Ok((outputs, exit))
}
