/**
 * Which SQL calls wa-sqlite repeats by itself, so that the app never sees the first answer. Its API
 * repeats a call that a VFS refused while preparing (`retryOps`): version 2.0.6 once, versions
 * before 2 for as long as the VFS prepares. Further repeats are more likely the app's own loop, so
 * only the first in a row of equal calls counts as the engine's.
 */
import { isBusy } from '../sqlite/constants.ts';
import { RETRIED_WITHIN_MS } from '../sqlite/rule-limits.ts';
import { Op } from './event.ts';

/**
 * An SQL call on a connection, or an attempt to open a database, which doesn't have one yet, on a
 * thread.
 */
export interface SqlCall {
  readonly op: number;
  /** Equal for calls with one text; ignored for opens. */
  readonly statement: string | number;
  /** seq of the enclosing call; 0 = none. */
  readonly parent: number;
  /** ms; `toMs` and `result` of a call that hasn't ended are ignored. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly result: number;
}

const RETRIED: readonly number[] = [Op.sqlOpen, Op.sqlPrepare, Op.sqlStep];
/** @param engine as a fingerprint names it */
export const retriesCalls = (engine: string): boolean => /(?:^|\/)wa-sqlite$/.test(engine);

/** Whether `call` was refused, and the next SQL call is the same one, soon after. */
export const isRepeat = (call: SqlCall, next: SqlCall): boolean =>
  isBusy(call.result) &&
  next.op === call.op &&
  (next.statement === call.statement || call.op === Op.sqlOpen) &&
  next.parent === call.parent &&
  next.fromMs - call.toMs <= RETRIED_WITHIN_MS;

/**
 * Whether the engine, if it is one that does so (retriesCalls), repeated a refused call.
 * @param repeats `call` itself is a repeat
 */
export const isEngineRetry = (call: SqlCall, next: SqlCall, repeats: boolean): boolean =>
  !repeats && RETRIED.includes(call.op) && isRepeat(call, next);
