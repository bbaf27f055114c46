// Starts the planner worker.
// The query names the build that the page is of.
const build = self.location.search;
importScripts("./planner.js" + build);
wasm_bindgen({ module_or_path: "./planner_bg.wasm" + build });
