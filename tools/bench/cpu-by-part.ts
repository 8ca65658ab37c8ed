/**
 * Which processes use CPU time while an app is recorded: by process and thread of a driven browser,
 * from Linux's /proc; and a profile of a worker by part.
 */
import { readFileSync, readdirSync } from 'node:fs';
import type { CDPSession } from 'puppeteer-core';

/** Process groups, in the table's order. */
export const PARTS = [
  'traced workers',
  "the page's main thread",
  "the page's helpers (garbage, compiling)",
  'panel',
  "panel's workers (store, journal)",
  'other threads of the extension',
  'DevTools',
  'browser',
  'storage, network, and GPU',
] as const;
export type Part = (typeof PARTS)[number];
export type CpuByPart = Record<Part, number>;

const readOr = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // the process or thread has ended meanwhile
  }
};
const isWorker = (comm: string): boolean => comm.startsWith('DedicatedWorker');

/** `root` and its descendants. */
function below(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readOr(`/proc/${name}/stat`) : '';
    if (stat)
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
  }
  const isBelow = (pid: number): boolean =>
    pid === root || ((parents.get(pid) ?? 0) > 1 && isBelow(parents.get(pid)!));
  return [...parents.keys()].filter(isBelow);
}

/**
 * CPU time so far, ms. @param root the browser's process @returns null if the system doesn't
 * provide it
 */
export function cpuByPart(root: number | undefined): CpuByPart | null {
  if (process.platform !== 'linux' || root === undefined) return null;
  const ms = Object.fromEntries(PARTS.map((part) => [part, 0])) as CpuByPart;
  for (const pid of below(root)) {
    const command = readOr(`/proc/${pid}/cmdline`);
    const type = /--type=([a-z-]+)/.exec(command)?.[1];
    const threads = listOf(`/proc/${pid}/task`).map((thread) => ({
      isMain: thread === String(pid),
      comm: readOr(`/proc/${pid}/task/${thread}/comm`),
      cpuMs: Number(readOr(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]) / 1e6,
    }));
    const hasWorker = threads.some(({ comm }) => isWorker(comm));
    for (const { isMain, comm, cpuMs } of threads)
      ms[partOf(type, command.includes('--extension-process'), hasWorker, isMain, comm)] += cpuMs;
  }
  return ms;
}

const listOf = (folder: string): string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return []; // it has ended meanwhile
  }
};

function partOf(
  type: string | undefined,
  isExtension: boolean,
  hasWorker: boolean,
  isMain: boolean,
  comm: string,
): Part {
  if (type === undefined) return 'browser';
  if (type !== 'renderer') return 'storage, network, and GPU';
  if (isExtension) {
    if (isWorker(comm)) return "panel's workers (store, journal)";
    return isMain ? 'panel' : 'other threads of the extension';
  }
  // DevTools' front end is a renderer, too, and starts no worker for our panel
  if (!hasWorker) return 'DevTools';
  if (isWorker(comm)) return 'traced workers';
  return isMain ? "the page's main thread" : "the page's helpers (garbage, compiling)";
}

/** What a traced worker does, in the table's order. */
export const WORKER_PARTS = [
  'SQLite',
  'app',
  'hook',
  'clock',
  'messages',
  'garbage',
  'other',
] as const;
export type WorkerPart = (typeof WORKER_PARTS)[number];

/** Profile a worker. @param session of the worker @returns ends it: milliseconds by part */
export async function profileWorker(
  session: CDPSession,
): Promise<() => Promise<Record<WorkerPart, number>>> {
  await session.send('Profiler.enable');
  await session.send('Profiler.setSamplingInterval', { interval: 200 });
  await session.send('Profiler.start');
  return async () => {
    const { profile } = await session.send('Profiler.stop');
    const ms = Object.fromEntries(WORKER_PARTS.map((part) => [part, 0])) as Record<
      WorkerPart,
      number
    >;
    const parts = new Map(
      profile.nodes.map(({ id, callFrame }) => [
        id,
        workerPartOf(callFrame.functionName, callFrame.url),
      ]),
    );
    profile.samples?.forEach((id, i) => {
      const part = parts.get(id);
      if (part) ms[part] += (profile.timeDeltas?.[i] ?? 0) / 1000;
    });
    return ms;
  };
}

/** null = it was idle. A worker that vfscope wraps has the hook in a separate blob: script. */
function workerPartOf(name: string, url: string): WorkerPart | null {
  if (name === '(idle)') return null;
  if (name === '(garbage collector)') return 'garbage';
  if (name === 'now' && !url) return 'clock';
  if (name === 'postMessage' && !url) return 'messages';
  if (/^wasm:|\.wasm\b/.test(url)) return 'SQLite';
  if (url.startsWith('blob:')) return 'hook';
  return url ? 'app' : 'other';
}
