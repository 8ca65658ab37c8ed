/**
 * Findings about memory that isn't released.
 *
 *   F31   xRead ~~~~ malloc ~~~~          the buffer that it reads into is gone
 *   F56   prepare | prepare | prepare ...  of one text, without finalize
 *   F57   16 MiB ... 40 MiB ... 64 MiB ...  to the end of the recording
 *   F58   16 MiB ... 64 MiB | the page ends, and is loaded again
 */
import { executions, type Executions } from '../core/executions.ts';
import { getOrMake } from '../core/maps.ts';
import { rowsByOperation } from '../core/rows-by-operation.ts';
import { Op } from '../../event/event.ts';
import { opSet } from '../../event/operations.ts';
import { objectName } from '../../trace/describe.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import { quoted } from '../core/quoted.ts';
import { countOf, formatBytes, formatCount, formatDuration } from '../../text/numbers.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Evidence, type FindingContext } from '../rules/context.ts';
import { noSaving } from '../rules/saving.ts';
import type { Found, Rule } from '../rules/types.ts';
import {
  engineOfConnection,
  engineTitle,
  readingsByEngine,
  type EngineReadings,
} from './engine-readings.ts';
import { rootOf } from '../core/thread-origin.ts';
import { FAILURE, loadedAgain, whyGone } from '../errors/health.ts';

export const grewInCall: Rule = {
  id: 'F31',
  title: 'Memory grew inside an asynchronous call',
  run(ctx) {
    const calls = new Evidence();
    let [from, to] = [Infinity, 0];
    ctx.each(Op.sqlMemoryGrew, (thread, row) => {
      const { aux, offset, length, op } = thread.events;
      const call = thread.events.rowOfSeq(aux[row]!);
      if (call < 0 || (op[call] !== Op.xRead && op[call] !== Op.xWrite)) return;
      if (!(offset[row]! > length[row]!)) return;
      calls.tally(thread, call);
      from = Math.min(from, length[row]!);
      to = Math.max(to, offset[row]!);
    });
    if (calls.count === 0) return [];
    return {
      title: `WebAssembly memory grew inside ${countOf(calls.count, 'asynchronous xRead or xWrite call', 'asynchronous xRead and xWrite calls')}, from ${formatBytes(from)} to ${formatBytes(to)}`,
      evidence: calls.result(ctx),
      ...FAILURE,
      confidence: 'possible',
      reason:
        'growing detaches the buffer that the call was given; whether its VFS takes a new one is not recorded',
      advice: 'Update your VFS: it has to take a new view after each await.',
      link: 'https://developer.mozilla.org/docs/WebAssembly/Reference/JavaScript_interface/Memory/grow',
    };
  },
};

/** Statements with one text on one connection that are open at once and never ran again. */
const FEW_OPEN = 20;

export const neverFinalized: Rule = {
  id: 'F56',
  title: 'Statements never finalized',
  run(ctx) {
    const found: Found[] = [];
    for (const thread of ctx.store.threads) {
      const { object, context } = thread.events;
      const open = openStatements(ctx, thread);
      const print = fingerprintsOf(thread);
      const byText = new Map<string, number[]>();
      for (const row of open.values())
        getOrMake(byText, `${context[row]} ${print(object[row]!)}`, () => [] as number[]).push(row);
      for (const rows of byText.values()) {
        const text = objectName(thread, object[rows[0]!]!);
        const sql = print(object[rows[0]!]!);
        if (rows.length < FEW_OPEN || !sql) continue;
        const runs = ctx.get(executions).of(thread);
        const forgotten = forgottenOf(thread, runs, rows);
        // if some run again, they weren't forgotten: most of these belong to a cache
        if (forgotten.rows.length < FEW_OPEN || 2 * forgotten.rows.length < rows.length) continue;
        const evidence = new Evidence();
        for (const row of forgotten.rows) evidence.tally(thread, row);
        const engineOf = ctx.get(engineOfConnection).of(thread);
        const engine = engineOf(context[rows[0]!]!);
        let bytes = 0;
        for (let i = 0; i < runs.count; i++)
          if (
            runs.memory[i]! > bytes &&
            print(runs.text[i]!) === sql &&
            engineOf(context[runs.firstRow[i]!]!) === engine
          )
            bytes = runs.memory[i]!;
        const held = bytes ? `, ${formatBytes(bytes * forgotten.rows.length)} together` : '';
        found.push({
          title: `${formatCount(forgotten.rows.length)} prepared statements of ${quoted(text)} are still open${held}`,
          evidence: evidence.result(ctx, false),
          ...noSaving('this saves memory, not time'),
          ...howSure(thread, forgotten, rows.length),
          advice: 'Finalize each statement after use, or keep one and reset it.',
          link: 'https://www.sqlite.org/c3ref/finalize.html',
        });
      }
    }
    return found;
  },
};

