//! What is run, and what goes wrong with its card.

use fastrand::Rng;
use tilewright_board::Board;
use tilewright_model::{Data, Model, int8};
use tilewright_plan::image::input_frame;
use tilewright_plan::{Bytes, Instruction, LaneKind, Plan, Space};
use tilewright_planner::{Integrity, Options, Strategy};
use tilewright_protocol::{CardFault, CardProblem, Job, Limits};

use super::other::{Refusal, mistake};
use crate::random_model::{random_chain, random_inputs, random_model, random_tower};
use crate::{emulated, host, swapped};

/// Networks of the zoo among the small ones, and of thousands of reads.
const ZOO: [&str; 3] = ["lenet5", "ds-cnn", "resnet8"];
const LARGE: [&str; 3] = ["mobilenet-v1-w0.25-r128", "mobilenet-v1-w1.0-r128", "alexnet"];
/// Buffers of large ones, so small that they read thousands of times.
const BUFFERS: [u64; 3] = [4096, 8192, 16_384];
/// How many networks are tried until one has a program.
const TRIES: usize = 100;
/// Instructions of a case, at most: of those that were drawn none takes a quarter when its card works.
const MOST_INSTRUCTIONS: u64 = 40_000_000_000;
/// Bytes of the smallest card of high capacity.
const SMALLEST: u64 = 1024 * 512;

/// How large networks are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Some milliseconds of a board: random models, and the smallest of the zoo.
    Small,
    /// Thousands of reads, of which one in a thousand or so fails.
    Large,
}

/// What is run.
#[derive(Clone)]
pub struct Case {
    /// All of it in words.
    pub what: String,
    pub plan: Plan,
    /// The job, with what goes wrong.
    pub job: Job,
    /// What the console must say of outputs, of all frames.
    pub expected: Vec<String>,
    /// What the program does about wrong bytes.
    pub integrity: Integrity,
    /// Whether bytes are wrong without that controller or card say so.
    pub is_silent: bool,
    /// Name of what goes wrong, or of the first of them.
    pub kind: &'static str,
    /// What must be said where an image was made for something else.
    pub refusal: Option<Refusal>,
}

/// What a program is made of.
pub struct Drawn {
    model: Model,
    strategy: Strategy,
    options: Options,
    inputs: Vec<Vec<Data>>,
}

/// Case of this number.
///
/// # Errors
/// If none of many networks has a program, or a file is missing.
pub fn draw(number: u64, size: Size) -> Result<Case, String> {
    let mut rng = Rng::with_seed(number);
    let boards = match size {
        Size::Small => emulated::with_small(swapped::boards()),
        Size::Large => swapped::boards(),
    };
    let mut last = String::new();
    for _ in 0..TRIES {
        let board = &boards[rng.usize(..boards.len())];
        match case_of(board, &boards, size, &mut rng) {
            Ok(case) => return Ok(case),
            Err(error) => last = error,
        }
    }
    Err(format!("case {number}: no network has a program: {last}"))
}

fn network(size: Size, rng: &mut Rng) -> Result<Model, String> {
    let zoo = |name: &str| {
        let network = tilewright_zoo::network(name).map_err(|error| error.to_string())?;
        network.int8().map_err(|error| error.to_string())
    };
    let seed = rng.u64(..);
    match size {
        Size::Large => zoo(LARGE[rng.usize(..LARGE.len())]),
        Size::Small => Ok(match rng.u8(0..8) {
            0 | 1 => random_chain(seed),
            2 | 3 => random_model(seed),
            4 | 5 => random_tower(seed),
            _ => return zoo(ZOO[rng.usize(..ZOO.len())]),
        }),
    }
}

