//! Outputs whose boxes and points are known.

use super::*;

fn facts(shape: [u32; 3], scale: f32, zero: i32) -> OutputFacts {
    let (name, labels) = (String::new(), Vec::new());
    OutputFacts { name, shape, is_scores: false, scale, zero, labels, labels_of: String::new() }
}

/// Outputs that are written in real numbers.
struct Written {
    facts: OutputFacts,
    values: Vec<i8>,
}

impl Written {
    fn new(shape: [u32; 3], scale: f32, zero: i32, rest: f32) -> Self {
        let facts = facts(shape, scale, zero);
        let count = facts.elements();
        let mut written = Self { facts, values: vec![0; count] };
        (0..count).for_each(|index| written.set(index, rest));
        written
    }

    fn set(&mut self, index: usize, real: f32) {
        let value = (real / self.facts.scale).round() as i32 + self.facts.zero;
        self.values[index] = i8::try_from(value).unwrap();
    }
}

fn read(kind: Kind, written: &[&Written], side: u32, threshold: f32) -> Found {
    let outputs: Vec<Output<'_>> =
        written.iter().map(|one| Output { facts: &one.facts, values: &one.values }).collect();
    let all: Vec<OutputFacts> = written.iter().map(|one| one.facts.clone()).collect();
    let picture = Picture { height: side, width: side };
    assert_eq!(kinds(&all, Some(picture))[0], kind, "the guess");
    decode(kind, &outputs, picture, threshold)
}

fn near(area: Option<Area>, expected: [f32; 4]) {
    let area = area.unwrap();
    for (found, expected) in [area.left, area.top, area.right, area.bottom].iter().zip(expected) {
        assert!((found - expected).abs() < 0.01, "{area:?} instead of {expected:?}");
    }
}

#[test]
fn blaze_face_has_boxes_and_six_points_around_anchors() {
    let mut boxes = Written::new([1, 896, 16], 0.5, 0, 0.0);
    let mut scores = Written::new([1, 896, 1], 0.1, 0, -10.0);
    // The second grid's cell in row 2, column 3, its first anchor: centre 3.5/8, 2.5/8.
    let row = 512 + (2 * 8 + 3) * 6;
    scores.set(row, 3.0);
    for (at, value) in [(0, 8.0), (1, -8.0), (2, 32.0), (3, 48.0), (4, 16.0), (5, 0.0)] {
        boxes.set(row * 16 + at, value);
    }
    // The neighbouring anchor of the same cell says nearly the same with less certainty.
    scores.set(row + 1, 2.0);
    for (at, value) in [(0, 8.0), (1, -8.0), (2, 34.0), (3, 48.0)] {
        boxes.set((row + 1) * 16 + at, value);
    }
    let found = read(Kind::BlazeFace, &[&boxes, &scores], 128, 0.5);
    assert_eq!((found.findings.len(), found.more), (1, 0));
    let face = &found.findings[0];
    near(face.area, [0.375, 0.0625, 0.625, 0.4375]);
    assert!((face.score.unwrap() - 0.9526).abs() < 0.001);
    assert_eq!((face.points.len(), face.points[0].x, face.points[0].y), (6, 0.5625, 0.3125));
    assert_eq!(point_name(Kind::BlazeFace, 6, 2), "nose");
    assert_eq!(
        class_name(Kind::BlazeFace, &[boxes.facts.clone(), scores.facts.clone()], 0),
        "face"
    );
    assert!(read(Kind::BlazeFace, &[&scores, &boxes], 128, 0.99).findings.is_empty());
}

#[test]
fn blaze_face_may_keep_its_grids_apart() {
    let shapes = [[1, 512, 1], [1, 384, 1], [1, 512, 16], [1, 384, 16]];
    let mut parts = shapes.map(|shape| Written::new(shape, 0.1, 0, -10.0));
    parts[1].set(0, 4.0);
    (0..16).for_each(|at| parts[3].set(at, 0.0));
    let found = read(Kind::BlazeFace, &parts.each_ref(), 256, 0.5);
    let face = &found.findings[0];
    assert_eq!((face.points[0].x, face.points[0].y), (0.0625, 0.0625), "the first cell of 8");
}