/** Open statements that never ran again. */
interface Forgotten {
  /** Rows of their prepares. */
  rows: number[];
  /** Two of them have one text and the same values: a cache would have found the first one. */
  isTwice: boolean;
}

/** @param rows prepares of open statements of one fingerprint on one connection */
function forgottenOf(thread: ThreadStore, runs: Executions, rows: readonly number[]): Forgotten {
  const { aux, object } = thread.events;
  const ran = new Map(rows.map((row) => [aux[row]!, { runs: 0, values: 0 }]));
  for (let i = 0; i < runs.count; i++) {
    const own = ran.get(aux[runs.firstRow[i]!]!);
    if (!own) continue;
    own.runs++;
    own.values = runs.values[i]!;
  }
  const left = rows.filter((row) => ran.get(aux[row]!)!.runs < 2);
  const areWhole = (thread.environment?.capture.capture ?? 1) >= 2;
  const keys = left.flatMap((row) => {
    // without a placeholder, no value was folded
    const isWhole = areWhole || !objectName(thread, object[row]!).includes('?');
    return isWhole ? `text ${object[row]!}` : ran.get(aux[row]!)!.values || [];
  });
  return { rows: left, isTwice: new Set(keys).size < keys.length };
}

/** @param all open statements of the text, including those that ran again */
function howSure(
  thread: ThreadStore,
  { rows, isTwice }: Forgotten,
  all: number,
): Pick<Found, 'confidence' | 'reason'> {
  if (thread.lost > 0)
    return {
      confidence: 'possible',
      reason:
        'each was prepared on the same connection; events are missing, and finalizes may be among them',
    };
  const again = all - rows.length;
  if (again > 0)
    return {
      confidence: 'possible',
      reason: `none of them ran again, but ${countOf(again, 'other')} of this text did: your app may store statements by their text in a cache`,
    };
  if (isTwice)
    return {
      confidence: 'certain',
      reason:
        'each was prepared on the same connection, and none of them ran again or was finalized',
    };
  return {
    confidence: 'likely',
    reason:
      'none of them ran again or was finalized; if their texts contain values, an unused statement cache looks the same',
  };
}

const OPENS_OR_ENDS = opSet(Op.sqlPrepare, Op.sqlFinalize, Op.sqlClose);

/** Prepares of statements that are open at a thread's end, by instance: their rows. */
function openStatements(ctx: FindingContext, thread: ThreadStore): Map<number, number> {
  const { op, aux, context, result, endSeq } = thread.events;
  const open = new Map<number, number>();
  for (const row of ctx.get(rowsByOperation).of(thread).together(OPENS_OR_ENDS)) {
    if (op[row] === Op.sqlPrepare) {
      if (endSeq[row] !== 0 && result[row] === 0) open.set(aux[row]!, row);
    } else if (op[row] === Op.sqlFinalize) open.delete(aux[row]!);
    else if (result[row] === 0)
      for (const [instance, prepare] of open)
        if (context[prepare] === context[row]) open.delete(instance);
  }
  return open;
}

/** Rows of readings, by engine. */
const readingsOf = (ctx: FindingContext, thread: ThreadStore): EngineReadings[] =>
  readingsByEngine(thread, ctx.rows(thread, Op.sqlMemory), ctx.get(engineOfConnection).of(thread));

/** @param engine its title; '' = the thread has only one */
const inThread = (engine: string): string => (engine ? `${engine} in ` : '');

const LEAST_US = 10_000_000;
const LEAST_GROWN = 16 * 1024 * 1024;
const PARTS = 4;

export const memoryGrows: Rule = {
  id: 'F57',
  title: 'Memory grows to the end',
  run(ctx) {
    const found: Found[] = [];
    for (const thread of ctx.store.threads)
      for (const one of readingsOf(ctx, thread)) found.push(...growthOf(ctx, thread, one));
    return found;
  },
};