/// A program on a board, with something that goes wrong.
fn case_of(board: &Board, boards: &[Board], size: Size, rng: &mut Rng) -> Result<Case, String> {
    let drawn = Drawn::any(size, rng)?;
    let mut case = drawn.case_on(board)?;
    if rng.u8(0..20) > 0 {
        return Ok(fail(case, rng));
    }
    let another = rng.u8(0..4) == 0;
    let another = if another { Some(Drawn::any(size, rng)?.case_on(board)?) } else { None };
    mistake(&mut case, &drawn, board, boards, another.as_ref(), rng)?;
    Ok(case)
}

impl Drawn {
    fn any(size: Size, rng: &mut Rng) -> Result<Self, String> {
        let model = network(size, rng)?;
        let integrity = match rng.u8(0..5) {
            0 => Integrity::Trusted,
            1 | 2 => Integrity::Checked,
            _ => Integrity::Sealed,
        };
        // `auto` takes the card where nothing else holds a network.
        let strategies = [Strategy::Swap, Strategy::Stream, Strategy::Auto];
        let known = if model.name.contains("alexnet") { 3 } else { 2 };
        let strategy = strategies[rng.usize(..known)];
        let mut options = Options { integrity, ..Options::default() };
        match size {
            Size::Large => options.buffer = Some(Bytes(BUFFERS[rng.usize(..BUFFERS.len())])),
            Size::Small if rng.u8(0..3) == 0 => options.sram = Some(Bytes(rng.u64(2048..65_536))),
            Size::Small if rng.bool() => options.buffer = Some(Bytes(rng.u64(1..24) * 512)),
            Size::Small => {}
        }
        let frames = if size == Size::Small { rng.usize(1..4) } else { 1 };
        let inputs = (0..frames).map(|_| random_inputs(&model, rng.u64(..))).collect();
        Ok(Self { model, strategy, options, inputs })
    }

    /// A proved program on a board that uses a card, with nothing that goes wrong.
    ///
    /// # Errors
    /// If there is none.
    pub fn case_on(&self, board: &Board) -> Result<Case, String> {
        let Self { model, strategy, options, inputs } = self;
        let plan = emulated::proved(model, board, *strategy, options)?;
        let first = inputs.first().map_or(&[][..], Vec::as_slice);
        let mut job = emulated::job_of(&plan, model, board, first, options)?;
        if job.card.is_none() {
            return Err(format!("{strategy} of {} uses no card", model.name));
        }
        job.limits = Limits { instructions: MOST_INSTRUCTIONS, ..job.limits };
        let mut expected = Vec::new();
        job.frames.clear();
        for inputs in inputs {
            let values = inputs.iter().filter_map(Data::as_i8).flatten();
            let payload: Vec<u8> = values.map(|value| value.cast_unsigned()).collect();
            job.frames.push(vec![input_frame(&payload).map_err(|error| error.to_string())?]);
            let outputs =
                int8::run(model, inputs, &mut |_, _| {}).map_err(|error| error.to_string())?;
            expected.extend(outputs.iter().enumerate().map(|(index, output)| {
                let bytes = host::bytes(output);
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("output {index} {digits}")
            }));
        }
        let what = format!(
            "{} by {strategy} on {}, {:?}, {} frames, SRAM {:?}, buffer {:?}",
            model.name,
            board.id,
            options.integrity,
            inputs.len(),
            options.sram,
            options.buffer
        );
        let integrity = options.integrity;
        let (is_silent, kind, refusal) = (false, "nothing", None);
        Ok(Case { what, plan, job, expected, integrity, is_silent, kind, refusal })
    }
}

/// Of each copy of the card in a frame whether it writes.
fn writes(plan: &Plan) -> Vec<bool> {
    let lanes = plan.main.iter().flat_map(|p| &p.lanes);
    let steps = lanes.filter(|lane| lane.kind == LaneKind::Card).flat_map(|lane| &lane.steps);
    let writes = steps.map(|step| match step.instruction {
        Instruction::Copy { destination, .. } => {
            plan.spans[destination as usize].space() == Some(Space::Card)
        }
        _ => false,
    });
    writes.collect()
}

