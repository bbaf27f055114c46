//! What the figures of operators say: by class, and of the sentences of the thesis' section 5.1.3.

use std::collections::BTreeMap;

use tilewright_report::{
    DepthwiseShare, DistinctOperator, OperatorClaim, OperatorClass, OperatorUse, OperatorsNetwork,
};

const DEPTHWISE: &str = "DepthwiseConv2D";
const CONV: &str = "Conv2D";
/// Two networks have the same budget if their multiply-accumulates differ by less than this part.
const SAME_BUDGET: f64 = 0.02;

/// Multiply-accumulates and cycles of several operators.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    macs: u64,
    cycles: u64,
}

impl Sum {
    fn add(&mut self, operator: &DistinctOperator) {
        self.macs += *operator.macs;
        self.cycles += operator.cycles().unwrap_or(0);
    }

    fn cycles_a_mac(self) -> Option<f64> {
        (self.macs > 0).then(|| self.cycles as f64 / self.macs as f64)
    }

    /// Budgets of multiply-accumulates are powers of two.
    fn budget(self) -> u32 {
        self.macs.max(1).ilog2()
    }
}

/// By operator and window.
pub fn classes(operators: &[DistinctOperator]) -> Vec<OperatorClass> {
    let mut classes: BTreeMap<String, Vec<&DistinctOperator>> = BTreeMap::new();
    for operator in operators {
        classes.entry(operator.class()).or_default().push(operator);
    }
    let of_class = |(name, all): (String, Vec<&DistinctOperator>)| {
        let mut sum = Sum::default();
        all.iter().filter(|one| one.cycles().is_some()).for_each(|one| sum.add(one));
        OperatorClass {
            name,
            uses: all.iter().map(|one| *one.uses).sum(),
            distinct: all.len().into(),
            emulated: all.iter().filter(|one| one.run.is_some()).count().into(),
            macs: sum.macs.into(),
            cycles_a_mac: sum.cycles_a_mac().map(Into::into),
        }
    };
    classes.into_iter().map(of_class).collect()
}

/// Cycles of a multiply-accumulate of each class, by budget.
fn by_budget(operators: &[DistinctOperator]) -> BTreeMap<String, BTreeMap<u32, f64>> {
    let mut sums: BTreeMap<String, BTreeMap<u32, Sum>> = BTreeMap::new();
    for operator in operators.iter().filter(|one| *one.macs > 0 && one.cycles().is_some()) {
        let mut own = Sum::default();
        own.add(operator);
        sums.entry(operator.class()).or_default().entry(own.budget()).or_default().add(operator);
    }
    let rates = |sums: BTreeMap<u32, Sum>| {
        sums.into_iter().filter_map(|(budget, sum)| Some((budget, sum.cycles_a_mac()?))).collect()
    };
    sums.into_iter().map(|(class, sums)| (class, rates(sums))).collect()
}

/// The sums of each network.
fn totals(
    networks: &[OperatorsNetwork],
    operators: &[DistinctOperator],
    uses: &[OperatorUse],
) -> Vec<Sum> {
    let mut totals = vec![Sum::default(); networks.len()];
    for one in uses {
        if let (Some(total), Some(operator)) =
            (totals.get_mut(one.network), operators.get(one.operator))
        {
            total.add(operator);
        }
    }
    totals
}

/// The sentences of section 5.1.3, each with the comparisons that it holds in.
pub fn claims(
    networks: &[OperatorsNetwork],
    operators: &[DistinctOperator],
    uses: &[OperatorUse],
) -> Vec<OperatorClaim> {
    let rates = by_budget(operators);
    let totals = totals(networks, operators, uses);
    let window = |side: usize| format!("{DEPTHWISE} {side}x{side}");
    let pointwise = format!("{CONV} 1x1");
    let faster = |fast: &[String], slow: &[String]| {
        let mut count = Count::default();
        for (fast, slow) in fast.iter().flat_map(|fast| slow.iter().map(move |slow| (fast, slow))) {
            let (Some(fast), Some(slow)) = (rates.get(fast), rates.get(slow)) else { continue };
            for (budget, rate) in fast {
                if let Some(other) = slow.get(budget) {
                    count.see(rate < other);
                }
            }
        }
        count
    };
    let budgets = "cycles of a multiply-accumulate, by powers of two of multiply-accumulates";
    vec![
        faster(&[3, 5, 7].map(window), &[pointwise]).claim(
            "Depthwise convolutions are faster than 1x1 convolutions with the same computational complexity.",
            budgets,
        ),
        faster(&[window(3)], &[5, 7].map(window)).claim(
            "3x3 depthwise convolutions are faster than 5x5 and 7x7 depthwise convolutions with the same computational complexity.",
            budgets,
        ),
        backbones(networks, &totals).claim(
            "For any budget of multiply-accumulates MobileNetV3 has the lowest latency, then MNASNet, then ProxylessNAS.",
            "pairs of backbones, by powers of two of multiply-accumulates",
        ),
        widest(networks, &totals).claim(
            "Of one backbone's scalings with the same multiply-accumulates the widest has the lowest latency.",
            "pairs of sizes whose multiply-accumulates differ by less than 2 %",
        ),
    ]
}

