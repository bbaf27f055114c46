//! What the zoo holds, with what publications say of it.

mod cells;
mod thesis;

use crate::name::Parameters;
use crate::net::Built;
use crate::networks::{
    classic, dense, example, inception, mobilenet, nasnet, resnet, searched, shufflenet, tiny,
};

/// Sizes that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span<T> {
    /// The smallest.
    pub least: T,
    /// The largest.
    pub most: T,
    /// A sensible step of a slider; values between are possible too.
    pub step: T,
    /// As usual.
    pub default: T,
}

/// What a publication says of one size of a network.
#[derive(Clone, Copy, Debug)]
pub struct Publication {
    /// The size: a name of the zoo.
    pub name: &'static str,
    /// Parameters, if it says so.
    pub parameters: Option<u64>,
    /// Multiply-accumulates, if it says so.
    pub macs: Option<u64>,
    /// Parameters counted for each channel of a batch normalisation, less the one bias that folding
    /// leaves: 1 where scale and offset count, 3 where the running statistics do too, 4 where the
    /// layer before has a bias besides.
    pub normalisation: u64,
    /// Where it stands.
    pub source: &'static str,
    /// Why ours is more than 0.5 % away, if it is.
    pub difference: Option<&'static str>,
}

/// Sizes of a stack of cells that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StackSpans {
    /// Channels of the first cells.
    pub channels: Span<usize>,
    /// Cells.
    pub cells: Span<usize>,
}

/// A network of the zoo.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name.
    pub name: &'static str,
    /// Networks of one family stand together.
    pub family: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Widths, if it has them.
    pub width: Option<Span<f64>>,
    /// Resolutions, if it has them.
    pub resolution: Option<Span<usize>>,
    /// Sizes of a stack of cells, if it is one.
    pub stack: Option<StackSpans>,
    /// What publications say.
    pub publications: &'static [Publication],
    pub(crate) build: fn(&Parameters) -> Result<Built, String>,
}

const WIDTHS: Option<Span<f64>> = Some(Span { least: 0.05, most: 2.0, step: 0.05, default: 1.0 });

pub(crate) use cells::OF_GENOTYPE;

const fn pixels(least: usize, most: usize, step: usize, default: usize) -> Option<Span<usize>> {
    Some(Span { least, most, step, default })
}

/// Resolutions of networks for phones.
const PHONE: Option<Span<usize>> = pixels(32, 1024, 16, 224);

const fn published(
    name: &'static str,
    parameters: u64,
    macs: u64,
    normalisation: u64,
    source: &'static str,
) -> Publication {
    Publication {
        name,
        parameters: Some(parameters),
        macs: Some(macs),
        normalisation,
        source,
        difference: None,
    }
}

const fn macs(name: &'static str, macs: u64, source: &'static str) -> Publication {
    Publication {
        name,
        parameters: None,
        macs: Some(macs),
        normalisation: 0,
        source,
        difference: None,
    }
}

const fn parameters(
    name: &'static str,
    parameters: u64,
    normalisation: u64,
    source: &'static str,
) -> Publication {
    Publication {
        name,
        parameters: Some(parameters),
        macs: None,
        normalisation,
        source,
        difference: None,
    }
}

impl Publication {
    const fn but(self, difference: &'static str) -> Self {
        Self { difference: Some(difference), ..self }
    }
}

const TORCHVISION: &str = "torchvision's table of weights";
const ROUNDED: &str = "the publication rounds: with as many digits ours is the same";
const MLPERF: &str = "MLPerf Tiny's reference model (Keras)";

