/**
 * Numbers in titles and evidence of findings, paired with the same numbers computed from calls and
 * tables.
 */
import { Flag } from '../../../src/event/event.ts';
import type { Finding } from '../../../src/analysis/rules/types.ts';
import { WAL_FRAME_HEADER, WAL_HEADER } from '../../../src/sqlite/wal.ts';
import { sum, type Call } from './calls.ts';
import { whole, type Doors } from './doors.ts';

/** A finding's number, and the one computed from calls and tables. */
type Claim = readonly [said: number | null, counted: number | null];
/** The number before these words in the title of a finding. */
const said = ({ title }: Finding, words: string): number =>
  whole(new RegExp(`([\\d,]+) ${words}`).exec(title)![1]!);
export const moved = ({ op, kind, length, result }: Call): number => {
  if (kind === 'memory-journal') return 0;
  return /^opfs\.(read|write)$/.test(op) ? Math.max(0, result ?? 0) : result === 0 ? length : 0;
};
const isOf =
  (op: string, kind: string) =>
  (call: Call): boolean =>
    call.op === op && call.kind === kind;
/** Claims of a finding whose evidence is exactly these calls. */
const areCalls = ({ evidence }: Finding, calls: readonly Call[]): Record<string, Claim> => ({
  calls: [evidence.count, calls.length],
  bytes: [evidence.bytes, sum(calls, moved)],
});
/** Claims of a finding that shows all calls of its evidence. It shows at most 200. */
const bytesShown = ({ evidence }: Finding, { calls }: Doors): Record<string, Claim> => {
  const shown = new Set(evidence.events.map(({ thread, seq }) => `${thread} ${seq}`));
  const own = calls.csv.filter(({ thread, seq }) => shown.has(`${thread} ${seq}`));
  return shown.size < 200 ? { bytes: [evidence.bytes, sum(own, moved)] } : {};
};
/**
 * Claims of a finding whose evidence is commits. Each is shown by one of its calls, or by the
 * statement that began it.
 */
function areCommits(
  { evidence: { count, bytes, events } }: Finding,
  { calls, transactions }: Doors,
  claims: (own: readonly Call[]) => Record<string, Claim>,
): Record<string, Claim> {
  if (events.length < count) return {};
  const list = events.map((e) => {
    const here = transactions!.rows.filter((t) => t.thread === e.thread && e.seq <= t.lastSeq);
    return here.reduce((first, t) => (t.seq < first.seq ? t : first));
  });
  const own = calls.csv.filter((c) =>
    list.some((t) => t.thread === c.thread && t.seq <= c.seq && c.seq <= t.lastSeq),
  );
  return {
    commits: [count, new Set(list).size],
    ...(bytes !== null && { bytes: [bytes, sum(list, (t) => t.bytesWritten)] }),
    ...claims(own),
  };
}
export const counts = (calls: readonly Call[], op: string, ...kinds: string[]): number =>
  sum(kinds, (kind) => calls.filter(isOf(op, kind)).length);

/**
 * Completed IndexedDB transactions of mode readwrite, with the number of write requests in each.
 */
function writers(calls: readonly Call[]): { strict: boolean; writes: number }[] {
  const asked = new Map<string, number>();
  for (const { op, thread, connection } of calls)
    if (/^idb\.(put|add|delete|clear|cursor\.(update|delete))$/.test(op)) {
      const of = `${thread} ${connection}`;
      asked.set(of, (asked.get(of) ?? 0) + 1);
    }
  return calls
    .filter(
      ({ op, aux, result, flags }) =>
        op === 'idb.transaction' && (aux & 3) === 1 && result !== null && !(flags & Flag.threw),
    )
    .map(({ aux, thread, connection }) => ({
      strict: aux >> 2 === 1,
      writes: asked.get(`${thread} ${connection}`) ?? 0,
    }));
}

/** By rule: bytes, commits, syncs, waits, and page reads in its title and evidence. */
export const CLAIMS: Record<
  string,
  (f: Finding, d: Doors) => Record<string, Claim> | Promise<Record<string, Claim>>
