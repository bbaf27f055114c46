//! The steps that one output needs: from the last step back, those that write a byte that a kept one reads.

use tilewright_plan::{Instruction, Plan, Program, Role, Space, Span, Step, View};
use tilewright_report::Ranges;

use super::lanes::{kept, sequence};

/// The program that makes one output of each frame.
pub fn subnetwork(plan: &Plan, main: &Program, output: u16) -> Program {
    let outputs = main.outputs_of_frame().max(1);
    let own = main.outputs.iter().skip(output.into()).step_by(outputs.into());
    let outputs: Vec<_> = own.cloned().collect();
    let mut live = Live::default();
    for view in outputs.iter().filter_map(|io| plan.views.get(io.view as usize)) {
        live.read(view.space(), &runs(view));
    }
    let all = sequence(main);
    let mut is_kept: Vec<Vec<bool>> =
        main.lanes.iter().map(|lane| vec![false; lane.steps.len()]).collect();
    for placed in all.iter().rev() {
        let step = &main.lanes[placed.lane].steps[placed.step];
        is_kept[placed.lane][placed.step] = live.keeps(plan, step);
    }
    let tensor = outputs.first().and_then(|io| plan.tensors.get(io.tensor as usize));
    let name = tensor.map_or_else(|| format!("output {output}"), |tensor| tensor.name.clone());
    Program { name, outputs, ..kept(main, &all, &is_kept) }
}

/// The steps of the core and of engines that make bytes of a view, the last of each lane.
pub fn last_writers(plan: &Plan, program: &Program, view: &View) -> Vec<(usize, usize)> {
    let mut wanted = Live::default();
    wanted.read(view.space(), &runs(view));
    let last = |(lane, steps): (usize, &[Step])| {
        let step = steps.iter().rposition(|step| wanted.is_met(&accesses(plan, step).writes))?;
        Some((lane, step))
    };
    let lanes = program.lanes.iter().map(|lane| lane.steps.as_slice()).enumerate();
    lanes.filter_map(last).collect()
}

/// Runs of bytes of a space.
type Runs = Vec<(Option<Space>, Vec<[u64; 2]>)>;

/// What a step reads and writes.
#[derive(Default)]
struct Accesses {
    reads: Runs,
    writes: Runs,
}

/// Bytes of each memory that are still read.
#[derive(Default)]
struct Live([Ranges; 6]);

impl Live {
    fn read(&mut self, space: Option<Space>, runs: &[[u64; 2]]) {
        let Some(space) = space else { return };
        for [start, end] in runs {
            self.0[space as usize].add(*start, end - start);
        }
    }

    fn is_met(&self, writes: &Runs) -> bool {
        writes.iter().any(|(space, runs)| {
            let Some(space) = space else { return false };
            let mut own = Ranges::default();
            runs.iter().for_each(|[start, end]| own.add(*start, end - start));
            self.0[*space as usize].common(&own).total() > 0
        })
    }

    /// Whether a step is needed for what is read behind it; then what it reads is, and what it writes no more.
    fn keeps(&mut self, plan: &Plan, step: &Step) -> bool {
        if matches!(step.instruction, Instruction::Exit { .. }) {
            return false;
        }
        let Accesses { reads, writes } = accesses(plan, step);
        // A host sends all rows of its input, needed or not.
        let is_needed =
            matches!(step.instruction, Instruction::Arrive { .. }) || self.is_met(&writes);
        if is_needed {
            for (space, runs) in writes {
                let Some(space) = space else { continue };
                let live = &mut self.0[space as usize];
                let mut own = Ranges::default();
                runs.iter().for_each(|[start, end]| own.add(*start, end - start));
                *live = std::mem::take(live).without(own.merged());
            }
            for (space, runs) in reads {
                self.read(space, &runs);
            }
        }
        is_needed
    }
}

fn accesses(plan: &Plan, step: &Step) -> Accesses {
    let mut accesses = Accesses::default();
    match step.instruction {
        Instruction::Compute { op, first_view, .. } => {
            let Some((op, views)) = plan.operands(op, first_view) else { return accesses };
            for (role, view) in op.roles().iter().zip(views) {
                let found = match role {
                    Role::Output => &mut accesses.writes,
                    _ => &mut accesses.reads,
                };
                found.push((view.space(), runs(view)));
            }
        }
        Instruction::Copy { source, destination, .. } => {
            let span = |at: u32| plan.spans.get(at as usize);
            for (span, found) in
                [(span(source), &mut accesses.reads), (span(destination), &mut accesses.writes)]
            {
                found.extend(span.map(|span| (span.space(), runs_of_span(span))));
            }
        }
        Instruction::Arrive { view } => {
            let view = plan.views.get(view as usize);
            accesses.writes.extend(view.map(|view| (view.space(), runs(view))));
        }
        Instruction::Exit { .. } => {}
    }
    accesses
}

/// The runs of bytes of a view's elements.
fn runs(view: &View) -> Vec<[u64; 2]> {
    let [h, w, c] = [u64::from(view.h), u64::from(view.w), u64::from(view.c)];
    let [row, pixel] = [view.row_pitch, view.column_pitch].map(u64::from);
    let start = u64::from(view.offset);
    if view.is_contiguous() {
        return vec![[start, start + view.elements()]];
    }
    let ring = u64::from(view.ring_rows).max(1);
    let rows = (0..h).map(|y| start + (y + u64::from(view.first_row)) % ring * row);
    if pixel == c {
        return rows.map(|row| [row, row + w * c]).collect();
    }
    rows.flat_map(|row| (0..w).map(move |x| [row + x * pixel, row + x * pixel + c])).collect()
}

fn runs_of_span(span: &Span) -> Vec<[u64; 2]> {
    let rows = 0..u64::from(span.rows);
    let row = |row: u64| {
        let start = u64::from(span.offset) + row * u64::from(span.pitch);
        [start, start + u64::from(span.row_bytes)]
    };
    rows.map(row).collect()
}
