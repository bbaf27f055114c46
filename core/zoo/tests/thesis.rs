//! The networks of Sadiq's thesis have the sizes that its tables print.

use tilewright_zoo::{Network, network};

fn built(name: &str) -> Network {
    network(name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Name, millions of MACs, millions of folded parameters: to the digits that are written.
const SIZES: [(&str, f64, f64); 8] = [
    ("proxylessnas-thesis-w0.10-r192", 7.8, 0.19),
    ("proxylessnas-thesis-w0.75-r224", 193.3, 2.59),
    ("mnasnet-thesis-w0.50-r224", 88.7, 1.46),
    ("mnasnet-thesis-w0.75-r224", 191.1, 2.73),
    ("mnasnet-thesis-w1.00-r128", 103.5, 4.36),
    ("mobilenet-v3-thesis-w1.00-r224", 215.1, 3.96),
    ("mobilenet-v3-minimal-thesis-w1.00-r224", 209.1, 3.91),
    // Of two networks with as many MACs, the wider one is the faster (5.1.3.2).
    ("proxylessnas-thesis-w1.00-r160", 164.1, 4.06),
];

#[test]
fn sizes_follow_from_one_rule() {
    for (name, macs, parameters) in SIZES {
        let network = built(name);
        let found = [network.macs(), network.parameters_of_model()].map(|count| count as f64 / 1e6);
        assert!((found[0] - macs).abs() <= 0.05, "{name}: {} M MACs", found[0]);
        assert!((found[1] - parameters).abs() <= 0.005, "{name}: {} M parameters", found[1]);
    }
}

/// Table 5.2: width and resolution, millions of parameters and of MACs.
const TABLE_5_2: [(&str, f64, f64); 9] = [
    ("w0.45-r112", 1.15, 15.0),
    ("w0.65-r128", 1.99, 35.0),
    ("w0.75-r144", 2.49, 57.0),
    ("w0.90-r144", 3.35, 82.0),
    ("w1.00-r160", 3.96, 111.0),
    ("w0.95-r176", 3.65, 132.0),
    ("w1.00-r192", 3.96, 159.0),
    ("w1.00-r208", 3.96, 192.0),
    ("w1.00-r224", 3.96, 216.0),
];

#[test]
fn mobilenets_have_the_sizes_of_table_5_2() {
    for (size, parameters, macs) in TABLE_5_2 {
        let network = built(&format!("mobilenet-v3-thesis-{size}"));
        let found = [network.parameters_of_model(), network.macs()].map(|count| count as f64 / 1e6);
        assert!((found[0] - parameters).abs() < 0.015, "{size}: {} M parameters", found[0]);
        // Whole millions, some cut off; 216 is 215 in table 4.1.
        assert!((found[1] - macs).abs() < 1.0, "{size}: {} M MACs", found[1]);
    }
}

#[test]
fn operators_are_as_many_as_were_benchmarked() {
    let mut all = 0;
    for (family, each) in
        [("proxylessnas-thesis", 77), ("mnasnet-thesis", 65), ("mobilenet-v3-thesis", 60)]
    {
        for width in (10..=100).step_by(5) {
            for resolution in (48..=224).step_by(16) {
                let name = format!("{family}-w{}-r{resolution}", f64::from(width) / 100.0);
                let operators = built(&name).float().nodes.len();
                assert_eq!(operators, each, "{name}");
                all += operators;
            }
        }
    }
    assert_eq!(all, 46_056);
}

#[test]
fn the_smallest_and_the_largest_have_an_int8_form() {
    for family in [
        "proxylessnas-thesis",
        "mnasnet-thesis",
        "mobilenet-v3-thesis",
        "mobilenet-v3-minimal-thesis",
    ] {
        for size in ["w0.1-r48", "w0.1-r64", "w1.00-r224"] {
            let name = format!("{family}-{size}");
            let int8 = built(&name).int8().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(int8.nodes.len(), built(&name).float().nodes.len(), "{name}");
        }
        for size in ["w0.09-r224", "w1.05-r224", "w1-r32", "w1-r240"] {
            assert!(network(&format!("{family}-{size}")).is_err(), "{family}-{size}");
        }
    }
}
