//! The networks of Sadiq's thesis (TinyOps), which scales known networks by a rule of its own.

use super::{Entry, Publication, Span, macs, pixels, published};
use crate::networks::searched;

/// Widths and resolutions of its operators (5.1.3.1); its searches take a part of both.
const WIDTHS: Option<Span<f64>> = Some(Span { least: 0.1, most: 1.0, step: 0.05, default: 1.0 });
const RESOLUTIONS: Option<Span<usize>> = pixels(48, 224, 16, 224);

const TABLE_4_1: &str = "thesis of Sadiq, table 4.1";
const TABLE_4_6: &str = "thesis of Sadiq, table 4.6";
const TABLE_5_1: &str = "thesis of Sadiq, table 5.1";
const TABLE_5_2: &str = "thesis of Sadiq, table 5.2";

const DIGITS: &str = "the thesis prints whole millions of MACs and hundredths of a million parameters, some rounded and some \
     cut off: ours are less than one of them away";
const INFERRED: &str =
    "the thesis does not print its rule of rounding: this one meets all other sizes of its tables";

/// Millions of MACs and hundredths of a million parameters, without batch normalisations.
const fn printed(
    name: &'static str,
    millions: u64,
    hundredths: u64,
    source: &'static str,
) -> Publication {
    published(name, hundredths * 10_000, millions * 1_000_000, 0, source)
}

pub(super) const PROXYLESSNAS: Entry = Entry {
    name: "proxylessnas-thesis",
    family: "Searched",
    about: "ProxylessNAS-Mobile as Sadiq's thesis scales it: multiples of 4, and a narrower head",
    width: WIDTHS,
    resolution: RESOLUTIONS,
    stack: None,
    publications: &[
        macs("proxylessnas-thesis", 320_000_000, TABLE_4_1),
        printed("proxylessnas-thesis-w0.75", 193, 259, TABLE_4_6),
        printed("proxylessnas-thesis-w0.1-r192", 8, 19, TABLE_5_1).but(DIGITS),
        printed("proxylessnas-thesis-w0.3-r144", 21, 72, TABLE_5_1).but(DIGITS),
        printed("proxylessnas-thesis-w0.3-r176", 32, 72, TABLE_5_1).but(DIGITS),
    ],
    build: searched::proxylessnas_thesis,
};

/// As [`printed`], with scale and offset of each channel of a batch normalisation.
const fn normalised(
    name: &'static str,
    millions: u64,
    hundredths: u64,
    source: &'static str,
) -> Publication {
    Publication { normalisation: 1, ..printed(name, millions, hundredths, source) }
}

pub(super) const MNASNET: Entry = Entry {
    name: "mnasnet-thesis",
    family: "Searched",
    about: "MnasNet-B1 as Sadiq's thesis scales it: multiples of 4, and a narrower head",
    width: WIDTHS,
    resolution: RESOLUTIONS,
    stack: None,
    publications: &[
        normalised("mnasnet-thesis", 314, 438, TABLE_4_6),
        normalised("mnasnet-thesis-w0.75", 191, 275, TABLE_4_6),
        normalised("mnasnet-thesis-w0.5", 88, 147, TABLE_4_6).but(DIGITS),
        normalised("mnasnet-thesis-r128", 104, 438, TABLE_5_1),
        normalised("mnasnet-thesis-r80", 48, 438, TABLE_5_1),
    ],
    build: searched::mnasnet_thesis,
};

pub(super) const MOBILENET_V3: Entry = Entry {
    name: "mobilenet-v3-thesis",
    family: "MobileNet",
    about: "MobileNetV3-Large as Sadiq's thesis scales it: rectifiers, no squeezes, multiples of 4",
    width: WIDTHS,
    resolution: RESOLUTIONS,
    stack: None,
    publications: &[
        macs("mobilenet-v3-thesis", 215_000_000, TABLE_4_1),
        printed("mobilenet-v3-thesis-w0.25-r80", 3, 50, TABLE_5_1).but(INFERRED),
        printed("mobilenet-v3-thesis-w0.5-r112", 16, 133, TABLE_5_1).but(DIGITS),
        printed("mobilenet-v3-thesis-w0.55-r128", 28, 155, TABLE_5_1).but(DIGITS),
        printed("mobilenet-v3-thesis-w0.75-r128", 44, 249, TABLE_5_1),
        printed("mobilenet-v3-thesis-r112", 59, 396, TABLE_5_1),
        printed("mobilenet-v3-thesis-w0.45-r112", 15, 115, TABLE_5_2),
        printed("mobilenet-v3-thesis-w0.65-r128", 35, 199, TABLE_5_2).but(INFERRED),
        printed("mobilenet-v3-thesis-w0.75-r144", 57, 249, TABLE_5_2).but(DIGITS),
        printed("mobilenet-v3-thesis-w0.9-r144", 82, 335, TABLE_5_2).but(DIGITS),
        printed("mobilenet-v3-thesis-r160", 111, 396, TABLE_5_2),
        printed("mobilenet-v3-thesis-w0.95-r176", 132, 365, TABLE_5_2),
        printed("mobilenet-v3-thesis-r192", 159, 396, TABLE_5_2),
        printed("mobilenet-v3-thesis-r208", 192, 396, TABLE_5_2),
        printed("mobilenet-v3-thesis", 216, 396, TABLE_5_2),
    ],
    build: searched::mobilenet_v3_thesis,
};

pub(super) const MOBILENET_V3_EXITS: Entry = Entry {
    name: "mobilenet-v3-thesis-exits",
    family: "MobileNet",
    about: "the same with nine outputs: early exits behind blocks 7 to 15 (figures 5.8 and 5.9)",
    width: WIDTHS,
    resolution: RESOLUTIONS,
    stack: None,
    publications: &[],
    build: searched::mobilenet_v3_exits_thesis,
};

pub(super) const MOBILENET_V3_MINIMAL: Entry = Entry {
    name: "mobilenet-v3-minimal-thesis",
    family: "MobileNet",
    about: "the same with 3×3 windows alone, as the thesis' prose has it (5.1.3.1)",
    width: WIDTHS,
    resolution: RESOLUTIONS,
    stack: None,
    publications: &[published(
        "mobilenet-v3-minimal-thesis",
        3_900_000,
        209_000_000,
        0,
        "Keras' table of weights: large, minimalistic",
    )],
    build: searched::mobilenet_v3_minimal_thesis,
};
