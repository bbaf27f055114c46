// Starts the emulator: the worker that runs plans on the emulated board.
// The query names the build that the page is of.
const build = self.location.search;
importScripts("./emulator.js" + build);
wasm_bindgen({ module_or_path: "./emulator_bg.wasm" + build });
