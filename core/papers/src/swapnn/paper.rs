//! What Miao and Lin, SwapNN, print.

const VGG16: &str = "VGG16";
const ALEXNET: &str = "AlexNet";
const DENSE: &str = "MobileNet, depthwise as dense";
const TRUE: &str = "MobileNet, true depthwise";

/// (what, network, setting, figure). AlexNet's counts of tasks are those of ten frames in print.
const PRINTED: &[(&str, &str, &str, f64)] = &[
    ("IO tasks of a frame", VGG16, "16 KB buffers", 85_024.0),
    ("IO tasks of a frame", VGG16, "128 KB buffers", 2_248.0),
    ("IO tasks of a frame", ALEXNET, "16 KB buffers", 6_804.0),
    ("IO tasks of a frame", ALEXNET, "128 KB buffers", 539.0),
    ("IO tasks of a frame", DENSE, "16 KB buffers", 55_877.0),
    ("IO tasks of a frame", DENSE, "128 KB buffers", 870.0),
    ("IO tasks of a frame", TRUE, "16 KB buffers", 3_190.0),
    ("IO time of a frame", VGG16, "16 KB buffers", 257.824),
    ("IO time of a frame", VGG16, "128 KB buffers", 52.4849),
    ("IO time of a frame", ALEXNET, "16 KB buffers", 27.4765),
    ("IO time of a frame", ALEXNET, "128 KB buffers", 13.6731),
    ("IO time of a frame", DENSE, "16 KB buffers", 167.183),
    ("IO time of a frame", DENSE, "128 KB buffers", 10.6669),
    ("latency over unlimited SRAM", VGG16, "128 KB buffers, 512k SRAM", 6.9),
    ("latency over unlimited SRAM", ALEXNET, "128 KB buffers, 512k SRAM", 50.0),
    ("latency over unlimited SRAM", DENSE, "128 KB buffers, 512k SRAM", 150.0),
    ("throughput lost over ten frames", VGG16, "128 KB buffers, 8m SRAM", 3.0),
    ("throughput lost over ten frames", ALEXNET, "128 KB buffers, 8m SRAM", 15.7),
    ("throughput lost over ten frames", DENSE, "128 KB buffers, 8m SRAM", 46.4),
    ("written a frame", VGG16, "128 KB buffers", 15.0),
    ("written a frame", ALEXNET, "128 KB buffers", 1.0),
    ("written a frame", TRUE, "128 KB buffers", 10.0),
    ("written a day", VGG16, "128 KB buffers", 2.0),
    ("written a day", ALEXNET, "128 KB buffers", 2.8),
    ("written a day", TRUE, "128 KB buffers", 123.0),
    ("table 2", VGG16, "feature maps", 15.0),
    ("table 2", VGG16, "weights", 138.0),
    ("table 2", VGG16, "compute-bound layers", 13.0),
    ("table 2", VGG16, "IO-bound layers", 2.0),
    ("table 2", ALEXNET, "feature maps", 1.0),
    ("table 2", ALEXNET, "weights", 62.0),
    ("table 2", ALEXNET, "compute-bound layers", 5.0),
    ("table 2", ALEXNET, "IO-bound layers", 3.0),
    ("table 2", TRUE, "feature maps", 10.0),
    ("table 2", TRUE, "weights", 4.0),
    ("table 2", TRUE, "compute-bound layers", 14.0),
    ("table 2", TRUE, "IO-bound layers", 13.0),
    ("table 2", "ResNet18", "feature maps", 5.0),
    ("table 2", "ResNet18", "weights", 11.0),
    ("table 2", "ResNet18", "compute-bound layers", 16.0),
    ("table 2", "ResNet18", "IO-bound layers", 2.0),
    ("table 2", "GoogLeNet", "feature maps", 6.5),
    ("table 2", "GoogLeNet", "weights", 13.0),
    ("table 2", "GoogLeNet", "compute-bound layers", 21.0),
    ("table 2", "GoogLeNet", "IO-bound layers", 6.0),
    ("energy over that of the core alone", "worst case", "card always busy", 42.0),
    // Prose of figure 6a.
    ("IO hidden behind compute", VGG16, "16 KB buffers", 25.0),
    ("IO hidden behind compute", VGG16, "128 KB buffers", 10.0),
    ("years that a card of 64 GB lasts", TRUE, "first cell, least", 2.4),
    ("years that a card of 64 GB lasts", TRUE, "first cell, most", 4.5),
    ("years that a card of 64 GB lasts", TRUE, "half", 7.5),
    ("years that a card of 64 GB lasts", ALEXNET, "first cell, least", 104.0),
    ("years that a card of 64 GB lasts", ALEXNET, "first cell, most", 200.0),
    ("years that a card of 64 GB lasts", ALEXNET, "half", 328.0),
    ("years that a card of 64 GB lasts", VGG16, "first cell, least", 145.0),
    ("years that a card of 64 GB lasts", VGG16, "first cell, most", 280.0),
    ("years that a card of 64 GB lasts", VGG16, "half", 460.0),
];

/// What the paper prints; nothing if it does not.
pub fn printed(what: &str, network: &str, setting: &str) -> Option<f64> {
    let is_it = |row: &&(&str, &str, &str, f64)| (row.0, row.1, row.2) == (what, network, setting);
    PRINTED.iter().find(is_it).map(|row| row.3)
}

/// Table 1: layers of VGG16 by their place among those with products or windows; million
/// operations, megabytes, least and most normalised intensity.
pub const INTENSITIES: [(&str, usize, [f64; 4]); 7] = [
    ("block1_conv2", 1, [1849.69, 6.46, 5.96, 178.97]),
    ("block1_pool", 2, [3.21, 4.01, 0.017, 0.50]),
    ("block3_conv3", 8, [1849.69, 2.19, 17.55, 526.57]),
    ("block4_pool", 13, [0.40, 0.50, 0.017, 0.50]),
    ("block5_conv1", 14, [462.42, 2.56, 3.76, 112.89]),
    ("fc1", 18, [102.76, 102.79, 0.02, 0.62]),
    ("fc2", 19, [16.78, 16.79, 0.02, 0.62]),
];