pub(crate) const ENTRIES: &[Entry] = &[
    Entry {
        name: "lenet5",
        family: "Tiny",
        about: "digits, 32×32 grey; LeCun et al. 1998",
        width: None,
        resolution: None,
        stack: None,
        publications: &[parameters("lenet5", 61_706, 0, "Unlu 2020, section 3")],
        build: classic::lenet5,
    },
    Entry {
        name: "two-branches",
        family: "Tiny",
        about: "a worked example of orders, 10×10 with 8 channels; Sudharsan et al., figure 1",
        width: None,
        resolution: None,
        stack: None,
        publications: &[],
        build: example::two_branches,
    },
    Entry {
        name: "cifar10-cmsis",
        family: "Tiny",
        about: "the CIFAR-10 example of CMSIS-NN; Lai et al. 2018",
        width: None,
        resolution: None,
        stack: None,
        publications: &[],
        build: classic::cifar10_cmsis,
    },
    Entry {
        name: "ds-cnn",
        family: "Tiny",
        about: "MLPerf Tiny keyword spotting; Zhang et al. 2017",
        width: None,
        resolution: None,
        stack: None,
        publications: &[
            parameters("ds-cnn", 24_908, 4, MLPERF),
            macs("ds-cnn", 2_700_000, "Zhang et al. 2017, table 5: 5.4 million operations")
                .but(ROUNDED),
        ],
        build: tiny::ds_cnn,
    },
    Entry {
        name: "resnet8",
        family: "Tiny",
        about: "MLPerf Tiny image classification, CIFAR-10",
        width: None,
        resolution: None,
        stack: None,
        publications: &[parameters("resnet8", 78_666, 4, MLPERF)],
        build: tiny::resnet8,
    },
    Entry {
        name: "resnet8-large",
        family: "Tiny",
        about: "MLPerf Tiny's larger image classification (IC02), CIFAR-10",
        width: None,
        resolution: None,
        stack: None,
        publications: &[macs("resnet8-large", 76_473_920, "MLPerf Tiny's float TFLite file")],
        build: tiny::resnet8_large,
    },
    Entry {
        name: "autoencoder",
        family: "Tiny",
        about: "MLPerf Tiny anomaly detection, ToyADMOS",
        width: None,
        resolution: None,
        stack: None,
        publications: &[parameters("autoencoder", 269_992, 4, MLPERF)],
        build: tiny::autoencoder,
    },
    Entry {
        name: "vww",
        family: "Tiny",
        about: "MLPerf Tiny visual wake words: MobileNetV1 0.25, 96×96 colour",
        width: None,
        resolution: None,
        stack: None,
        publications: &[parameters("vww", 221_794, 4, MLPERF)],
        build: tiny::vww,
    },
    Entry {
        name: "person-detect",
        family: "Tiny",
        about: "TensorFlow Lite Micro's person detection: MobileNetV1 0.25, 96×96 grey",
        width: None,
        resolution: None,
        stack: None,
        publications: &[],
        build: tiny::person_detect,
    },
    Entry {
        name: "alexnet",
        family: "Classic",
        about: "Krizhevsky et al. 2012, two groups",
        width: None,
        resolution: pixels(67, 512, 32, 227),
        stack: None,
        publications: &[
            parameters("alexnet", 60_965_224, 0, "the authors' release for Caffe"),
            macs("alexnet", 724_000_000, "Sze et al. 2017, table 3"),
        ],
        build: classic::alexnet,
    },
    Entry {
        name: "alexnet-ungrouped",
        family: "Classic",
        about: "AlexNet as one tower, as SwapNN counts it",
        width: None,
        resolution: pixels(67, 512, 32, 227),
        stack: None,
        publications: &[parameters(
            "alexnet-ungrouped",
            62_378_344,
            0,
            "Krizhevsky 2014, one tower",
        )],
        build: classic::alexnet_ungrouped,
    },
    Entry {
        name: "zfnet",
        family: "Classic",
        about: "Zeiler and Fergus 2013",
        width: None,
        resolution: pixels(64, 512, 32, 224),
        stack: None,
        publications: &[],
        build: classic::zfnet,
    },
    Entry {
        name: "vgg16",
        family: "Classic",
        about: "Simonyan and Zisserman 2014, configuration D",
        width: None,
        resolution: pixels(32, 512, 32, 224),
        stack: None,
        publications: &[published("vgg16", 138_357_544, 15_470_000_000, 0, TORCHVISION)],
        build: classic::vgg16,
    },
    Entry {
        name: "googlenet",
        family: "Inception",
        about: "Szegedy et al. 2014, without auxiliary classifiers",
        width: None,
        resolution: pixels(64, 1024, 32, 224),
        stack: None,
        publications: &[
            parameters("googlenet", 6_998_552, 0, "BVLC's release for Caffe"),
            macs("googlenet", 1_500_000_000, "Szegedy et al. 2014, section 1")
                .but("the paper states the budget, 1.5 billion, not the network's own number"),
        ],
        build: inception::googlenet,
    },
    Entry {
        name: "inception-v3",
        family: "Inception",
        about: "Szegedy et al. 2015, without auxiliary classifier",
        width: None,
        resolution: pixels(75, 1024, 32, 299),
        stack: None,
        publications: &[published("inception-v3", 23_834_568, 5_713_000_000, 1, TORCHVISION)],
        build: inception::inception_v3,
    },
    Entry {
        name: "resnet18",
        family: "ResNet",
        about: "He et al. 2015",
        width: None,
        resolution: PHONE,
        stack: None,
        publications: &[published("resnet18", 11_689_512, 1_814_000_000, 1, TORCHVISION)],
        build: resnet::resnet18,
    },
    Entry {
        name: "resnet50",
        family: "ResNet",
        about: "He et al. 2015, stride in the 3×3 layers",
        width: None,
        resolution: PHONE,
        stack: None,
        publications: &[published("resnet50", 25_557_032, 4_089_000_000, 1, TORCHVISION)],
        build: resnet::resnet50,
    },
    Entry {
        name: "densenet121",
        family: "Concatenating",
        about: "Huang et al. 2016",
        width: None,
        resolution: PHONE,
        stack: None,
        publications: &[published("densenet121", 7_978_856, 2_834_000_000, 1, TORCHVISION)],
        build: dense::densenet121,
    },
    Entry {
        name: "squeezenet",
        family: "Concatenating",
        about: "Iandola et al. 2016, version 1.0",
        width: None,
        resolution: PHONE,
        stack: None,
        publications: &[published("squeezenet", 1_248_424, 819_000_000, 0, TORCHVISION)],
        build: dense::squeezenet,
    },
    Entry {
        name: "squeezenet-1.1",
        family: "Concatenating",
        about: "SqueezeNet's second release",
        width: None,
        resolution: PHONE,
        stack: None,
        publications: &[published("squeezenet-1.1", 1_235_496, 349_000_000, 0, TORCHVISION)],
        build: dense::squeezenet_1_1,
    },
    Entry {
        name: "shufflenet-v1",
        family: "ShuffleNet",
        about: "Zhang et al. 2017, three groups",
        width: Some(Span { least: 0.25, most: 2.0, step: 0.25, default: 1.0 }),
        resolution: PHONE,
        stack: None,
        publications: &[macs("shufflenet-v1", 137_000_000, "Zhang et al. 2017, table 1")],
        build: shufflenet::shufflenet_v1,
    },
    Entry {
        name: "shufflenet-v2",
        family: "ShuffleNet",
        about: "Ma et al. 2018",
        width: Some(Span { least: 0.5, most: 2.0, step: 0.5, default: 1.0 }),
        resolution: PHONE,
        stack: None,
        publications: &[
            published("shufflenet-v2", 2_278_604, 145_000_000, 1, TORCHVISION),
            parameters("shufflenet-v2-w0.5", 1_366_792, 1, TORCHVISION),
            published("shufflenet-v2-w1.5", 3_503_624, 296_000_000, 1, TORCHVISION),
            published("shufflenet-v2-w2", 7_393_996, 583_000_000, 1, TORCHVISION),
        ],
        build: shufflenet::shufflenet_v2,
    },
    Entry {
        name: "mobilenet-v1",
        family: "MobileNet",
        about: "Howard et al. 2017",
        width: WIDTHS,
        resolution: PHONE,
        stack: None,
        publications: &[
            published(
                "mobilenet-v1",
                4_231_976,
                569_000_000,
                1,
                "Keras; Howard et al. 2017, table 6",
            ),
            macs("mobilenet-v1-w0.75", 325_000_000, "Howard et al. 2017, table 6"),
            macs("mobilenet-v1-r192", 418_000_000, "Howard et al. 2017, table 7"),
        ],
        build: mobilenet::mobilenet_v1,
    },
    Entry {
        name: "mobilenet-v2",
        family: "MobileNet",
        about: "Sandler et al. 2018",
        width: WIDTHS,
        resolution: PHONE,
        stack: None,
        publications: &[published("mobilenet-v2", 3_504_872, 301_000_000, 1, TORCHVISION)],
        build: mobilenet::mobilenet_v2,
    },
    Entry {
        name: "mobilenet-v3-small",
        family: "MobileNet",
        about: "Howard et al. 2019",
        width: WIDTHS,
        resolution: PHONE,
        stack: None,
        publications: &[
            published("mobilenet-v3-small", 2_542_856, 57_000_000, 1, TORCHVISION).but(ROUNDED)
        ],
        build: searched::mobilenet_v3_small,
    },
    Entry {
        name: "mobilenet-v3-large",
        family: "MobileNet",
        about: "Howard et al. 2019",
        width: WIDTHS,
        resolution: PHONE,
        stack: None,
        publications: &[published("mobilenet-v3-large", 5_483_032, 217_000_000, 1, TORCHVISION)],
        build: searched::mobilenet_v3_large,
    },
    thesis::MOBILENET_V3,
    thesis::MOBILENET_V3_EXITS,
    thesis::MOBILENET_V3_MINIMAL,
    Entry {
        name: "mnasnet",
        family: "Searched",
        about: "Tan et al. 2018, B1",
        width: WIDTHS,
        resolution: PHONE,
        stack: None,
        publications: &[
            published("mnasnet", 4_383_312, 314_000_000, 1, TORCHVISION),
            published("mnasnet-w0.75", 3_170_208, 215_000_000, 1, TORCHVISION),
            published("mnasnet-w0.5", 2_218_512, 104_000_000, 1, TORCHVISION),
        ],
        build: searched::mnasnet,
    },
    thesis::MNASNET,
    Entry {
        name: "proxylessnas-mobile",
        family: "Searched",
        about: "Cai, Zhu and Han 2018",
        width: WIDTHS,
        resolution: PHONE,
        stack: None,
        publications: &[published(
            "proxylessnas-mobile",
            4_080_512,
            320_000_000,
            1,
            "the authors' release; thesis of Sadiq, section 4.2",
        )],
        build: searched::proxylessnas_mobile,
    },
    thesis::PROXYLESSNAS,
    Entry {
        name: "mcunet-in0",
        family: "MCUNet",
        about: "Lin et al. 2020, 10 frames a second on an M7",
        width: WIDTHS,
        resolution: pixels(32, 512, 16, 48),
        stack: None,
        publications: &[published("mcunet-in0", 750_000, 6_400_000, 1, MCUNET).but(ROUNDED)],
        build: searched::mcunet_in0,
    },
    Entry {
        name: "mcunet-in1",
        family: "MCUNet",
        about: "Lin et al. 2020, 5 frames a second on an M7",
        width: WIDTHS,
        resolution: pixels(32, 512, 16, 96),
        stack: None,
        publications: &[published("mcunet-in1", 640_000, 12_800_000, 1, MCUNET).but(ROUNDED)],
        build: searched::mcunet_in1,
    },
    Entry {
        name: "mcunet-in2",
        family: "MCUNet",
        about: "Lin et al. 2020, 256 KB of SRAM",
        width: WIDTHS,
        resolution: pixels(32, 512, 16, 160),
        stack: None,
        publications: &[published("mcunet-in2", 730_000, 67_300_000, 1, MCUNET)],
        build: searched::mcunet_in2,
    },
    Entry {
        name: "mcunet-in3",
        family: "MCUNet",
        about: "Lin et al. 2020, 320 KB of SRAM",
        width: WIDTHS,
        resolution: pixels(32, 512, 16, 176),
        stack: None,
        publications: &[published("mcunet-in3", 740_000, 81_800_000, 1, MCUNET)],
        build: searched::mcunet_in3,
    },
    Entry {
        name: "mcunet-in4",
        family: "MCUNet",
        about: "Lin et al. 2020, 512 KB of SRAM",
        width: WIDTHS,
        resolution: pixels(32, 512, 16, 160),
        stack: None,
        publications: &[published("mcunet-in4", 1_730_000, 125_900_000, 1, MCUNET)],
        build: searched::mcunet_in4,
    },
    Entry {
        name: "efficientnet-b0",
        family: "Searched",
        about: "Tan and Le 2019",
        width: None,
        resolution: PHONE,
        stack: None,
        publications: &[published("efficientnet-b0", 5_288_548, 386_000_000, 1, TORCHVISION)],
        build: searched::efficientnet_b0,
    },
    Entry {
        name: "nasnet-mobile",
        family: "Searched",
        about: "Zoph et al. 2017, NASNet-A (4 @ 1056)",
        width: None,
        resolution: PHONE,
        stack: None,
        publications: &[
            parameters("nasnet-mobile", 5_326_716, 3, "Keras"),
            macs("nasnet-mobile", 564_000_000, "Zoph et al. 2017, table 3"),
        ],
        build: nasnet::nasnet_mobile,
    },
    cells::AMOEBANET_A,
    cells::NASNET_A,
    cells::DARTS,
    cells::DEFF_ARTS_001,
    cells::DEFF_ARTS_002,
    cells::DEFF_ARTS_004,
    Entry {
        name: "posenet",
        family: "Dense prediction",
        about: "poses of people on MobileNetV1; Papandreou et al. 2018",
        width: WIDTHS,
        resolution: pixels(33, 1025, 32, 257),
        stack: None,
        publications: &[],
        build: mobilenet::posenet,
    },
    Entry {
        name: "deeplab-v3",
        family: "Dense prediction",
        about: "segmentation on MobileNetV2; Chen et al. 2017",
        width: WIDTHS,
        resolution: pixels(33, 1025, 32, 257),
        stack: None,
        publications: &[published(
            "deeplab-v3-r513",
            2_110_000,
            2_750_000_000,
            1,
            "Sandler et al. 2018, table 7",
        )],
        build: mobilenet::deeplab_v3,
    },
    Entry {
        name: "east",
        family: "Dense prediction",
        about: "text in pictures on ResNet-50; Zhou et al. 2017",
        width: None,
        resolution: pixels(64, 1024, 32, 320),
        stack: None,
        publications: &[],
        build: resnet::east,
    },
];

const MCUNET: &str = "the authors' table of models";
