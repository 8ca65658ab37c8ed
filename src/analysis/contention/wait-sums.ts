/** Sums over lines of waits. */
import { countOf, formatCount, formatDuration } from '../../text/numbers.ts';
import type { WaitLine } from './wait-lines.ts';

export interface WaitSums {
  /** A wait counts once, even if it has several lines. */
  waits: number;
  /** Waits while SQL ran: a recorded thread held the lock, or SQLITE_BUSY was answered. */
  ofSqlite: number;
  /** Also SQLite's, but no recorded thread held the lock. */
  unseen: number;
  /** Time while SQL ran, microseconds. */
  whileSqlUs: number;
}

export function sumsOf(lines: readonly WaitLine[]): WaitSums {
  const [all, ofSqlite, unseen] = [new Set<number>(), new Set<number>(), new Set<number>()];
  let whileSqlUs = 0;
  for (const { wait, sqlite, isHeld, whileSqlUs: us } of lines) {
    all.add(wait);
    if (sqlite === null) continue;
    (isHeld ? ofSqlite : unseen).add(wait);
    whileSqlUs += us;
  }
  return { waits: all.size, ofSqlite: ofSqlite.size, unseen: unseen.size, whileSqlUs };
}

/** `55 waits for locks, 767 ms`: SQLite's, in the time while SQL runs; then the others. */
export function waitText({ waits, ofSqlite, unseen, whileSqlUs }: WaitSums): string {
  const own = waits - ofSqlite - unseen;
  return [
    `${countOf(ofSqlite, 'wait')} for locks, ${formatDuration(whileSqlUs)}`,
    ...(own > 0 ? [`${formatCount(own)} outside SQL`] : []),
    ...(unseen > 0 ? [`${formatCount(unseen)} without a recorded holder`] : []),
  ].join(', ');
}
