/**
 * Where BEGIN (or SAVEPOINT outside a transaction) opened a transaction and COMMIT, END, ROLLBACK
 * or RELEASE closed it, by connection, from the texts of the statements that ran:
 *
 *   BEGIN  INSERT  INSERT  COMMIT      INSERT
 *   |---------- explicit --------|     autocommit
 *
 * A script given to one sqlite3_exec may do both; then the whole call counts as explicit. It isn't
 * known how much of a failed script ran, so it counts as a whole. A single statement that failed
 * has done nothing, except that it may end a transaction that was already over.
 */
import { firstPlace } from '../../trace/number-columns.ts';
import { ById } from '../core/by-id.ts';
import { threadFact, type ByThread } from '../core/graph.ts';
import { rowsByOperation, type RowsByOperation } from '../core/rows-by-operation.ts';
import { getOrMake } from '../core/maps.ts';
import { objectName } from '../../trace/describe.ts';
import { Op } from '../../event/event.ts';
import { opSet } from '../../event/operations.ts';
import { Rc } from '../../sqlite/constants.ts';
import { tokens } from '../../sqlite/sql-text.ts';
import type { ThreadStore } from '../../trace/store.ts';

/**
 * One explicit transaction: the sequence numbers between which calls belong to it, and the rows of
 * the calls that began and ended it.
 */
export interface ExplicitSpan {
  beginSeq: number;
  /** Infinity while it is open. */
  endSeq: number;
  beginRow: number;
  /** -1 while it is open, and if its end wasn't recorded. */
  endRow: number;
}

/** The effects of a text's statements on a transaction, in order. */
type Effect = 'begin' | 'end' | 'savepoint' | 'release';
const EFFECT: Readonly<Record<string, Effect>> = {
  begin: 'begin',
  commit: 'end',
  end: 'end',
  rollback: 'end',
  savepoint: 'savepoint',
  release: 'release',
};

/**
 * Results of a COMMIT or ROLLBACK after which no transaction is open: none was active
 * (SQLITE_ERROR, SQLite had rolled back itself), or SQLite rolls back (SQLITE_IOERR, SQLITE_FULL).
 * After BUSY and others it is still open.
 */
const NONE_LEFT: ReadonlySet<number> = new Set([Rc.error, Rc.ioErr, Rc.full]);

/** @param script for a text of one statement, only its first words are examined */
export function effectsOf(text: string, script: boolean): Effect[] {
  const found: Effect[] = [];
  let first: string | null = null;
  let words = 0;
  let trigger = false;
  let depth = 0;
  for (const { kind, text: word } of tokens(text)) {
    if (kind === 'space' || kind === 'comment') continue;
    const lower = word.toLowerCase();
    if (kind === 'other' && word === ';' && (!trigger || depth === 0)) {
      if (!script) break;
      first = null;
      words = 0;
      trigger = false;
      continue;
    }
    words++;
    if (kind !== 'word') continue;
    if (first === null) {
      first = lower;
      const effect = EFFECT[lower];
      if (effect) found.push(effect);
      else if (!script) break;
    } else if (first === 'rollback' && lower === 'to') {
      found.pop(); // ends a savepoint: the transaction continues
      first = '';
    } else if (first === 'create' && lower === 'trigger' && words < 5) trigger = true;
    else if (trigger && (lower === 'begin' || lower === 'case')) depth++;
    else if (trigger && lower === 'end') depth--;
  }
  return found;
}

export interface ExplicitTransactions {
  /** The explicit transaction of a call with this sequence number; null = none. */
  at(context: number, seq: number): ExplicitSpan | null;
  /** Texts are known, so "none" means autocommit. */
  readonly known: boolean;
}

interface State {
  spans: ExplicitSpan[];
  open: boolean;
  savepoints: number;
}

/** For a thread; nothing is known without recorded SQL calls. */
export const explicitTransactions = threadFact(
  'explicitTransactions',
  'explicit transactions',
  { rowsByOperation },
  explicitTransactionsOf,
);

const RUNS = opSet(Op.sqlStep, Op.sqlExec);
function explicitTransactionsOf(
  thread: ThreadStore,
  known: { rowsByOperation: ByThread<RowsByOperation> },
): ExplicitTransactions {
  const { events } = thread;
  const effects = new ById<Effect[]>();
  const states = new Map<number, State>();
  let seen = false;
  let blank = false;
  const runs = known.rowsByOperation.of(thread).together(RUNS);
  for (let r = 0; r < runs.length; r++) {
    const row = runs[r]!;
    const op = events.op[row]!;
    seen = true;
    const object = events.object[row]!;
    const key = object * 2 + (op === Op.sqlExec ? 1 : 0);
    const done = getOrMake(effects, key, () => {
      const text = objectName(thread, object);
      if (text === '') blank = true;
      return effectsOf(text, op === Op.sqlExec);
    });
    if (done.length === 0) continue;
    const result = events.result[row]!;
    const script = op === Op.sqlExec && events.aux2[row]! > 1;
    const failed = !script && result !== (op === Op.sqlStep ? Rc.done : Rc.ok);
    // BUSY, for example: nothing was begun or ended
    if (failed && !NONE_LEFT.has(result & 255)) continue;
    const context = events.context[row]!;
    const state = getOrMake(states, context, () => ({ spans: [], open: false, savepoints: 0 }));
    // its BEGIN was refused, so the rest didn't run
    if (script && result !== 0 && state.open && done[0] === 'begin') continue;
    for (const effect of done)
      if (!failed || effect === 'end')
        apply(state, effect, row, events.seq[row]!, events.endSeq[row] || Infinity);
  }
  return {
    known: seen && !blank,
    at(context, seq) {
      const spans = states.get(context)?.spans;
      if (!spans) return null;
      const behind = firstPlace(0, spans.length, (i) => spans[i]!.beginSeq > seq);
      const span = behind > 0 ? spans[behind - 1] : null;
      return span && seq <= span.endSeq ? span : null;
    },
  };
}

function apply(state: State, effect: Effect, row: number, seq: number, endSeq: number): void {
  const latest = state.spans.at(-1);
  if (effect === 'begin' && state.open && latest!.beginRow !== row) {
    state.open = false; // SQLite can't begin one inside another, so that one has ended unseen
    latest!.endSeq = seq - 1;
  }
  const begins = effect === 'begin' || effect === 'savepoint';
  if (begins && !state.open) {
    state.open = true;
    state.savepoints = effect === 'savepoint' ? 1 : -Infinity; // RELEASE doesn't end a BEGIN
    if (latest?.endRow === row)
      latest.endSeq = Infinity; // a script that ends one transaction and begins another: one span
    else state.spans.push({ beginSeq: seq, endSeq: Infinity, beginRow: row, endRow: -1 });
    return;
  }
  if (effect === 'savepoint') state.savepoints++;
  if (!state.open || effect === 'savepoint' || effect === 'begin') return;
  if (effect === 'release' && --state.savepoints > 0) return;
  if (effect === 'release' && state.savepoints === -Infinity) return;
  state.open = false;
  latest!.endSeq = endSeq;
  latest!.endRow = row;
}
