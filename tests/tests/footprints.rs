//! What the validator assumes of kernels, held against the kernels: a step reads no byte of the arena but elements of
//! its inputs, of these only the rows and columns that exist for its tile, and writes no byte but its tile's, under
//! every overlap that is allowed. Everything else is poisoned, twice, before each step.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};

use tilewright_model::{Model, int8};
use tilewright_plan::image::{AlignedBytes, ComputeStep, Expected};
use tilewright_plan::{
    Instruction, Kernel, Op, Plan, PlanImage, Role, RowOrder, Space, Tile, View,
};
use tilewright_planner::{Objective, Options, Packing, Strategy};
use tilewright_runtime::{Memory, run_step};
use tilewright_tests::host;
use tilewright_tests::random_model::{
    extreme_layer, random_chain, random_dense, random_inputs, random_model, random_network,
    random_splits, random_tower,
};

/// Strategies whose steps touch the arena and the image alone.
const STRATEGIES: [Strategy; 4] =
    [Strategy::Resident, Strategy::Reordered, Strategy::PingPong, Strategy::Auto];
const BOARD: &str = "stm32f746g-disco";

/// Where elements of a view lie, those in `rows` and `columns` (of the tensor).
fn places(view: &View, rows: [i32; 2], columns: [i32; 2]) -> BTreeSet<usize> {
    let mut places = BTreeSet::new();
    for y in rows[0].max(view.y0.into())..rows[1].min(i32::from(view.y0) + i32::from(view.h)) {
        for x in
            columns[0].max(view.x0.into())..columns[1].min(i32::from(view.x0) + i32::from(view.w))
        {
            let row = (y - i32::from(view.y0)) as u32 + u32::from(view.first_row);
            let row = row % u32::from(view.ring_rows);
            let column = (x - i32::from(view.x0)) as u32;
            let pixel = view.offset + row * view.row_pitch + column * view.column_pitch;
            places.extend((pixel..pixel + view.c).map(|place| place as usize));
        }
    }
    places
}

fn all(view: &View) -> BTreeSet<usize> {
    places(view, [i32::MIN, i32::MAX], [i32::MIN, i32::MAX])
}

/// The bytes of the arena that a step may read, and those that it may write.
fn footprint(op: &Op, tile: &Tile, operands: &[View]) -> [BTreeSet<usize>; 2] {
    let kernel = op.kernel().unwrap();
    let sees_valid_alone = matches!(
        kernel,
        Kernel::Conv
            | Kernel::Depthwise
            | Kernel::TransposeConv
            | Kernel::MaxPool
            | Kernel::AveragePool
            | Kernel::ConvMaxPool
            | Kernel::ResizeBilinear
    );
    let range = |start: u16, size: u16| [i32::from(start), i32::from(start) + i32::from(size)];
    let [mut reads, mut writes] = [BTreeSet::new(), BTreeSet::new()];
    for (role, view) in kernel.roles().iter().zip(operands) {
        if view.space() != Some(Space::Arena) {
            continue;
        }
        match role {
            Role::Output => {
                let [rows, columns] =
                    [0, 1].map(|axis| range(tile.output_start[axis], tile.output_size[axis]));
                writes.extend(places(view, rows, columns));
            }
            Role::Input if sees_valid_alone => {
                let [rows, columns] =
                    [0, 1].map(|axis| range(tile.valid_start[axis], tile.valid_size[axis]));
                reads.extend(places(view, rows, columns));
            }
            _ => reads.extend(all(view)),
        }
    }
    [reads, writes]
}

