/**
 * Chrome's Performance panel: when it records, and our tracks in it. The tracks go through
 * `console.timeStamp` in our content script's world. The page has a separate console object and
 * gets no entry in its performance timeline, so it can't see them.
 */
import type { PerformanceMark, PerformanceTrack } from '../protocol/answers/performance-tracks.ts';
import { api } from './extension-api.ts';

interface Happening {
  addListener(listener: () => void): void;
  removeListener(listener: () => void): void;
}
/** https://developer.chrome.com/docs/extensions/reference/api/devtools/performance (Chrome 129) */
interface PerformanceApi {
  onProfilingStarted: Happening;
  onProfilingStopped: Happening;
}
const profiling = (): PerformanceApi | undefined =>
  (api.devtools as { performance?: PerformanceApi } | undefined)?.performance;

/** Group of our tracks there. */
const GROUP = 'vfscope';
/** https://developer.chrome.com/docs/devtools/performance/extension */
const COLORS: Record<PerformanceTrack, string> = {
  Statements: 'primary',
  Transactions: 'secondary',
  Syncs: 'tertiary',
};

/** Whether this browser's DevTools report when their Performance panel records. */
export const hasPerformancePanel = (): boolean => profiling() !== undefined;

/**
 * @param listener called with true when it starts to record, with false when it stops
 * @returns a function that stops listening
 */
export function watchProfiling(listener: (records: boolean) => void): () => void {
  const { onProfilingStarted: begun, onProfilingStopped: ended } = profiling()!;
  const [begins, ends] = [() => listener(true), () => listener(false)];
  begun.addListener(begins);
  ended.addListener(ends);
  return () => {
    begun.removeListener(begins);
    ended.removeListener(ends);
  };
}

/** Runs in our world of the inspected page. Times are ms since the epoch. */
const addMarks = (marks: [label: string, from: number, to: number, ...string[]][]): void => {
  const { timeOrigin } = performance;
  const timeStamp = console.timeStamp.bind(console) as (...args: unknown[]) => void;
  for (const [label, from, to, ...where] of marks)
    timeStamp(label, from - timeOrigin, to - timeOrigin, ...where);
};

/** Adds these to its recording. @throws Error where our content script doesn't run in the page */
export function showMarks(marks: readonly PerformanceMark[]): Promise<void> {
  const given = marks.map(({ label, fromMs, toMs, track, thread }) => [
    ...[label, fromMs, toMs],
    ...[`${track} · ${thread}`, GROUP, COLORS[track]],
  ]);
  // with its callback: this API returns no promises
  return new Promise((done, failed) =>
    chrome.devtools.inspectedWindow.eval(
      `(${String(addMarks)})(${JSON.stringify(given)})`,
      { useContentScriptContext: true },
      (_, failure?: { value?: unknown; description?: unknown }) =>
        failure ? failed(new Error(String(failure.value ?? failure.description))) : done(),
    ),
  );
}
