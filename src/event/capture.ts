/**
 * How much of a page a recording captures. What isn't captured never leaves the page.
 *
 *   0  operations, offsets, sizes, times, names
 *   1  + statements, literals folded
 *   2  + statements with literals
 *   3  + bound values
 *
 * The extension's storage, the start command, the hook's options, and a thread's `environment` use
 * these same four names.
 */
export type CaptureLevel = 0 | 1 | 2 | 3;
/** `query`: what the engine counts in each run of a statement; requires `sql`. */
export type CapturedLayer = 'sql' | 'vfs' | 'web' | 'query';

export interface CaptureOptions {
  capture: CaptureLevel;
  /** Layers that are hooked. Marks, errors, and the tracer's own records are always captured. */
  layers: CapturedLayer[];
  /**
   * KiB of a thread's ring of records. A ring that a cross-origin isolated page reads for its
   * worker has 4096 by default.
   */
  buffer: number;
  /**
   * Record the JavaScript stack of the first prepare or exec of each statement on each connection.
   */
  stacks: boolean;
  /**
   * Record when messages go between threads, and their bytes if that is cheap, but never their
   * content.
   */
  messages: boolean;
  /**
   * Count the instructions that SQLite executes in each call: its wasm is metered before the engine
   * gets it.
   */
  instructions: boolean;
}

export const CAPTURED_LAYERS: readonly CapturedLayer[] = ['sql', 'vfs', 'web', 'query'];
/** Sets of layers: `light` costs the app least, and only has VFS calls and commits. */
export const PROFILES: Readonly<Record<'full' | 'light', readonly CapturedLayer[]>> = {
  full: CAPTURED_LAYERS,
  light: ['vfs'],
};
export type Profile = keyof typeof PROFILES;
/** null if the layers were chosen one by one. */
export const profileOf = (layers: readonly CapturedLayer[]): Profile | null =>
  (['full', 'light'] as const).find((name) => PROFILES[name].join() === layers.join()) ?? null;
/** That a user can choose, for records of 64 bytes. */
export const BUFFER_KIB: readonly number[] = [256, 512, 1024, 2048, 4096];
export const CAPTURE_DEFAULTS: Readonly<CaptureOptions> = {
  capture: 1,
  layers: [...CAPTURED_LAYERS],
  buffer: 1024,
  stacks: false,
  messages: false,
  instructions: false,
};

/**
 * Options from an untrusted source (storage, a message, a page), value by value: an invalid value
 * becomes the default, and a buffer size that is too large becomes the largest one.
 */
export function captureOptionsOf(said: unknown): CaptureOptions {
  const values = (typeof said === 'object' && said !== null ? said : {}) as Record<
    keyof CaptureOptions,
    unknown
  >;
  const { capture, layers, buffer, stacks, messages, instructions } = values;
  const asked = CAPTURED_LAYERS.filter((layer) => Array.isArray(layers) && layers.includes(layer));
  const kib = BUFFER_KIB.find((n) => n === buffer);
  const most = BUFFER_KIB.at(-1)!;
  return {
    capture: capture === 0 || capture === 2 || capture === 3 ? capture : 1,
    layers: asked.length ? asked : [...CAPTURED_LAYERS],
    buffer: kib ?? (typeof buffer === 'number' && buffer > most ? most : CAPTURE_DEFAULTS.buffer),
    stacks: stacks === true,
    messages: messages === true,
    instructions: instructions === true,
  };
}

export const sameCapture = (a: CaptureOptions, b: CaptureOptions): boolean =>
  a.capture === b.capture &&
  a.layers.join() === b.layers.join() &&
  a.buffer === b.buffer &&
  a.stacks === b.stacks &&
  a.messages === b.messages &&
  a.instructions === b.instructions;

const HOLDS: readonly string[] = [
  'no SQL text',
  'statements, literals replaced by ?',
  'statements with their literals',
  'statements with literals and bound values',
];

/** `level 1 (statements, literals replaced by ?), layers sql, vfs, web; stacks` */
export const captureText = ({
  capture,
  layers,
  stacks,
  messages,
  instructions,
  buffer,
}: CaptureOptions): string =>
  `level ${capture} (${HOLDS[capture]}), layers ${layers.join(', ')}` +
  `${stacks ? ', stacks' : ''}${messages ? ', messages' : ''}${instructions ? ', instructions' : ''}${buffer === CAPTURE_DEFAULTS.buffer ? '' : `, buffer ${buffer} KiB`}`;

/** Records leave a thread this often, and before its messages do. */
export const DRAIN_EVERY_MS = 50;
