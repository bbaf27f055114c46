//! Depth-first groups that were looked at: they depend on no budget, so that those of one size of memory serve for all
//! others.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::ops::Range;
use std::rc::Rc;

use crate::costs::CostCache;
use crate::schedule::cut::Fineness;
use crate::schedule::depth_first::{DepthFirstGroup, Network};
use crate::schedule::operator::{Operator, Tiny};
use crate::strategy::stream::arrange::Arranging;
use tilewright_board::Board;
use tilewright_plan::{Cycles, Space};

/// A network, and its groups that were looked at.
pub struct KnownGroups<'p> {
    network: Network<'p>,
    /// Bytes that each layer needs alone.
    needed: Vec<u64>,
    groups: RefCell<BTreeMap<Key, Option<Rc<DepthFirstGroup>>>>,
    finest: RefCell<BTreeMap<Key, Option<Finest>>>,
}

/// First layer and the one behind the last; rows, bytes and channels at once; and tensors outside of SRAM.
type Key = ([usize; 2], (u16, u64, Option<NonZeroU32>), Vec<usize>);

fn key(layers: &Range<usize>, fineness: Fineness, outside: &[usize]) -> Key {
    let Fineness { rows, bytes, channels, .. } = fineness;
    ([layers.start, layers.end], (rows, bytes, channels), outside.to_vec())
}

/// A group whose rows or channels are made in the finest way.
#[derive(Clone, Copy)]
pub struct Finest {
    /// What it holds, and what lies there besides.
    pub bytes: u64,
    /// Its steps.
    pub steps: usize,
}

impl<'p> KnownGroups<'p> {
    /// Of a network that is arranged so nothing is known yet.
    pub fn new(arranging: &Arranging<'_>, network: Network<'p>) -> Self {
        let needed = arranging.needed().collect();
        Self { network, needed, groups: RefCell::default(), finest: RefCell::default() }
    }

    /// The network.
    pub const fn network(&self) -> &Network<'p> {
        &self.network
    }

    /// Bytes that each layer's activations need at least without groups.
    pub fn needed(&self) -> &[u64] {
        &self.needed
    }

    /// As [`Network::depth_first`], of all columns.
    pub fn group(
        &self,
        layers: Range<usize>,
        fineness: Fineness,
        outside: &[usize],
    ) -> Option<Rc<DepthFirstGroup>> {
        let key = key(&layers, fineness, outside);
        let mut groups = self.groups.borrow_mut();
        let made = || self.network.depth_first(layers, fineness, outside).map(Rc::new);
        groups.entry(key).or_insert_with(made).clone()
    }

    /// The group of layers whose rows or channels are made in the finest way, with what lies in SRAM besides.
    pub fn finest(&self, layers: Range<usize>, finest: Fineness) -> Option<Finest> {
        let made = || {
            let group = self.network.depth_first(layers.clone(), finest, &[])?;
            let bytes = group.least_bytes() + self.network.passing(&layers);
            Some(Finest { bytes, steps: group.made.len() })
        };
        let key = key(&layers, finest, &[]);
        *self.finest.borrow_mut().entry(key).or_insert_with(made)
    }

    /// What the core computes at least where layers form these groups, wherever weights and activations lie.
    pub fn least(
        &self,
        operators: &[Operator<'_>],
        groups: &[DepthFirstGroup],
        (board, costs): (&Board, &CostCache),
    ) -> Cycles {
        let mut steps: Vec<(&Operator<'_>, Tiny)> = Vec::new();
        for operator in operators {
            let layer = usize::from(operator.step.layer);
            match groups.iter().find(|group| group.layers.contains(&layer)) {
                None => steps.push((operator, operator.whole())),
                Some(group) if group.layers.start == layer => {
                    let made = group.made.iter();
                    steps.extend(made.filter_map(|strip| self.network.computed(strip)));
                }
                Some(_) => {}
            }
        }
        for view in steps.iter_mut().flat_map(|(_, tiny)| &mut tiny.views) {
            view.space = Space::Arena as u8;
        }
        costs.least(board, steps.iter().map(|(step, tiny)| (step.computed(tiny), step.order)))
    }
}
