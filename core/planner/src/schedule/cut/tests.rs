use super::*;
use tilewright_plan::{
    Bytes, InputResidency, Instruction, Kernel, Lane, LaneKind, Op, Program, RowOrder, Step, Tile,
};

/// A plan of one convolution, 8×4×16 from as many channels, with one pixel a window; all on a card but its constants.
fn convolution() -> Plan {
    let view = |role: &Role| match role {
        Role::Input => View::whole(Space::Card, 0, 8, 4, 16),
        Role::Output => View::whole(Space::Card, 4096, 8, 4, 16),
        Role::Weights => View::bytes(Space::Card, 8192, 256),
        Role::Constants => View::bytes(Space::Constants, 0, 16 * 8),
    };
    let tile = Tile { output_size: [8, 4], channels: 16, valid_size: [8, 4], ..Tile::default() };
    let op = Op { window: [1; 2], stride: [1; 2], dilation: [1; 2], groups: 1, ..Op::default() };
    let instruction =
        Instruction::Compute { op: 0, tile: 0, first_view: 0, order: RowOrder::Whole };
    let steps = vec![Step { after: [None; 3], frame: 0, layer: 0, instruction }];
    let program = Program {
        name: String::new(),
        frames: 1,
        lanes: vec![Lane { kind: LaneKind::Core, steps }],
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    Plan {
        model: String::new(),
        board: String::new(),
        strategy: String::new(),
        input: InputResidency::Resident,
        layers: Vec::new(),
        tensors: Vec::new(),
        ops: vec![Op { kernel: Kernel::Conv as u16, ..op }],
        tiles: vec![tile],
        views: Kernel::Conv.roles().iter().map(view).collect(),
        spans: Vec::new(),
        constants: Vec::new(),
        boot: None,
        main: Some(program),
        subnetworks: Vec::new(),
        space_bytes: [Bytes(0); 6],
        sector_checksums: None,
    }
}

/// Two tiles of four rows in two parts of eight channels, whose weights stay so long.
fn four_tasks(stays: Stays) -> Cut {
    let bring = |stays: Stays| Bring { most: 0, stays };
    Cut {
        operators: vec![Channels { operator: 0, each: 8 }],
        rows: vec![4, 4],
        inputs: bring(Stays::Tile),
        weights: bring(stays),
        parameters: Bring::CARD,
        output: Output::Goes { to: Space::Card, most: 1024, except: Vec::new(), gaps: true },
        unit: 64,
        stores_first: false,
    }
}

#[test]
fn what_stays_comes_once() {
    let plan = convolution();
    let operators = Operator::of(&plan);
    let loads = |group: Group| {
        let work = cut(&plan, &operators, &[group]);
        assert_eq!(work.tasks.iter().map(|task| task.tile).collect::<Vec<_>>(), [0, 0, 1, 1]);
        let of = |residence: &Residence| {
            (residence.class, residence.home.offset, residence.bytes, residence.uses)
        };
        work.residences.iter().map(of).collect::<Vec<_>>()
    };
    let (input, weights, output) = (Class::Input, Class::Weights, Class::Output);
    let by_tile = vec![
        (input, 0, 256, [0, 1]),
        (weights, 8192, 128, [0, 0]),
        (weights, 8320, 128, [1, 1]),
        (output, 4096, 256, [0, 1]),
        (input, 256, 256, [2, 3]),
        (weights, 8192, 128, [2, 2]),
        (weights, 8320, 128, [3, 3]),
        (output, 4352, 256, [2, 3]),
    ];
    assert_eq!(loads(four_tasks(Stays::Tile).into()), by_tile);
    let held = vec![
        (input, 0, 256, [0, 1]),
        (weights, 8192, 128, [0, 2]),
        (weights, 8320, 128, [1, 3]),
        (output, 4096, 256, [0, 1]),
        (input, 256, 256, [2, 3]),
        (output, 4352, 256, [2, 3]),
    ];
    assert_eq!(loads(four_tasks(Stays::Layer).into()), held);
    // For a group it does so over cuts, for a layer it does not.
    let apart = |stays: Stays| Group {
        cuts: vec![Cut { rows: Vec::new(), ..four_tasks(stays) }],
        depth_first: Some(Fineness::of_rows(4, u64::MAX)),
        made: [0..4, 4..8]
            .map(|rows| Strip { layer: 0, rows, columns: None, channels: None })
            .to_vec(),
    };
    assert_eq!(loads(apart(Stays::Group)), held);
    assert_eq!(loads(apart(Stays::Layer)), by_tile);
}

#[test]
fn work_that_is_not_all_there_is_found() {
    let plan = convolution();
    let operators = Operator::of(&plan);
    let work = || cut(&plan, &operators, &[four_tasks(Stays::Layer).into()]);
    let is_wrong = |change: &dyn Fn(&mut Work)| {
        let mut work = work();
        change(&mut work);
        work.verify(&operators).is_err()
    };
    assert!(!is_wrong(&|_| {}));
    assert!(is_wrong(&|work| drop(work.tasks.pop())), "rows are missing");
    assert!(is_wrong(&|work| work.tasks[3] = work.tasks[1].clone()), "rows are made twice");
    assert!(is_wrong(&|work| work.residences[0].bytes -= 1), "an operand lies outside");
    assert!(is_wrong(&|work| work.residences[0].home.space = Space::ExternalRam));
    assert!(is_wrong(&|work| work.residences[1].uses[1] = 1), "a task comes too late");
}
