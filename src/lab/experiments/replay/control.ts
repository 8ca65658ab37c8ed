/**
 * Measures how accurate a replay is: the recording replayed on its original VFS (recorded-vfs.ts
 * detects it). The differences from the recording are the replay's error.
 */
import type { Summary } from '../../../analysis/report/summary.ts';
import { formatCount, formatNumber } from '../../../text/numbers.ts';
import type { Counters, VfsName } from '../model/types.ts';
import type { RecordedVfs } from './recorded-vfs.ts';

export interface ReplayError {
  /** Of the recording. */
  readonly vfs: VfsName;
  /** Whether that is known or a guess, and from what. */
  readonly certain: boolean;
  readonly why: string;
  /** Counts by kind of file and call: how many there are, and how many differ in the replay. */
  readonly counts: number;
  readonly differing: number;
  /** Storage calls of the whole recording, and of the replay. */
  readonly web: readonly {
    readonly name: string;
    readonly recorded: number;
    readonly replayed: number;
  }[];
  /**
   * Time in calls, replayed over recorded; null where the recording's clock was too coarse.
   * Compares this machine now with the recording's.
   */
  readonly timeRatio: number | null;
}

const flat = (web: Summary['web']): (readonly [string, number])[] =>
  Object.entries(web).flatMap(([family, counts]) =>
    Object.entries(counts as Record<string, number>).flatMap(([name, n]) =>
      /Bytes$/.test(name) ? [] : [[`${family}.${name}`, n] as const],
    ),
  );
/**
 * Storage calls by name, such as `opfs.reads`, without those that didn't occur, and without bytes.
 */
export const webCalls = (web: Summary['web']): Counters =>
  Object.fromEntries(flat(web).filter(([, n]) => n > 0));

interface Side {
  readonly vfs: Readonly<Record<string, number>>;
  readonly vfsUs: number;
}
/** @param own the VFS of both sides @param counted storage calls of the replay, if counted */
export function errorOf(
  own: RecordedVfs & { readonly vfs: VfsName },
  recorded: Side,
  replayed: Side,
  web: Summary['web'],
  counted: Counters | null,
): ReplayError {
  const names = [...new Set([...Object.keys(recorded.vfs), ...Object.keys(replayed.vfs)])];
  return {
    ...own,
    counts: names.length,
    differing: names.filter((name) => recorded.vfs[name] !== replayed.vfs[name]).length,
    web: counted
      ? flat(web).flatMap(([name, recorded]) => {
          const replayed = counted[name] ?? 0;
          return recorded === 0 && replayed === 0 ? [] : [{ name, recorded, replayed }];
        })
      : [],
    timeRatio: recorded.vfsUs > 0 ? replayed.vfsUs / recorded.vfsUs : null,
  };
}

/** In one or two sentences. @param why the `errorWhy` of a report */
export function errorWords(error: ReplayError | null, why: string): string {
  if (!error) return `The estimate's error is not known: ${why}`;
  const { vfs, certain, why: by, counts, differing, web, timeRatio } = error;
  const off = web.filter(({ recorded, replayed }) => recorded !== replayed);
  return [
    `The estimate's error: replayed on ${vfs}, which the recording ${certain ? 'was made on' : 'was probably made on, a guess'} (${by}), ${differing} of ${counts} VFS counts differ`,
    ...(web.length
      ? [
          off.length
            ? `; storage calls differ in ${off.map((w) => `${w.name} (${formatCount(w.recorded)} recorded, ${formatCount(w.replayed)} replayed)`).join(', ')}`
            : '; storage calls are equal',
        ]
      : []),
    timeRatio === null
      ? '.'
      : `; the time in calls is ${formatNumber(timeRatio)} times the recorded time.`,
  ].join('');
}
