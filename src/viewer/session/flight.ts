/**
 * The flight recorder: a recording of which the last seconds or megabytes are kept, and frozen when something happens that is worth a
 * look. Looks at calls as they end and says which of them is the trigger; the recording stores what it holds then, and goes on. While
 * the trigger is still in what is kept, no other one freezes: it would freeze the same again.
 */
import { Op } from '../../event/event.ts';
import { isSqlOp, opName, opTable } from '../../event/operations.ts';
import { isRetried, RETRIED_WITHIN_US } from '../../analysis/core/handled-failures.ts';
import { TransactionScanner } from '../../analysis/transactions/transaction-scan.ts';
import { objectName } from '../../trace/describe.ts';
import { ownersOf } from '../../trace/owners.ts';
import { lowerBound } from '../../trace/number-columns.ts';
import { cutOf, forgetBefore, forgetBlock, type Keep } from '../../trace/retention.ts';
import { resultName } from '../../sqlite/result-codes.ts';
import { RowCursor } from '../../trace/row-cursor.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import { FREEZE_MARK, type FlightOptions, type Frozen } from '../../protocol/session.ts';
import { formatDuration } from '../../text/numbers.ts';
import { Rc } from '../../sqlite/constants.ts';

/** What is looked at in an event, by operation code. */
const Look = { nothing: 0, resultCode: 1, error: 2, mark: 3 } as const;
const LOOK = opTable(({ code, result }) =>
  code === Op.error
    ? Look.error
    : code === Op.mark
      ? Look.mark
      : result === 'code'
        ? Look.resultCode
        : Look.nothing,
);

interface FailedCall {
  thread: ThreadStore;
  seq: number;
  /** The calls up to this seq were looked at. */
  until: number;
}

export class Flight {
  private frozen: Frozen | null = null;
  keep: Keep;
  private finished = false;
  /** Slow commits, by thread. */
  private readonly scans: {
    rows: RowCursor;
    scanner: TransactionScanner;
    seen: number;
    /** seq of the last call of the last one that was looked at. */
    told: number;
  }[] = [];
  /** SQL calls that failed: whether the engine makes them again by itself shows by what comes next. */
  private failed: FailedCall[] = [];

  constructor(
    private readonly store: TraceStore,
    readonly options: FlightOptions,
  ) {
    this.keep = options.keep;
  }

  /**
   * A batch has come in.
   * @param firstNew place of its first row @param lateEnds places of earlier rows that ended with it @param endUs the trace's end @returns a trigger that freezes
   */
  onBatch(
    thread: ThreadStore,
    firstNew: number,
    lateEnds: readonly number[],
    endUs: number,
  ): Frozen | null {
    let first = -1;
    let reason = '';
    const { events } = thread;
    // what ended first is the cause: the xLock inside the step that both answer SQLITE_BUSY
    const consider = (row: number, text: string | null): void => {
      if (text === null || (first >= 0 && events.endSeq[row]! >= events.endSeq[first]!)) return;
      first = row;
      reason = text;
    };
    for (const row of lateEnds) consider(row, this.reasonOf(thread, row));
    for (let row = firstNew; row < events.count; row++)
      if (LOOK[events.op[row]!] !== Look.nothing) consider(row, this.reasonOf(thread, row));
    const slow = this.slowCommit(thread);
    if (slow) consider(slow.row, slow.text);
    const heard = this.heard(endUs);
    if (this.frozen && cutOf(this.store, this.keep, endUs) <= this.frozen.atUs) return null;
    if (first >= 0) return this.freeze(thread, first, reason);
    return heard && this.freeze(heard.thread, heard.row, this.failureText(heard.thread, heard.row));
  }

  private freeze(thread: ThreadStore, row: number, text: string): Frozen {
    return (this.frozen = { text, ...thread.ref(row), atUs: thread.events.t0[row]! });
  }

  /** The first failed SQL call that the app has heard of by now: the cause in it. */
  private heard(nowUs: number): { thread: ThreadStore; row: number } | null {
    let found: { thread: ThreadStore; row: number } | null = null;
    this.failed = this.failed.filter((call) => {
      const { thread, seq } = call;
      const row = thread.events.rowOfSeq(seq);
      if (found || row < 0) return false;
      const isHandled = this.isHandled(call, row, nowUs);
      if (isHandled === false) found = { thread, row: this.causeOf(thread, row) };
      return isHandled === null;
    });
    return found;
  }

  /** null: not known yet. */
  private isHandled(call: FailedCall, row: number, nowUs: number): boolean | null {
    const { events } = call.thread;
    const { op, context, count } = events;
    const opens = op[row] === Op.sqlOpen;
    const from = Math.max(call.until, events.endSeq[row]!) + 1;
    const isBeside = (at: number): boolean =>
      isSqlOp(op[at]!) && (opens || context[at] === context[row]);
    for (let next = lowerBound(events.seq, from, count); next < count; next++) {
      if (!isBeside(next)) continue;
      let before = row - 1;
      while (before >= 0 && !isBeside(before)) before--;
      return isRetried(call.thread, row, before, next);
    }
    call.until = count ? events.seq[count - 1]! : 0;
    const endUs = events.t0[row]! + events.dur[row]!;
    return nowUs - endUs > RETRIED_WITHIN_US ? false : null;
  }

