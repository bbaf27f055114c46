
/** Bytes of an .onnx or .tflite file, or a network of the zoo: `"zoo:lenet5"`. */
export type ModelSource = Uint8Array | ArrayBuffer | string;

/** How a figure came to be. */
export type Kind = "proved" | "counted" | "modelled" | "measured";

/** What a model's file leaves to be given. */
export interface InspectOptions {
  /** The file's name; reports call the model so, without the ending. */
  name?: string;
  /** Sizes of dimensions that the file leaves open. */
  dims?: Record<string, number>;
  /** Files that the model's weights lie in, by the name that the model gives them. */
  data?: Record<string, Uint8Array | ArrayBuffer>;
}

/** What a plan is made for. Only `board` must be given. */
export interface PlanOptions extends InspectOptions {
  /** Board, as `boards()` names it. */
  board: string;
  /** Strategy; `"resident"` if none is given, `"auto"` searches for the fastest that fits. */
  strategy?: string;
  /** Largest tensor arena; else what the board has. */
  sram_bytes?: number;
  /** Bytes of a buffer for tiles, of strategies with buffers of one size. */
  buffer_bytes?: number;
  /** Frames that are computed one after the other, 1 to 1000. */
  frames?: number;
  /** Class of the card in the board's slot; else the one that goes with the board. */
  card?: string;
  /** Kernels of the board's firmware: small ones take less flash, and longer. */
  kernels?: "fast" | "small";
  /** What strategy `auto` makes least. */
  objective?: "latency" | "memory" | "energy" | "wear";
  /** Whether strategy `auto` uses no memory outside of the chip. */
  inside?: boolean;
  /** How weights are packed. */
  packing?: "auto" | "plain" | "fast" | "sparse";
  /** How strategy `overlay` makes outputs. */
  outputs?: "direct" | "staged";
  /** Whether the input may arrive in rows while others are used. */
  stream_input?: boolean;
  /** Whether there is a program for each output, which a limit of latency chooses from. */
  exits?: boolean;
  /** The probability from which an output before the last ends the run, above 0, up to 1. */
  exit_confidence?: number;
  /** In which tiles layers of the most active memory are made, such as `"2x2"`. */
  tiles?: string;
  /** Layers are made in tiles whose active memory is more than this part of the peak, 0 to 1. */
  threshold?: number;
  /** Another clock than the board's: what if. */
  clock_hz?: number;
  /** Bytes a second that the card reads at, if other than its class. */
  card_bytes_per_second?: number;
  /** What is done about wrong bytes from a card: with `"checked"` the firmware compares them with checksums. */
  integrity?: "trusted" | "checked";
  /** Time from one frame to the next, for wear of the card. */
  period_us?: number;
  /** How ranges follow from the samples: `minmax`, `percentile`, `percentile=99.9` or `mse`. */
  calibration?: string;
  /**
   * A .npy file to quantise a float model on; its first dimension counts the samples. Without it the
   * samples are random: right for memory and time, meaningless for answers.
   */
  samples?: Uint8Array | ArrayBuffer;
}

/** A board. */
export interface Board {
  name: string;
  title: string;
  support: "firmware" | "planning" | "virtual";
  core: string;
  clock_hz: number;
  sram_bytes: number;
  arena_bytes: number;
  flash_bytes: number;
  plan_bytes: number;
  external_ram_bytes: number;
  external_flash_bytes: number;
  card: string | null;
  has_firmware: boolean;
}

/** An input or output of a model. */
export interface Port {
  name: string;
  shape: number[];
  dtype: string;
  scale: number | null;
  zero_point: number | null;
  file_dtype: string;
}

/** A model after import. */
export interface Model {
  model: string;
  inputs: Port[];
  outputs: Port[];
  states: { name: string; bytes: number; input: number; output: number | null }[];
  macs: number;
  parameters: number;
  weight_bytes: number;
  activation_bytes: number;
  int8_weight_bytes: number;
  int8_activation_bytes: number;
  labels: string[];
  notes: string[];
  kinds_of_operators: {
    op: string;
    count: number;
    macs: number;
    macs_percent: number;
    parameters: number;
    parameters_percent: number;
    activation_bytes: number;
  }[];
  without_kernel: { name: string; op: string }[];
  operators: {
    name: string;
    op: string;
    inputs: number[][];
    output: number[];
    macs: number;
    parameters: number;
  }[];
}

