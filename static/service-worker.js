// Lets the page work without a network. `cargo xtask build` fills in the build and the checksum of
// each of its files; nothing else is ever kept, so neither is anything below `api/`.
const BUILD = "development";
const FILES = {};
// Used by few: kept once it was used.
const LATER = ["float.js", "float_bg.wasm", "search.js", "search_bg.wasm"];

const START = "index.html";
const PREFIX = `tilewright ${self.registration.scope} `;
const CACHE = PREFIX + BUILD;

const place = (name) => new URL(name, self.registration.scope).href;

// Hosts may change while files come: only a whole build is kept.
async function fetched(name, cache) {
  const response = await fetch(`${place(name)}?${BUILD}`, { cache });
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  const digest = await crypto.subtle.digest("SHA-256", await response.clone().arrayBuffer());
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0"));
  return hex.join("") === FILES[name] ? response : null;
}

async function keep(name, cache) {
  const response = (await fetched(name, "default")) ?? (await fetched(name, "reload"));
  if (!response) throw new Error(`${name} is not of build ${BUILD}`);
  await cache.put(place(name), response);
}

async function keepAll() {
  const cache = await caches.open(CACHE);
  try {
    const first = Object.keys(FILES).filter((name) => !LATER.includes(name));
    for (const name of first) await keep(name, cache);
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
}

async function forgetOthers() {
  const names = await caches.keys();
  const old = names.filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
}

const kept = async (name) => (await caches.open(CACHE)).match(place(name));

// A file whose address names this build, or its own content, never changes. For all others the
// network knows better than the cache, so that an update is seen at once.
async function answer(name, request, isOfThisBuild) {
  if (isOfThisBuild) {
    const response = await kept(name);
    if (response || !LATER.includes(name)) return response ?? fetch(request);
    // Where nothing can be kept, or the host has another build, the network answers as without us.
    const isKept = await keep(name, await caches.open(CACHE)).then(() => true, () => false);
    return (isKept && (await kept(name))) || fetch(request);
  }
  try {
    return await fetch(request);
  } catch (error) {
    const response = await kept(name);
    if (response) return response;
    throw error;
  }
}

self.addEventListener("install", (event) => event.waitUntil(keepAll()));
self.addEventListener("activate", (event) => event.waitUntil(forgetOthers()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const address = url.origin + url.pathname;
  if (request.method !== "GET" || !address.startsWith(self.registration.scope)) return;
  const name = address.slice(self.registration.scope.length) || START;
  if (!Object.hasOwn(FILES, name)) return;
  const isOfThisBuild = url.search === `?${BUILD}` || /-[0-9a-f]{16}[._]/.test(name);
  event.respondWith(answer(name, request, isOfThisBuild));
});
