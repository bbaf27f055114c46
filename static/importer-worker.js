// Starts the importer worker.
importScripts("./importer.js");
wasm_bindgen({ module_or_path: "./importer_bg.wasm" });
