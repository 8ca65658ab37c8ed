/** Queries of the Transactions view: a summary of all, and the details of one. */
import { databasePath } from '../../../event/file-names.ts';
import { statementText } from '../../../trace/describe.ts';
import { Op } from '../../../event/event.ts';
import { isVfsOp, opName } from '../../../event/operations.ts';
import { transactionLine } from '../../../analysis/transactions/table.ts';
import type { AnatomyTable } from '../../../analysis/transactions/anatomy-table.ts';
import type { TransactionAnatomy } from '../../../analysis/transactions/transaction-anatomy.ts';
import { partOfCall, TRANSACTION_PARTS } from '../../../analysis/transactions/transaction-time.ts';
import { isUnlimited, type Scope } from '../../../analysis/core/scope.ts';
import { statementsIn, testOfTexts } from '../../../analysis/statements/statements-in-scope.ts';
import { getOrMake } from '../../../analysis/core/maps.ts';
import { computingCalls } from '../../../analysis/core/computing-calls.ts';
import { owners } from '../../../analysis/core/owners.ts';
import { totalTimeInSql } from '../../../analysis/time/summary-time.ts';
import type { Facts } from '../../../analysis/core/graph.ts';
import { anatomies } from '../../../analysis/transactions/transaction-anatomy.ts';
import type { EventRef, ThreadStore } from '../../../trace/store.ts';
import { isInMemory } from '../../../trace/in-memory.ts';
import { threadTitles } from '../../../analysis/core/thread-titles.ts';
import { needing, type QueryContext } from './context.ts';
import type {
  TransactionLines,
  CallRun,
  ExecutionRun,
  StatementShare,
  TransactionDetails,
  TransactionSum,
} from '../../../protocol/answers/transactions.ts';

/** If there are more, only the longest are listed. */
const MOST_TRANSACTIONS = 20_000;

const MOST_STATEMENTS = 500;
/** Calls closer than this share of the transaction are drawn as one. */
const PIXELS = 1200;

/**
 * Indexes of the transactions of a thread, of those that ran one of the statements, and of those
 * that overlap the range.
 */
function placesIn(facts: Facts, all: AnatomyTable, scope: Omit<Scope, 'part'>): number[] {
  const { threads } = facts.store;
  const { thread: only, fromUs = -Infinity, toUs = Infinity } = scope;
  const taken = statementsIn(facts, scope);
  const tests = taken && threads.map((thread) => testOfTexts(thread, taken)!);
  const places: number[] = [];
  for (let i = 0; i < all.length; i++) {
    const thread = all.transactions.thread[i]!;
    if (only !== undefined && thread !== only) continue;
    if (all.fromUs[i]! >= toUs || all.toUs[i]! < fromUs) continue;
    const { object } = threads[thread]!.events;
    if (!tests || all.statementRows(i).some((row) => tests[thread]!(object[row]!))) places.push(i);
  }
  return places;
}

/**
 * The longest MOST_TRANSACTIONS of these indexes, in their order. Of several as long as the
 * shortest one kept, the first.
 */
function longestOf(all: AnatomyTable, places: readonly number[]): number[] {
  const durations = Float64Array.from(places, (i) => all.durationUs(i));
  const sorted = durations.slice().sort();
  const least = sorted[sorted.length - MOST_TRANSACTIONS]!;
  let equal = MOST_TRANSACTIONS;
  for (let i = sorted.length - 1; sorted[i]! > least; i--) equal--;
  const kept: number[] = [];
  places.forEach((place, i) => {
    if (durations[i]! > least || (durations[i] === least && equal-- > 0)) kept.push(place);
  });
  return kept;
}

/** The storage calls of a transaction by part, close ones joined. */
function runsOf(
  thread: ThreadStore,
  a: TransactionAnatomy,
  computes: Uint8Array,
): { runs: CallRun[]; calls: number } {
  const { events } = thread;
  const { context, path, beginRow, endRow } = a.transaction;
  const gap = (a.toUs - a.fromUs) / PIXELS;
  const last = new Map<number, CallRun>();
  const runs: CallRun[] = [];
  let calls = 0;
  for (let row = beginRow; row < events.count && events.t0[row]! <= a.toUs; row++) {
    const op = events.op[row]!;
    if (!isVfsOp(op) || events.context[row] !== context || events.endSeq[row] === 0) continue;
    if (isInMemory(events, row) || (row > endRow && op !== Op.xUnlock)) continue;
    const file = thread.definitions.get(events.object[row]!);
    const own = file?.kind === 'file' && databasePath(file.path) === path;
    const part = partOfCall(op, own ? file.fileKind : 'other', computes[row] === 1);
    const [fromUs, toUs] = [events.t0[row]!, events.t0[row]! + events.dur[row]!];
    calls++;
    const run = last.get(part);
    if (run && fromUs - run.toUs <= gap) {
      run.toUs = Math.max(run.toUs, toUs);
      run.calls++;
    } else {
      const made = {
        part: TRANSACTION_PARTS[part]!,
        fromUs,
        toUs,
        calls: 1,
        seq: events.seq[row]!,
        name: opName(op),
      };
      last.set(part, made);
      runs.push(made);
    }
  }
  return { runs, calls };
}

