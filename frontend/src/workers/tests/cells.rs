//! Cells that a person makes, from the choices to an opened model.

use super::*;

#[test]
fn made_cells_are_sized_written_and_opened_from_their_text() {
    let mut importer = Importer::default();
    let ImportReply::CellChoices(choices) =
        ask(&mut importer, ImportRequest::CellChoices, Vec::new())
    else {
        panic!("no choices")
    };
    let searched = choices.operations.iter().filter(|operation| operation.is_searched).count();
    assert_eq!((choices.operations.len(), searched), (10, 8));
    for published in &choices.published {
        let request = ImportRequest::Cells(published.draft.clone());
        let ImportReply::Cells(facts) = ask(&mut importer, request, Vec::new()) else {
            panic!("no facts")
        };
        assert_eq!(facts.draft, published.draft);
        assert!(facts.size.unwrap().macs > 1_000_000, "{}", published.name);
    }
    let mut draft = choices.published[0].draft.clone();
    (draft.cells, draft.channels, draft.resolution) = (3, 4, 16);
    let request = ImportRequest::Cells(draft.clone());
    let ImportReply::Cells(facts) = ask(&mut importer, request, Vec::new()) else {
        panic!("no facts")
    };
    let size = facts.size.unwrap();
    let request = ImportRequest::Open(from("made.txt"), Calibrating::default());
    let buffers = vec![facts.text.clone().into_bytes()];
    let ImportReply::Opened(opened) = ask(&mut importer, request, buffers) else {
        panic!("not opened")
    };
    assert_eq!((opened.file.as_str(), opened.name.as_str()), ("made.txt", "cells-r16-c4-n3"));
    assert_eq!(opened.calibration, Calibration::Analytic);
    assert_eq!((opened.sha256.len(), opened.parameters), (64, size.parameters));

    let first = &mut draft.normal.nodes[0];
    first.iter_mut().for_each(|edge| edge.operation = 0);
    let request = ImportRequest::Cells(draft);
    let ImportReply::Cells(facts) = ask(&mut importer, request, Vec::new()) else {
        panic!("no facts")
    };
    let trouble = facts.size.unwrap_err();
    assert!(trouble.what.contains("'none' twice"), "{trouble:?}");
    assert!(facts.text.contains("('none', 0)"), "the text is there all the same");
}

#[test]
fn a_text_without_cells_is_refused() {
    let request = ImportRequest::Open(from("notes.txt"), Calibrating::default());
    let buffers = vec![b"Dear diary".to_vec()];
    let trouble = Importer::default().answer(request, buffers, &|_| {}).unwrap_err();
    assert!(
        trouble.place == "notes.txt" && trouble.what_to_do.contains("Genotype("),
        "{trouble:?}"
    );
}