#[test]
fn fomo_joins_neighbouring_cells_to_one_centroid() {
    let mut map = Written::new([12, 12, 3], 1.0 / 256.0, -128, 0.0);
    map.facts.is_scores = true;
    for (cell, class, score) in
        [(13, 1, 0.75), (14, 1, 0.9), (26, 1, 0.6), (100, 2, 0.8), (140, 2, 0.3)]
    {
        map.set(cell * 3 + class, score);
    }
    let found = read(Kind::Fomo, &[&map], 96, 0.5);
    assert_eq!(found.findings.len(), 2, "{found:?}");
    let first = &found.findings[0];
    assert_eq!((first.class, (first.score.unwrap() * 100.0).round()), (1, 90.0));
    near(first.area, [1.0 / 12.0, 1.0 / 12.0, 3.0 / 12.0, 3.0 / 12.0]);
    assert!((first.points[0].x - 2.0 / 12.0).abs() < 1e-6);
    map.facts.labels = vec!["bolt".to_owned(), "nut".to_owned()];
    assert_eq!(class_name(Kind::Fomo, &[map.facts], 1), "bolt", "the background has no name");
}

#[test]
fn yolo_lists_are_read_row_by_row_and_column_by_column() {
    // 64 × 64: 64 + 16 + 4 cells.
    let mut with_objectness = Written::new([1, 252, 7], 0.5, 0, 0.0);
    for (at, value) in [32.0, 16.0, 16.0, 8.0, 1.0, 0.0, 1.0].into_iter().enumerate() {
        with_objectness.set(7 * 7 + at, value);
    }
    let found = read(Kind::YoloObjectness, &[&with_objectness], 64, 0.25);
    assert_eq!((found.findings.len(), found.findings[0].class), (1, 1));
    near(found.findings[0].area, [0.375, 0.1875, 0.625, 0.3125]);
    assert!(found.note.unwrap().contains("0.50"), "the scale of pixels");

    let mut turned = Written::new([1, 84, 84], 0.01, -128, 0.0);
    turned.facts.shape = [1, 10, 84];
    turned.values.truncate(840);
    for (number, value) in [(0, 0.5), (1, 0.25), (2, 0.5), (3, 0.5), (4 + 3, 0.875)] {
        turned.set(number * 84 + 9, value);
    }
    let found = read(Kind::Yolo, &[&turned], 64, 0.25);
    assert_eq!((found.findings.len(), found.findings[0].class, found.note.is_none()), (1, 3, true));
    near(found.findings[0].area, [0.25, 0.0, 0.75, 0.5]);

    let mut raw = Written::new([1, 84, 7], 0.05, 0, 0.0);
    // Cell 64 + 5 is in row 1, column 1 of the grid with steps of 16 pixels.
    for (at, value) in [0.5, 0.5, 0.0, 0.0, 0.9, 0.8, 0.0].into_iter().enumerate() {
        raw.set((64 + 5) * 7 + at, value);
    }
    let found = read(Kind::YoloX, &[&raw], 64, 0.25);
    near(found.findings[0].area, [0.25, 0.25, 0.5, 0.5]);
    assert_eq!(class_name(Kind::Yolo, &[facts([1, 84, 8400], 1.0, 0)], 15), "cat");
}

#[test]
fn a_pose_of_yolo_has_seventeen_points() {
    let mut pose = Written::new([1, 56, 84], 0.01, -128, 0.0);
    for (number, value) in
        [(0, 0.5), (1, 0.5), (2, 0.2), (3, 0.4), (4, 0.9), (5, 0.45), (6, 0.35), (7, 0.7)]
    {
        pose.set(number * 84 + 70, value);
    }
    let found = read(Kind::YoloPose, &[&pose], 64, 0.25);
    let person = &found.findings[0];
    near(person.area, [0.4, 0.3, 0.6, 0.7]);
    let nose = person.points[0];
    assert!((nose.x - 0.45).abs() < 0.01 && (nose.y - 0.35).abs() < 0.01, "{nose:?}");
    assert_eq!(
        (person.points.len(), point_name(Kind::YoloPose, 17, 16)),
        (17, "right ankle".to_owned())
    );
}