/// One thing that goes wrong with transfers or commands, with its name.
fn problem(rng: &mut Rng) -> (&'static str, CardProblem) {
    let bit = rng.u8(0..8);
    match rng.u8(0..12) {
        0 => ("removed", CardProblem::Removed),
        1 => ("crc-error", CardProblem::Checksum),
        2 => ("read-error", CardProblem::Silent),
        3 => ("stuck-busy", CardProblem::Busy { ns: u64::MAX }),
        4 => ("slow-write", CardProblem::Busy { ns: rng.u64(..700_000_000) }),
        5 | 6 => ("garbled", CardProblem::Garbled { bit }),
        7 => ("flipped-bit", CardProblem::Turned { bit }),
        8 => ("lost-write", CardProblem::Lost),
        9 => ("astray", CardProblem::Astray { sectors: rng.u32(1..64) }),
        10 => ("unheard", CardProblem::Unheard),
        _ => ("bad-answer", CardProblem::Answer),
    }
}

const fn is_silent(problem: CardProblem) -> bool {
    matches!(
        problem,
        CardProblem::Garbled { .. }
            | CardProblem::Turned { .. }
            | CardProblem::Lost
            | CardProblem::Astray { .. }
    )
}

/// Lets something go wrong.
fn fail(mut case: Case, rng: &mut Rng) -> Case {
    let used = case.plan.space(Space::Card).0;
    let frames = case.job.frames.len() as u64;
    let writes = writes(&case.plan);
    let transfers = 1 + writes.len() as u64 * frames;
    let Some(card) = case.job.card.as_mut() else { return case };
    let slot = rng.u8(0..40);
    match slot {
        0 => {
            case.kind = "empty";
            case.job.card = None;
        }
        1 if used > SMALLEST => {
            case.kind = "too-small";
            card.bytes = SMALLEST;
        }
        2 | 3 => {
            // The image is another one, or wrong from the beginning in a bit.
            case.kind = "image";
            let image = std::sync::Arc::make_mut(&mut card.image);
            let end = if slot == 2 { image.len().min(64) } else { image.len() };
            let place = rng.usize(..end);
            image[place] ^= 1 << rng.u8(0..8);
            case.is_silent = place >= 512;
            case.what = format!("{}, a bit of byte {place} of the image", case.what);
        }
        _ => {
            for number in 0..[1, 1, 2, 3][rng.usize(..4)] {
                let (kind, problem) = problem(rng);
                if number == 0 {
                    case.kind = kind;
                }
                case.is_silent |= is_silent(problem);
                let of_commands = matches!(problem, CardProblem::Unheard | CardProblem::Answer);
                // Commands take turns with identification, and may be four to a transfer.
                let end = if of_commands { 30 + transfers * 3 } else { transfers + transfers / 4 };
                let once = |transfer| CardFault { transfer, every: 0, problem };
                let chance = if transfers > 1000 { 1000 } else { 20 };
                let written = (1..).zip(&writes).filter(|(_, writes)| **writes);
                let written: Vec<u64> = written.map(|(number, _)| number).collect();
                match rng.u8(0..6) {
                    // What is done to writes shows when they are read.
                    4 | 5 if !of_commands && !written.is_empty() => {
                        let number = written[rng.usize(..written.len())];
                        card.faults.push(once(number));
                    }
                    0 | 4 | 5 => card.faults.push(once(rng.u64(..=end))),
                    1 => card
                        .faults
                        .push(CardFault { every: rng.u64(1..6), ..once(rng.u64(..=end)) }),
                    2 => card.faults.push(CardFault { every: chance, ..once(rng.u64(..chance)) }),
                    _ => card.faults.extend((0..end).filter(|_| rng.u64(..chance) == 0).map(once)),
                }
            }
            let shown: Vec<String> = card.faults.iter().take(3).map(|f| format!("{f:?}")).collect();
            let all = card.faults.len();
            case.what = format!("{}, {all} faults such as {}", case.what, shown.join(", "));
        }
    }
    case
}
