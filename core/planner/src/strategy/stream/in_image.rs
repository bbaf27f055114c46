//! Plans with all weights in the plan image, and with depth-first groups where SRAM does not hold what lies between layers.

use std::ops::Range;

use super::arrange::Arranging;
use super::cut::{Ways, groups_in};
use super::groups::{self, KnownGroups};
use super::{FEW_SHARES, KEPT, Search, ways};
use crate::costs::CostCache;
use crate::lower::Layer;
use crate::recipe::Made;
use crate::schedule::cut::Fineness;
use crate::schedule::depth_first::DepthFirstGroup;
use crate::schedule::operator::Operator;
use crate::schedule::{Layout, Schedule};
use crate::strategy::Asked;
use crate::{Integrity, PlanError};
use tilewright_plan::{Bytes, CyclePoint, Plan, Space};

/// Behind so many sizes in a row for which there are no groups no smaller ones are tried.
const FAR: usize = 4;

/// What plans are for: each that was made, and the end of those that are worth making.
pub trait Keep {
    /// Keeps a plan if it is better than others.
    fn keep(&mut self, made: &Made) -> Result<(), PlanError>;

    /// Plans that end then or later are not worth making.
    fn limit(&self) -> Option<CyclePoint>;

    /// Nor are plans in so many bytes or more.
    fn most(&self) -> Option<Bytes>;
}

/// Layers of a model, with the plan from which their groups are chosen.
struct Variant<'m> {
    arranging: Arranging<'m>,
    draft: Plan,
}

/// Of which layers, and which groups.
type Key = (usize, Vec<(Range<usize>, Fineness, Vec<usize>)>);

/// Groups that were planned, with the arena that they took.
struct Tried {
    key: Key,
    height: u64,
}

/// Plans in depth-first groups that are chosen for each of some sizes of SRAM, the largest first. What is chosen for a size
/// depends on no other, nor on the budget.
///
/// # Errors
/// [`PlanError`] names the node that no kernel runs as it is.
pub fn in_image(
    asked: &Asked<'_>,
    sizes: impl Iterator<Item = Bytes>,
    kept: &mut dyn Keep,
) -> Result<(), PlanError> {
    let Asked { model, board, options } = *asked;
    let costs = CostCache::on(board);
    let external = Search::new(board, options).external();
    let mut of_sizes: Vec<(u64, Vec<usize>)> = Vec::new();
    let mut all: Vec<Vec<Layer>> = Vec::new();
    for Bytes(size) in sizes {
        let mut of_size = Vec::new();
        for layers in ways(model, size)? {
            let known = all.iter().position(|known| *known == layers);
            of_size.push(known.unwrap_or(all.len()));
            if known.is_none() {
                all.push(layers);
            }
        }
        of_sizes.push((size, of_size));
    }
    let mut variants = Vec::with_capacity(all.len());
    for layers in all {
        let arranging = Arranging::new(model, board, layers, u64::MAX, Integrity::Trusted)?;
        let arranging = arranging.whole().arriving(options.streams_input);
        let draft = arranging.draft()?;
        variants.push(Variant { arranging, draft });
    }
    let operators: Vec<Vec<Operator<'_>>> =
        variants.iter().map(|variant| Operator::of(&variant.draft)).collect();
    let known: Vec<KnownGroups<'_>> = variants
        .iter()
        .zip(&operators)
        .map(|(Variant { arranging, draft }, operators)| {
            KnownGroups::new(arranging, arranging.network(draft, operators))
        })
        .collect();
    let mut tried: Vec<Tried> = Vec::new();
    let mut far = 0;
    for (size, of_size) in of_sizes {
        if kept.most().is_some_and(|most| most.0 <= size) {
            continue;
        }
        let (mut fits, mut is_seen) = (false, false);
        for (is_last, variant) in
            [false, true].iter().flat_map(|is| of_size.iter().map(|v| (*is, *v)))
        {
            if is_last && fits {
                break;
            }
            let known = &known[variant];
            let ways = match is_last {
                false => groups::ways_with_weights(known, [size, external]),
                true => groups::bordered_inside(known, size),
            };
            for groups in ways {
                is_seen = true;
                let key = key(variant, &groups);
                // With less room the same would be found.
                if tried.iter().any(|tried| tried.height <= size && tried.key == key) {
                    fits = true;
                    continue;
                }
                let least = known.least(&operators[variant], &groups, (board, &costs));
                let ends = least.0.saturating_mul(options.frames.get().into());
                if kept.limit().is_some_and(|limit| limit.0 <= ends) {
                    continue;
                }
                let arranging = variants[variant].arranging.clone().with(groups);
                let Some(made) = made(&arranging, size, asked)? else { continue };
                fits = true;
                tried.push(Tried { key, height: made.plan.space(Space::Arena).0 });
                kept.keep(&made)?;
            }
        }
        far = if is_seen { 0 } else { far + 1 };
        if far == FAR {
            break;
        }
    }
    Ok(())
}

fn key(variant: usize, groups: &[DepthFirstGroup]) -> Key {
    let of_group =
        |group: &DepthFirstGroup| (group.layers.clone(), group.fineness, group.outside.clone());
    (variant, groups.iter().map(of_group).collect())
}

/// The plan of these groups in so many bytes; nothing if there is no room for it.
fn made(
    arranging: &Arranging<'_>,
    size: u64,
    asked: &Asked<'_>,
) -> Result<Option<Made>, PlanError> {
    let Some((static_layout, lowered)) = arranging.within(size, size)? else { return Ok(None) };
    let operators = Operator::of(&lowered);
    let ways = Ways { budget: size, shares: FEW_SHARES[0], kept: KEPT[0] };
    let groups = groups_in(&lowered, &operators, arranging.depth_first(), ways, false);
    let layout = Layout::Gaps { sram: size, ahead: u32::MAX };
    let schedule = Schedule { groups, layout, frames: None };
    let work = schedule.work(&lowered, &operators);
    let plan = schedule.plan(&lowered, &work, asked.board, &asked.options.stop)?;
    Ok(plan.map(|plan| Made::scheduled(static_layout, schedule, plan)))
}
