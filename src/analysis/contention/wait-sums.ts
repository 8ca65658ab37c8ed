/** What lines of waits come to. */
import { countOf, formatCount, formatDuration } from '../../text/numbers.ts';
import type { WaitLine } from './wait-lines.ts';

export interface WaitSums {
  /** A wait has a line for each holder, and counts once. */
  waits: number;
  /** Those that lasted while SQL ran: a recorded thread held the lock, or SQLITE_BUSY was answered. */
  ofSqlite: number;
  /** Of SQLite, too, and no recorded thread held the lock. */
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

/** `55 waits for locks, 767 ms`: SQLite's, in the time while SQL ran; then the others. */
export function waitText({ waits, ofSqlite, unseen, whileSqlUs }: WaitSums): string {
  const own = waits - ofSqlite - unseen;
  return [
    `${countOf(ofSqlite, 'wait')} for locks, ${formatDuration(whileSqlUs)}`,
    ...(own > 0 ? [`${formatCount(own)} outside SQL`] : []),
    ...(unseen > 0 ? [`${formatCount(unseen)} without a recorded holder`] : []),
  ].join(', ');
}
