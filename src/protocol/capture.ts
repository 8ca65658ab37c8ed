/**
 * How the hook gets its options before the app's first line. A message would come too late, so each
 * option that isn't the default is a one-line script in front of the hook (rollup.config.js writes
 * them). It stores the option under a symbol, which the hook reads and deletes.
 */
import { CAPTURE_DEFAULTS, CAPTURED_LAYERS, type CaptureOptions } from '../event/capture.ts';

export { captureOptionsOf, sameCapture, type CaptureOptions } from '../event/capture.ts';

/** Description of the symbol. */
export const CAPTURE_KEY = 'vfscope.capture';

/**
 * In front of the hook: makes it wait. The hook patches nothing until it knows that its tab is
 * recorded. The content script tells it, or NOW_SCRIPT at once in documents that were announced: it
 * stores its sign if it runs before the hook, and fires an event if it runs after it.
 */
export const WAIT_SCRIPT = 'capture/wait.js';
export const NOW_SCRIPT = 'capture/now.js';
/**
 * In front of the hook: all pages of its origin start SharedWorkers with our script, so that they
 * stay shared (src/hooks/shared-workers.ts).
 */
export const SHARED_SCRIPT = 'capture/shared.js';
export const NOW_EVENT = 'vfscope.now';

/**
 * In front of the hook: the script that records messages (src/hooks/messages.ts), also in workers.
 */
const MESSAGES_SCRIPT = 'capture/messages.js';
/**
 * In front of the hook: the script that counts instructions (src/hooks/instructions.ts), also in
 * workers.
 */
const INSTRUCTIONS_SCRIPT = 'capture/instructions.js';

/** Files of the extension with scripts that the hook carries into workers. */
export const carriedScripts = ({
  messages,
  instructions,
}: Pick<CaptureOptions, 'messages' | 'instructions'>): string[] => [
  ...(messages ? [MESSAGES_SCRIPT] : []),
  ...(instructions ? [INSTRUCTIONS_SCRIPT] : []),
];

/**
 * What the hook gets in a worker whose own script brings it, as JavaScript.
 * @param carried texts of `carriedScripts`
 * @returns code to run before the hook, and the hook's argument
 */
export const filteredEnvironment = (
  capture: CaptureOptions,
  carried: string,
): [before: string, environment: string] => {
  const given = JSON.stringify({ role: 'filtered', capture });
  if (!carried) return ['', given];
  return [
    carried,
    `{...${given},scripts:globalThis[Symbol.for(${JSON.stringify(CAPTURE_KEY)})].scripts}`,
  ];
};

/** Files of the extension to run in the page before hooks.js; none for the defaults. */
export function captureScripts(options: CaptureOptions): string[] {
  const { capture, layers, buffer, stacks } = options;
  return [
    ...(capture === CAPTURE_DEFAULTS.capture ? [] : [`capture/level-${capture}.js`]),
    ...CAPTURED_LAYERS.filter((layer) => !layers.includes(layer)).map(
      (layer) => `capture/no-${layer}.js`,
    ),
    ...(buffer === CAPTURE_DEFAULTS.buffer ? [] : [`capture/buffer-${buffer}.js`]),
    ...(stacks ? ['capture/stacks.js'] : []),
    ...carriedScripts(options),
  ];
}
