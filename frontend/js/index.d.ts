export { boards, image, inspect, memoryMap, plan, schedule, storeImages } from "./core.js";
export type {
  Board,
  InspectOptions,
  Kind,
  Memory,
  MemoryMap,
  Model,
  ModelSource,
  PlanFigures,
  PlanOptions,
  PlanReport,
  Port,
  Schedule,
  StoreImages,
  TilewrightError,
  Timeline,
} from "./core.js";
