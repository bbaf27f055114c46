//! Names that the field's data sets give to classes and key points: model files seldom have them.

use super::Kind;

const FACE: [&str; 6] = ["right eye", "left eye", "nose", "mouth", "right ear", "left ear"];
const BODY: [&str; 17] = [
    "nose",
    "left eye",
    "right eye",
    "left ear",
    "right ear",
    "left shoulder",
    "right shoulder",
    "left elbow",
    "right elbow",
    "left wrist",
    "right wrist",
    "left hip",
    "right hip",
    "left knee",
    "right knee",
    "left ankle",
    "right ankle",
];
const VOC: &str = "aeroplane,bicycle,bird,boat,bottle,bus,car,cat,chair,cow,dining table,dog,horse,motorbike,person,\
    potted plant,sheep,sofa,train,TV";
const COCO: &str = "person,bicycle,car,motorcycle,airplane,bus,train,truck,boat,traffic light,fire hydrant,stop sign,\
    parking meter,bench,bird,cat,dog,horse,sheep,cow,elephant,bear,zebra,giraffe,backpack,umbrella,handbag,tie,suitcase,\
    frisbee,skis,snowboard,sports ball,kite,baseball bat,baseball glove,skateboard,surfboard,tennis racket,bottle,\
    wine glass,cup,fork,knife,spoon,bowl,banana,apple,sandwich,orange,broccoli,carrot,hot dog,pizza,donut,cake,chair,\
    couch,potted plant,bed,dining table,toilet,TV,laptop,mouse,remote,keyboard,cell phone,microwave,oven,toaster,sink,\
    refrigerator,book,clock,vase,scissors,teddy bear,hair drier,toothbrush";
const CITYSCAPES: &str = "road,sidewalk,building,wall,fence,pole,traffic light,traffic sign,vegetation,terrain,sky,\
    person,rider,car,truck,bus,train,motorcycle,bicycle";
/// Numbers of COCO's 90 that have no class.
const GAPS: [usize; 10] = [12, 26, 29, 30, 45, 66, 68, 69, 71, 83];

/// The usual name of a class, by the number of classes: VOC has 20, COCO 80, or 91 with the background and gaps.
pub fn usual(classes: usize, class: usize) -> Option<&'static str> {
    match classes {
        20 => VOC.split(',').nth(class),
        80 => COCO.split(',').nth(class),
        90 | 91 => {
            let number = if classes == 90 { class + 1 } else { class };
            if GAPS.contains(&number) {
                return None;
            }
            let before = GAPS.iter().filter(|gap| **gap < number).count();
            COCO.split(',').nth(number.checked_sub(before + 1)?)
        }
        _ => None,
    }
}

/// The usual name of a class of places, by the number of classes: VOC's with the background, or Cityscapes'.
pub fn of_places(classes: usize, class: usize) -> Option<&'static str> {
    match (classes, class.checked_sub(1)) {
        (21, None) => Some("background"),
        (21, Some(class)) => VOC.split(',').nth(class),
        (19, _) => CITYSCAPES.split(',').nth(class),
        _ => None,
    }
}

/// The usual names of so many points; none if there are none.
pub fn points(kind: Kind, count: usize) -> &'static [&'static str] {
    match (kind, count) {
        (Kind::BlazeFace, 6) => &FACE,
        (Kind::Fomo, 1) => &["centre"],
        (_, 17) => &BODY,
        _ => &[],
    }
}
