// Starts the importer worker.
// The query names the build that the page is of.
const build = self.location.search;
importScripts("./importer.js" + build);
wasm_bindgen({ module_or_path: "./importer_bg.wasm" + build });
