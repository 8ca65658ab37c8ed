/**
 * The flight recorder keeps the last seconds or megabytes of a recording, and freezes them when
 * something notable happens. It looks at calls as they end and finds the trigger. The recording
 * then stores what it holds, and continues. While the trigger is still in the kept part, no other
 * trigger freezes, because it would freeze the same events again.
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

/** What to check in an event, by operation code. */
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
  /** The calls up to this seq were checked. */
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
    /** seq of the last call of the last transaction that was checked. */
    told: number;
  }[] = [];
  /** Failed SQL calls. Later calls show whether the engine retries by itself. */
  private failed: FailedCall[] = [];

  constructor(
    private readonly store: TraceStore,
    readonly options: FlightOptions,
  ) {
    this.keep = options.keep;
  }

  /**
   * A batch has arrived.
   * @param firstNew index of its first row @param lateEnds indexes of earlier rows that ended with
   * it @param endUs the trace's end @returns a trigger that freezes
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
    // the call that ended first is the cause, such as the xLock inside the step when both answer
    // SQLITE_BUSY
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

  /** The first failed SQL call whose failure the app has received, and the cause of the failure. */
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

  /** The first call in it that ended with the same answer, such as the xLock inside the step. */
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
        // the app sees the results of SQL calls
        if (isSqlOp(op)) this.failed.push({ thread, seq: events.seq[row]!, until: 0 });
        const answer = isSqlOp(op) ? row : ownersOf(thread).answering(row);
        return answer >= 0 && isSqlOp(events.op[answer]!) ? null : this.failureText(thread, row);
      }
      default:
        return null;
    }
  }

  /**
   * How long a commit takes: the SQL call that contains it (COMMIT, or a statement that commits
   * implicitly). If no SQL is recorded, from the RESERVED lock to the transaction's last call.
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
      // its statement still runs: check it when it has ended
      if (statement >= 0 && events.endSeq[row] === 0) break;
      const last = statement < 0 ? endRow : statement;
      const us = events.t0[last]! + events.dur[last]! - events.t0[row]!;
      scan.told = events.seq[endRow]!;
      if (us > limit * 1000)
        return { row, text: `a commit that took ${formatDuration(us)}, more than ${limit} ms` };
    }
    return null;
  }

  /**
   * Drop what is too old while the recording runs. @param endUs the trace's end @returns number of
   * dropped rows
   */
  trim(endUs: number): number {
    return forgetBlock(this.store, this.keep, endUs);
  }

  /**
   * Keep exactly the chosen span: up to and including a trigger, or up to the recording's end.
   * @returns number of dropped rows
   */
  cut(endUs: number, trigger: Frozen | null): number {
    const { keep, store } = this;
    const triggerUs = trigger?.atUs ?? Infinity;
    const until = keep.kind === 'seconds' ? Math.min(triggerUs, endUs) : endUs;
    return forgetBefore(store, Math.min(cutOf(store, keep, until), triggerUs));
  }

  /** The recording ends. Call once. @returns number of dropped rows */
  finish(endUs: number): number {
    if (this.finished) return 0;
    this.finished = true;
    return this.cut(endUs, null);
  }
}