> = {
  F01: (f, d) =>
    areCommits(f, d, (own) => ({
      syncs: [said(f, 'syncs?'), counts(own, 'xSync', 'main-db', 'journal', 'wal')],
      writes: [said(f, 'writes?'), counts(own, 'xWrite', 'main-db', 'journal', 'wal')],
    })),
  F07: (f, d) =>
    areCommits(f, d, (own) => ({
      'journal writes': [said(f, 'journal writes?'), counts(own, 'xWrite', 'journal')],
      'journal syncs': [said(f, 'journal syncs?'), counts(own, 'xSync', 'journal')],
      'database writes': [said(f, 'database writes?'), counts(own, 'xWrite', 'main-db')],
    })),
  F09: bytesShown,
  F11: async (f, { sql }) => ({
    'page reads': [f.evidence.count, await sql('SELECT sum(rereads) FROM pages')],
    bytes: [
      f.evidence.bytes,
      await sql('SELECT sum(rereads * read_bytes / (reads + wal_reads)) FROM pages WHERE rereads'),
    ],
  }),
  F12: (f, d) =>
    areCommits(f, d, (own) => ({
      'journal writes': [said(f, 'journal writes?'), counts(own, 'xWrite', 'journal')],
      syncs: [said(f, 'syncs?'), counts(own, 'xSync', 'main-db', 'journal', 'wal')],
    })),
  F13: (f, { calls }) => {
    const own = calls.csv.filter((c) => isOf('xWrite', 'wal')(c) && c.length !== WAL_HEADER);
    return {
      frames: [f.evidence.count, own.filter(({ length }) => length === WAL_FRAME_HEADER).length],
      bytes: [f.evidence.bytes, sum(own, moved)],
    };
  },
  F14: (f, { summary, calls }) => ({
    flushes: [f.evidence.count, summary.web.opfs.flushes],
    calls: [
      f.evidence.count,
      sum(calls.csv, ({ op }) => op === 'opfs.flush' || op === 'opfs.streamClose'),
    ],
  }),
  F15: (f, { calls }) => {
    const writing = writers(calls.csv).filter(({ writes }) => writes);
    const strict = writing.filter((t) => t.strict).length;
    return {
      strict: [f.evidence.count, strict],
      'strict of all': [said(f, 'of'), strict],
      writing: [said(f, 'writing'), writing.length],
    };
  },
  F17: (f, { calls }) => {
    const all = writers(calls.csv);
    const unused = all.filter(({ writes }) => !writes).length;
    return {
      transactions: [f.evidence.count, unused],
      'in the title': [said(f, 'of'), unused],
      'of all': [said(f, 'readwrite'), all.length],
    };
  },
  F18: bytesShown,
  F19: (f, { calls }) => {
    const [, store] = /written to (\S+) took/.exec(f.title)!;
    const on = (op: RegExp): number => sum(calls.csv, (c) => c.object === store && op.test(c.op));
    const deletes = on(/^idb\.(delete|cursor\.delete)$/);
    return {
      puts: [said(f, 'puts?'), on(/^idb\.(put|add)$/)],
      deletes: [f.evidence.count, deletes],
      'deletes in the title': [said(f, 'deletes?'), deletes],
    };
  },
  F23: bytesShown,
  F36: async (f, { calls, sql }) => ({
    ...areCalls(
      f,
      calls.csv.filter(({ op, kind }) => /^x(Read|Write)$/.test(op) && kind === 'temp'),
    ),
    'bytes of files': [
      f.evidence.bytes,
      await sql("SELECT sum(read_bytes + write_bytes) FROM files WHERE kind = 'temp'"),
    ],
  }),
  F38: (f, { calls }) => {
    const [, path] = /^(\S+) was opened/.exec(f.title)!;
    const opened = calls.csv.filter(
      (c) =>
        c.op === 'opfs.openSyncAccessHandle' &&
        c.object === path &&
        c.thread === f.evidence.events[0]!.thread &&
        c.result === 0 &&
        !(c.flags & Flag.threw),
    ).length;
    return { pairs: [f.evidence.count, opened], 'in the title': [said(f, 'times?'), opened] };
  },
  F39: (f, { calls }) => {
    const inLocks = calls.csv.filter(({ op }) => /^x(?!Lock|Unlock)/.test(op));
    const seqs = new Set(inLocks.map(({ thread, seq }) => `${thread} ${seq}`));
    const waits = calls.csv.filter(
      ({ op, thread, parent }) => op === 'atomics.wait' && seqs.has(`${thread} ${parent}`),
    );
    return { waits: [f.evidence.count, waits.length] };
  },
  F41: async (f, d) => ({
    calls: [
      f.evidence.count,
      await d.sql('SELECT sum(writes + wal_reads + syncs) FROM checkpoints'),
    ],
    'page writes': [said(f, 'pages?'), await d.sql('SELECT sum(writes) FROM checkpoints')],
    ...bytesShown(f, d),
  }),
  F44: (f, { calls }) => {
    const onLogs = new Set(
      calls.csv
        .filter(({ op, kind }) => /^x/.test(op) && kind === 'wal')
        .map(({ thread, seq }) => `${thread} ${seq}`),
    );
    return areCalls(
      f,
      calls.csv.filter(
        ({ op, length, thread, parent }) =>
          /^opfs\.(read|write)$/.test(op) && length < 512 && !onLogs.has(`${thread} ${parent}`),
      ),
    );
  },
  F45: bytesShown,
};