function growthOf(
  ctx: FindingContext,
  thread: ThreadStore,
  { engine, rows }: EngineReadings,
): Found[] {
  const { t0, offset } = thread.events;
  const [first, last] = [rows[0]!, rows.at(-1)!];
  const [fromUs, toUs] = [t0[first]!, t0[last]!];
  const grown = offset[last]! - offset[first]!;
  if (toUs - fromUs < LEAST_US || !(grown >= LEAST_GROWN)) return []; // NaN: a forged one
  /** Readings at which it had grown, by part of the time. */
  const parts = Array.from({ length: PARTS }, () => 0);
  const evidence = new Evidence();
  for (let i = 1; i < rows.length; i++) {
    const [row, before] = [rows[i]!, rows[i - 1]!];
    if (offset[row]! <= offset[before]!) continue;
    parts[Math.min(PARTS - 1, Math.floor(((t0[row]! - fromUs) / (toUs - fromUs)) * PARTS))]!++;
    evidence.tally(thread, row);
  }
  // what grows once and stays is a cache that fills up
  if (parts.slice(1).some((n) => n === 0)) return [];
  const cached = cacheGrowth(thread, rows);
  const isCache = 2 * cached >= grown;
  return [
    {
      title: `WebAssembly memory of ${inThread(engineTitle(thread, engine))}${ctx.titles[thread.index]!} grew from ${formatBytes(offset[first]!)} to ${formatBytes(offset[last]!)} in ${formatDuration(toUs - fromUs)}`,
      evidence: evidence.result(ctx, false),
      ...noSaving('this saves memory, not time'),
      confidence: 'possible',
      reason: [
        `it grew at ${countOf(evidence.count, 'reading')}, in each quarter of that time but perhaps the first`,
        ...(isCache
          ? [
              `the page cache of a connection, which also holds a database in memory, grew by ${formatBytes(cached)}`,
            ]
          : []),
        'a longer recording may show that it stops',
      ].join('; '),
      advice: isCache
        ? 'Lower PRAGMA cache_size. If the database is in memory, this is its own growth.'
        : 'Look for statements that are not finalized, large results, and functions that allocate.',
      link: 'https://www.sqlite.org/malloc.html',
    },
  ];
}

/**
 * How many bytes the page cache of one connection grew, for the one that grew most.
 * @param rows readings of an engine
 */
function cacheGrowth(
  { events: { context, length } }: ThreadStore,
  rows: readonly number[],
): number {
  const first = new Map<number, number>();
  let most = 0;
  for (const row of rows) {
    const before = getOrMake(first, context[row]!, () => length[row]!);
    most = Math.max(most, length[row]! - before);
  }
  return most;
}

/** How long before the page's end its memory must have grown. */
const LATE_US = 10_000_000;

export const endedAtMost: Rule = {
  id: 'F58',
  title: 'Page ended as its memory peaked',
  run(ctx) {
    const found: Found[] = [];
    for (const thread of ctx.store.threads) {
      const engines = readingsOf(ctx, thread);
      const page = ctx.store.threads[rootOf(ctx.store, thread.index)]!;
      const next = engines.length && page.info.kind === 'page' ? loadedAgain(ctx, page) : null;
      if (!next) continue;
      const { t0, offset } = thread.events;
      const endUs = next.page.events.t0[0]! - next.afterUs;
      for (const { engine, rows } of engines) {
        const title = engineTitle(thread, engine);
        let before = offset[rows[0]!]!;
        let most = before;
        let peak = rows[0]!;
        for (const row of rows) {
          if (t0[row]! < endUs - LATE_US) before = Math.max(before, offset[row]!);
          if (offset[row]! > most) [most, peak] = [offset[row]!, row];
        }
        if (!(most - before >= LEAST_GROWN)) continue;
        const evidence = new Evidence();
        evidence.tally(thread, peak);
        evidence.show(next.page.index, 0);
        found.push({
          title: `The page ended ${formatDuration(Math.max(0, endUs - t0[peak]!))} after ${title ? `the WebAssembly memory of ${title}` : 'its WebAssembly memory'} had grown from ${formatBytes(before)} to ${formatBytes(most)}, and began again ${formatDuration(next.afterUs)} later`,
          evidence: evidence.result(ctx, false),
          ...FAILURE,
          confidence: 'possible',
          reason: whyGone(page),
          advice: 'Lower cache_size, and read large results in parts.',
          link: 'https://www.sqlite.org/malloc.html',
        });
      }
    }
    return found;
  },
};
