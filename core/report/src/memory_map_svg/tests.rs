use super::*;
use crate::fixture;

fn drawn(count: usize) -> String {
    let plan = fixture::plan();
    let memory = MemoryMap::of(&plan);
    let (report, tensors) = (fixture::report(&memory), PlacedTensor::of(&plan));
    svg(&vec![Drawn { report: &report, memory: &memory, tensors: &tensors }; count])
}

#[test]
fn the_picture_shows_peak_limit_bound_and_every_tensor() {
    let picture = drawn(1);
    for words in ["peak 48 B", "limit 60 B", "lower bound", "Arena 56 B", "offset in the arena"] {
        assert!(picture.contains(words), "{words}: {picture}");
    }
    assert_eq!(picture.matches("block\" x=").count(), 1 + 4, "the legend's, and four tensors");
    assert!(picture.contains("small &amp; &lt;odd&gt; on board"), "{picture}");
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
}

#[test]
fn plans_stand_below_each_other() {
    let (one, two) = (drawn(1), drawn(2));
    assert_eq!(two.matches("peak 48 B").count(), 2);
    let height = |picture: &str| -> f64 {
        let (_, rest) = picture.split_once("height=\"").unwrap();
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    assert!(height(&two) > height(&one) + 300.0);
    assert!(drawn(0).contains("No plan"));
}

#[test]
fn a_limit_far_above_is_named_only() {
    let plan = fixture::plan();
    let memory = MemoryMap::of(&plan);
    let mut report = fixture::report(&memory);
    report.sram_limit_bytes = tilewright_plan::Bytes(1 << 20).into();
    let picture = svg(&[Drawn { report: &report, memory: &memory, tensors: &[] }]);
    assert!(!picture.contains("class=\"limit\""), "{picture}");
    assert!(picture.contains("limit 1,048,576 B (1024.0 KiB)"), "{picture}");
}
