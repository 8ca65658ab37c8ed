/**
 * How the hook learns its options before the app's first line: no message is that early, so each option that is not the default is a
 * script of one line in front of the hook (rollup.config.js writes them), which leaves it under a symbol that the hook takes away.
 */
import { CAPTURE_DEFAULTS, CAPTURED_LAYERS, type CaptureOptions } from '../event/capture.ts';

export { captureOptionsOf, sameCapture, type CaptureOptions } from '../event/capture.ts';

/** Description of the symbol. */
export const CAPTURE_KEY = 'vfscope.capture';

/**
 * In front of the hook: it waits. Patches nothing, until it hears that its tab is recorded: from the content script, or at once by
 * NOW_SCRIPT in documents that were announced, which leaves its word before the hook or makes an event behind it.
 */
export const WAIT_SCRIPT = 'capture/wait.js';
export const NOW_SCRIPT = 'capture/now.js';
/** In front of the hook: all pages of its origin start SharedWorkers with our script, so that they stay one (src/hooks/shared-workers.ts). */
export const SHARED_SCRIPT = 'capture/shared.js';
export const NOW_EVENT = 'vfscope.now';

/** In front of the hook: what records messages there (src/hooks/messages.ts), and in its workers. */
const MESSAGES_SCRIPT = 'capture/messages.js';
/** The same of what counts instructions (src/hooks/instructions.ts). */
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
 * @param carried texts of `carriedScripts` @returns what runs before the hook; the hook's argument
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
