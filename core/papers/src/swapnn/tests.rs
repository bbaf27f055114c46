//! The goals for the reference profiles.

use super::*;

fn near(rows: &[PaperFigure], what: &str, network: &str, setting: &str, range: [f64; 2]) {
    let is_it = |row: &&PaperFigure| {
        (row.what.as_str(), row.of.as_str(), row.setting.as_str()) == (what, network, setting)
    };
    let ours = rows.iter().find(is_it).unwrap().ours;
    assert!((range[0]..=range[1]).contains(&ours), "{what} of {network}, {setting}: {ours}");
}

/// The goals for the reference profiles; where the paper contradicts itself, both readings.
pub(crate) fn the_papers_figures_come_out_again(rows: &[PaperFigure]) {
    let within = |paper: f64, share: f64| [paper * (1.0 - share), paper * (1.0 + share)];
    let (small, large) = ("16 KB buffers", "128 KB buffers");
    let dense = "MobileNet, depthwise as dense";
    let tasks = "IO tasks of a frame";
    near(rows, tasks, "VGG16", small, within(85_024.0, 0.2));
    near(rows, tasks, "VGG16", large, within(2_248.0, 0.2));
    // Printed for ten frames.
    near(rows, tasks, "AlexNet", small, within(6_804.0, 0.2));
    near(rows, tasks, "AlexNet", large, within(539.0, 0.2));
    near(rows, tasks, dense, small, within(55_877.0, 0.2));
    near(rows, tasks, dense, large, within(870.0, 0.2));
    let io = "IO time of a frame";
    near(rows, io, "VGG16", small, within(257.824, 0.02));
    near(rows, io, "VGG16", large, within(52.4849, 0.02));
    near(rows, io, "AlexNet", small, within(27.4765, 0.02));
    near(rows, io, "AlexNet", large, within(13.6731, 0.02));
    let (latency, little) = ("latency over unlimited SRAM", "128 KB buffers, 512k SRAM");
    near(rows, latency, "VGG16", little, [5.0, 7.0]);
    near(rows, latency, "AlexNet", little, [35.0, 65.0]);
    near(rows, latency, dense, little, [140.0, 160.0]);
    let (lost, much) = ("throughput lost over ten frames", "128 KB buffers, 8m SRAM");
    near(rows, lost, "VGG16", much, [2.0, 4.0]);
    near(rows, lost, "AlexNet", much, [10.0, 16.0]);
    near(rows, lost, dense, much, [40.0, 47.0]);
    for row in rows.iter().filter(|row| row.what == "table 1") {
        let paper = row.printed.unwrap();
        let share = (row.ours / paper - 1.0).abs();
        // The smallest are printed with two digits.
        assert!(share < if paper < 1.0 { 0.1 } else { 0.01 }, "{row:?}");
    }
}
