/** The numbers, and which outputs show each. */
import { SQL_PARTS } from '../../../src/analysis/core/time-parts.ts';
import type { Summary } from '../../../src/analysis/report/summary.ts';
import { timeInSql, tracerInSql } from '../../../src/analysis/time/time-partition.ts';
import { vfsTotal } from '../../../src/analysis/files/file-counts.ts';
import { EXECUTION_COUNTS } from '../../../src/analysis/statements/statement-runs.ts';
import { TRANSACTION_PARTS } from '../../../src/analysis/transactions/transaction-time.ts';
import { formatDuration, UNKNOWN, type Unit } from '../../../src/text/numbers.ts';
import { pagesOf, writeAmplificationOf } from '../../traces/analyses.ts';
import { sum, type Call, orNull, counted, lockUs } from './calls.ts';
import { whole, type Doors, NOT_OF_SQLITE, OF_SQLITE } from './doors.ts';

/**
 * A number; a string if the output shows it rounded; `about` if the output computes it less
 * exactly; undefined if it doesn't show it for this trace.
 */
type Shown = number | null | string | undefined | { about: number };
interface Quantity {
  name: string;
  unit: Unit;
  /** By output. The others are compared with the first one. */
  doors: Record<string, (d: Doors) => Shown | Promise<Shown>>;
  /** Only for traces with VFS calls. */
  ofVfs?: Quantity['doors'];
}

/** The same list of calls from three outputs. */
const inCalls = (of: (calls: readonly Call[]) => number): Quantity['doors'] => ({
  'SQL, events': ({ calls }) => of(calls.sql),
  CSV: ({ calls }) => of(calls.csv),
  'Parquet, events': ({ calls }) => of(calls.parquet),
});
/** A column of the files table from three outputs. */
const inFiles = (
  column: 'reads' | 'read_bytes' | 'writes' | 'write_bytes' | 'syncs',
  ofFile: (f: Doors['files'][number]) => number,
): Quantity['doors'] => ({
  files: ({ files }) => sum(files, ofFile),
  'SQL, files': ({ sql }) => sql(`SELECT sum(${column}) FROM files WHERE ${OF_SQLITE}`),
  'Parquet, files': async ({ parquet }) =>
    sum(
      (await parquet('files')).filter(({ kind }) => !NOT_OF_SQLITE.includes(String(kind))),
      (row) => row[column],
    ),
});
/** Sum of the parts of the time while SQL runs. */
const inSql = ({
  cpuUs,
  ioUs,
  lockUs,
  lockWaitUs,
  tracerUs,
  otherUs,
}: Summary['time']): number | null =>
  cpuUs === null ? null : cpuUs + ioUs! + lockUs! + lockWaitUs! + tracerUs! + otherUs!;

