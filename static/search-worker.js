// Starts the worker that searches cells.
// The query names the build that the page is of.
const build = self.location.search;
importScripts("./search.js" + build);
wasm_bindgen({ module_or_path: "./search_bg.wasm" + build });
