/**
 * What the analyses count in a trace, for a golden trace's snapshot. Times, rows, and addresses are
 * omitted because they differ between recordings; long lists are added up.
 */
import type { Locks } from '../../../src/analysis/locks/locks.ts';
import { missRatioAt } from '../../../src/analysis/cache/miss-ratio.ts';
import { summaryOf } from '../../../src/analysis/report/summary.ts';
import type { TraceStore } from '../../../src/trace/store.ts';
import { blockWritesOf, cacheReport, checkpointsOf, coldWarmOf, fileCountsOf, findingsOf, idbUseOf, interleavingOf, locksOf, missRatiosOf, pagesOf, repeatedCallsOf, runsOf, statementTable, transactionAnatomies, walHistories, writeAmplificationOf } from '../analyses.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Times, shares of times, and addresses in the recording. */
const LEFT_OUT =
  /(Us|Ns|Ms)$|^(time|share|series|thread|threads|row|rows|statementRows|fromRow|toRow|beginRow|endRow|commitRow|lockRow|\w+StatementRow|object|context|connection|index|environment|id|url|ladder|commit)$/;
const LONGEST_LIST = 6;

/** Plain data without times. Typed arrays become their length and sum. */
function counted(value: unknown, key = ''): Json {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number.isFinite(value) ? Number(value.toPrecision(9)) : String(value);
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (value instanceof Map) return counted(Object.fromEntries(value), key);
  if (ArrayBuffer.isView(value)) {
    const numbers = Array.from(value as unknown as ArrayLike<number>);
    return `${numbers.length} numbers, sum ${numbers.reduce((a, b) => a + b, 0)}`;
  }
  if (Array.isArray(value)) {
    const list = value.map((item) => counted(item));
    return list.length > LONGEST_LIST && list.every((item) => item !== null && typeof item === 'object' && !Array.isArray(item))
      ? summed(list as { [key: string]: Json }[])
      : list;
  }
  if (typeof value !== 'object') return typeof value;
  const found: { [key: string]: Json } = {};
  for (const [name, item] of Object.entries(value)) if (!LEFT_OUT.test(name) && typeof item !== 'function') found[name] = counted(item, name);
  return found;
}

/** A list of similar objects as one: numbers added up, texts counted. */
function summed(list: readonly { [key: string]: Json }[]): Json {
  const sum: { [key: string]: Json } = { items: list.length };
  for (const key of new Set(list.flatMap((item) => Object.keys(item)))) {
    const values = list.map((item) => item[key] ?? null);
    if (values.every((v) => v === null || typeof v === 'number')) {
      sum[key] = values.some((v) => v !== null) ? values.reduce<number>((a, v) => a + ((v as number | null) ?? 0), 0) : null;
    } else if (values.every((v) => v === null || typeof v === 'string' || typeof v === 'boolean')) {
      const words: { [key: string]: number } = {};
      for (const v of values) words[String(v)] = (words[String(v)] ?? 0) + 1;
      sum[key] = Object.keys(words).length > LONGEST_LIST ? `${Object.keys(words).length} different` : words;
    } else if (values.every((v) => v !== null && typeof v === 'object' && !Array.isArray(v)))
      sum[key] = summed(values as { [key: string]: Json }[]);
  }
  return sum;
}

const KINDS = ['done', 'refused', 'open'];

/** Holds or waits by kind of resource, mode, and how they ended. */
function intervals({ resources }: Locks, list: Locks['holds']): Json {
  const found: { [key: string]: number } = {};
  for (let i = 0; i < list.count; i++) {
    const key = `${resources[list.resource[i]!]!.kind}, mode ${list.mode[i]}, ${KINDS[list.outcome[i]!]}`;
    found[key] = (found[key] ?? 0) + 1;
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Anatomies, added up by kind of transaction. */
function transactionsBy(store: TraceStore): Json {
  const groups = new Map<string, { [key: string]: Json }[]>();
  for (const { transaction, ...anatomy } of transactionAnatomies(store)) {
    const { path, kind, outcome, commitPoint } = transaction;
    const key = `${path}: ${kind}, ${outcome}${commitPoint ? ` by ${commitPoint}` : ''}, ${anatomy.mode ?? 'mode not known'}`;
    const list = groups.get(key) ?? [];
    groups.set(key, list);
    list.push(counted({ ...anatomy, commits: Number(anatomy.commit !== null) }) as { [key: string]: Json });
  }
  return Object.fromEntries([...groups].map(([key, list]) => [key, summed(list)]));
}

/** All counts, by analysis. */
export function countsOf(store: TraceStore): { [analysis: string]: Json } {
  const { time: _, environment: __, ...summary } = summaryOf(store);
  const locks = locksOf(store);
  const statements = statementTable(store);
  return {
    summary: counted({
      ...summary,
      threads: undefined,
      kinds: summary.threads.map((t) => `${t.kind}: ${t.events} events of ${t.layers.join(', ') || 'none'}`),
    }),
    files: counted(Object.fromEntries(fileCountsOf(store).map(({ path, kind, ...calls }) => [`${kind} ${path}`, calls]))),
    transactions: transactionsBy(store),
    statements: counted({
      executions: statements?.executions ?? null,
      cacheShared: statements?.cacheShared,
      byText: statements && Object.fromEntries(statements.rows.map(({ text, rows, ...r }) => [text ?? '(not seen)', { brought: rows, ...r }])),
    }),
    wal: counted(walHistories(store)),
    checkpoints: counted(checkpointsOf(store)),
    locks: {
      holds: intervals(locks, locks.holds),
      waits: intervals(locks, locks.waits),
      edges: locks.edges.length,
      busy: counted(locks.busy.map(({ path, refusals, steps, level, granted }) => ({ path, refusals, steps, level, granted }))),
      cycles: locks.cycles.length,
      leftBehind: locks.leftBehind.length,
    },
    cache: counted(cacheReport(store)),
    missRatio: counted(
      missRatiosOf(store).map((curve) => ({
        ...curve,
        again: curve.again.count,
        scans: { runs: curve.scans.runs, longest: curve.scans.longest, reads: curve.scans.reads.count },
        missRatios: Object.fromEntries([20, 50, 100, 500].map((pages) => [`${pages} pages`, missRatioAt(curve, pages)])),
      })),
    ),
    pages: counted(pagesOf(store).map(({ places, ...o }) => ({ ...o, places: places.count }))),
    patterns: counted({
      runs: runsOf(store),
      interleaving: interleavingOf(store),
      blockWrites: blockWritesOf(store).map(({ reads: _reads, ...counts }) => counts),
      amplification: writeAmplificationOf(store),
      repeated: repeatedCallsOf(store),
      idb: idbUseOf(store),
    }),
    coldWarm: counted(coldWarmOf(store).firstExecutions.map(({ text, executions, firstPages, laterPages }) => ({ text, executions, firstPages, laterPages }))),
    findings: findingsOf(store).map((f) => `${f.rule} ${f.evidence.count} ${f.confidence}`).sort(),
  };
}