/** One of these parts. @param inHtml its label in the report */
const timeDoors = (
  us: 'lockUs' | 'lockWaitUs',
  share: 'lockCallShare' | 'lockShare',
  inParquet: string,
  inHtml: string,
): Quantity['doors'] => ({
  summary: ({ summary }) => summary.time[us],
  overview: ({ overview }) =>
    overview(share) === null ? null : overview(share)! * overview('sqlTime')!,
  drawer: ({ drawerTimes }) => drawerTimes && drawerTimes[us],
  'Parquet, traces': ({ traces }) =>
    traces[inParquet] === null ? null : Number(traces[inParquet]) / 1000,
  threads: ({ threads }) =>
    threads.length ? sum(threads, ({ partition }) => partition[us]) : null,
  statements: ({ statements }) =>
    statements ? sum(statements.rows, ({ time }) => time[us]) : undefined,
  // a part that took no time has no row
  HTML: ({ html, summary }) => (summary.time[us] ? html.fact(/^Time on/, inHtml) : undefined),
});
const bytes = (
  op: 'xRead' | 'xWrite',
  headline: 'readBytes' | 'writtenBytes',
  title: string,
): Quantity => ({
  name: op === 'xRead' ? 'bytes read' : 'bytes written',
  unit: 'bytes',
  doors: {
    overview: ({ overview }) => overview(headline),
    summary: ({ summary }) => vfsTotal(summary.files, `${op}Bytes`),
    HTML: ({ html }) => html.fact('SQLite', title),
  },
  ofVfs: {
    drawer: ({ drawer }) => drawer(op).bytes,
    timeline: ({ rates }) => ({ about: rates(op === 'xRead' ? 0 : 1) }),
    'SQL, bytes': async ({ sql }) =>
      (await sql(`SELECT sum(bytes) FROM events WHERE op = '${op}'`)) ?? 0,
    ...inFiles(op === 'xRead' ? 'read_bytes' : 'write_bytes', (f) =>
      op === 'xRead' ? f.readBytes : f.writeBytes,
    ),
    ...inCalls((calls) => counted.bytes(calls, op)),
  },
});
const calls = (
  slot: 'reads' | 'writes' | 'syncs',
  op: 'xRead' | 'xWrite' | 'xSync',
  title: string,
): Quantity => ({
  name: slot,
  unit: 'count',
  doors: {
    live: ({ live }) => live(slot),
    overview: ({ overview }) =>
      slot === 'syncs' ? Math.round(overview('syncsPerCommit')! * overview('commits')!) : undefined,
  },
  ofVfs: {
    summary: ({ summary }) => vfsTotal(summary.files, op),
    drawer: ({ drawer }) => drawer(op).count,
    'SQL, example': async ({ example }) =>
      sum(
        await example('Reads and writes over time'),
        (row) => row[1 + ['reads', 'writes', 'syncs'].indexOf(slot)],
      ),
    ...inFiles(slot, (f) => f[slot]),
    ...inCalls((all) => counted.calls(all, op)),
    'HTML, files': ({ html }) =>
      sum(html.table('Files', 'Kind', title), ([kind, n]) =>
        NOT_OF_SQLITE.includes(kind!) ? 0 : whole(n!),
      ),
  },
});
const ifKnown = <T>(value: number | null, show: () => T): T | undefined =>
  value === null ? undefined : show();
const VFS = EXECUTION_COUNTS.indexOf('vfs');
function underSteps(calls: readonly Call[]): number {
  const byCall = new Map(calls.map((c) => [`${c.thread} ${c.seq}`, c]));
  return sum(calls, (c) => {
    if (!/^x[A-Z]/.test(c.op) || c.kind === 'memory-journal') return false;
    let above = byCall.get(`${c.thread} ${c.parent}`);
    while (above && !above.op.startsWith('sqlite3_'))
      above = byCall.get(`${above.thread} ${above.parent}`);
    return above && /_(step|exec|reset|finalize)$/.test(above.op);
  });
}
/** Transactions are requested one by one; more would take too long. */
const MOST_ONE_BY_ONE = 500;
const PAGE_READS = 'write = 0 AND checkpoint = 0';