function executionsOf(
  thread: ThreadStore,
  a: TransactionAnatomy,
): Pick<TransactionDetails, 'executions' | 'statementList' | 'distinct'> {
  const { events } = thread;
  const gap = (a.toUs - a.fromUs) / PIXELS;
  const executions: ExecutionRun[] = [];
  const byText = new Map<string, StatementShare>();
  for (const row of a.statementRows) {
    const [seq, text] = [events.seq[row]!, statementText(thread, row)];
    const [fromUs, toUs] = [events.t0[row]!, events.t0[row]! + events.dur[row]!];
    const last = executions.at(-1);
    if (last && fromUs - last.toUs <= gap && (last.text === text || toUs - fromUs <= gap)) {
      last.toUs = Math.max(last.toUs, toUs);
      last.count++;
    } else executions.push({ fromUs, toUs, count: 1, seq, text });
    const share = getOrMake(byText, text, () => ({ text, count: 0, us: 0, seq }));
    share.count++;
    share.us += toUs - fromUs;
  }
  const statements = [...byText.values()].sort((x, y) => y.us - x.us);
  return {
    executions,
    statementList: statements.slice(0, MOST_STATEMENTS),
    distinct: statements.length,
  };
}

const ofTransactions = [anatomies, totalTimeInSql];

export const transactionQueries = {
  /**
   * All transactions, the longest first, and their number; only the longest if there are too many.
   * With `statement`, those that ran it.
   */
  transactions: needing(
    ofTransactions,
    (
      context: QueryContext,
      scope: Pick<Scope, 'thread' | 'statement' | 'table'>,
    ): TransactionLines => {
      const all = context.facts.get(anatomies);
      const places = placesIn(context.facts, all, scope);
      const kept = places.length <= MOST_TRANSACTIONS ? places : longestOf(all, places);
      const titles = threadTitles(context.store);
      const rows = kept.map((i) => transactionLine(context.store, all.at(i), titles));
      rows.sort((a, b) => b.durationUs - a.durationUs || a.fromUs - b.fromUs);
      return { rows, total: places.length };
    },
  ),

  /**
   * The commits of these transactions, and of those that overlap a range. For a part, the share is
   * one of the transactions' own time, because a statement's time excludes its COMMIT, and a range
   * may cut its time in SQL but not a commit.
   */
  commitsTogether: needing(
    ofTransactions,
    ({ facts }: QueryContext, scope: Omit<Scope, 'part'>): TransactionSum => {
      const all = facts.get(anatomies);
      if (isUnlimited(scope))
        return { ...all.commitTotals(), of: 'sql', ofUs: facts.get(totalTimeInSql) };
      const places = placesIn(facts, all, scope);
      return { ...all.commitTotals(places), of: 'transactions', ofUs: all.busyUs(places) };
    },
  ),

  /** One transaction, by its first event; null if it isn't in the trace any more. */
  transaction: needing(
    [...ofTransactions, computingCalls],
    (context: QueryContext, { thread: index, seq }: EventRef): TransactionDetails | null => {
      const thread = context.store.threads[index];
      if (!thread) return null;
      const all = context.facts.get(anatomies);
      const place = all.transactions.placeOf(index, thread.events.rowOfSeq(seq));
      if (place < 0) return null;
      const a = all.at(place);
      return {
        ...transactionLine(context.store, a, threadTitles(context.store)),
        toUs: a.toUs,
        ladder: a.ladder,
        time: a.time,
        commit: a.commit,
        dbBytes: a.dbBytes,
        journalBytes: a.journalBytes,
        walBytes: a.walBytes,
        ...executionsOf(thread, a),
        ...runsOf(thread, a, context.facts.get(computingCalls).of(thread)),
      };
    },
  ),

  /**
   * The transaction that an event belongs to, by its first event; null if none. It belongs to the
   * connection of the event's SQL or VFS call: the innermost one around the event, else the first
   * one of its statement.
   */
  transactionOf: needing(
    [...ofTransactions, owners],
    (context: QueryContext, { thread: index, seq }: EventRef): EventRef | null => {
      const thread = context.store.threads[index];
      const at = thread?.events.rowOfSeq(seq) ?? -1;
      if (!thread || at < 0) return null;
      const own = context.facts.get(owners).of(thread);
      const caller = own.engine(at);
      if (caller < 0) return null;
      const connection = thread.events.context[caller]!;
      const serves = own.statement(at);
      const all = context.facts.get(anatomies);
      const { thread: threads, context: connections, beginRow, endRow } = all.transactions;
      let [innermost, ofStatement] = [-1, -1];
      for (let i = 0; i < all.length; i++) {
        if (
          threads[i] !== index ||
          (connections[i] !== connection && connections[i] !== 0 && connection !== 0)
        )
          continue;
        if (beginRow[i]! <= at && at <= endRow[i]!) {
          if (
            innermost < 0 ||
            endRow[i]! - beginRow[i]! < endRow[innermost]! - beginRow[innermost]!
          )
            innermost = i;
        } else if (ofStatement < 0 && serves >= 0 && all.statementRows(i).includes(serves))
          ofStatement = i;
      }
      const found = innermost < 0 ? ofStatement : innermost;
      return found < 0 ? null : thread.ref(beginRow[found]!);
    },
  ),
};
