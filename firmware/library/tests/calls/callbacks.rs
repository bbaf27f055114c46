//! What observers hear and may do, and what a failing card comes to.

use std::ffi::{c_int, c_void};

use tilewright_library::abi::Tilewright;
use tilewright_library::calls::{
    tilewright_failed_layer, tilewright_failed_step, tilewright_invoke, tilewright_layer_name,
    tilewright_layers, tilewright_observe,
};
use tilewright_plan::Bytes;
use tilewright_planner::{Integrity, Options, Strategy};

use crate::support::{Firmware, expected, inputs, least, network, planned};

struct Heard {
    model: *mut Tilewright,
    layers: Vec<u32>,
    began: usize,
    statuses: Vec<c_int>,
}

unsafe extern "C" fn hear(context: *mut c_void, _step: u32, layer: u32, is_end: c_int) {
    // SAFETY: it is what the test gave.
    let heard = unsafe { &mut *context.cast::<Heard>() };
    if is_end == 0 {
        heard.began += 1;
        return;
    }
    heard.layers.push(layer);
    let mut name = [0; 4];
    // SAFETY: the model is the one that runs.
    unsafe {
        assert!(layer < tilewright_layers(heard.model));
        let length = tilewright_layer_name(heard.model, layer, name.as_mut_ptr(), name.len());
        assert!(length > 0 && name[3] == 0);
        heard.statuses.push(tilewright_invoke(heard.model));
    }
}

#[test]
fn an_observer_hears_of_each_step_and_cannot_run_the_model_again() {
    let model = network("lenet5");
    let board = tilewright_board::find("nrf52840-dk").unwrap();
    let planned = planned(&model, &board, Strategy::Resident, &least()).unwrap();
    let mut firmware = Firmware::new(&planned, &model, &board, Integrity::Trusted);
    assert_eq!(firmware.open(), 0);
    let inputs = inputs(&model, 1);
    firmware.set_inputs(&inputs);
    let mut heard = Heard { model: firmware.model(), layers: vec![], began: 0, statuses: vec![] };
    // SAFETY: both stay as long as the model.
    unsafe { tilewright_observe(firmware.model(), Some(hear), (&raw mut heard).cast()) };
    assert_eq!(firmware.invoke(), 0);
    assert_eq!(firmware.outputs(), expected(&model, &inputs));
    assert_eq!(heard.began, heard.layers.len());
    assert_eq!(heard.layers.last(), Some(&(planned.plan.layers.len() as u32 - 1)));
    assert!(heard.statuses.iter().all(|status| *status == 5), "{:?}", heard.statuses);
}

#[test]
fn a_failing_card_is_said_with_sector_and_layer() {
    let model = network("resnet8");
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let (sram, integrity) = (Some(Bytes(24 << 10)), Integrity::Checked);
    let options = Options { sram, integrity, ..Options::default() };
    let planned = planned(&model, &board, Strategy::Swap, &options).unwrap();
    let mut firmware = Firmware::new(&planned, &model, &board, integrity);
    assert_eq!(firmware.open(), 0);
    let inputs = inputs(&model, 3);
    firmware.set_inputs(&inputs);
    firmware.card.code = -7;
    assert_eq!(firmware.invoke(), 13);
    let said = firmware.said();
    assert!(said.contains("its driver gave up with -7; look at the card's driver"), "{said}");
    // SAFETY: the model is open.
    let (step, layer) = unsafe {
        (tilewright_failed_step(firmware.model()), tilewright_failed_layer(firmware.model()))
    };
    assert!(step >= 0 && layer >= 0, "{step} {layer}");

    // A wrong bit of the weights is seen, and the model runs again once it is gone.
    firmware.card.code = 0;
    firmware.card.flipped = Some(513);
    firmware.set_inputs(&inputs);
    assert_eq!(firmware.invoke(), 11);
    assert!(firmware.said().contains("its image holds other bytes"), "{}", firmware.said());
    firmware.card.flipped = None;
    firmware.set_inputs(&inputs);
    assert_eq!(firmware.invoke(), 0, "{}", firmware.said());
    assert_eq!(firmware.outputs(), expected(&model, &inputs));
    assert_eq!(firmware.said(), "");

    // Another plan's card is refused.
    firmware.card.bytes[100] ^= 1;
    assert_eq!(firmware.open(), 11);
    firmware.card.code = 3;
    assert_eq!(firmware.open(), 13);
}
