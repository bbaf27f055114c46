//! Plans with the C library.

use super::*;

#[test]
fn a_plan_is_packed_with_the_c_library() {
    let mut importer = Importer::default();
    let model = opened(&mut importer, &EXAMPLES[0]);
    let (facts, images) = planned(model, settings(None));
    let (settings, model) = (facts.settings, facts.report.model);
    let request = ImportRequest::Library { settings, model, has_stores: false };
    let archive = b"!<arch>\n".to_vec();
    let (reply, buffers) = importer
        .answer(request.clone(), vec![images[0].clone(), archive.clone()], &|_| {})
        .unwrap();
    let ImportReply::Saved(file) = reply else { panic!("{reply:?}") };
    assert_eq!(file.name, "lenet5-cortex-m7-library.zip");
    let has = |name: &str| buffers[0].windows(name.len()).any(|part| part == name.as_bytes());
    for name in
        ["libtilewright.a", "tilewright.h", "model.h", "model.c", "CMakeLists.txt", "README.txt"]
    {
        assert!(has(name), "{name}");
    }
    assert!(importer.answer(request, vec![vec![1, 2, 3], archive], &|_| {}).is_err());
}
