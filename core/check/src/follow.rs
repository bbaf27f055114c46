//! Follows programs step by step with what every byte of every memory holds.
//!
//! Constants are followed like tensors: a filter that was copied to SRAM is known by what the copy moved. A byte holds an
//! element of one frame's tensor, so programs of several frames need no steady state: all their steps are listed.

use std::ops::Range;

use crate::contents::{Contents, Held};
use crate::order::{self, Placed};
use crate::parts::{self, Place};
use crate::races::Accesses;
use crate::{
    CheckError, Proof, arrivals, constants, fused, moves, node, shapes, streamed, transfers,
};
use tilewright_board::Board;
use tilewright_model::{Model, NodeId, TensorId};
use tilewright_plan::rows::{self, Row};
use tilewright_plan::{
    InputResidency, Instruction, Io, Kernel, LaneKind, Op, Plan, PlannedLayer, Program, Role,
    RowOrder, Space, Span, Step, Tile, View, domain,
};

/// What the memories of a board hold while programs run.
#[derive(Clone)]
pub struct Follow<'a> {
    plan: &'a Plan,
    model: &'a Model,
    board: &'a Board,
    /// For each tensor of the model, the one whose elements its bytes are.
    places: Vec<Place>,
    /// By the space's number.
    contents: [Contents; 6],
    /// Who touched what in the frame, by the space's number.
    accesses: [Accesses; 6],
    /// What stays as it is from frame to frame: what boot programs have written, and what the store on
    /// a card holds.
    loaded: Vec<(Space, Range<u64>)>,
    boots: bool,
    /// The outputs that the program makes of each frame.
    outputs: Vec<TensorId>,
    /// Rows of the input that have arrived, if it arrives in rows.
    arrived: u64,
}

impl<'a> Follow<'a> {
    /// Memories before anything runs.
    ///
    /// # Errors
    /// Names the layer that claims to need no step and does.
    pub fn new(plan: &'a Plan, model: &'a Model, board: &'a Board) -> Result<Self, CheckError> {
        Ok(Self {
            plan,
            model,
            board,
            places: parts::places(plan, model)?,
            contents: Space::ALL.map(|space| constants::stored(plan, model, space)),
            accesses: Default::default(),
            loaded: constants::on_card(plan),
            boots: false,
            outputs: Vec::new(),
            arrived: 0,
        })
    }

    /// Runs the program that runs once at start.
    ///
    /// # Errors
    /// The first fault found.
    pub fn boot(&mut self, program: &Program, proof: &mut Proof) -> Result<(), CheckError> {
        self.begin(program, true)?;
        self.steps(program, proof)
    }

    /// Runs a program for its frames, which takes these inputs of the model and makes these outputs.
    ///
    /// # Errors
    /// The first fault found.
    pub fn run(
        &mut self,
        program: &Program,
        [inputs, outputs]: [&[TensorId]; 2],
        proof: &mut Proof,
    ) -> Result<(), CheckError> {
        self.begin(program, false)?;
        self.outputs = outputs.to_vec();
        self.inputs(program, inputs)?;
        self.steps(program, proof)?;
        let input =
            self.model.inputs.first().filter(|_| self.plan.input == InputResidency::Streamed);
        let rows = input.map_or(Ok([0; 3]), |input| shapes::shape(self.model, *input));
        match rows.map_err(CheckError::Plan)? {
            [rows, ..] if rows == self.arrived => self.all_outputs(program),
            [rows, ..] => {
                let reason = format!("{} of {rows} rows of the input arrive", self.arrived);
                Err(CheckError::Plan(reason))
            }
        }
    }

    fn begin(&mut self, program: &Program, boots: bool) -> Result<(), CheckError> {
        let mut kinds = program.lanes.iter().map(|lane| lane.kind);
        let alone = kinds.next() == Some(LaneKind::Core) && !kinds.any(|k| k == LaneKind::Core);
        if !alone || boots && program.frames != 1 {
            return Err(CheckError::Plan(format!(
                "program '{}' has not one core lane, the first, or boots for several frames",
                program.name
            )));
        }
        self.boots = boots;
        self.accesses = Default::default();
        self.arrived = 0;
        Ok(())
    }