#[test]
fn grids_of_tiny_yolo_have_the_anchors_of_voc() {
    let mut grid = Written::new([13, 13, 125], 0.1, 0, -10.0);
    let place = (6 * 13 + 4) * 125 + 25;
    for (at, value) in [0.0, 0.0, 0.0, 0.0, 10.0].into_iter().enumerate() {
        grid.set(place + at, value);
    }
    grid.set(place + 5 + 11, 5.0);
    let found = read(Kind::YoloGrid, &[&grid], 416, 0.5);
    assert_eq!(found.findings.len(), 1);
    let [x, y, width, height] = [4.5 / 13.0, 6.5 / 13.0, 3.42 / 13.0, 4.41 / 13.0];
    near(
        found.findings[0].area,
        [x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0],
    );
    assert_eq!(class_name(Kind::YoloGrid, &[grid.facts], 11), "dog");
}

#[test]
fn small_yolo_grids_have_the_anchors_of_people() {
    for (cells, wide, high) in [(12_u32, 0.163_031, 0.413_531), (6, 2.1194, 5.3759)] {
        let mut grid = Written::new([cells, cells, 30], 0.1, 0, -10.0);
        let place = ((2 * cells + 3) * 30 + 6) as usize;
        for (at, value) in [0.0, 0.0, 0.7, 0.7, 10.0, 1.0].into_iter().enumerate() {
            grid.set(place + at, value);
        }
        let found = read(Kind::YoloGrid, &[&grid], 192, 0.5);
        let [x, y] = [3.5, 2.5].map(|at| at / cells as f32);
        let [wide, high] = [wide, high].map(|side: f32| side / cells as f32 * 0.7_f32.exp());
        near(
            found.findings[0].area,
            [x - wide / 2.0, y - high / 2.0, x + wide / 2.0, y + high / 2.0],
        );
        assert_eq!(class_name(Kind::YoloGrid, &[grid.facts], 0), "person");
    }
}

#[test]
fn ssd_has_the_anchors_of_tensorflow() {
    let mut boxes = Written::new([1, 1917, 4], 0.1, 0, 0.0);
    let mut scores = Written::new([1, 1917, 91], 0.1, 0, -10.0);
    // The last anchor covers all of the picture at scale √0.95.
    scores.set(1916 * 91 + 18, 4.0);
    // The first grid's cell 20: anchor 1 has scale 0.2 and is twice as wide as high; it moves by its own size.
    scores.set((20 * 3 + 1) * 91 + 1, 2.0);
    boxes.set((20 * 3 + 1) * 4 + 1, 10.0);
    let found = read(Kind::Ssd, &[&boxes, &scores], 300, 0.5);
    assert_eq!(found.findings.len(), 2);
    let side = 0.95f32.sqrt() / 2.0;
    near(found.findings[0].area, [0.5 - side, 0.5 - side, 0.5 + side, 0.5 + side]);
    let (width, height) = (0.2 * 2f32.sqrt(), 0.2 / 2f32.sqrt());
    let (x, y) = (1.5 / 19.0 + width, 1.5 / 19.0);
    near(
        found.findings[1].area,
        [x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0],
    );
    let facts = [boxes.facts, scores.facts];
    assert_eq!(class_name(Kind::Ssd, &facts, 18), "dog");
    assert_eq!(class_name(Kind::Ssd, &facts, 12), "class 12", "a gap in COCO's numbers");
}

