/** One step of a workload on an open database, with each counter's difference. */
import type { FunctionCount } from '../../meter/meter.ts';
import { Rc } from '../../../sqlite/constants.ts';
import { functionsBetween } from './function-counts.ts';
import { isTime } from '../model/aggregate.ts';
import type { Host } from './host.ts';
import type { RowDigest } from './row-digest.ts';
import type { BoundStep, Counters, Step, TransactionsStep, Value } from '../model/types.ts';
import type { StatementCount, StepSample } from '../model/result-types.ts';

type Outcome = Omit<StepSample, 'id' | 'title'>;
type Sums = Record<string, number>;

/** @throws SQLite's errors */
export async function runStep(host: Host, step: Step, digest: RowDigest): Promise<Outcome> {
  switch (step.kind) {
    case 'sql':
      return wholeStep(host, (sums) => script(host, step.sql, digest, sums));
    case 'bound':
      return wholeStep(host, (sums) => bound(host, step, digest, sums));
    case 'transactions':
      return wholeStep(host, (sums) => transactions(host, step, digest, sums));
    case 'sequence':
      return wholeStep(host, async (sums) => {
        for (const part of step.steps)
          if (part.kind === 'sql') await script(host, part.sql, digest, sums);
          else await bound(host, part, digest, sums);
      });
    case 'host': {
      const drop = host.dropBlockCache;
      if (step.action === 'drop-block-cache' && !drop)
        return { counters: {}, skipped: 'this VFS has no block cache' };
      return wholeStep(host, () => (step.action === 'reopen' ? host.reopen() : drop!()));
    }
    case 'raw-idb': {
      const raw = host.rawStep;
      if (!raw) return { counters: {}, twin: true, skipped: 'there is no IndexedDB here' };
      const { ms, ...counts } = await raw(step);
      // counted runs have no times
      return {
        counters: host.instructions || ms === undefined ? counts : { ms, ...counts },
        twin: true,
      };
    }
  }
}

/** A whole step, in count mode with its statements or functions. */
async function wholeStep(host: Host, work: (sums: Sums) => Promise<void>): Promise<Outcome> {
  const { statements, functions } = host;
  if (functions) return byFunction(host, functions, work);
  if (!statements) {
    host.takeCheckpoints?.(); // those of no step
    const counters = await measured(host, work);
    const checkpoints = host.takeCheckpoints?.() ?? [];
    return { counters, ...(checkpoints.length ? { checkpoints } : {}) };
  }
  const counts: StatementCount[] = [];
  const counters = await measured(
    host,
    async (sums) => {
      await work(sums);
      counts.push(...statements.stop());
    },
    (first) => {
      statements.start(first);
      host.mark(first);
    },
  );
  return { counters, statements: counts };
}

async function byFunction(
  host: Host,
  read: () => FunctionCount[],
  work: (sums: Sums) => Promise<void>,
): Promise<Outcome> {
  let [before, after]: FunctionCount[][] = [[], []];
  const counters = await measured(
    host,
    async (sums) => {
      await work(sums);
      after = read();
    },
    () => (before = read()),
  );
  return { counters, functions: functionsBetween(before!, after!) };
}

/**
 * Differences of the counters over `work`; `sums` are counts made by the work itself. The clock and
 * the instructions are read innermost.
 * @param begin receives the instruction count at which `work` begins
 */
async function measured(
  host: Host,
  work: (sums: Sums) => Promise<void>,
  begin?: (first: bigint) => void,
): Promise<Counters> {
  const sums: Sums = {};
  const before = host.counters();
  const start = host.instructions ? 0 : host.now();
  const first = host.instructions?.() ?? 0n;
  const memory = host.memory?.();
  begin?.(first);
  await work(sums);
  if (host.instructions) sums.instructions = Number(host.instructions() - first);
  const after = host.memory?.();
  if (memory && after) {
    sums['memory.loads'] = Number(after.loads - memory.loads);
    sums['memory.stores'] = Number(after.stores - memory.stores);
  }
  if (!host.instructions) sums.ms = host.now() - start;
  return { ...difference(before, host.counters()), ...sums };
}

/** Counters that are zero are left out if they never moved. */
export function difference(before: Counters, after: Counters): Sums {
  const out: Sums = {};
  for (const [name, value] of Object.entries(after)) out[name] = value - (before[name] ?? 0);
  return out;
}

/**
 * Makes exactly the same engine calls as wa-sqlite's exec with a row callback, so counts equal
 * those of exec.
 */
async function script(host: Host, sql: string, digest: RowDigest, sums: Sums): Promise<void> {
  const { sqlite3 } = host;
  let statements = 0;
  const rows = digest.rows;
  for await (const stmt of prepared(host, sql)) {
    statements++;
    host.statements?.ran();
    let named = false;
    while ((await sqlite3.step(stmt)) === Rc.row) {
      if (!digest.reading) digest.rows++;
      else {
        if (!named) sqlite3.column_names(stmt);
        named = true;
        digest.add(sqlite3.row(stmt));
      }
    }
  }
  sums.statements = (sums.statements ?? 0) + statements;
  sums.rows = (sums.rows ?? 0) + digest.rows - rows;
}

const prepared = ({ sqlite3, statements, db }: Host, sql: string): AsyncIterable<number> =>
  statements?.over(db, sql) ?? sqlite3.statements(db, sql);

/** Steps a prepared statement once per row of values. */
async function each(
  { sqlite3, statements: counts }: Host,
  stmt: number,
  rows: Iterable<readonly Value[]>,
  digest: RowDigest,
  sums: Sums,
): Promise<void> {
  let statements = 0;
  const before = digest.rows;
  for (const values of rows) {
    values.forEach((value, i) => sqlite3.bind(stmt, i + 1, value));
    while ((await sqlite3.step(stmt)) === Rc.row)
      if (digest.reading) digest.add(sqlite3.row(stmt));
      else digest.rows++;
    await sqlite3.reset(stmt);
    statements++;
  }
  counts?.ran(statements);
  sums.statements = (sums.statements ?? 0) + statements;
  sums.rows = (sums.rows ?? 0) + digest.rows - before;
}

async function bound(host: Host, step: BoundStep, digest: RowDigest, sums: Sums): Promise<void> {
  if (step.oneTransaction) await script(host, 'BEGIN', digest, sums);
  for await (const stmt of prepared(host, step.sql))
    await each(host, stmt, step.rows, digest, sums);
  if (step.oneTransaction) await script(host, 'COMMIT', digest, sums);
}

const PARTS = ['begin', 'body', 'commit'] as const;

async function transactions(
  host: Host,
  step: TransactionsStep,
  digest: RowDigest,
  sums: Sums,
): Promise<void> {
  for await (const stmt of prepared(host, step.sql))
    for (let t = 0; t < step.transactions; t++) {
      const rows = step.rows(t);
      const run = {
        begin: (): Promise<void> => script(host, step.begin, digest, sums),
        body: (): Promise<void> => each(host, stmt, rows, digest, sums),
        commit: (): Promise<void> => script(host, step.commit, digest, sums),
      };
      for (const part of PARTS)
        for (const [name, value] of Object.entries(await measured(host, run[part])))
          // a measured time of 0 comes from a coarse clock; a gap may begin in the previous part
          if ((value || isTime(name)) && !name.startsWith('gap.'))
            sums[`${part}.${name}`] = (sums[`${part}.${name}`] ?? 0) + value;
    }
}
