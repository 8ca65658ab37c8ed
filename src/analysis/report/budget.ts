/**
 * A budget: limits on any number of a summary, for checks in CI.
 *
 *   { "commits": { "max": 10 }, "web.opfs.flushes": { "max": 3 }, "files[kind=wal].vfs.xWrite": { "max": 0, "optional": true } }
 *
 * A number that is missing or unknown breaks the budget unless it is optional, because a trace
 * without the layer proves nothing. Dropped events make every count a lower bound, so a maximum
 * isn't proven either. Unrecorded workers only do so if SQLite or its storage runs there, which
 * isn't known, so the maximum passes, and they are named.
 */
import { plain } from '../../text/clean.ts';
import { countOf } from '../../text/numbers.ts';
import type { Summary } from './summary.ts';
import { selectNumber } from './summary-numbers.ts';

export interface Limit {
  min?: number;
  max?: number;
  /** A missing number isn't a fault. */
  optional?: boolean;
}
export type Budget = Record<string, Limit>;

export interface BudgetRow {
  path: string;
  limit: Limit;
  value: number | null;
  ok: boolean;
  /** Why it is broken or skipped, or what may be missing from the number; null if it passes. */
  cause: string | null;
}

/** A budget that can't be used: one message for each fault. */
export class BudgetError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'BudgetError';
  }
}

const KNOWN = ['min', 'max', 'optional'];

/** @param text of a budget file @throws BudgetError that lists all faults */
export function parseBudgetText(text: string): Budget {
  try {
    return parseBudget(JSON.parse(text));
  } catch (e) {
    if (!(e instanceof SyntaxError)) throw e;
    throw new BudgetError([`it isn't JSON: ${plain(e.message)}`]);
  }
}

/** @param json a parsed budget file @throws BudgetError that lists all faults */
export function parseBudget(json: unknown): Budget {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new BudgetError([
      'a budget is an object of limits by path, as in {"commits": {"max": 10}}.',
    ]);
  const faults: string[] = [];
  const entries = Object.entries(json as Record<string, unknown>);
  if (entries.length === 0) faults.push('it has no limits.');
  for (const [path, limit] of entries) {
    if (typeof limit !== 'object' || limit === null || Array.isArray(limit)) {
      faults.push(
        `"${path}": expected an object such as {"max": 10}, got ${JSON.stringify(limit)}.`,
      );
      continue;
    }
    const { min, max, optional } = limit as Record<string, unknown>;
    const strange = Object.keys(limit).filter((key) => !KNOWN.includes(key));
    if (strange.length)
      faults.push(
        `"${path}": unknown ${strange.map((s) => `"${s}"`).join(', ')}; known: ${KNOWN.join(', ')}.`,
      );
    for (const [name, value] of [
      ['min', min],
      ['max', max],
    ] as const)
      if (value !== undefined && (typeof value !== 'number' || !Number.isFinite(value)))
        faults.push(`"${path}": "${name}" must be a number, got ${JSON.stringify(value)}.`);
    if (min === undefined && max === undefined)
      faults.push(`"${path}": neither "min" nor "max" is given.`);
    if (typeof min === 'number' && typeof max === 'number' && min > max)
      faults.push(`"${path}": "min" ${min} is above "max" ${max}.`);
    if (optional !== undefined && typeof optional !== 'boolean')
      faults.push(`"${path}": "optional" must be true or false.`);
  }
  if (faults.length) throw new BudgetError(faults);
  return json as Budget;
}

/** Counts that are identical each time the same work runs, and that cost time or wear. */
const BASELINE = [
  ...['statements.count', 'transactions.write', 'commits', 'web.opfs.reads', 'web.opfs.writes'],
  ...['web.opfs.flushes', 'web.opfs.readBytes', 'web.opfs.writeBytes', 'web.idb.transactions'],
  ...['web.idb.put', 'web.idb.get', 'web.locks.requests', 'web.localStorage.set'],
] as const;

/**
 * No more than there, of each of those counts that is known there. Statements around a transaction
 * aren't growth: a change that puts 20 INSERTs into one transaction adds a BEGIN and a COMMIT.
 * @param summary of the trace to compare with
 * @param moreTransactionStatements how many more BEGIN, COMMIT, ... the checked trace has
 */
export function baselineBudget(summary: Summary, moreTransactionStatements: number): Budget {
  const budget: Budget = {};
  for (const path of BASELINE) {
    const { value } = selectNumber(summary, path);
    const allowed = path === 'statements.count' ? moreTransactionStatements : 0;
    if (value !== null) budget[path] = { max: value + allowed };
  }
  return budget;
}

/** A number compared with its limit. @param missing why it isn't known, if null */
export function limitRow(
  path: string,
  limit: Limit,
  value: number | null,
  missing: string,
): BudgetRow {
  if (value === null) {
    const ok = limit.optional === true;
    return { path, limit, value, ok, cause: ok ? `${missing}: optional` : missing };
  }
  if (limit.max !== undefined && value > limit.max)
    return { path, limit, value, ok: false, cause: `above ${limit.max}` };
  if (limit.min !== undefined && value < limit.min)
    return { path, limit, value, ok: false, cause: `below ${limit.min}` };
  return { path, limit, value, ok: true, cause: null };
}

/** @throws BudgetError if a path doesn't exist in a summary */
export function checkBudget(summary: Summary, budget: Budget): BudgetRow[] {
  const faults: string[] = [];
  const rows = Object.entries(budget).map(([path, limit]): BudgetRow => {
    const selected = selectNumber(summary, path);
    if (selected.value === null) {
      if (selected.unknownPath) faults.push(`"${path}": ${selected.cause}.`);
      return limitRow(path, limit, null, selected.cause);
    }
    const { value } = selected;
    const row = limitRow(path, limit, value, '');
    if (!row.ok) return row;
    const { losses, unrecordedWorkers: workers } = summary;
    const owners = workers.filter(({ kind }) => kind === 'any').length;
    const missing = [
      ...losses,
      ...(owners ? [`${countOf(owners, 'worker')} that may own a database not recorded`] : []),
    ];
    const unproven = missing.length > 0 && limit.max !== undefined && path !== 'dropped';
    const lost = `${missing.join(', ')}: it is a lower bound`;
    return {
      path,
      limit,
      value,
      ok: !unproven || limit.optional === true,
      cause: unproven
        ? lost
        : workers.length
          ? `${countOf(workers.length, 'worker')} not recorded`
          : null,
    };
  });
  if (faults.length) throw new BudgetError(faults);
  return rows;
}
