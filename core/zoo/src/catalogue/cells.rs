//! Networks stacked from the cells that Sadiq's thesis compares (table 3.4). All take pictures of CIFAR-10.

use super::{Entry, Publication, Span, StackSpans, macs, parameters, pixels, published};
use crate::networks::cells;

/// Sizes of all of them; as usual those that the thesis evaluates (3.2.3).
const STACK: Option<StackSpans> = Some(StackSpans {
    channels: Span { least: 4, most: 128, step: 4, default: 36 },
    cells: Span { least: 3, most: 40, step: 1, default: 20 },
});
const RESOLUTIONS: Option<Span<usize>> = pixels(8, 224, 8, 32);

const TABLE_3_4: &str = "thesis of Sadiq, table 3.4";
const COUNTED: &str = "the table rounds parameters to two digits, and its MACs are those that ptflops counts, with normalisations, \
     rectifiers and pools: rounded and counted so, ours are the same";

const NARROWER: &str = "the table's MACs are those of 36 channels and its parameters those of 32, rounded to two digits";

/// Parameters, with scale and offset of each channel of a batch normalisation, and millions of MACs.
const fn printed(name: &'static str, parameters: u64, millions: u64) -> Publication {
    published(name, parameters, millions * 1_000_000, 1, TABLE_3_4).but(COUNTED)
}

pub(super) const AMOEBANET_A: Entry = Entry {
    name: "amoebanet-cells",
    family: "Cells",
    about: "AmoebaNet-A in DARTS' notation; Real et al. 2018",
    width: None,
    resolution: RESOLUTIONS,
    stack: STACK,
    publications: &[printed("amoebanet-cells", 3_100_000, 506)],
    build: cells::amoebanet_a,
};

pub(super) const NASNET_A: Entry = Entry {
    name: "nasnet-cells",
    family: "Cells",
    about: "NASNet-A in DARTS' notation; Zoph et al. 2017",
    width: None,
    resolution: RESOLUTIONS,
    stack: STACK,
    publications: &[
        macs("nasnet-cells", 624_000_000, TABLE_3_4).but(COUNTED),
        parameters("nasnet-cells-c32", 3_100_000, 1, TABLE_3_4).but(NARROWER),
    ],
    build: cells::nasnet_a,
};

pub(super) const DARTS: Entry = Entry {
    name: "darts-cells",
    family: "Cells",
    about: "DARTS, second order; Liu et al. 2019",
    width: None,
    resolution: RESOLUTIONS,
    stack: STACK,
    publications: &[printed("darts-cells", 3_300_000, 547)],
    build: cells::darts,
};

pub(super) const DEFF_ARTS_001: Entry = Entry {
    name: "deff-arts-0.01",
    family: "Cells",
    about: "cells of the cost that a search with Γ = 0.01 finds; thesis of Sadiq, figure 3.11",
    width: None,
    resolution: RESOLUTIONS,
    stack: STACK,
    publications: &[printed("deff-arts-0.01", 2_300_000, 376)],
    build: cells::deff_arts_001,
};

pub(super) const DEFF_ARTS_002: Entry = Entry {
    name: "deff-arts-0.02",
    family: "Cells",
    about: "the same with Γ = 0.02: one convolution, else pools and skips; figure 3.12",
    width: None,
    resolution: RESOLUTIONS,
    stack: STACK,
    publications: &[printed("deff-arts-0.02", 1_600_000, 262)],
    build: cells::deff_arts_002,
};

pub(super) const DEFF_ARTS_004: Entry = Entry {
    name: "deff-arts-0.04",
    family: "Cells",
    about: "the same with Γ = 0.04: skips alone; figure 3.13",
    width: None,
    resolution: RESOLUTIONS,
    stack: STACK,
    publications: &[printed("deff-arts-0.04", 1_450_000, 242)],
    build: cells::deff_arts_004,
};

/// What stands for a network of any genotype. It is not listed, and no name leads to it.
pub(crate) const OF_GENOTYPE: &Entry = &Entry {
    name: "cells",
    family: "Cells",
    about: "cells of a genotype",
    width: None,
    resolution: None,
    stack: None,
    publications: &[],
    build: cells::of_no_genotype,
};