#[test]
fn boxes_of_other_detectors_may_be_finished() {
    let mut boxes = Written::new([1, 4420, 4], 1.0 / 128.0, 0, 0.0);
    let mut scores = Written::new([1, 4420, 2], 1.0 / 255.0, -128, 0.0);
    scores.set(2 * 99 + 1, 0.9);
    for (at, value) in [0.25, 0.5, 0.5, 0.75].into_iter().enumerate() {
        boxes.set(4 * 99 + at, value);
    }
    let found = read(Kind::Corners, &[&scores, &boxes], 320, 0.5);
    assert_eq!(found.findings.len(), 1);
    near(found.findings[0].area, [0.25, 0.5, 0.5, 0.75]);
}

#[test]
fn heat_maps_have_a_point_each_moved_by_offsets() {
    let mut maps = Written::new([9, 9, 17], 0.1, 0, -10.0);
    let mut offsets = Written::new([9, 9, 34], 1.0, 0, 0.0);
    maps.set((4 * 9 + 2) * 17 + 5, 3.0);
    offsets.set((4 * 9 + 2) * 34 + 5, -12.0);
    offsets.set((4 * 9 + 2) * 34 + 17 + 5, 6.0);
    let found = read(Kind::HeatMapPoints, &[&maps, &offsets], 257, 0.5);
    let points = &found.findings[0].points;
    assert_eq!(points.len(), 17);
    assert!((points[5].x - (2.0 / 8.0 + 6.0 / 257.0)).abs() < 1e-5, "{:?}", points[5]);
    assert!((points[5].y - (4.0 / 8.0 - 12.0 / 257.0)).abs() < 1e-5);
    assert!(found.note.unwrap().starts_with("16 of 17 points"));
    assert_eq!(point_name(Kind::HeatMapPoints, 17, 5), "left shoulder");
    // Alone: the middle of the cell, a quarter towards the larger neighbour.
    maps.set((4 * 9 + 3) * 17 + 5, 1.0);
    let points = &read(Kind::HeatMapPoints, &[&maps], 72, 0.5).findings[0].points;
    assert!((points[5].x - 2.75 / 9.0).abs() < 1e-5 && (points[5].y - 4.5 / 9.0).abs() < 1e-5);
}

#[test]
fn lists_of_points_are_in_pixels_or_shares() {
    let mut body = Written::new([1, 17, 3], 1.0 / 128.0, 0, 0.0);
    [0.25, 0.5, 0.75].into_iter().enumerate().for_each(|(at, value)| body.set(at, value));
    let found = read(Kind::Points, &[&body], 192, 0.3);
    let nose = found.findings[0].points[0];
    assert_eq!((nose.x, nose.y, nose.score), (0.5, 0.25, Some(0.75)));
    let mut mesh = Written::new([1, 1, 1404], 1.5, -128, 0.0);
    [96.0, 48.0, 9.0].into_iter().enumerate().for_each(|(at, value)| mesh.set(3 + at, value));
    let found = read(Kind::Points, &[&mesh], 192, 0.3);
    let second = found.findings[0].points[1];
    assert_eq!((found.findings[0].points.len(), second.x, second.y), (468, 0.5, 0.25));
    let five = OutputFacts { name: "landmarks".to_owned(), ..facts([1, 1, 10], 1.0, 0) };
    let logits = facts([1, 1, 10], 1.0, 0);
    assert_ne!(kinds(&[logits], Some(Picture { height: 40, width: 40 }))[0], Kind::Points);
    assert_eq!(kinds(&[five], Some(Picture { height: 40, width: 40 }))[0], Kind::Points);
}

#[test]
fn what_fits_no_reading_stays_plain() {
    let picture = Some(Picture { height: 96, width: 96 });
    let scores = OutputFacts { is_scores: true, ..facts([1, 1, 10], 1.0, 0) };
    assert_eq!(kinds(std::slice::from_ref(&scores), picture)[0], Kind::Classes);
    let mask = facts([96, 96, 5], 1.0, 0);
    assert_eq!(kinds(&[mask], picture)[0], Kind::Segmentation);
    let map = facts([6, 6, 40], 1.0, 0);
    assert_eq!(kinds(std::slice::from_ref(&map), picture)[0], Kind::Maps);
    let twenty = vec![map; 20];
    assert!(kinds(&twenty, picture).contains(&Kind::Values));
    assert_eq!(kinds(&[facts([1, 1, 3], 1.0, 0), scores], None), [Kind::Values]);
    assert_eq!(kinds(&[], picture), [Kind::Values]);
    for kind in Kind::ALL {
        assert_eq!(Kind::from_word(kind.word()), Some(kind));
    }
}

