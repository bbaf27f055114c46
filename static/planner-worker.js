// Starts the planner worker.
importScripts("./planner.js");
wasm_bindgen({ module_or_path: "./planner_bg.wasm" });
