import type { MemoryMap, Schedule } from "./index.js";

/** `<tilewright-memory>`: draws what `memoryMap` gives. */
export class TilewrightMemory extends HTMLElement {
  /** What is drawn; null draws nothing. */
  value: MemoryMap | null;
}

/** `<tilewright-schedule>`: draws what `schedule` gives. */
export class TilewrightSchedule extends HTMLElement {
  /** What is drawn; null draws nothing. */
  value: Schedule | null;
}

declare global {
  interface HTMLElementTagNameMap {
    "tilewright-memory": TilewrightMemory;
    "tilewright-schedule": TilewrightSchedule;
  }
}
