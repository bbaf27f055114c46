//! What bounds each layer: its products for each byte that it moves, against what the core computes
//! and the memories give.

use tilewright_plan::{Cycles, Space};
use tilewright_report::{LayerCount, Tier, Way, short_name};

use super::figures;
use super::layers::Family;
use crate::message::PlanFacts;

/// Products a cycle that no kernel exceeds: SMLAD makes two, one such instruction at a time.
const PRODUCTS_A_CYCLE: f64 = 2.0;

/// What a layer takes longer for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// For computing.
    Compute,
    /// For what it moves.
    Transfer,
    /// It has no products, or nothing is known of its time.
    Neither,
}

impl Bound {
    /// For people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Transfer => "IO",
            Self::Neither => "–",
        }
    }
}

/// A layer, of one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Position in the order of execution: what a selection names.
    pub layer: usize,
    pub name: String,
    /// Colour.
    pub family: Family,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Bytes that it moves, for each of [`Roofline::tiers`].
    pub bytes: Vec<u64>,
    /// Products a second, waiting included (modelled); nothing without products.
    pub rate: Option<f64>,
    /// Instructions for each product, after a run (counted).
    pub instructions: Option<f64>,
    /// Cycles for each product (modelled).
    pub cycles: Option<f64>,
    /// Time of computing alone, in microseconds (modelled).
    pub compute_us: f64,
    /// Time of what it moves alone, in microseconds (modelled).
    pub transfer_us: f64,
    /// What it takes longer for.
    pub bound: Bound,
}

impl Point {
    /// Whether it moves bytes whose time is not known apart from that of computing.
    #[must_use]
    pub fn is_transfer_unknown(&self) -> bool {
        self.transfer_us <= 0.0 && self.bytes.iter().any(|bytes| *bytes > 0)
    }

    /// Products for each byte of a tier; nothing if it moves nothing there.
    #[must_use]
    pub fn intensity(&self, tier: usize) -> Option<f64> {
        let bytes = self.bytes.get(tier).copied().filter(|bytes| *bytes > 0)?;
        (self.macs > 0).then(|| self.macs as f64 / bytes as f64)
    }
}

/// A memory and the way to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Roof {
    /// For people.
    pub title: String,
    /// Bytes a second of long reads (modelled); nothing if it is not known.
    pub bytes_per_second: Option<f64>,
    /// Bytes of all layers.
    pub bytes: u64,
}

/// What bounds the layers of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Roofline {
    /// The layers, in the order of execution.
    pub points: Vec<Point>,
    /// The memories in use.
    pub tiers: Vec<Roof>,
    /// Products a second that no kernel exceeds.
    pub peak: f64,
    /// Products a second of all layers together, waiting included (modelled).
    pub reached: f64,
    /// The tier whose bytes take longest: what is looked at first.
    pub slowest: usize,
}

/// What bounds the layers of a plan; with the counts of a run, if there is one.
#[must_use]
pub fn roofline(plan: &PlanFacts, counts: Option<&[LayerCount]>) -> Roofline {
    let traffic = &plan.traffic;
    let clock = plan.timeline.clock_hz;
    let frames = u64::from(traffic.frames.max(1));
    let of_frame = |all: &[Cycles], layer: usize| {
        all.get(layer).map_or(0.0, |cycles| cycles.at(clock).0 / frames as f64)
    };
    let point = |(layer, row): (usize, &tilewright_report::LayerRow)| {
        let bytes = |tier: &Tier| tier.bytes.get(layer).copied().unwrap_or(0) / frames;
        let mut transfer_us = 0.0;
        // The core's own time holds what it waits for operands that it reads where they lie.
        let mut direct_us = 0.0;
        for tier in &traffic.tiers {
            match (tier.way, tier.bytes_per_second) {
                (Way::Copied, _) => transfer_us += of_frame(&tier.cycles, layer),
                (Way::Direct, Some(rate)) => {
                    direct_us += bytes(tier) as f64 / rate.max(1) as f64 * 1e6;
                }
                (Way::Direct, None) => {}
            }
        }
        let works_us = of_frame(&traffic.compute, layer);
        let direct_us = direct_us.min(works_us);
        let (compute_us, transfer_us) = (works_us - direct_us, transfer_us + direct_us);
        let count = counts.and_then(|counts| counts.get(layer));
        let cycles = count.map_or(*row.cycles, |count| count.cycles.0);
        let each =
            |value: u64| (*row.macs > 0 && value > 0).then(|| value as f64 / *row.macs as f64);
        let time_us = match count {
            Some(count) => count.cycles.at(clock).0,
            None => works_us + of_frame(&traffic.stalls, layer),
        };
        let bound = match *row.macs {
            0 => Bound::Neither,
            _ if works_us <= 0.0 => Bound::Neither,
            _ if transfer_us > compute_us => Bound::Transfer,
            _ => Bound::Compute,
        };
        Point {
            layer,
            name: row.name.clone(),
            family: Family::of(&row.op),
            macs: *row.macs,
            bytes: traffic.tiers.iter().map(bytes).collect(),
            rate: (*row.macs > 0 && time_us > 0.0).then(|| *row.macs as f64 / time_us * 1e6),
            instructions: count.and_then(|count| each(*count.instructions)),
            cycles: each(cycles),
            compute_us,
            transfer_us,
            bound,
        }
    };
    let points: Vec<Point> = plan.report.layers.iter().enumerate().map(point).collect();
    let tiers: Vec<Roof> = traffic.tiers.iter().map(|tier| roof(tier, frames)).collect();
    let time = |roof: &Roof| roof.bytes as f64 / roof.bytes_per_second.unwrap_or(f64::INFINITY);
    let slowest = (0..tiers.len()).max_by(|a, b| time(&tiers[*a]).total_cmp(&time(&tiers[*b])));
    let macs: u64 = points.iter().map(|point| point.macs).sum();
    let time_us: f64 =
        points.iter().filter_map(|p| Some(p.macs as f64 / p.rate?)).sum::<f64>() * 1e6;
    Roofline {
        points,
        tiers,
        peak: PRODUCTS_A_CYCLE * clock.0 as f64,
        reached: if time_us > 0.0 { macs as f64 / time_us * 1e6 } else { 0.0 },
        slowest: slowest.unwrap_or(0),
    }
}

