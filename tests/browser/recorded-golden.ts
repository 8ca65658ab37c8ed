/**
 * The parts of a recording that are the same in every run: stored per engine app in
 * tests/oracle/recorded.json, and shown in the table of engines in docs/support.md.
 */
import type { Summary } from '../../src/analysis/report/summary.ts';

export interface RecordedGolden {
  /** 'same', or why the stored bytes differ between runs. */
  bytes: string;
  engines: {
    name: string;
    sqliteVersion: string | null;
    vfs: string[];
    layers: Summary['engines'][number]['layers'];
  }[];
  threads: string[];
  /** VFS calls by `kind path`; only those that occurred. */
  files: Record<string, Record<string, number>>;
  statements: number | null;
  transactions: Summary['transactions'];
  commits: number | null;
  pageCache: { hits: number | null; misses: number | null };
}

/** Names with a random part: super-journals, sql.js's in-memory files. */
const steady = (path: string): string =>
  path.replace(/-mj[0-9A-F]{9}$/, '-mj#').replace(/dbfile_\d+/, 'dbfile_#');

export function recordedGolden(summary: Summary, bytes: string): RecordedGolden {
  const files: RecordedGolden['files'] = {};
  for (const { path, kind, vfs } of summary.files) {
    const counts = Object.entries(vfs).filter(
      (entry): entry is [string, number] => typeof entry[1] === 'number' && entry[1] > 0,
    );
    if (!counts.length) continue;
    const sum = (files[`${kind} ${steady(path)}`] ??= {});
    for (const [call, n] of counts) sum[call] = (sum[call] ?? 0) + n;
  }
  return {
    bytes,
    engines: summary.engines.map(({ name, sqliteVersion, vfs, layers }) => ({
      name,
      sqliteVersion,
      vfs,
      layers,
    })),
    threads: summary.threads.map((t) => `${t.kind} ${t.layers.join('+')}`),
    files: Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))),
    statements: summary.statements.count,
    transactions: summary.transactions,
    commits: summary.commits,
    pageCache: { hits: summary.pageCache.hits, misses: summary.pageCache.misses },
  };
}