    fn steps(&mut self, program: &Program, proof: &mut Proof) -> Result<(), CheckError> {
        let plan = self.plan;
        let fault = |lane: usize, number: usize, reason: String| {
            let step = program.lanes.get(lane).and_then(|lane| lane.steps.get(number));
            let layer = step.and_then(|step| plan.layers.get(usize::from(step.layer)));
            CheckError::Step {
                program: program.name.clone(),
                lane,
                step: number,
                layer: layer.map(|layer| layer.name.clone()).unwrap_or_default(),
                reason,
            }
        };
        let sequence = order::sequence(program).map_err(|(lane, number)| {
            fault(lane, number, "it waits for what can never end".to_owned())
        })?;
        for placed in sequence {
            let lane = &program.lanes[placed.lane];
            let step = &lane.steps[placed.step];
            if u16::from(step.frame) >= program.frames {
                let reason = "it works on a frame that the program does not take".to_owned();
                return Err(fault(placed.lane, placed.step, reason));
            }
            let bytes = match step.instruction {
                Instruction::Compute { .. } if lane.kind == LaneKind::Core && !self.boots => {
                    self.compute_step(step, &placed)
                }
                Instruction::Copy { source, destination, .. } => {
                    self.copy(lane.kind, [source, destination], &placed)
                }
                Instruction::Arrive { view } => self.arrival(view, &placed),
                Instruction::Exit { output, .. } => self.exit(program, output, &placed),
                Instruction::Compute { .. } => Err("nothing computes there".to_owned()),
            };
            proof.bytes += bytes.map_err(|reason| fault(placed.lane, placed.step, reason))?;
            proof.steps += 1;
        }
        Ok(())
    }

    fn inputs(&mut self, program: &Program, inputs: &[TensorId]) -> Result<(), CheckError> {
        let ids = of_frames(program, inputs);
        if program.inputs.len() != ids.len() {
            return Err(CheckError::Plan("number of inputs differs from the model's".to_owned()));
        }
        for (io, (frame, id)) in program.inputs.iter().zip(ids) {
            let id = &id;
            let view = self.plan.views.get(io.view as usize).copied().unwrap_or_default();
            let elements = shapes::bytes(self.model, *id);
            node::check_io(io, self.model, *id).map_err(CheckError::Plan)?;
            if self.plan.input == InputResidency::Streamed {
                streamed::check_program(program).map_err(CheckError::Plan)?;
                continue;
            }
            let name = &self.model.tensor(*id).name;
            if view.space() == Some(Space::Card) {
                arrivals::check(self.plan, &view, elements)
                    .map_err(|reason| CheckError::Plan(format!("input '{name}' {reason}")))?;
                self.arrives(&view, (frame, *id)).map_err(CheckError::Plan)?;
                continue;
            }
            let space = self.whole(&view, elements).filter(|space| space.is_writable());
            let space = space.ok_or_else(|| {
                CheckError::Plan(format!("input '{name}' is not a whole tensor in RAM"))
            })?;
            if arrivals::lies_over(self.plan, &view) {
                let reason = format!("input '{name}' lies where others go to the card");
                return Err(CheckError::Plan(reason));
            }
            let address = u64::from(view.offset);
            self.spares(space, &touched(&view)).map_err(CheckError::Plan)?;
            let (place, contents) = (self.places[id.0], &mut self.contents[space as usize]);
            let written = place.pieces(0, elements, |before, bytes, element| {
                contents.write(address + before, bytes, Held::Tensor(place.root, frame), element);
                Ok(())
            });
            written.map_err(CheckError::Plan)?;
        }
        Ok(())
    }

    /// The next rows of the input arrive.
    fn arrival(&mut self, view: u32, placed: &Placed) -> Result<u64, String> {
        if self.plan.input != InputResidency::Streamed || self.boots {
            return Err("rows arrive of an input that does not".to_owned());
        }
        let view = *self.plan.views.get(view as usize).ok_or("unknown view")?;
        let input = *self.model.inputs.first().ok_or("the model has no input")?;
        let shape = shapes::shape(self.model, input)?;
        let rows = streamed::rows(&view, shape, self.arrived)?;
        domain::check_view(&view, self.plan.space(Space::Arena).0)?;
        self.accesses[Space::Arena as usize].write(touched(&view), placed)?;
        self.spares(Space::Arena, &touched(&view))?;
        let row = shape[1] * shape[2];
        let (place, contents) = (&self.places[input.0], &mut self.contents[Space::Arena as usize]);
        place.pieces(self.arrived * row, rows * row, |before, bytes, element| {
            let address = u64::from(view.offset) + before;
            contents.write(address, bytes, Held::Tensor(place.root, 0), element);
            Ok(())
        })?;
        self.arrived += rows;
        Ok(rows * row)
    }

