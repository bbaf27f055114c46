//! Plans of every strategy give the bytes of the reference, frame after frame.

use std::collections::BTreeSet;

use tilewright_plan::{Bytes, Space};
use tilewright_planner::{Integrity, Options, Strategy};

use crate::support::{Firmware, expected, inputs, least, network, planned};

const BOARDS: [&str; 2] = ["stm32f746g-disco", "nrf52840-dk"];
const NETWORKS: [&str; 3] = ["lenet5", "ds-cnn", "resnet8"];

#[test]
fn every_strategy_gives_the_bytes_of_the_reference() {
    let (mut strategies, mut spaces) = (BTreeSet::new(), BTreeSet::new());
    for name in NETWORKS {
        let model = network(name);
        let frames = [1, 2].map(|seed| inputs(&model, seed));
        let wanted = frames.each_ref().map(|inputs| expected(&model, inputs));
        for id in BOARDS {
            let board = tilewright_board::find(id).unwrap();
            for strategy in Strategy::ALL {
                for integrity in [Integrity::Trusted, Integrity::Checked] {
                    let options = Options { integrity, ..least() };
                    let what = format!("{name}, {id}, {strategy:?}, {integrity:?}");
                    let Ok(planned) = planned(&model, &board, strategy, &options) else { continue };
                    let mut firmware = Firmware::new(&planned, &model, &board, integrity);
                    let status = firmware.open();
                    // What it cannot do, it says.
                    if status == 10 {
                        assert!(firmware.said().contains("which this library cannot do"), "{what}");
                        continue;
                    }
                    assert_eq!(status, 0, "{what}: {}", firmware.said());
                    for (inputs, wanted) in frames.iter().zip(&wanted) {
                        firmware.set_inputs(inputs);
                        assert_eq!(firmware.invoke(), 0, "{what}: {}", firmware.said());
                        assert_eq!(firmware.outputs(), *wanted, "{what}");
                    }
                    strategies.insert(strategy);
                    let spans = planned.plan.spans.iter().filter_map(|span| span.space());
                    let views = planned.plan.views.iter().filter_map(|view| view.space());
                    spaces.extend(spans.chain(views));
                }
            }
        }
    }
    assert_eq!(strategies.len(), Strategy::ALL.len(), "{strategies:?}");
    assert_eq!(spaces.len(), Space::ALL.len(), "{spaces:?}");
}

/// Activations that lie on the card in between, with checksums of what was written.
#[test]
fn what_is_swapped_is_written_and_read_by_the_card_s_functions() {
    let model = network("resnet8");
    let board = tilewright_board::find("stm32f746g-disco").unwrap();
    let sram = Some(Bytes(24 << 10));
    for integrity in [Integrity::Trusted, Integrity::Checked] {
        let options = Options { sram, integrity, ..Options::default() };
        let planned = planned(&model, &board, Strategy::Swap, &options).unwrap();
        let mut firmware = Firmware::new(&planned, &model, &board, integrity);
        assert_eq!(firmware.open(), 0, "{}", firmware.said());
        let inputs = inputs(&model, 3);
        firmware.set_inputs(&inputs);
        assert_eq!(firmware.invoke(), 0, "{}", firmware.said());
        assert_eq!(firmware.outputs(), expected(&model, &inputs));
        assert!(firmware.card.reads > 1, "weights come from it");
    }
}
