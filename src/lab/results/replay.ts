/**
 * A recording and its replays side by side: rows of counts, each replay with its ratio to the
 * recording.
 */
import type { RecordedVfs } from '../experiments/replay/recorded-vfs.ts';
import type { ReplayReport } from '../experiments/replay/replay.ts';
import { number, ratioOf } from './table.ts';
import { formatDuration, formatNumber } from '../../text/numbers.ts';

interface ReplayCell {
  readonly text: string;
  /** Relative to the recording; '' where it can't be divided. */
  readonly ratio: string;
}
export interface ReplayRow {
  readonly name: string;
  /** The recording's value; null: not known. */
  readonly recorded: string | null;
  /** By replay; null: not known. */
  readonly replayed: readonly (ReplayCell | null)[];
}
interface ReplayGroup {
  readonly title: string;
  /** What the rows include, and what they don't. */
  readonly help: string;
  readonly rows: readonly ReplayRow[];
}
/** Families of storage calls that a replay counts. A missing name in them means zero calls. */
const COUNTED = /^(?:idb|opfs|locks)\./;

function cell(
  recorded: number | undefined,
  replayed: number | undefined,
  text: (n: number) => string = number,
): ReplayCell | null {
  if (replayed === undefined) return null;
  return { text: text(replayed), ratio: recorded ? ratioOf(replayed, recorded) : '' };
}

/** @param reports of one recording, in the order of their columns; at least one */
export function replayGroups(reports: readonly ReplayReport[]): ReplayGroup[] {
  const [first] = reports;
  if (!first) return [];
  const { recorded } = first;
  const named = (all: readonly (Readonly<Record<string, number>> | null)[]): string[] =>
    [
      ...new Set(
        all.flatMap((counts) => Object.keys(counts ?? {}).filter((name) => counts![name])),
      ),
    ].sort();
  const webOf = (
    counts: Readonly<Record<string, number>> | null,
    name: string,
  ): number | undefined =>
    counts === null ? undefined : (counts[name] ?? (COUNTED.test(name) ? 0 : undefined));
  const error = (
    title: string,
    of: (e: NonNullable<ReplayReport['error']>) => string | null,
  ): ReplayRow => ({
    name: title,
    recorded: null,
    replayed: reports.map((r) => {
      const text = r.error && of(r.error);
      return text === null ? null : { text, ratio: '' };
    }),
  });
  const web = named([recorded.web, ...reports.map((r) => r.replayed.web)]).map(
    (name): ReplayRow => {
      const before = webOf(recorded.web, name);
      return {
        name,
        recorded: before === undefined ? null : number(before),
        replayed: reports.map((r) => cell(before, webOf(r.replayed.web, name))),
      };
    },
  );
  return [
    {
      title: 'Storage calls',
      help: "Recorded: of the whole page, by any caller. Replayed: those that the VFS made. block.* are BlockIDB's own counters.",
      rows: web,
    },
    {
      title: 'Time, an estimate',
      help: 'The calls were repeated on this machine, now, without SQLite between them.',
      rows: [
        {
          name: 'in VFS calls',
          recorded: formatDuration(recorded.vfsUs),
          replayed: reports.map((r) => cell(recorded.vfsUs, r.replayed.vfsUs, formatDuration)),
        },
      ],
    },
    {
      title: 'Error of the estimate',
      help: 'Measured: the recording replayed on the VFS that it was made on, or on a guess of it. The difference from the recording is the error.',
      rows: [
        error('measured on', ({ vfs, certain }) => (certain ? vfs : `${vfs}, a guess`)),
        error(
          'VFS counts that differ',
          ({ differing, counts }) => `${number(differing)} of ${number(counts)}`,
        ),
        error('storage counts that differ', ({ web: calls }) =>
          calls.length
            ? `${number(calls.filter((c) => c.recorded !== c.replayed).length)} of ${number(calls.length)}`
            : null,
        ),
        error('time, replayed over recorded', ({ timeRatio }) =>
          timeRatio === null ? null : `×${formatNumber(timeRatio)}`,
        ),
      ],
    },
    {
      title: 'VFS calls',
      help: 'What SQLite requested. A replay requests the same, so these differ only if the VFS handles a call differently.',
      rows: named([recorded.vfs, ...reports.map((r) => r.replayed.vfs)]).map((name) => ({
        name,
        recorded: number(recorded.vfs[name] ?? 0),
        replayed: reports.map((r) => cell(recorded.vfs[name], r.replayed.vfs[name] ?? 0)),
      })),
    },
  ].filter(({ rows }) => rows.length);
}

/** The VFS on which a recording was made, and its meaning for a replay: one sentence. */
export function recordedOn({ vfs, certain, why }: RecordedVfs): string {
  if (vfs === null)
    return `The Lab doesn't have its VFS (${why}), so it can't measure the error of a replay.`;
  return `It was ${certain ? 'made on' : 'probably made on'} ${vfs} (${certain ? '' : 'a guess: '}${why}); a replay there measures the error.`;
}

/** Notes on a replay beside its numbers. */
export function notesOf(report: ReplayReport): string[] {
  const { calls, callsInAll, retries, differing, leftOut, cache } = report;
  return [
    ...(calls < callsInAll
      ? [
          `Interrupted after ${number(calls)} of ${number(callsInAll)} calls. The recorded counts are of the same calls.`,
        ]
      : []),
    ...(retries
      ? [`${number(retries)} calls were repeated, because the VFS had to wait first.`]
      : []),
    ...Object.entries(differing).map(
      ([op, n]) => `${number(n)} ${op} had another result than in the recording.`,
    ),
    ...leftOut.map((words) => `Left out: ${words}.`),
    ...cache.map(({ path, reads, misses, atMost, note }) => {
      const what =
        misses === null
          ? 'not known at this size'
          : `${atMost ? 'at most ' : ''}${number(misses)} of ${number(reads)} page reads`;
      return `Page cache, ${path}: ${what} (${note}).`;
    }),
  ];
}
