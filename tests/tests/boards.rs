//! Every board that can be bought and has firmware runs the same networks, with what it has: in SRAM, beyond
//! that from a card, each layer bit-equal.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use object::{Object, ObjectSegment};
use tilewright_board::Board;
use tilewright_image::FirmwareImage;
use tilewright_model::Model;
use tilewright_plan::{Bytes, CyclePoint, Instruction, LaneKind, Space};
use tilewright_planner::{Options, Planned, Strategy};
use tilewright_protocol::Job;
use tilewright_tests::emulated;
use tilewright_tests::random_model::random_inputs;

/// The boards that can be bought and have firmware.
const IDS: [&str; 6] = [
    "stm32f746g-disco",
    "stm32f469i-disco",
    "nucleo-f767zi",
    "nucleo-l4r5zi",
    "nrf52840-dk",
    "pico-2",
];

/// Networks whose weights are more than a board's flash holds.
const TOO_LARGE: [(&str, &str); 1] = [("nrf52840-dk", "mobilenet-v2-w0.35-r96")];

fn network(name: &str) -> Model {
    tilewright_zoo::network(name).unwrap().int8().unwrap()
}

fn planned(model: &Model, board: &Board, strategy: Strategy, options: &Options) -> Planned {
    tilewright_planner::plan(model, board, strategy, options).unwrap()
}

#[test]
fn networks_are_bit_equal_on_every_board() {
    let boards = emulated::boards();
    for id in IDS {
        assert!(boards.iter().any(|board| board.id == id), "{id} has no firmware");
    }
    let half = Options { sram: Some(Bytes(49_152)), ..Options::default() };
    let cases = [
        ("lenet5", Strategy::PingPong, Options::default()),
        ("ds-cnn", Strategy::Auto, Options::default()),
        ("autoencoder", Strategy::Resident, Options::default()),
        ("resnet8", Strategy::Resident, Options::default()),
        ("mobilenet-v1-w0.25-r96", Strategy::Reordered, Options::default()),
        ("mobilenet-v2-w0.35-r96", Strategy::Auto, Options::default()),
        ("mobilenet-v1-w0.25-r96", Strategy::Swap, half.clone()),
        ("mobilenet-v1-w0.25-r128", Strategy::Stream, half),
    ];
    for board in &boards {
        let from_card = [Strategy::Swap, Strategy::Stream];
        for (name, strategy, options) in &cases {
            if from_card.contains(strategy) && !board.serves(Space::Card) {
                continue;
            }
            let what = format!("{name}, {strategy}, {}", board.id);
            let model = network(name);
            if TOO_LARGE.contains(&(board.id.as_str(), *name)) {
                let planned = planned(&model, board, *strategy, options);
                assert!(planned.unsupported(board).is_some(), "{what}");
                continue;
            }
            let inputs = random_inputs(&model, 3);
            let run = emulated::run_frames_with(&model, board, *strategy, &inputs, 2, options);
            let run = run.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(run.outcome.finish.fault, None, "{what}");
            assert_eq!(run.mismatch, None, "{what}");
            assert_eq!(run.outcome.finish.unknown_registers, [], "{what}");
        }
    }
}

/// The firmware says so, and to whom the image belongs.
#[test]
fn a_plan_of_another_board_is_refused() {
    let (model, options) = (network("ds-cnn"), Options::default());
    let inputs = random_inputs(&model, 3);
    let jobs = emulated::boards().into_iter().map(|board| {
        let (_, job) =
            emulated::job_with(&model, &board, Strategy::Resident, &inputs, &options).unwrap();
        (board, job)
    });
    let jobs: Vec<(Board, Job)> = jobs.collect();
    for ((board, job), (other, others)) in jobs.iter().zip(jobs.iter().cycle().skip(1)) {
        let plan = plan_of(&others.elf, other);
        let firmware = emulated::firmware(board).unwrap();
        let elf = FirmwareImage::new(&firmware, &plan, board).unwrap().elf;
        let outcome = emulated::run_job(Job { elf, ..job.clone() }).unwrap();
        let message = outcome.finish.fault.unwrap().message;
        assert!(message.contains(&other.id), "{}: {message}", board.id);
    }
}

/// The plan image in a board's whole one.
fn plan_of(elf: &[u8], board: &Board) -> Vec<u8> {
    let file = object::File::parse(elf).unwrap();
    let address = u64::from(board.plan_address().unwrap());
    let segment = file.segments().find(|segment| segment.address() == address).unwrap();
    segment.data().unwrap().to_vec()
}

#[test]
fn an_image_holds_firmware_and_plan_where_the_board_says() {
    for board in emulated::boards() {
        let firmware = emulated::firmware(&board).unwrap();
        let plan = [0x5a; 1000];
        let image = FirmwareImage::new(&firmware, &plan, &board).unwrap();
        let place = board.firmware.as_ref().unwrap();
        assert_eq!(image.address, place.flash_address, "{}", board.id);
        assert_eq!(Some(image.plan_address), board.plan_address());
        assert!(u64::from(image.firmware_bytes) <= place.flash_bytes.0);
        assert_eq!(image.bin[place.flash_bytes.0 as usize..], plan);
        assert!(image.elf.len() > image.firmware_bytes as usize + plan.len());
        assert!(image.hex().unwrap().ends_with(":00000001FF\n"), "{}", board.id);
        // The stack's end is the first word of the vector table, the handler of reset the second.
        let word = |at: usize| u32::from_le_bytes(image.bin[at..at + 4].try_into().unwrap());
        let sram = u64::from(place.sram_address);
        assert!((sram..=sram + place.sram_bytes.0).contains(&word(0).into()), "{}", board.id);
        assert!((image.address..image.plan_address).contains(&word(4)) && word(4) & 1 == 1);
    }
}

/// The NUCLEO-F767ZI's card is on wires, which carry half of what a slot does: firmware leaves its clock low.
#[test]
fn a_card_on_wires_goes_no_faster_than_they_carry() {
    let (model, options) = (network("mobilenet-v1-w0.25-r96"), Options::default());
    let inputs = random_inputs(&model, 3);
    let rates = ["nucleo-f767zi", "stm32f746g-disco"].map(|id| {
        let board = tilewright_board::find(id).unwrap();
        let most = board.slot.as_ref().unwrap().bytes_per_second;
        let (plan, job) =
            emulated::job_with(&model, &board, Strategy::Swap, &inputs, &options).unwrap();
        let outcome = emulated::run_job(job).unwrap();
        assert_eq!(outcome.finish.fault, None, "{id}");
        let counted = outcome.finish.invoke.cycles().0;
        let timeline = planned(&model, &board, Strategy::Swap, &options).timeline;
        let predicted = timeline.end().since(CyclePoint::default()).0;
        assert!(predicted.abs_diff(counted) * 1000 <= 50 * counted, "{id}: {predicted} {counted}");
        let lanes = &plan.main.as_ref().unwrap().lanes;
        let card = lanes.iter().filter(|lane| lane.kind == LaneKind::Card);
        let bytes: u64 = card
            .flat_map(|lane| &lane.steps)
            .filter_map(|step| match step.instruction {
                Instruction::Copy { source, .. } => plan.spans.get(source as usize),
                _ => None,
            })
            .map(|span| span.bytes())
            .sum();
        let rate = bytes * board.core.clock.hertz.0 / counted;
        assert!(rate <= most, "{id}: {rate} of {most} bytes a second");
        rate
    });
    assert!(rates[0] < rates[1], "{rates:?}");
}