fn roof(tier: &Tier, frames: u64) -> Roof {
    let memory = match tier.space {
        Space::Arena => "SRAM",
        Space::Weights | Space::Constants => "internal flash",
        Space::ExternalRam => "external RAM",
        Space::ExternalFlash => "external flash",
        Space::Card => "card",
    };
    let title = match (tier.way, tier.space) {
        (_, Space::Card) => memory.to_owned(),
        (Way::Direct, _) => format!("{memory}, read by the core"),
        (Way::Copied, _) => format!("{memory}, by DMA"),
    };
    Roof {
        title,
        bytes_per_second: tier.bytes_per_second.map(|rate| rate as f64),
        bytes: tier.bytes.iter().sum::<u64>() / frames,
    }
}

/// An axis of powers of ten.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decades {
    /// The first power of ten.
    pub from: i32,
    /// The last.
    pub to: i32,
}

impl Decades {
    /// So many that all values lie on it; at least one decade.
    #[must_use]
    pub fn around(values: impl Iterator<Item = f64>) -> Self {
        let logs = values.filter(|value| *value > 0.0 && value.is_finite()).map(log10);
        let (least, most) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), log| {
            (least.min(log), most.max(log))
        });
        if least > most {
            return Self { from: 0, to: 1 };
        }
        let from = least.floor().clamp(-30.0, 30.0) as i32;
        Self { from, to: (most.ceil().clamp(-30.0, 30.0) as i32).max(from + 1) }
    }

    /// Where a value lies, 0 to 1.
    #[must_use]
    pub fn place(self, value: f64) -> f64 {
        let share =
            (log10(value.max(1e-30)) - f64::from(self.from)) / f64::from(self.to - self.from);
        share.clamp(0.0, 1.0)
    }

    /// Its powers of ten.
    pub fn ticks(self) -> impl Iterator<Item = f64> {
        (self.from..=self.to).map(|power| 10f64.powi(power))
    }
}

fn log10(value: f64) -> f64 {
    value.log10()
}

impl Roofline {
    /// The axes for a tier: products a byte, products a second.
    #[must_use]
    pub fn axes(&self, tier: usize) -> [Decades; 2] {
        let ridge = self.tiers.get(tier).and_then(|roof| Some(self.peak / roof.bytes_per_second?));
        let intensities = self.points.iter().filter_map(|point| point.intensity(tier));
        let rates = self.points.iter().filter_map(|point| point.rate);
        [Decades::around(intensities.chain(ridge)), Decades::around(rates.chain([self.peak]))]
    }

    /// How many layers each bound holds.
    #[must_use]
    pub fn bounds(&self) -> [usize; 2] {
        let count = |bound| self.points.iter().filter(|point| point.bound == bound).count();
        [count(Bound::Compute), count(Bound::Transfer)]
    }

