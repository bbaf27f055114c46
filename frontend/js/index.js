// Loads the WASM program, in browsers and in Node alike, before the functions are there.
import start from "./core.js";

const program = new URL("./core_bg.wasm", import.meta.url);

// Node fetches no files.
async function ofFile() {
  const name = "node:fs/promises";
  const files = await import(/* @vite-ignore */ /* webpackIgnore: true */ name);
  return files.readFile(program);
}

await start({ module_or_path: program.protocol === "file:" ? await ofFile() : program });

export { boards, image, inspect, memoryMap, plan, schedule, storeImages } from "./core.js";