    /// An input arrives on the card, through bytes of the arena that hold nothing afterwards.
    fn arrives(&mut self, view: &View, (frame, id): (u8, TensorId)) -> Result<(), String> {
        for (space, bytes) in arrivals::written(self.plan, view) {
            self.spares(space, &bytes)?;
            self.contents[space as usize].forget(bytes.start, bytes.end - bytes.start);
        }
        let place = &self.places[id.0];
        let row = u64::from(view.w) * u64::from(view.c);
        let contents = &mut self.contents[Space::Card as usize];
        for line in 0..u64::from(view.h) {
            let address = u64::from(view.offset) + line * u64::from(view.row_pitch);
            place.pieces(line * row, row, |before, bytes, element| {
                contents.write(address + before, bytes, Held::Tensor(place.root, frame), element);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The space of a view of `elements` bytes, one behind the other, all inside of it.
    fn whole(&self, view: &View, elements: u64) -> Option<Space> {
        let space = view.space()?;
        let inside = domain::check_view(view, self.plan.space(space).0).is_ok();
        (inside && view.is_contiguous() && view.elements() == elements).then_some(space)
    }

    /// Bytes that boot programs have loaded stay as they are.
    fn spares(&self, space: Space, range: &Range<u64>) -> Result<(), String> {
        let mut loaded = self.loaded.iter().filter(|(there, _)| *there == space);
        if (!self.boots || space == Space::Card) && loaded.any(|(_, loaded)| meets(loaded, range)) {
            return Err("overwrites what every frame needs".to_owned());
        }
        Ok(())
    }

    fn copy(&mut self, kind: LaneKind, spans: [u32; 2], placed: &Placed) -> Result<u64, String> {
        let [from, to] = spans.map(|index| self.plan.spans.get(index as usize).copied());
        let (from, to) = from.zip(to).ok_or("unknown span")?;
        transfers::check(self.board, kind, &from, &to)?;
        let inside = |span: &Span| {
            let space = span.space()?;
            let end = u64::from(span.offset) + span.extent();
            (end <= self.plan.space(space).0).then_some(space)
        };
        let outside = "a copy reaches past the end of its space";
        let (source, target) = inside(&from).zip(inside(&to)).ok_or(outside)?;
        // What is sealed is encrypted where it lies, before it leaves.
        let seals = target == Space::Card
            && self.plan.sector_checksums.is_some_and(|checksums| checksums.sealed);
        for run in transfers::runs(&from) {
            let accesses = &mut self.accesses[source as usize];
            if seals {
                accesses.write(transfers::lines(run.clone()), placed)?;
                self.spares(source, &run)?;
            } else {
                accesses.read(transfers::lines(run), placed)?;
            }
        }
        for run in transfers::runs(&to) {
            self.accesses[target as usize].write(transfers::lines(run.clone()), placed)?;
            self.spares(target, &run)?;
            if self.boots {
                self.loaded.push((target, run));
            }
        }
        // All is read before any is written: a copy's own spans share no line, or are refused.
        let shared = transfers::runs(&from).any(|a| {
            let a = transfers::lines(a);
            source == target && transfers::runs(&to).any(|b| meets(&a, &transfers::lines(b)))
        });
        if shared {
            return Err("source and destination of a copy share a cache line".to_owned());
        }
        let mut taken = Contents::default();
        let mut filled = 0;
        for run in transfers::runs(&from) {
            let bytes = run.end - run.start;
            let contents = &mut self.contents[source as usize];
            let mut part = contents.cut(run.start, bytes);
            if seals {
                contents.forget(run.start, bytes);
            }
            taken.paste(filled, &mut part, 0, bytes);
            filled += bytes;
        }
        let mut used = 0;
        for run in transfers::runs(&to) {
            let bytes = run.end - run.start;
            self.contents[target as usize].paste(run.start, &mut taken, used, bytes);
            used += bytes;
        }
        Ok(from.bytes())
    }

    fn compute_step(&mut self, step: &Step, placed: &Placed) -> Result<u64, String> {
        let Instruction::Compute { op, tile, first_view, order } = step.instruction else {
            return Err("no compute step".to_owned());
        };
        let layer = self.plan.layers.get(usize::from(step.layer)).ok_or("unknown layer")?;
        let (record, views) = self.plan.operands(op, first_view).ok_or("unknown operands")?;
        let tile = self.plan.tiles.get(tile as usize).ok_or("unknown tile")?;
        domain::check_op(record)?;
        domain::check_order(record, order)?;
        domain::check_compute(record, tile, views)?;
        let roles = record.kernel().map_or(&[][..], Kernel::roles);
        for (role, view) in roles.iter().zip(views) {
            let space = view.space().ok_or("unknown space")?;
            domain::check_view(view, self.plan.space(space).0)?;
            let accesses = &mut self.accesses[space as usize];
            match role {
                Role::Output => {
                    accesses.write(touched(view), placed)?;
                    self.spares(space, &touched(view))?;
                }
                _ => accesses.read(touched(view), placed)?,
            }
        }
        if order == RowOrder::Whole {
            return self.compute((step.frame, layer), op, record, tile, views);
        }
        let mut bytes = 0;
        let mut made: Vec<Row> = Vec::new();
        for y in rows::sequence(tile, order) {
            let row = Row::of(record, tile, views, y).ok_or("a row is none of its tile's")?;
            domain::check_compute(record, &row.tile, row.operands())?;
            let read = self.compute((step.frame, layer), op, record, &row.tile, row.operands());
            bytes += read.map_err(|reason| overwritten(record, &made, &row).unwrap_or(reason))?;
            made.push(row);
        }
        Ok(bytes)
    }

    /// Follows a step, or one row of a step in rows.
    fn compute(
        &mut self,
        (frame, layer): (u8, &PlannedLayer),
        op: u32,
        record: &Op,
        tile: &Tile,
        views: &[View],
    ) -> Result<u64, String> {
        let (first, meaning) = match layer.nodes.as_slice() {
            [node] => (*node, node::meaning(self.model, NodeId(*node as usize), record, tile)?),
            [conv, pool] => {
                let nodes = [*conv, *pool].map(|node| NodeId(node as usize));
                (*conv, fused::meaning(self.model, nodes, record, tile)?)
            }
            _ => return Err("no kernel computes as many nodes".to_owned()),
        };
        let node = &self.model.nodes[first as usize];
        let kernel = record.kernel().ok_or("unknown kernel")?;
        let mut bytes = 0;
        let mut inputs = meaning.inputs.iter();
        let mut output = None;
        for (role, view) in kernel.roles().iter().zip(views) {
            let contents = &self.contents[view.space().ok_or("unknown space")? as usize];
            match role {
                Role::Input => {
                    let meant = *inputs.next().ok_or("more inputs than the node has")?;
                    let shape = shapes::seen(self.model, kernel, meant, view)?;
                    let channel = meaning.input_channels.as_ref().map_or(0, |seen| seen.start);
                    let place = &self.places[meant.0];
                    // A constant is the same in all frames.
                    let is_constant = self.model.tensor(place.root).is_constant();
                    let of = (place, if is_constant { 0 } else { frame });
                    bytes += contents.read(view, shape, of, channel)?;
                }
                Role::Output => output = Some(view),
                Role::Constants if kernel == Kernel::Gather => {
                    let gather = constants::gather(self.plan, first, op, view)?;
                    let input = views.first().ok_or("no input")?;
                    domain::check_gather(&gather, tile, input)?;
                    moves::check(self.model, node, &gather, input)?;
                }
                Role::Weights | Role::Constants => {
                    let role = (*role, kernel);
                    constants::check_use(self.plan, first, op, role, (view, contents), &meaning)?;
                }
            }
        }
        let output = output.ok_or("no output")?;
        let target = output.space().filter(|space| space.is_writable());
        let target = target.ok_or("an activation is written where it cannot be")?;
        node::check_boxes(self.model, node, &meaning, kernel, views, output)?;
        let written = touched(output);
        let shared = domain::in_place(kernel, views);
        for (index, (role, view)) in kernel.roles().iter().zip(views).enumerate() {
            let apart = !meets(&touched(view), &written);
            if *role != Role::Output && view.space == output.space && !apart {
                if shared == Some(index) {
                    continue;
                }
                return Err("output overlaps an input".to_owned());
            }
        }
        let shape = match kernel {
            Kernel::Gather | Kernel::Lut | Kernel::FullyConnected => {
                shapes::seen(self.model, kernel, meaning.output, output)?
            }
            _ => node::output_shape(self.model, node, meaning.output)?,
        };
        let start = [
            u64::from(tile.output_start[0]),
            u64::from(tile.output_start[1]),
            u64::from(tile.channel_start),
        ];
        let place = &self.places[meaning.output.0];
        let contents = &mut self.contents[target as usize];
        bytes += contents.write_view(output, tile, shape, (place, frame), start)?;
        Ok(bytes)
    }

    fn all_outputs(&self, program: &Program) -> Result<(), CheckError> {
        let ids = of_frames(program, &self.outputs);
        if program.outputs.len() != ids.len() {
            return Err(CheckError::Plan("number of outputs differs from the model's".to_owned()));
        }
        for (io, (frame, id)) in program.outputs.iter().zip(ids) {
            self.output(io, (frame, id)).map_err(|reason| {
                let tensor = self.model.tensor(id).name.clone();
                CheckError::Output { tensor, reason }
            })?;
        }
        Ok(())
    }

    /// An output is there, whole.
    fn output(&self, io: &Io, (frame, id): (u8, TensorId)) -> Result<(), String> {
        let view = self.plan.views.get(io.view as usize).ok_or("unknown view")?;
        node::check_io(io, self.model, id)?;
        let space = self
            .whole(view, shapes::bytes(self.model, id))
            .filter(|space| space.is_writable())
            .ok_or("it is not a whole tensor in RAM")?;
        let shape = [u64::from(view.h), u64::from(view.w), u64::from(view.c)];
        let place = &self.places[id.0];
        self.contents[space as usize].read(view, shape, (place, frame), 0).map(drop)
    }

    /// The core looks at an output, and may end the run: then this output is there.
    fn exit(&mut self, program: &Program, output: u16, placed: &Placed) -> Result<u64, String> {
        let index = usize::from(output);
        let found = program.outputs.get(index).zip(self.outputs.get(index));
        let (io, id) = found.ok_or("an exit looks at an output that the program has not")?;
        if program.frames != 1 || self.boots || placed.lane != 0 {
            return Err("an exit is a step of the core, in a program of one frame".to_owned());
        }
        let view = self.plan.views.get(io.view as usize).ok_or("unknown view")?;
        let space = view.space().ok_or("unknown space")?;
        self.accesses[space as usize].read(touched(view), placed)?;
        self.output(io, (0, *id))?;
        Ok(view.elements())
    }
}

/// These tensors of each of a program's frames, frame by frame.
fn of_frames(program: &Program, ids: &[TensorId]) -> Vec<(u8, TensorId)> {
    let frames = (0..program.frames).filter_map(|frame| u8::try_from(frame).ok());
    frames.flat_map(|frame| ids.iter().map(move |id| (frame, *id))).collect()
}

/// Bytes of its space that a view can touch.
fn touched(view: &View) -> Range<u64> {
    u64::from(view.offset)..u64::from(view.offset) + view.extent()
}

const fn meets(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Why a row cannot be made, if that is because an earlier row of its step lies where it reads.
fn overwritten(op: &Op, made: &[Row], row: &Row) -> Option<String> {
    let roles = op.kernel()?.roles();
    let is_input = |(role, _): &(&Role, &View)| **role == Role::Input;
    for input in roles.iter().zip(row.operands()).filter(is_input).map(|(_, view)| view) {
        for earlier in made {
            let at = roles.iter().position(|role| *role == Role::Output)?;
            let output = earlier.operands().get(at)?;
            let lines = 0..u64::from(input.h);
            let line = lines.into_iter().find(|line| {
                let ring = u64::from(input.ring_rows);
                let place = (line + u64::from(input.first_row)) % ring;
                let start = u64::from(input.offset) + place * u64::from(input.row_pitch);
                let pixels = (u64::from(input.w) - 1) * u64::from(input.column_pitch);
                let bytes = start..start + pixels + u64::from(input.c);
                input.space == output.space && meets(&bytes, &touched(output))
            });
            if let Some(line) = line {
                return Some(format!(
                    "row {} overwrites input row {} that row {} still reads",
                    earlier.tile.output_start[0],
                    i64::from(input.y0) + line as i64,
                    row.tile.output_start[0]
                ));
            }
        }
    }
    None
}