    /// All layers in a sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        let [compute, transfer] = self.bounds();
        let share = figures::percent(self.reached, self.peak);
        format!(
            "{compute} {} compute-bound, {transfer} IO-bound; all together {} (modelled), \
             {share} of what the core can do at most, {}",
            if compute == 1 { "layer" } else { "layers" },
            macs_per_second(self.reached),
            macs_per_second(self.peak),
        )
    }

    /// A layer in a sentence.
    #[must_use]
    pub fn words(&self, layer: usize, tier: usize) -> String {
        let Some(point) = self.points.get(layer) else { return String::new() };
        let name = short_name(&point.name);
        if point.macs == 0 {
            return format!("{name}: no products");
        }
        let mut words = format!("{name}: {} products", figures::grouped(point.macs));
        if let (Some(intensity), Some(roof)) = (point.intensity(tier), self.tiers.get(tier)) {
            words += &format!(
                ", {} for each of {} of {} (counted)",
                ratio(intensity),
                figures::bytes(point.bytes[tier]),
                roof.title
            );
        }
        if let Some(rate) = point.rate {
            words += &format!("; {} (modelled)", macs_per_second(rate));
        }
        if let Some(cycles) = point.cycles {
            words += &format!("; {} cycles a product (modelled)", ratio(cycles));
        }
        if let Some(instructions) = point.instructions {
            words += &format!(", {} instructions (counted)", ratio(instructions));
        }
        if point.bound != Bound::Neither {
            let (compute, bound) = (figures::duration(point.compute_us), point.bound.words());
            words += &match point.is_transfer_unknown() {
                true => format!("; {bound}-bound: computing {compute}, reads of flash included"),
                false => format!(
                    "; {bound}-bound: computing {compute}, transfers {}",
                    figures::duration(point.transfer_us)
                ),
            };
        }
        words
    }

    /// The table as CSV.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut text = String::from(
            "position,name,macs,macs_per_second,counted_instructions_per_mac,cycles_per_mac,\
             compute_us,transfer_us,bound",
        );
        for tier in &self.tiers {
            text += &format!(",\"bytes of {}\"", tier.title);
        }
        for point in &self.points {
            let optional = |value: Option<f64>, decimals| {
                value.map(|value| figures::fixed(value, decimals)).unwrap_or_default()
            };
            let bound = if point.bound == Bound::Neither { "" } else { point.bound.words() };
            text += &format!(
                "\n{},\"{}\",{},{},{},{},{},{},{bound}",
                point.layer,
                point.name.replace('"', "\"\""),
                point.macs,
                optional(point.rate, 0),
                optional(point.instructions, 4),
                optional(point.cycles, 4),
                figures::fixed(point.compute_us, 3),
                figures::fixed(point.transfer_us, 3),
            );
            for bytes in &point.bytes {
                text += &format!(",{bytes}");
            }
        }
        text.push('\n');
        text
    }
}

/// A rate: `123 M MAC/s`.
#[must_use]
pub fn macs_per_second(rate: f64) -> String {
    format!("{} MAC/s", figures::compact(rate as u64))
}

/// A ratio with three digits.
#[must_use]
pub fn ratio(value: f64) -> String {
    match value {
        v if v < 9.995 => figures::fixed(v, 2),
        v if v < 99.95 => figures::fixed(v, 1),
        v => figures::grouped(v.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_model::fixture;

    #[test]
    fn layers_are_bound_by_what_takes_longer() {
        let mut plan = fixture::plan();
        let view = roofline(&plan, None);
        // 44 bytes at 100 MB/s are 0.44 µs of 10 µs, 440 are 4.4.
        assert_eq!(view.bounds(), [2, 0], "{view:?}");
        assert_eq!(view.points[2].bound, Bound::Neither, "it has no products");
        assert!((view.points[0].transfer_us - 0.44).abs() < 1e-9);
        assert!((view.points[0].compute_us - 9.56).abs() < 1e-9);
        assert_eq!(view.points[1].intensity(0), Some(320.0 / 440.0));
        assert_eq!(view.points[0].rate.map(|rate| rate.round()), Some(28_800_000.0));
        assert!((view.peak - 432e6).abs() < 1.0);
        plan.traffic.tiers[0].way = Way::Copied;
        plan.traffic.tiers[0].cycles = vec![Cycles(5_000), Cycles(100), Cycles(0)];
        let view = roofline(&plan, None);
        assert_eq!(view.bounds(), [1, 1]);
        assert!(view.words(0, 0).contains("IO-bound"), "{}", view.words(0, 0));
        assert!(view.summary().contains("1 IO-bound"), "{}", view.summary());
    }

    #[test]
    fn figures_are_those_of_one_frame_and_counted_after_a_run() {
        let mut plan = fixture::plan();
        let one = roofline(&plan, None);
        plan.traffic.frames = 2;
        plan.traffic.tiers[0].bytes.iter_mut().for_each(|bytes| *bytes *= 2);
        plan.traffic.compute.iter_mut().for_each(|cycles| cycles.0 *= 2);
        assert_eq!(roofline(&plan, None), one);
        let counts = fixture::counts();
        let counted = roofline(&plan, Some(&counts));
        assert_eq!(one.points[0].instructions, None);
        assert_eq!(counted.points[0].instructions, Some(1_100.0 / 288.0));
        let words = counted.words(0, 0);
        assert!(
            words.contains("7.64 cycles a product (modelled), 3.82 instructions (counted)"),
            "{words}"
        );
        assert_eq!(counted.csv().lines().count(), 4);
    }

    #[test]
    fn axes_hold_every_value() {
        let axis = Decades::around([0.5, 320.0, 0.0, f64::INFINITY].into_iter());
        assert_eq!(axis, Decades { from: -1, to: 3 });
        assert_eq!((axis.place(0.1), axis.place(1e3), axis.place(0.0)), (0.0, 1.0, 0.0));
        assert_eq!(axis.ticks().count(), 5);
        assert_eq!(Decades::around(std::iter::empty()), Decades { from: 0, to: 1 });
        assert_eq!(Decades::around([10.0].into_iter()), Decades { from: 1, to: 2 });
    }
}