/** What lives where, operator by operator. */
export interface Memory {
  peak_live_bytes: number;
  peak_operator: number;
  arena_bytes: number;
  operators: {
    name: string;
    op: string;
    input_bytes: number;
    output_bytes: number;
    other_bytes: number;
    weight_bytes: number;
    scratch_bytes: number;
    shared_bytes: number;
    reserved_bytes: number;
    live_bytes: number;
    tensors: { tensor: number; name: string; use: "input" | "output" | "other" }[];
  }[];
  tensors: {
    name: string;
    shape: [number, number, number];
    bytes: number;
    space: string;
    offset_bytes: number;
    extent_bytes: number;
    first_operator: number;
    end_operator: number;
  }[];
}

/** A memory map with what it is of; `<tilewright-memory>` draws it. */
export interface MemoryMap extends Memory {
  model: string;
  board: string;
  strategy: string;
  fits: boolean;
  sram_limit_bytes: number;
  kinds: Record<string, Kind>;
}

/** The plan's figures. `kinds` maps each key to how its figure came to be. */
export interface PlanFigures {
  model: string;
  board: string;
  strategy: string;
  input: string;
  elements: string;
  fits: boolean;
  does_not_fit: Record<string, unknown> | null;
  runnable: boolean;
  peak_sram_bytes: number;
  sram_limit_bytes: number;
  lower_bound_bytes: number;
  proved: boolean;
  stages: { what: string; bytes: number }[];
  alternatives: Record<string, unknown>[];
  flash_bytes: number;
  packing_flash_bytes: number;
  packing_saved_cycles: number;
  flash_limit_bytes: number;
  external_bytes: number;
  macs: number;
  tiles: string | null;
  recomputed_macs: number;
  latency_us: number | null;
  compute_us: number | null;
  transfer_us: number | null;
  stall_us: number | null;
  bound_us: number | null;
  read_bytes: number;
  written_bytes: number;
  frames: number;
  card_written_bytes: number;
  card_writes: number;
  energy_uj: number | null;
  layers: Record<string, unknown>[];
  kinds: Record<string, Kind>;
}

/** A plan as `tilewright plan --json` gives it. */
export interface PlanReport extends PlanFigures {
  samples: string;
  notes: string[];
  memory: Memory;
  integrity: Record<string, unknown> | null;
  energy: Record<string, unknown> | null;
  energy_unknown: string | null;
  wear: Record<string, unknown> | null;
}

/** What happens when, on which lane; times in cycles of `clock_hz`. */
export interface Timeline {
  clock_hz: number;
  instructions_kind: Kind;
  cycles_kind: Kind;
  lanes: string[];
  slices: {
    lane: number;
    kind: "compute" | "copy" | "stall" | "driver_overhead";
    waits_for: number | null;
    layer: number;
    step: number;
    frame: number;
    start: number;
    end: number;
    instructions: number;
    bytes: number;
  }[];
}

/** A predicted schedule, as `tilewright plan --schedule-json` writes it; `<tilewright-schedule>` draws it. */
export interface Schedule {
  report: PlanFigures;
  memory: Record<string, unknown>;
  predicted: Timeline;
  occupancy: Record<string, unknown>;
  run: Timeline | null;
}

/** Store images that belong to a plan image; null if the plan uses no such memory. */
export interface StoreImages {
  external_flash: Uint8Array | null;
  card: Uint8Array | null;
}

/** What is thrown: what is wrong, where, and what to do. */
export interface TilewrightError extends Error {
  name: "TilewrightError";
  kind: string;
  what: string;
  where: string;
  what_to_do: string;
  needs: { dimensions: string[] } | { file: string } | null;
}
