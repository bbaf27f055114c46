//! Where the cycles of a layer went, by cause, and the blocks of instructions that took most.

use tilewright_report::{HotBlock, LayerCount, short_name};

use super::figures;
use super::roofline::ratio;

/// A cause, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CauseRow {
    pub cause: &'static str,
    /// Instructions for each product (counted); empty without products.
    pub instructions: String,
    /// Cycles for each product (modelled); empty without products.
    pub cycles: String,
    /// Its share of the layer's cycles.
    pub share: String,
}

/// What is known of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hot<'c> {
    /// The layer's name.
    pub name: &'c str,
    /// Causes, those with most cycles first.
    pub causes: Vec<CauseRow>,
    /// Blocks, hottest first, each with a sentence.
    pub blocks: Vec<(String, &'c HotBlock)>,
}

/// The layer that is chosen, else the one that took most cycles; nothing if no run said where they
/// went.
#[must_use]
pub fn hot(counts: &[LayerCount], chosen: Option<usize>) -> Option<Hot<'_>> {
    let known = |layer: &&LayerCount| layer.profile.is_some();
    let hottest = || counts.iter().filter(known).max_by_key(|layer| layer.cycles);
    let layer = chosen.and_then(|layer| counts.get(layer)).filter(known).or_else(hottest)?;
    let profile = layer.profile.as_ref()?;
    let a_product = |value: u64| match *layer.macs {
        0 => String::new(),
        macs => ratio(value as f64 / macs as f64),
    };
    let share = |cycles: u64| figures::percent(cycles as f64, layer.cycles.0 as f64);
    let mut causes: Vec<_> = profile.causes.iter().collect();
    causes.sort_by_key(|count| std::cmp::Reverse(count.cycles));
    let row = |count: &tilewright_report::CauseCount| CauseRow {
        cause: count.cause.word(),
        instructions: a_product(*count.instructions),
        cycles: a_product(count.cycles.0),
        share: share(count.cycles.0),
    };
    let sentence = |block: &HotBlock| {
        format!(
            "{} of the cycles (modelled), {} runs (counted): {} at 0x{:08x}",
            share(block.cycles.0),
            figures::grouped(*block.runs),
            if block.function.is_empty() { "code" } else { block.function.as_str() },
            block.address,
        )
    };
    Some(Hot {
        name: short_name(&layer.name),
        causes: causes.into_iter().map(row).collect(),
        blocks: profile.blocks.iter().map(|block| (sentence(block), block)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;
    use tilewright_plan::Cycles;
    use tilewright_report::{Cause, CauseCount, LayerProfile};

    #[test]
    fn the_chosen_layer_is_shown_else_the_hottest() {
        let mut counts = fixture::counts();
        assert_eq!(hot(&counts, Some(0)), None);
        let count = |cause, instructions, cycles| CauseCount {
            cause,
            instructions,
            cycles: Cycles(cycles).into(),
        };
        let causes =
            vec![count(Cause::Load, 550.into(), 550), count(Cause::Multiply, 550.into(), 1_100)];
        let block = HotBlock {
            address: 0x0800_0100,
            function: "sum".into(),
            runs: 1_000.into(),
            cycles: Cycles(1_650).into(),
            branch_cycles: Cycles(0).into(),
            flash_cycles: Cycles(0).into(),
            listing: vec![],
        };
        for layer in &mut counts {
            layer.profile = Some(LayerProfile { causes: causes.clone(), blocks: vec![] });
        }
        counts[1].cycles = Cycles(3_300).into();
        counts[1].profile.as_mut().unwrap().blocks.push(block);
        let hottest = hot(&counts, None).unwrap();
        assert_eq!(hottest.causes[0].cause, "multiply");
        assert!(hottest.blocks[0].0.starts_with("50"), "{}", hottest.blocks[0].0);
        assert!(hottest.blocks[0].0.ends_with(": sum at 0x08000100"));
        let chosen = hot(&counts, Some(0)).unwrap();
        assert_eq!(chosen.name, short_name(&counts[0].name));
        assert_eq!(chosen.causes[0].cycles, ratio(1_100.0 / *counts[0].macs as f64));
        assert!(chosen.blocks.is_empty());
    }
}
