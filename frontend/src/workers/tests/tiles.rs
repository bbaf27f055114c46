//! Plans of layers in tiles, as the page asks for them.

use super::*;
use crate::message::{GraphFacts, TilesFacts};

fn in_tiles(importer: &mut Importer, grid: &str) -> (Vec<u8>, PlanFacts) {
    let model = opened(importer, &EXAMPLES[1]);
    let tiles = Some(grid.to_owned());
    let (facts, _) = planned(model.clone(), PlanSettings { tiles, ..settings(None) });
    (model, facts)
}

#[test]
fn tiles_are_planned_and_belong_to_the_layers_that_were_opened() {
    let mut importer = Importer::default();
    let model = opened(&mut importer, &EXAMPLES[1]);
    let count = postcard::from_bytes::<tilewright_model::Model>(&model).unwrap().nodes.len() as u32;
    let tiles = Some("2x2".to_owned());
    let (facts, _) = planned(model, PlanSettings { tiles, ..settings(None) });
    assert_eq!(facts.report.tiles.as_deref(), Some("2x2"));
    assert!(facts.image.is_some() && facts.nodes.len() > count as usize);
    assert!(facts.nodes.iter().flatten().all(|node| *node < count));
    let inside = facts.nodes.iter().filter(|nodes| nodes.as_slice() == [2]).count();
    assert_eq!(inside, 4, "node 2 has four tiles: {:?}", facts.nodes);
}

#[test]
fn boxes_are_those_of_the_tiling() {
    let (model, facts) = in_tiles(&mut Importer::default(), "2x3");
    let TilesFacts { region, rows, columns, maps, nodes } = facts.tiles.clone().unwrap();
    assert_eq!((region.grid.as_str(), rows, columns), ("2x3", 2, 3));
    assert_eq!(maps.len(), (region.end - region.first) as usize + 1);
    assert_eq!(nodes.len(), facts.report.layers.len());
    let model: tilewright_model::Model = postcard::from_bytes(&model).unwrap();
    for (index, map) in maps.iter().enumerate() {
        assert_eq!(map.boxes.len(), 6);
        // Each map is made from the one before, some from an earlier one too.
        assert_eq!(map.from.last().copied(), index.checked_sub(1).map(|from| from as u32));
        let whole = u64::from(map.rows) * u64::from(map.columns);
        let pixels: u64 = map.boxes.iter().map(|own| own.pixels()).sum();
        assert!(pixels >= whole, "{}", map.name);
        assert!(map.boxes.iter().all(|own| own.rows[1] <= map.rows), "{}", map.name);
        if let Some(node) = map.node {
            assert_eq!(map.name, model.nodes[node as usize].name);
            assert_eq!(map.copies.len(), 6);
        }
    }
    let last = maps.last().unwrap();
    assert_eq!(
        last.boxes.iter().map(|own| own.pixels()).sum::<u64>(),
        u64::from(last.rows * last.columns)
    );
    let again = |map: &crate::message::TiledMap| {
        map.boxes.iter().map(|own| own.macs).sum::<u64>() - map.macs
    };
    assert_eq!(maps.iter().map(again).sum::<u64>(), *facts.report.recomputed_macs);
    assert!(facts.report.recomputed_macs > 0.into());
}

#[test]
fn the_graph_in_tiles_lies_on_the_plan_in_tiles() {
    let mut importer = Importer::default();
    let (_, facts) = in_tiles(&mut importer, "2x2");
    let tiles = facts.tiles.unwrap();
    let draw = |importer: &mut Importer, region| match ask(
        importer,
        ImportRequest::Graph(region),
        Vec::new(),
    ) {
        ImportReply::Graph(graph) => *graph,
        reply => panic!("{reply:?}"),
    };
    let whole: GraphFacts = draw(&mut importer, None);
    let graph = draw(&mut importer, Some(tiles.region.clone()));
    assert_eq!((whole.tiled, graph.tiled.as_ref()), (None, Some(&tiles.region)));
    let count = |op: &str| graph.nodes.iter().filter(|node| node.op == op).count();
    assert!(count("Slice") >= 4 && count("Concat") == 3, "{} slices", count("Slice"));
    for (layer, nodes) in facts.report.layers.iter().zip(&tiles.nodes) {
        let roles = nodes.iter().map(|node| NodeRole::Operator(*node));
        let names: Vec<&str> = roles
            .map(|role| graph.nodes.iter().find(|node| node.role == role).unwrap().name.as_str())
            .collect();
        assert_eq!(names.join(" + "), layer.name);
    }
    let nowhere = crate::message::TiledRegion { first: 0, end: 999, grid: "2x2".to_owned() };
    assert!(importer.answer(ImportRequest::Graph(Some(nowhere)), Vec::new(), &|_| {}).is_err());
}

#[test]
fn the_model_in_tiles_is_written_and_opens_again() {
    let mut importer = Importer::default();
    let files = || files_of(&EXAMPLES[1]);
    let save = |importer: &mut Importer, grid: &str| {
        let calibrating = Calibrating { sparsity: 500, ..Calibrating::default() };
        let request = ImportRequest::SaveTiled(from("m.onnx"), calibrating, grid.to_owned());
        importer.answer(request, files(), &|_| {})
    };
    let (reply, bytes) = save(&mut importer, "2x2").unwrap();
    let ImportReply::Saved(saved) = reply else { panic!("{reply:?}") };
    assert!(saved.name.ends_with("-tiles-2x2.onnx") && saved.bytes == bytes[0].len() as u64);
    let again =
        tilewright_formats::open("m.onnx", &bytes[0], &tilewright_formats::Limits::default(), &[]);
    let again = again.unwrap();
    assert!(again.nodes.iter().filter(|node| node.op.name() == "Concat").count() == 3);
    let trouble = save(&mut importer, "99x2").unwrap_err();
    assert!(trouble.what.contains("cannot be written in tiles"), "{trouble:?}");
}