export const QUANTITIES: Quantity[] = [
  bytes('xRead', 'readBytes', 'Read by SQLite'),
  bytes('xWrite', 'writtenBytes', 'Written by SQLite'),
  calls('reads', 'xRead', 'Reads'),
  calls('writes', 'xWrite', 'Writes'),
  calls('syncs', 'xSync', 'Syncs'),
  {
    name: 'commits',
    unit: 'number',
    doors: {
      overview: ({ overview }) => overview('commits'),
      summary: ({ summary }) => summary.commits,
      'SQL, example': async ({ example }) =>
        orNull((await example('How many syncs and bytes does a commit cost?'))[0]![0]),
      live: ({ live }) => live('commits'),
      'Parquet, traces': ({ traces }) => orNull(traces['commits']),
      HTML: ({ html }) => html.fact('SQLite', 'Commits'),
    },
    ofVfs: {
      transactions: ({ transactions }) => transactions!.commits.commits,
      'transactions, rows': ({ transactions }) =>
        sum(transactions!.rows, ({ outcome }) => outcome === 'committed'),
      timeline: ({ laneCommits }) => laneCommits,
      SQL: ({ sql }) => sql("SELECT count(*) FROM transactions WHERE outcome = 'committed'"),
      Parquet: async ({ parquet }) =>
        sum(await parquet('transactions'), ({ outcome }) => outcome === 'committed'),
    },
  },
  {
    name: 'rolled back',
    unit: 'count',
    doors: {
      overview: ({ overview }) => overview('rolledBack'),
      summary: ({ summary }) => summary.transactions.rolledBack,
      'Parquet, traces': ({ traces }) => orNull(traces['transactions_rolled_back']),
      transactions: ({ transactions, overview }) =>
        ifKnown(overview('rolledBack'), () =>
          sum(transactions!.rows, ({ outcome }) => outcome === 'rolled back'),
        ),
      SQL: ({ sql, overview }) =>
        ifKnown(overview('rolledBack'), () =>
          sql("SELECT count(*) FROM transactions WHERE outcome = 'rolled back'"),
        ),
    },
  },
  {
    name: 'statements',
    unit: 'count',
    doors: {
      overview: ({ overview }) => overview('statements'),
      summary: ({ summary }) => summary.statements.count,
      statements: ({ statements }) => statements && statements.executions,
      'SQL, executions': async ({ sql, summary }) =>
        summary.statements.count === null ? undefined : sql('SELECT count(*) FROM executions'),
      'SQL, statements': ({ sql, statements }) =>
        statements ? sql('SELECT sum(executions) FROM statements') : undefined,
      'Parquet, traces': ({ traces }) => orNull(traces['statements']),
      'Parquet, statements': async ({ parquet, statements }) =>
        statements ? sum(await parquet('statements'), ({ executions }) => executions) : undefined,
      HTML: ({ html }) => html.fact('SQLite', 'Statements'),
      'HTML, statements': ({ html, statements }) =>
        statements
          ? sum(html.table('Statements that took longest', 'Runs'), ([n]) => whole(n!))
          : undefined,
      CSV: ({ calls, statements }) => (statements ? counted.statements(calls.csv) : undefined),
    },
  },
  {
    name: 'VFS calls of statements',
    unit: 'count',
    doors: {},
    ofVfs: {
      statements: ({ statements }) => sum(statements?.rows ?? [], ({ vfsCalls }) => vfsCalls),
      compare: ({ runs }) =>
        sum(runs, ({ counts }) =>
          counts.reduce((n, of, i) => (i % EXECUTION_COUNTS.length === VFS ? n + of : n), 0),
        ),
      CSV: ({ calls }) => underSteps(calls.csv),
    },
  },
  {
    name: 'page reads',
    unit: 'count',
    doors: {
      pages: ({ store }) => sum(pagesOf(store), ({ reads }) => reads),
      overview: ({ overview, store }) =>
        Math.round(
          (overview('rereads') ?? 0) * sum(pagesOf(store), ({ placesRead }) => placesRead),
        ),
      'SQL, pages': async ({ sql }) => (await sql('SELECT sum(reads + wal_reads) FROM pages')) ?? 0,
      'SQL, page_accesses': async ({ sql }) =>
        (await sql(`SELECT sum(pages) FROM page_accesses WHERE ${PAGE_READS}`)) ?? 0,
      'Parquet, pages': async ({ parquet }) =>
        sum(await parquet('pages'), (p) => Number(p['reads']) + Number(p['wal_reads'])),
      'Parquet, page_accesses': async ({ parquet }) =>
        sum(await parquet('page_accesses'), (a) =>
          a['write'] || a['checkpoint'] ? 0 : a['pages'],
        ),
    },
    ofVfs: {
      statements: ({ statements }) =>
        statements
          ? sum(statements.rows, ({ pages }) => (pages ? pages.read + pages.walRead : 0))
          : undefined,
      'HTML, statements': ({ html, statements }) =>
        statements
          ? sum(html.table('Statements that took longest', 'Page reads'), ([n]) =>
              n === UNKNOWN ? 0 : whole(n!),
            )
          : undefined,
      CSV: ({ calls }) =>
        calls.csv.some(({ kind }) => kind === 'wal') ? undefined : counted.pageReads(calls.csv),
    },
  },
  {
    name: 'time in SQL',
    unit: 'us',
    doors: {
      overview: ({ overview }) => overview('sqlTime'),
      summary: ({ summary: { time } }) => inSql(time),
      drawer: ({ drawerTimes: t }) => t && SQL_PARTS.reduce((us, part) => us + t[`${part}Us`], 0),
      threads: ({ threads }) =>
        threads.length ? sum(threads, ({ partition }) => timeInSql(partition)) : null,
      'Parquet, traces': ({ traces: t }) =>
        t['cpu_ns'] === null
          ? null
          : ['cpu_ns', 'io_ns', 'lock_ns', 'lock_wait_ns', 'tracer_ns', 'other_ns'].reduce(
              (us, name) => us + Number(t[name]) / 1000,
              0,
            ),
    },
  },
  ...(
    [
      ['tracer', 'tracerUs', 'tracer_ns', 'vfscope'],
      ['idle', 'idleUs', 'idle_ns', 'Idle'],
      ['outside SQL', 'outsideUs', 'outside_ns', 'Outside SQL'],
    ] as const
  ).map(([name, us, inParquet, inHtml]): Quantity => ({
    name,
    unit: 'us',
    doors: {
      summary: ({ summary }) => summary.time[us],
      ...(us === 'tracerUs' && {
        drawer: ({ drawerTimes }: Doors) => drawerTimes && drawerTimes[us],
      }),
      'Parquet, traces': ({ traces }) =>
        traces[inParquet] === null ? null : Number(traces[inParquet]) / 1000,
      threads: ({ threads }) =>
        threads.length
          ? sum(threads, ({ partition }) =>
              us === 'tracerUs' ? tracerInSql(partition) : partition[us],
            )
          : null,
      HTML: ({ html, summary }) => (summary.time[us] ? html.fact(/^Time on/, inHtml) : undefined),
    },
  })),
  {
    name: 'time of commits',
    unit: 'us',
    doors: {
      transactions: ({ transactions }) =>
        transactions?.commits.commits ? transactions.commits.us : null,
      overview: ({ overview }) =>
        overview('commitShare') === null ? null : overview('commitShare')! * overview('sqlTime')!,
      'SQL, transactions': async ({ sql }) => {
        const ns = await sql('SELECT sum(commit_dur) FROM transactions');
        return ns === null ? null : ns;
      },
    },
  },
  ...TRANSACTION_PARTS.map((part): Quantity => ({
    name: `${part} of commits`,
    unit: 'us',
    doors: {},
    ofVfs: {
      transactions: ({ transactions }) => transactions!.commits.time[`${part}Us`],
      'one by one': ({ transactions, transaction }) =>
        transactions!.rows.length > MOST_ONE_BY_ONE
          ? undefined
          : sum(transactions!.rows, (line) => transaction(line).commit?.time[`${part}Us`] ?? 0),
    },
  })),
  {
    name: 'parts of commits',
    unit: 'us',
    doors: {},
    ofVfs: {
      transactions: ({ transactions }) =>
        sum(TRANSACTION_PARTS, (part) =>
          part === 'idle' ? 0 : transactions!.commits.time[`${part}Us`],
        ),
      'time of commits': ({ transactions }) => transactions!.commits.us,
    },
  },
  {
    name: 'savings of the findings that a report lists',
    unit: 'us',
    doors: {
      panel: ({ told: { findings }, html }) =>
        sum(
          findings.slice(0, html.table('Findings', 'Rule').length),
          ({ savingUs }) => savingUs ?? 0,
        ),
      HTML: ({ told: { findings }, html }) =>
        sum(html.table('Findings', 'Rule', 'Saving').entries(), ([i, [rule, saving]]) => {
          const of = findings[i]!;
          const same = of.rule === rule && saving === formatDuration(of.savingUs);
          return same ? (of.savingUs ?? 0) : NaN;
        }),
    },
  },
  {
    name: 'lock calls',
    unit: 'us',
    doors: timeDoors('lockUs', 'lockCallShare', 'lock_ns', 'Lock calls'),
    ofVfs: {
      // if nothing was locked, this is all the time in which lock calls were suspended
      'SQL, events': ({ calls, summary }) =>
        summary.time.lockWaitUs ? undefined : lockUs(calls.sql),
      CSV: ({ calls, summary }) => (summary.time.lockWaitUs ? undefined : lockUs(calls.csv)),
    },
  },
  {
    name: 'lock wait',
    unit: 'us',
    doors: {
      ...timeDoors('lockWaitUs', 'lockShare', 'lock_wait_ns', 'Lock wait'),
      'SQL, locks': async ({ sql, summary }) =>
        summary.time.lockWaitUs === null
          ? null
          : await sql('SELECT coalesce(sum(sql_dur), 0) FROM locks'),
      'Parquet, locks': async ({ parquet, summary }) =>
        summary.time.lockWaitUs === null
          ? null
          : sum(await parquet('locks'), (wait) => wait['sql_dur_ns']) / 1000,
      'Locks view': ({ locks, summary }) =>
        summary.time.lockWaitUs === null ? null : locks.waitSums.whileSqlUs,
    },
  },
  {
    name: 'lock waits',
    unit: 'count',
    doors: {
      live: ({ live }) => live('lock-waits'),
      'SQL, locks': async ({ sql, live }) =>
        ifKnown(live('lock-waits'), () =>
          sql(
            "SELECT count(DISTINCT thread || ' ' || seq) FROM locks WHERE sqlite_thread IS NOT NULL AND is_held",
          ),
        ),
      'Parquet, locks': ({ parquet, live }) =>
        ifKnown(live('lock-waits'), async () => {
          const waits = (await parquet('locks')).filter(
            (wait) => wait['sqlite_thread'] !== null && wait['is_held'],
          );
          return new Set(waits.map(({ thread, seq }) => `${String(thread)} ${String(seq)}`)).size;
        }),
      'Locks view': ({ live, locks }) => ifKnown(live('lock-waits'), () => locks.waitSums.ofSqlite),
      account: ({ told }) => {
        const waits = / ([\d,]+) waits? of /.exec(
          told.accounts.map(({ title }) => title).join('\n'),
        );
        return waits ? whole(waits[1]!) : undefined;
      },
    },
  },
  {
    name: 'write amplification',
    unit: 'number',
    doors: {
      overview: ({ overview }) => overview('amplification'),
      'of one file': ({ store }) => {
        const [only, ...others] = writeAmplificationOf(store);
        return only && !others.length
          ? (only.storageAmplification ?? only.vfsAmplification)
          : undefined;
      },
    },
  },
  {
    name: 'I/O share',
    unit: 'share',
    doors: {
      overview: ({ overview }) => overview('ioShare'),
      live: ({ live }) => live('io-share'),
      summary: ({ summary, overview }) =>
        summary.time.ioUs === null ? null : summary.time.ioUs / overview('sqlTime')!,
      'Parquet, traces': ({ traces, overview }) =>
        traces['io_ns'] === null ? null : Number(traces['io_ns']) / 1000 / overview('sqlTime')!,
      drawer: ({ drawerTimes: t, overview }) =>
        t && (t.readUs + t.writeUs + t.syncUs + t.idbTransactionUs) / overview('sqlTime')!,
    },
  },
  {
    name: 'cache hit rate',
    unit: 'share',
    doors: {
      overview: ({ overview }) => overview('hitRate'),
      live: ({ live }) => live('cache-hit'),
      summary: ({ summary }) => summary.pageCache.hitRate,
      'Parquet, traces': ({ traces: t }) =>
        orNull(t['page_cache_hits']) === null
          ? null
          : Number(t['page_cache_hits']) /
            (Number(t['page_cache_hits']) + Number(t['page_cache_misses'])),
      HTML: ({ html }) => html.fact('SQLite', 'Page cache hits')?.split(':')[0],
    },
  },
];
