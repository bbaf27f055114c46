//! Why figures are more than a tenth off the printed ones.

use tilewright_report::PaperFigure;

const BEST_BUILD: &str = "costs are of the best of CMSIS-NN's builds, without framework or waits for flash; all ways of a board \
     are as far off, so that their ratios are not";
const L552: &str = "overlaid, printed are 13.8 and 10.1 cycles a MAC of the small and the large network, here 9.1 and 4.8: costs are \
     of the best of CMSIS-NN's builds, without framework, and five cycles more for each MAC are of its build (inferred)";
const LOADS: &str = "a load from outside is charged by its latency each time, which the small network's external run implies; on the \
     large ones overlaying then saves more than was measured";
const ENERGY: &str = "energy is power, which agrees, times latency: see there";
const ARENA: &str = "tensors alone, at their proved least; the printed ones are 311 KB more at 224 and at 208 pixels, 288 KB more \
     at width 0.9: what does not shrink with the picture is the framework's and its kernels', not tensors";

const ALONE: &str = "one operator alone holds as much, whatever the order: what is printed is about the largest tensor by itself, as \
     if operators computed in place (inferred)";

/// (what, network, setting, reason): a row belongs to the first whose words it has; empty words fit all.
pub const REASONS: &[(&str, &str, &str, &str)] = &[
    (
        "table 2, as it is",
        "InceptionV1",
        "",
        "a local response normalisation holds 602,112 B twice; the paper's network has none there: the pool behind \
         the first convolution, 802,816 and 200,704 B, is its peak (inferred)",
    ),
    (
        "table 2, as it is",
        "NASNet mobile",
        "",
        "the paper's file keeps more beside a reduction cell, such as paddings by themselves (inferred)",
    ),
    (
        "table 2, as it is",
        "DenseNet",
        "",
        "the paper's file has normalisations and rectifiers as operators by themselves (inferred)",
    ),
    (
        "table 2, as it is",
        "DeepLabv3",
        "",
        "an expanded layer of a backbone of full width holds this; what is printed is the last resize, 33x33x21 to \
         257x257x21, so that the paper's backbone has half the width (inferred)",
    ),
    ("table 2, reordered", "", "", ALONE),
    (
        "networks that fit",
        "MobileNetV2",
        "sparse-tiled",
        "by the paper's own rule 1.00@192 takes 659,904 B and 0.75@192 512,448 of 512,000; layers above 0.36 of the \
         peak in tiles, or 3x3 tiles, would do",
    ),
    (
        "networks that fit",
        "MobileNetV2",
        "sparse",
        "0.50@160 takes 384,000 B by the paper's own rule, and its flash has room",
    ),
    ("latency", "", "L552", L552),
    ("table 4.5, energy", "", "L552", ENERGY),
    ("latency", "", "F469", BEST_BUILD),
    ("table 4.5, energy", "", "F469", ENERGY),
    (
        "latency",
        "",
        "F746",
        "the modelled data cache keeps more than the one that was measured (external), and costs are of the \
         best of CMSIS-NN's builds, without framework or waits for flash",
    ),
    ("table 4.5, energy", "", "F746", ENERGY),
    (
        "external : overlay",
        "w0.1-r192",
        "L552",
        "waits of this board's outer memories are estimates from its manual: the small network's external run \
         implies longer ones",
    ),
    ("external : overlay", "", "", LOADS),
    (
        "figure 4.8",
        "",
        "over internal",
        "a small difference of two latencies: 2.5 % of internal here, 8.7 % in print",
    ),
    ("figure 4.9", "", "external : overlay", LOADS),
    (
        "figure 4.9",
        "",
        "memory in SRAM",
        "tensors alone, at their proved least. Their other arenas are 1.4 times these (table 4.3, and 230 KB for \
         w0.3-r144), this one 2.2 times, which nothing in the text explains",
    ),
    ("table 4.3", "", "RAM", ARENA),
    ("sizes of networks", "", "RAM", ARENA),
    ("MobileNetV3 overlaid, F469", "", "", BEST_BUILD),
    (
        "IO tasks",
        "VGG16",
        "16 KB",
        "its deep layers have tiles of a few pixels, where a pixel more or less of a side changes the count \
         much; the paper does not say how sides are rounded",
    ),
    (
        "IO tasks",
        "MobileNet, true",
        "16 KB",
        "as for VGG16: sides of tiles. The text prints 55,877 for the same setting, which fits weights of \
         depthwise layers counted as dense",
    ),
    (
        "IO time",
        "MobileNet, depthwise as dense",
        "16 KB",
        "the paper's 55,877 tasks leave 135 s of its 167 for bytes, 675 MB on this card; dense depthwise \
         weights are read for more tiles here",
    ),
    (
        "IO time",
        "MobileNet, depthwise as dense",
        "128 KB",
        "10.67 s in 5.2, 16 s in 5.1 of the paper, for the same setting: 8 % above the latter",
    ),
    (
        "IO hidden",
        "VGG16",
        "",
        "this schedule keeps the card ahead of the core as far as buffers reach; theirs hides 25 of 258 s and \
         10 of 52 (prose of figure 6a), although the frame computes for 610 s by its bytes a day",
    ),
    (
        "latency over unlimited SRAM",
        "VGG16",
        "",
        "of 52 s of IO this schedule hides 20, theirs 10 (5.1), over the same compute; within the 5 to 7 % \
         that a model of it gives",
    ),
    (
        "throughput lost",
        "VGG16",
        "",
        "0.6 points: their figure is a whole per cent, read off a curve",
    ),
    ("written a frame", "AlexNet", "", "outputs are 0.78 MB, printed as a whole megabyte"),
    (
        "written a frame",
        "MobileNet",
        "",
        "the paper's 10 MB are inputs and outputs of its layers; only outputs are written",
    ),
    (
        "written a day",
        "AlexNet",
        "",
        "0.78 MB for its 1, and 35 s a frame where its bytes a day mean 31",
    ),
    (
        "written a day",
        "MobileNet",
        "",
        "123 GB at 10 MB are 7.0 s a frame, less than the 10.67 s that the paper's own card is busy with one",
    ),
    (
        "table 2",
        "VGG16",
        "IO-bound",
        "VGG16 has three fully connected layers, all bound by IO; the paper counts two",
    ),
    ("table 2", "AlexNet", "feature maps", "outputs are 0.78 MB, printed as a whole megabyte"),
    (
        "table 2",
        "MobileNet",
        "feature maps",
        "the paper's 10 MB are inputs and outputs of its layers",
    ),
    (
        "table 2",
        "ResNet18",
        "feature maps",
        "outputs of layers with products or windows; with their inputs they are about twice as much, as for \
         MobileNet",
    ),
    (
        "table 2",
        "ResNet18",
        "-bound",
        "20 convolutions and one fully connected layer; the paper counts 18 layers, without the three \
         convolutions of shortcuts, and one of 18 more as bound by IO",
    ),
    (
        "table 2",
        "GoogLeNet",
        "feature maps",
        "outputs of layers with products or windows, without concatenations",
    ),
    (
        "table 2",
        "GoogLeNet",
        "weights",
        "7.0 M parameters without the two auxiliary classifiers, which only train it; with them 13.4 M",
    ),
    (
        "table 2",
        "GoogLeNet",
        "-bound",
        "57 convolutions and one fully connected layer; the paper takes each module by its depth: 22 layers, \
         and five pools make its 27 (inferred)",
    ),
    (
        "years",
        "VGG16",
        "least",
        "as written, less what short writes add: their ends share pages that are programmed whole",
    ),
    (
        "years",
        "AlexNet",
        "least",
        "as written, less what short writes add: their ends share pages that are programmed whole",
    ),
    ("years", "AlexNet", "", "fewer bytes a day (see there): its bytes a day give its years here"),
    (
        "years",
        "MobileNet",
        "",
        "fewer bytes a day (see there): its bytes a day give its years here",
    ),
];

/// The reason of a row.
pub fn of(row: &PaperFigure) -> Option<&'static str> {
    let fits = |reason: &&(&str, &str, &str, &str)| {
        row.what.contains(reason.0) && row.of.contains(reason.1) && row.setting.contains(reason.2)
    };
    REASONS.iter().find(fits).map(|reason| reason.3)
}
