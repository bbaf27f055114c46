// Starts the worker that compares with the float model.
// The query names the build that the page is of.
const build = self.location.search;
importScripts("./float.js" + build);
wasm_bindgen({ module_or_path: "./float_bg.wasm" + build });