/// Runs a resident program step by step; says how often each kernel was held against its footprint, and how often
/// what it writes overlapped what it reads.
fn held(plan: &Plan, model: &Model, seed: u64, counts: &mut BTreeMap<&'static str, [u32; 2]>) {
    let inputs = random_inputs(model, seed);
    let expected = int8::run(model, &inputs, &mut |_, _| {}).unwrap();
    let bytes = tilewright_image::plan_image(plan, model).unwrap();
    let aligned = AlignedBytes::copy_of(&bytes);
    let mut arena = vec![0u8; plan.space(Space::Arena).0 as usize];
    let space_bytes = Memory::new(&mut arena).space_bytes();
    let expected_image = Expected { board: &plan.board, space_bytes };
    let image = PlanImage::read(aligned.bytes(), &expected_image).unwrap();
    let program = &plan.main.as_ref().unwrap();
    for (io, data) in program.inputs.iter().zip(&inputs) {
        let view = plan.views[io.view as usize];
        for (place, value) in all(&view).into_iter().zip(host::bytes(data)) {
            arena[place] = value.cast_unsigned();
        }
    }
    for step in &program.lanes[0].steps {
        let Instruction::Compute { op, tile, first_view, order } = step.instruction else {
            continue;
        };
        let (op, operands) = plan.operands(op, first_view).unwrap();
        let tile = &plan.tiles[tile as usize];
        let kernel = op.kernel().unwrap();
        let what = format!("{}: {}, {order:?}, {operands:?}", model.name, kernel.name());
        let [reads, writes] = footprint(op, tile, operands);
        let overlaps = reads.intersection(&writes).next().is_some();
        let (mut after_step, mut made) = (Vec::new(), Vec::<Vec<u8>>::new());
        for poison in [0x5a, 0xc3] {
            let mut poisoned = vec![poison; arena.len()];
            for place in &reads {
                poisoned[*place] = arena[*place];
            }
            let before = poisoned.clone();
            let step = ComputeStep { op, tile, operands };
            let mut memory = Memory::new(&mut poisoned);
            run_step(&image, &mut memory, &step, order).unwrap_or_else(|e| panic!("{what}: {e}"));
            for (place, (before, after)) in before.iter().zip(&poisoned).enumerate() {
                assert!(before == after || writes.contains(&place), "{what}: byte {place} written");
            }
            made.push(writes.iter().map(|place| poisoned[*place]).collect());
            after_step = poisoned;
        }
        assert_eq!(made[0], made[1], "{what}: it depends on bytes that it does not name");
        for place in &writes {
            arena[*place] = after_step[*place];
        }
        let [count, overlapping] = counts.entry(kernel.name()).or_default();
        *count += 1;
        *overlapping += u32::from(overlaps || order != RowOrder::Whole);
    }
    for (io, data) in program.outputs.iter().zip(&expected) {
        let view = plan.views[io.view as usize];
        let found: Vec<i8> = all(&view).iter().map(|place| arena[*place].cast_signed()).collect();
        assert_eq!(found, host::bytes(data), "{}", model.name);
    }
}

#[test]
fn steps_touch_what_they_name_and_nothing_else() {
    let board = tilewright_board::find(BOARD).unwrap();
    let mut counts = BTreeMap::new();
    let models = (0..150).flat_map(|seed| {
        let of_seed = [
            random_model(seed),
            random_chain(seed),
            random_network(seed),
            random_splits(seed),
            extreme_layer(seed).0,
        ];
        let larger = seed < 10;
        of_seed
            .into_iter()
            .chain(larger.then(|| random_dense(seed)))
            .chain(larger.then(|| random_tower(seed)))
    });
    for (number, model) in models.enumerate() {
        for strategy in STRATEGIES {
            if strategy.unsupported(&model, Some(&board)).is_some() {
                continue;
            }
            let packing = if number % 2 == 0 { Packing::Fast } else { Packing::Plain };
            let options = Options { objective: Objective::Memory, packing, ..Options::default() };
            let plan = tilewright_planner::plan(&model, &board, strategy, &options).unwrap().plan;
            let is_in_sram = plan.boot.is_none()
                && plan.main.as_ref().unwrap().lanes.len() == 1
                && plan.space(Space::ExternalRam).0 == 0
                && plan.space(Space::ExternalFlash).0 == 0;
            if is_in_sram {
                held(&plan, &model, number as u64, &mut counts);
            }
        }
    }
    for kernel in Kernel::ALL {
        let [count, _] = counts.get(kernel.name()).copied().unwrap_or_default();
        assert!(count >= 10, "{} ran {count} times: {counts:?}", kernel.name());
    }
    let overlapping: u32 = counts.values().map(|[_, overlapping]| overlapping).sum();
    assert!(overlapping > 600, "{overlapping} overlaps: {counts:?}");
}
