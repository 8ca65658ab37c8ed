/** What lines of waits come to. */
import type { WaitLine } from './wait-lines.ts';

export interface WaitSums {
  /** A wait has a line for each holder, and counts once. */
  waits: number;
  ofSqlite: number;
  /** Time while SQL ran, microseconds. */
  whileSqlUs: number;
}

export function sumsOf(lines: readonly WaitLine[]): WaitSums {
  const [all, ofSqlite] = [new Set<number>(), new Set<number>()];
  let whileSqlUs = 0;
  for (const { wait, sqlite, whileSqlUs: us } of lines) {
    all.add(wait);
    if (sqlite === null) continue;
    ofSqlite.add(wait);
    whileSqlUs += us;
  }
  return { waits: all.size, ofSqlite: ofSqlite.size, whileSqlUs };
}
