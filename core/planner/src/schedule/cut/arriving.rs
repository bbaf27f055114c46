//! Rows of an input that arrives while it is used: each group of rows directly before the first task that reads one of
//! them, in the order of the frame.

use crate::narrow::narrow;
use crate::schedule::operator::{Operator, Tiny};
use crate::schedule::sequence;
use crate::schedule::work::{Arrival, Work};
use tilewright_plan::{Plan, PlannedTensor, Role, Space, View};

/// An input of which some rows are held at once, and how far it has arrived.
pub struct Arriving {
    tensor: PlannedTensor,
    /// The layers that read it.
    readers: Vec<usize>,
    /// Rows that have arrived.
    rows: u32,
    /// The layer that was the last to read some of them.
    layer: u16,
}

impl Arriving {
    /// The input of a plan that arrives so, if it has one.
    pub fn of(plan: &Plan) -> Option<Self> {
        let mut inputs = plan.programs().flat_map(|program| &program.inputs);
        let ring = |number: u32| plan.tensors.get(number as usize).filter(|t| t.ring.is_some());
        let (number, tensor) = inputs.find_map(|io| Some((io.tensor, ring(io.tensor)?)))?;
        let layers = plan.layers.iter().enumerate();
        let readers = layers.filter(|(_, layer)| layer.reads.contains(&number));
        let readers = readers.map(|(layer, _)| layer).collect();
        Some(Self { tensor: tensor.clone(), readers, rows: 0, layer: 0 })
    }

    /// What the next task of an operator reads has arrived: its rows are counted in the whole input.
    pub fn until(&mut self, operator: &Operator<'_>, tiny: &Tiny, work: &mut Work) {
        let layer = operator.step.layer;
        if !self.readers.contains(&layer.into()) {
            return;
        }
        let views = operator.views.iter().zip(&tiny.views).zip(operator.roles());
        let reads = views.filter(|((whole, _), role)| {
            **role == Role::Input
                && whole.space == Space::Arena as u8
                && u64::from(whole.offset) == self.tensor.offset
        });
        let ends = reads.map(|((_, view), _)| i64::from(view.y0) + i64::from(view.h));
        let end = ends.max().and_then(|end| u32::try_from(end).ok()).unwrap_or(0);
        self.layer = layer;
        self.arrive(end, work);
    }

    /// What nothing reads arrives too, behind the last layer that reads the rest, if that is before layer `end`.
    pub fn rest(&mut self, end: usize, work: &mut Work) {
        if self.readers.last().is_some_and(|last| *last < end) {
            self.arrive(u32::MAX, work);
        }
    }

    /// Rows up to one arrive, those that follow each other in the ring at once.
    fn arrive(&mut self, end: u32, work: &mut Work) {
        let [rows, columns, channels] = self.tensor.shape;
        let ring = self.tensor.ring.unwrap_or(rows).max(1);
        while self.rows < end.min(rows) {
            let place = self.rows % ring;
            let count = (end.min(rows) - self.rows).min(ring - place);
            let offset = self.tensor.offset + u64::from(place * columns * channels);
            let [rows, columns] = [count, columns].map(narrow);
            let view = View::whole(Space::Arena, narrow(offset), rows, columns, channels);
            let rows = sequence::Arrival {
                layer: self.layer,
                view: View { y0: narrow(self.rows), ..view },
            };
            work.arrivals.push(Arrival { before: narrow(work.tasks.len()), rows });
            self.rows += count;
        }
    }
}