/// How often something holds.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    holds: usize,
    of: usize,
}

impl Count {
    fn see(&mut self, holds: bool) {
        self.holds += usize::from(holds);
        self.of += 1;
    }

    fn claim(self, says: &str, compared: &str) -> OperatorClaim {
        let (says, compared) = (says.to_owned(), compared.to_owned());
        OperatorClaim { says, compared, holds: self.holds.into(), of: self.of.into() }
    }
}

/// The thesis' order of backbones, the fastest first.
const ORDER: [&str; 3] = ["mobilenet-v3-thesis", "mnasnet-thesis", "proxylessnas-thesis"];

fn backbones(networks: &[OperatorsNetwork], totals: &[Sum]) -> Count {
    let mut sums: BTreeMap<(usize, u32), Sum> = BTreeMap::new();
    for (network, total) in networks.iter().zip(totals) {
        if let Some(place) = ORDER.iter().position(|name| *name == network.backbone) {
            let sum = sums.entry((place, total.budget())).or_default();
            sum.macs += total.macs;
            sum.cycles += total.cycles;
        }
    }
    let mut count = Count::default();
    for ((place, budget), sum) in &sums {
        let next = (place + 1..ORDER.len()).filter_map(|next| sums.get(&(next, *budget)));
        next.for_each(|next| count.see(sum.cycles_a_mac() < next.cycles_a_mac()));
    }
    count
}

fn widest(networks: &[OperatorsNetwork], totals: &[Sum]) -> Count {
    let all: Vec<_> = networks.iter().zip(totals).collect();
    let mut count = Count::default();
    for (index, (one, its)) in all.iter().enumerate() {
        for (other, others) in &all[index + 1..] {
            let differ = (its.macs as f64 - others.macs as f64).abs() / (its.macs.max(1) as f64);
            if one.backbone != other.backbone || one.width == other.width || differ >= SAME_BUDGET {
                continue;
            }
            let (wide, narrow) =
                if one.width > other.width { (its, others) } else { (others, its) };
            count.see(wide.cycles < narrow.cycles);
        }
    }
    count
}

/// Widths and resolutions of ProxylessNAS that figure 5.7 shows.
const SHOWN: [(f64, usize); 6] =
    [(1.0, 224), (0.65, 224), (0.3, 224), (1.0, 160), (1.0, 112), (1.0, 64)];

/// Figure 5.7: the part that depthwise convolutions have, as the width falls and as the resolution does.
pub fn depthwise(
    networks: &[OperatorsNetwork],
    operators: &[DistinctOperator],
    uses: &[OperatorUse],
) -> Vec<DepthwiseShare> {
    let share = |(width, resolution): (f64, usize)| {
        let is_it = |one: &OperatorsNetwork| {
            one.backbone == ORDER[2] && one.width == width && one.resolution == resolution
        };
        let network = networks.iter().position(is_it)?;
        let (mut all, mut of_depthwise) = (Sum::default(), Sum::default());
        for one in uses.iter().filter(|one| one.network == network) {
            let operator = operators.get(one.operator)?;
            all.add(operator);
            if operator.shape.op == DEPTHWISE {
                of_depthwise.add(operator);
            }
        }
        let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
        Some(DepthwiseShare {
            network: networks[network].name.clone(),
            macs_percent: percent(of_depthwise.macs, all.macs).into(),
            cycles_percent: percent(of_depthwise.cycles, all.cycles).into(),
        })
    };
    SHOWN.into_iter().filter_map(share).collect()
}
