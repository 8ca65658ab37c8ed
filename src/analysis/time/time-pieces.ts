/**
 * Where a thread's time while SQL runs went, moment by moment, as intervals for a picture. They are
 * those of the time partition, so a picture matches the numbers of the summary and the live strip.
 */
import { IntervalIndex, KINDS } from '../../trace/lanes/interval-index.ts';
import type { TimeSweep } from './time-sweep.ts';
import type { Owners } from '../../trace/owners.ts';
import { timesOfThread, type ThreadTimes } from './time-partition.ts';

export interface TimePieces extends ThreadTimes {
  /** Kinds are indices in SQL_PARTS; its intervals have no rows. */
  index: IntervalIndex;
  /** What comes after isn't known, nanoseconds. */
  untilNs: number;
}

/** One pass over the thread's calls. @param owners of the calls */
export function timePieces(sweep: TimeSweep, owners: Owners): TimePieces {
  const index = new IntervalIndex(false);
  let [from, to, kind] = [0, 0, -1];
  const flush = (): void => void (kind >= 0 && to > from && index.push(from, to - from, kind, 0));
  sweep.onPiece = (pieceFrom, pieceTo, part) => {
    const next = part < KINDS ? part : -1;
    if (next === kind && pieceFrom === to) {
      to = pieceTo;
      return;
    }
    flush();
    [from, to, kind] = [pieceFrom, pieceTo, next];
  };
  const times = timesOfThread(sweep, owners);
  flush();
  index.trim();
  return { index, untilNs: sweep.lastNs, ...times };
}