#[test]
fn broken_values_give_nothing_and_no_panic() {
    let picture = Picture { height: 128, width: 128 };
    let shapes = [[0, 0, 0], [1, 896, 16], [1, 896, 1], [16, 16, 3], [1, 1, 7], [1, 1344, 85]];
    for kind in Kind::ALL {
        for scale in [f32::NAN, 0.0, f32::INFINITY, 1.0] {
            for short in [0, 3, 20_000] {
                let all: Vec<OutputFacts> =
                    shapes.iter().map(|shape| facts(*shape, scale, 0)).collect();
                let values = vec![7i8; short];
                let outputs: Vec<Output<'_>> =
                    all.iter().map(|facts| Output { facts, values: &values }).collect();
                for count in 0..=outputs.len() {
                    let found = decode(kind, &outputs[..count], picture, 0.5);
                    assert!(found.findings.len() <= MOST_FINDINGS);
                }
            }
        }
    }
}

#[test]
fn classes_of_places_are_told_from_key_points_by_their_name() {
    let picture = Some(Picture { height: 513, width: 513 });
    let named = |name: &str| OutputFacts { name: name.to_owned(), ..facts([33, 33, 21], 0.5, 0) };
    assert_eq!(kinds(&[named("ResizeBilinear_1")], picture)[0], Kind::Segmentation);
    assert_eq!(kinds(&[named("hand")], picture)[0], Kind::HeatMapPoints);
    let voc = named("logits/semantic/BiasAdd");
    assert_eq!(
        [0, 3, 15].map(|at| voc.channel_name(at).unwrap()),
        ["background", "bird", "person"]
    );
    assert_eq!(named("hand").channel_name(3), None);
    let labelled = OutputFacts { labels: vec!["a".to_owned(); 20], ..voc };
    assert_eq!((labelled.channel_name(0), labelled.channel_name(1)), (None, Some("a")));
}

#[test]
fn people_are_told_apart_by_how_far_their_bones_reach() {
    let mut maps = Written::new([9, 9, 17], 0.1, 0, -10.0);
    let offsets = Written::new([9, 9, 34], 1.0, 0, 0.0);
    // Every bone reaches one cell down, and so back up; a cell is 32 pixels.
    let mut bones = Written::new([9, 9, 64], 1.0, 0, 0.0);
    for (place, bone) in (0..81).flat_map(|place| (0..16).map(move |bone| (place, bone))) {
        bones.set(place * 64 + bone, 32.0);
        bones.set(place * 64 + 32 + bone, -32.0);
    }
    let depth = [0, 1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3, 4, 4];
    for (column, seen) in [(2, 5.0), (6, 3.0)] {
        for (point, row) in depth.into_iter().enumerate() {
            maps.set(((2 + row) * 9 + column) * 17 + point, seen);
        }
    }
    for outputs in [vec![&maps, &offsets, &bones], vec![&offsets, &bones, &maps]] {
        let found = read(Kind::HeatMapPoints, &outputs, 256, 0.5);
        let [first, second] = &found.findings[..] else { panic!("{found:?}") };
        near(first.area, [0.25, 0.25, 0.25, 0.75]);
        near(second.area, [0.75, 0.25, 0.75, 0.75]);
        assert!(first.score > second.score && second.points.len() == 17);
    }
    let facts = [maps.facts, offsets.facts, bones.facts];
    assert_eq!(class_name(Kind::HeatMapPoints, &facts, 0), "person");
    assert_eq!(class_name(Kind::HeatMapPoints, &facts[..2], 0), "points");
}
