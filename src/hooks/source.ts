/**
 * The hook as text. The build wraps this bundle in `(function vfscopeHook(vfscopeEnvironment)
 * {...})({ role: 'page' })`: the function's own source is the script that goes into workers, with
 * another environment.
 */
import type { Refusal } from '../protocol/page-policy.ts';
import type { CaptureOptions } from '../event/capture.ts';
import type { ThreadMessage } from '../protocol/messages.ts';

declare const vfscopeHook: (environment: HookEnvironment) => void;
declare const vfscopeEnvironment: HookEnvironment;
/** Constants of the build (rollup.config.js). */
declare const VFSCOPE_WORKERS_FILTERED: boolean;
declare const VFSCOPE_NATIVES_HOOKED: boolean;

/** Where this copy of the hook runs. */
export type HookEnvironment = PageEnvironment | WorkerEnvironment | FilteredEnvironment;

export interface PageEnvironment {
  role: 'page';
  /** For `vfscope/hook`. */
  says?: Says;
}

/**
 * Receives this thread's messages synchronously, in the thread itself. For `vfscope/hook`, which
 * collects them there (src/embed). Must not throw. Only a build that is NATIVES_DRIVEN supports it.
 */
export type Says = (message: ThreadMessage) => void;

/**
 * Separate scripts that the hook carries for optional captures. messages.ts and instructions.ts
 * document their arguments.
 */
export type CarriedScripts = Partial<Record<'messages' | 'instructions', CarriedScript>>;
type CarriedScript = (...given: never[]) => unknown;

/**
 * The hook in front of a worker's own script (in every module of it), inserted on its way in or by
 * `vfscope record`. In shared and service workers, too.
 */
interface FilteredEnvironment {
  role: 'filtered';
  /** What the recording captures. */
  capture?: Partial<CaptureOptions>;
  scripts?: CarriedScripts;
  /** For `vfscope/hook` in a dedicated worker: sends nothing to its creator, which has no hook. */
  says?: Says;
  /** With `says`: the port that the creator would get. */
  takes?: (port: MessagePort) => void;
}

export interface WorkerEnvironment {
  role: 'worker';
  /** Inserted by `hookText`. */
  scripts?: CarriedScripts;
  /**
   * The script's absolute URL, from the app's argument. Relative URLs in the worker resolve against
   * it.
   */
  base: string;
  /** Id of this thread, chosen by its creator. */
  id: string;
  /** The worker's name option. */
  name: string;
  /** What the creator captures. */
  capture?: CaptureOptions;
  /** What the creator's policies refuse. They apply to this worker, too. */
  refused?: Refusal[];
  /** Id of the creating thread; null where it isn't known here. */
  parent: string | null;
  /** A SharedWorker that all pages of its origin start together. It chooses its own `id`. */
  shared?: 'classic' | 'module';
  /** Set by the hook: the function that its script (`e`) calls after the app's script has run. */
  runs?: () => void;
}

/** Where this copy runs. */
export const environment: HookEnvironment = vfscopeEnvironment;

/**
 * Whether the browser puts the hook before the scripts of network workers (FilteredEnvironment).
 * Else they are wrapped. A constant, so that a browser that wraps them doesn't have to parse code
 * for the others.
 */
export const WORKERS_FILTERED = VFSCOPE_WORKERS_FILTERED;

/**
 * Whether workers that we don't wrap may bring the hook anyway: where it is put before their
 * scripts, and in a Chromium driven by `vfscope record`, which puts it into such workers itself
 * (drive/native-workers.ts).
 */
export const NATIVES_HOOKED = VFSCOPE_NATIVES_HOOKED;
/** True in that Chromium, and where a page or worker imports the hook. */
export const NATIVES_DRIVEN = NATIVES_HOOKED && !WORKERS_FILTERED;

/** Receives this thread's messages, where the thread imports the hook. */
export const says: Says | null =
  NATIVES_DRIVEN && environment.role !== 'worker' ? (environment.says ?? null) : null;

/**
 * Classic script text that runs the hook in a worker, in three parts.
 * @param hook `hookText`, or what stands for it
 * @param then statements that run the app's script after it
 * @throws where the app decides how objects become JSON
 */
export const workerHookSource = <T>(
  worker: WorkerEnvironment,
  hook: T,
  then = '',
): (T | string)[] => {
  if ('toJSON' in []) throw new Error('your app defines toJSON');
  return [`{const e={...${JSON.stringify(worker)}`, hook, then + '}'];
};

/**
 * The long part, the same for all workers of this thread.
 * @param carried scripts that also go into the worker
 */
export const hookText = (carried: CarriedScripts): string =>
  `,scripts:{${String(Object.entries(carried).map((pair) => pair.join(':')))}}};(${String(vfscopeHook)})(e);`;

/**
 * How much of this script is the hook with what it carries. The app's text follows: on the next
 * line where a worker is made from a Blob, and on the same line, after a few words of ours, where
 * the hook was put in front of a network script.
 */
export function hookExtent(): { lines: number; columns: number; shift: number } {
  const carried = Object.values((environment as WorkerEnvironment).scripts ?? {});
  const text = [...carried, vfscopeHook].join('').split('\n');
  const lines = text.length;
  const inFront = WORKERS_FILTERED && environment.role === 'filtered';
  return {
    lines,
    columns: inFront ? text.at(-1)!.length + 200 : Infinity,
    shift: lines - (inFront ? 1 : 0),
  };
}
