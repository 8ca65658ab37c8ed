/**
 * Which SQL calls wa-sqlite makes again by itself, so that the app doesn't hear of the first answer. Its API repeats a call that a VFS
 * refused while it prepares (`retryOps`): 2.0.6 once, versions before 2 for as long as the VFS has more to prepare. Of more repeats the
 * app's own loop is the likelier cause, so only the first of a row of equal calls counts as the engine's.
 */
import { isBusy } from '../sqlite/constants.ts';
import { RETRIED_WITHIN_MS } from '../sqlite/rule-limits.ts';
import { Op } from './event.ts';

/** An SQL call, of one connection; attempts to open a database, which has none yet, are of one thread. */
export interface SqlCall {
  readonly op: number;
  /** Equal for calls with one text; it is not looked at where a database is opened. */
  readonly statement: string | number;
  /** seq of the call that it was made in; 0 = none. */
  readonly parent: number;
  /** ms; `toMs` and `result` of a call that hasn't ended are not looked at. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly result: number;
}

const RETRIED: readonly number[] = [Op.sqlOpen, Op.sqlPrepare, Op.sqlStep];
/** @param engine as a fingerprint names it */
export const retriesCalls = (engine: string): boolean => /(?:^|\/)wa-sqlite$/.test(engine);

/** Whether `call` was refused and `next`, the SQL call that follows it, is the same again, soon. */
export const isRepeat = (call: SqlCall, next: SqlCall): boolean =>
  isBusy(call.result) &&
  next.op === call.op &&
  (next.statement === call.statement || call.op === Op.sqlOpen) &&
  next.parent === call.parent &&
  next.fromMs - call.toMs <= RETRIED_WITHIN_MS;

/** Whether the engine, if it is one that does so (retriesCalls), made a refused call again. @param repeats `call` itself is a repeat */
export const isEngineRetry = (call: SqlCall, next: SqlCall, repeats: boolean): boolean =>
  !repeats && RETRIED.includes(call.op) && isRepeat(call, next);
