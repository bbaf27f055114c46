//! Where cycles went, and the hottest blocks, of `tilewright run --hot`.

use std::fmt::Write;

use tilewright_report::{HotBlock, LayerCount};

use crate::text::{BOLD, DIM, Side, Table, number};

/// All layers whose cycles were looked at; empty if there are none.
pub fn text(layers: &[LayerCount]) -> String {
    let mut text = String::new();
    for layer in layers {
        let Some(profile) = &layer.profile else { continue };
        let _ = writeln!(text, "\n{BOLD}{}{BOLD:#} ({}){}", layer.name, layer.op, per_mac(layer));
        let causes = profile.causes.iter().filter(|count| count.cycles.0 > 0);
        let shares: Vec<String> = causes
            .map(|count| {
                format!("{} {}", count.cause.word(), share(count.cycles.0, layer.cycles.0))
            })
            .collect();
        let _ = writeln!(text, "  cycles (modelled): {}", shares.join(", "));
        for block in &profile.blocks {
            text.push_str(&listing(block, layer.cycles.0));
        }
    }
    text
}

fn per_mac(layer: &LayerCount) -> String {
    if layer.macs == 0 {
        return String::new();
    }
    let of = |value: u64| value as f64 / *layer.macs as f64;
    format!(
        ": {:.2} instructions (counted) and {:.2} cycles (modelled) a MAC",
        of(*layer.instructions),
        of(layer.cycles.0)
    )
}

fn share(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

fn listing(block: &HotBlock, whole: u64) -> String {
    let mut text = format!(
        "\n  {} of the cycles: 0x{:08x} {}\n  {DIM}{} runs (counted), {} cycles (modelled), {} of them \
         behind branches, {} for flash{DIM:#}\n",
        share(block.cycles.0, whole),
        block.address,
        block.function,
        number(*block.runs),
        number(block.cycles.0),
        number(block.branch_cycles.0),
        number(block.flash_cycles.0),
    );
    let mut table = Table::new(&[
        ("cycles", Side::Right),
        ("stall", Side::Right),
        ("cause", Side::Left),
        ("instruction", Side::Left),
    ]);
    for line in &block.listing {
        let stall = if line.stall_cycles == 0 {
            String::new()
        } else {
            number((*line.stall_cycles).into())
        };
        let cause = line.cause.word().to_owned();
        table.row([number((*line.cycles).into()), stall, cause, line.text.clone()]);
    }
    text.push_str(&table.print());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::Cycles;
    use tilewright_report::{Cause, CauseCount, LayerProfile, ListedInstruction};

    #[test]
    fn a_block_shows_each_instruction_with_its_cost() {
        let line = ListedInstruction {
            text: "3401  adds r4, #1".into(),
            cause: Cause::Other,
            cycles: 1.into(),
            stall_cycles: 2.into(),
        };
        let block = HotBlock {
            address: 0x0800_0040,
            function: "sum".into(),
            runs: 1_000.into(),
            cycles: Cycles(3_000).into(),
            branch_cycles: Cycles(0).into(),
            flash_cycles: Cycles(0).into(),
            listing: vec![line],
        };
        let stall = CauseCount {
            cause: Cause::Stall,
            instructions: 0.into(),
            cycles: Cycles(2_000).into(),
        };
        let layer = LayerCount {
            name: "conv".into(),
            op: "conv".into(),
            macs: 2_000.into(),
            instructions: 1_000.into(),
            cycles: Cycles(4_000).into(),
            profile: Some(LayerProfile { causes: vec![stall], blocks: vec![block] }),
        };
        let text = text(std::slice::from_ref(&layer));
        assert!(text.contains("0.50 instructions (counted) and 2.00 cycles (modelled) a MAC"));
        assert!(text.contains("stall 50.0 %"), "{text}");
        assert!(text.contains("75.0 % of the cycles: 0x08000040 sum"), "{text}");
        assert!(text.contains("1      2  other  3401  adds r4, #1"), "{text}");
        assert_eq!(super::text(&[LayerCount { profile: None, ..layer }]), "");
    }
}
