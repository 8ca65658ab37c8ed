/** Queries of the WAL view: each log's history and its checkpoints. */
import {
  checkpointChoices,
  type CheckpointChoices,
} from '../../../analysis/what-if/checkpoint-choices.ts';
import { checkpointLines, walLines } from '../../../analysis/wal/table.ts';
import { isStarved, walHistories, type WalHistory } from '../../../analysis/wal/wal.ts';
import { threadTitles } from '../../../analysis/core/thread-titles.ts';
import { logReaders, readerText } from '../../../analysis/wal/open-readers.ts';
import { needing, type QueryContext } from './context.ts';
import type { WalLog } from '../../../protocol/answers/wal.ts';

const MOST_POINTS = 3000;

/**
 * A copy, because answers are transferred. Each group of n points is reduced to those with the
 * largest and the smallest log, in order.
 */
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

export const walQueries = {
  /** By log, in the same order. */
  checkpointChoices: needing(
    [checkpointChoices],
    ({ facts }: QueryContext, _: Record<string, never>): readonly CheckpointChoices[] =>
      facts.get(checkpointChoices),
  ),
  /** By database, in the order in which they were first used; [] without a log. */
  wal: needing(
    [walHistories, walLines, checkpointLines, logReaders],
    ({ facts, store }: QueryContext, _: Record<string, never>): WalLog[] =>
      facts.get(walHistories).map((wal, i) => ({
        history: facts.get(walLines)[i]!,
        starved: isStarved(wal),
        reader: facts.get(logReaders)[i]!.map((r) => readerText(r, threadTitles(store)))[0] ?? null,
        series: thinned(wal.series),
        checkpoints: facts.get(checkpointLines).filter(({ path }) => path === wal.path),
      })),
  ),
};