  /** What ended first in it with the same answer: the xLock inside the step. */
  private causeOf({ events }: ThreadStore, row: number): number {
    const code = events.result[row]! & 255;
    let cause = row;
    for (let at = row + 1; at < events.count && events.seq[at]! < events.endSeq[row]!; at++)
      if (
        LOOK[events.op[at]!] === Look.resultCode &&
        (events.result[at]! & 255) === code &&
        events.endSeq[at]! < events.endSeq[cause]!
      )
        cause = at;
    return cause;
  }

  private failureText(thread: ThreadStore, row: number): string {
    const { events } = thread;
    const object = objectName(thread, events.object[row]!);
    return `${resultName(events.result[row]!)} from ${opName(events.op[row]!)}${object ? ` on ${object.slice(0, 120)}` : ''}`;
  }

  private reasonOf(thread: ThreadStore, row: number): string | null {
    const { events } = thread;
    const { freezeOn } = this.options;
    const op = events.op[row]!;
    switch (LOOK[op]) {
      case Look.error:
        return freezeOn.error
          ? `an exception of the page: ${objectName(thread, events.object[row]!) || 'without a message'}`
          : null;
      case Look.mark:
        return objectName(thread, events.object[row]!) === FREEZE_MARK
          ? `performance.mark('${FREEZE_MARK}')`
          : null;
      case Look.resultCode: {
        const code = events.result[row]!;
        if (code === 0 || code === Rc.shortRead || code === Rc.deleteNoEnt || code < 0) return null;
        const primary = code & 255;
        const asked =
          (primary === Rc.busy && freezeOn.busy) ||
          (primary === Rc.ioErr && freezeOn.ioerr) ||
          (primary === Rc.corrupt && freezeOn.corrupt);
        if (!asked) return null;
        // the app hears of what SQL calls answer
        if (isSqlOp(op)) this.failed.push({ thread, seq: events.seq[row]!, until: 0 });
        const answer = isSqlOp(op) ? row : ownersOf(thread).answering(row);
        return answer >= 0 && isSqlOp(events.op[answer]!) ? null : this.failureText(thread, row);
      }
      default:
        return null;
    }
  }

  /**
   * How long a commit takes: the SQL call in which it lies (COMMIT, or the statement that commits by itself); where no SQL is
   * recorded, from the RESERVED lock to the transaction's last call.
   */
  private slowCommit(thread: ThreadStore): { row: number; text: string } | null {
    const limit = this.options.freezeOn.slowCommitMs;
    if (limit === null) return null;
    const { events } = thread;
    let scan = this.scans[thread.index];
    if (!scan || scan.rows.restarted())
      this.scans[thread.index] = scan = {
        rows: scan?.rows ?? new RowCursor(thread),
        scanner: new TransactionScanner(thread),
        seen: 0,
        told: scan?.told ?? 0,
      };
    scan.scanner.advance(false);
    const { transactions } = scan.scanner;
    for (; scan.seen < transactions.length; scan.seen++) {
      const { outcome, commitRow, beginRow, endRow } = transactions.at(scan.seen);
      if (outcome !== 'committed' || events.seq[endRow]! <= scan.told) continue;
      const statement = ownersOf(thread).statement(commitRow);
      const row = statement < 0 ? beginRow : statement;
      if (statement >= 0 && events.endSeq[row] === 0) break; // its statement still runs: looked at when it has ended
      const last = statement < 0 ? endRow : statement;
      const us = events.t0[last]! + events.dur[last]! - events.t0[row]!;
      scan.told = events.seq[endRow]!;
      if (us > limit * 1000)
        return { row, text: `a commit that took ${formatDuration(us)}, more than ${limit} ms` };
    }
    return null;
  }

  /** Forget what is too old while the recording runs. @param endUs the trace's end @returns rows forgotten */
  trim(endUs: number): number {
    return forgetBlock(this.store, this.keep, endUs);
  }

  /** Keep exactly what was asked for: before a trigger, and it, or before the recording's end. @returns rows forgotten */
  cut(endUs: number, trigger: Frozen | null): number {
    const { keep, store } = this;
    const triggerUs = trigger?.atUs ?? Infinity;
    const until = keep.kind === 'seconds' ? Math.min(triggerUs, endUs) : endUs;
    return forgetBefore(store, Math.min(cutOf(store, keep, until), triggerUs));
  }

  /** The recording ends. Once. @returns rows forgotten */
  finish(endUs: number): number {
    if (this.finished) return 0;
    this.finished = true;
    return this.cut(endUs, null);
  }
}
