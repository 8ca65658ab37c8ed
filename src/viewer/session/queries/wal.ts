/** Queries of the WAL view: each log's history and its checkpoints. */
import { fact } from '../../../analysis/graph.ts';
import {
  checkpointLines,
  walLines,
  type CheckpointLine,
  type WalLine,
} from '../../../analysis/wal/table.ts';
import { isStarved, walHistories, type WalHistory } from '../../../analysis/wal/wal.ts';
import { needing, type QueryContext } from './context.ts';

export interface WalLog {
  history: WalLine;
  starved: boolean | null;
  /** Size over time, thinned to what a screen can show: of each stretch its largest. */
  series: { timeUs: Float64Array; usedBytes: Float64Array; fileBytes: Float64Array };
  checkpoints: CheckpointLine[];
}

const MOST_POINTS = 3000;

/** Every stretch of n points by the one with the largest log and the one with the smallest, in order. */
function thinned(
  { timeUs, usedBytes, fileBytes }: WalHistory['series'],
  most = MOST_POINTS,
): WalHistory['series'] {
  const n = timeUs.length;
  const stretch = Math.ceil(n / (most / 2));
  const kept: number[] = [];
  if (n <= most) for (let i = 0; i < n; i++) kept.push(i);
  else
    for (let from = 0; from < n; from += stretch) {
      let [low, high] = [from, from];
      for (let i = from; i < Math.min(n, from + stretch); i++) {
        if (usedBytes[i]! < usedBytes[low]!) low = i;
        if (usedBytes[i]! > usedBytes[high]!) high = i;
      }
      kept.push(...(low === high ? [low] : [Math.min(low, high), Math.max(low, high)]));
    }
  const pick = (column: Float64Array): Float64Array => Float64Array.from(kept, (i) => column[i]!);
  return { timeUs: pick(timeUs), usedBytes: pick(usedBytes), fileBytes: pick(fileBytes) };
}

const copyOf = ({ timeUs, usedBytes, fileBytes }: WalHistory['series']): WalHistory['series'] => ({
  timeUs: timeUs.slice(),
  usedBytes: usedBytes.slice(),
  fileBytes: fileBytes.slice(),
});

const walLogs = fact(
  'walLogs',
  'write-ahead logs and checkpoints',
  { walHistories, walLines, checkpointLines },
  (_, { walHistories, walLines, checkpointLines }): WalLog[] =>
    walHistories.map((wal, i) => ({
      history: walLines[i]!,
      starved: isStarved(wal),
      series: thinned(wal.series),
      checkpoints: checkpointLines.filter(({ path }) => path === wal.path),
    })),
);

export const walQueries = {
  /** By database, in the order in which they were first used; [] without a log. */
  wal: needing([walLogs], (context: QueryContext, _: Record<string, never>): WalLog[] => {
    const logs = context.facts.get(walLogs);
    // answers are transferred: what is kept stays here
    return logs.map((log) => ({ ...log, series: copyOf(log.series) }));
  }),
};
