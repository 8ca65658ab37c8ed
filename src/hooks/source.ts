/**
 * The hook as text. The build wraps this bundle in `(function vfscopeHook(vfscopeEnvironment) {...})({ role: 'page' })`: the
 * function's own source is the script that goes into workers, with another environment.
 */
import type { Refusal } from '../protocol/page-policy.ts';
import type { CaptureOptions } from '../event/capture.ts';
import type { ThreadMessage } from '../protocol/messages.ts';

declare const vfscopeHook: (environment: HookEnvironment) => void;
declare const vfscopeEnvironment: HookEnvironment;
/** Of the build (rollup.config.js). */
declare const VFSCOPE_WORKERS_FILTERED: boolean;
declare const VFSCOPE_NATIVES_HOOKED: boolean;

/** Where this copy of the hook runs. */
export type HookEnvironment = PageEnvironment | WorkerEnvironment | FilteredEnvironment;

export interface PageEnvironment {
  role: 'page';
  /** Of `vfscope/hook`. */
  says?: Says;
}

/**
 * Hears what this thread says, within the call, in the thread itself: of `vfscope/hook`, which collects it there (src/embed). Must not throw.
 * Only a build that is NATIVES_DRIVEN knows of it.
 */
export type Says = (message: ThreadMessage) => void;

/** Scripts of their own that the hook carries along, where a recording asks for them: messages.ts, instructions.ts say what they are called with. */
export type CarriedScripts = Partial<Record<'messages' | 'instructions', CarriedScript>>;
type CarriedScript = (...given: never[]) => unknown;

/** Before a worker's own script, put there on its way in (in every module of it) or by `vfscope record`; in shared and service workers, too. */
interface FilteredEnvironment {
  role: 'filtered';
  /** What the recording captures. */
  capture?: Partial<CaptureOptions>;
  scripts?: CarriedScripts;
  /** Of `vfscope/hook` in a dedicated worker: nothing goes to its creator, which knows of no hook. */
  says?: Says;
  /** With `says`: the port that the creator would get. */
  takes?: (port: MessagePort) => void;
}

export interface WorkerEnvironment {
  role: 'worker';
  /** Put there by `hookText`. */
  scripts?: CarriedScripts;
  /** The script's URL as the app gave it, absolute: what relative URLs in the worker resolve against. */
  base: string;
  /** Id that the creator drew for this thread. */
  id: string;
  /** The worker's name option. */
  name: string;
  /** What the creator captures. */
  capture?: CaptureOptions;
  /** What the creator's policies refuse, which this worker has, too. */
  refused?: Refusal[];
  /** Id of the creating thread; null where that cannot be known here. */
  parent: string | null;
  /** A SharedWorker that all pages of its origin start together: `id` is drawn there. */
  shared?: 'classic' | 'module';
  /** Set by the hook: what its script (`e`) calls when the app's script has run. */
  runs?: () => void;
}

/** Where this copy runs. */
export const environment: HookEnvironment = vfscopeEnvironment;

/**
 * Whether the browser puts the hook before the scripts of network workers (FilteredEnvironment); else they are wrapped. A constant, so
 * that a browser which wraps them need not parse what is for the others.
 */
export const WORKERS_FILTERED = VFSCOPE_WORKERS_FILTERED;

/**
 * Whether workers that we don't wrap may bring the hook anyway: where it is put before their scripts, and in a Chromium that
 * `vfscope record` drives, which puts it into such workers itself (drive/native-workers.ts).
 */
export const NATIVES_HOOKED = VFSCOPE_NATIVES_HOOKED;
/** In that Chromium, and where a page or worker imports the hook. */
export const NATIVES_DRIVEN = NATIVES_HOOKED && !WORKERS_FILTERED;

/** Who hears what this thread says, where it imports the hook. */
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

/** The long part, the same for all workers of this thread. @param carried goes into the worker, too */
export const hookText = (carried: CarriedScripts): string =>
  `,scripts:{${String(Object.entries(carried).map((pair) => pair.join(':')))}}};(${String(vfscopeHook)})(e);`;

/**
 * How much of this script is the hook, and what it carries. The app's text follows where a worker is made from a Blob (from the next
 * line on), and where the hook was put in front of a network script (on the same line, behind a few words of ours).
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
