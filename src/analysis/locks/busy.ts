/**
 * SQLITE_BUSY chains: refusals of one connection at one lock level, retried until the lock is
 * granted or the connection gives up.
 *
 *   xLock RESERVED   BUSY      BUSY   BUSY        ok           one chain: 3 refusals, granted
 *   xLock RESERVED   BUSY  BUSY                                one chain: 2 refusals, given up
 *
 * This is SQLite's name; a VFS may answer Rc.ioErrLock instead. Steps that return SQLITE_BUSY to
 * the app are counted separately.
 */
import { Op } from '../../event/event.ts';
import { isSqlOp } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';
import { handledFailures } from '../core/handled-failures.ts';
import { failures } from '../rules/failures.ts';
import { isBusy, isRefusal } from '../../sqlite/constants.ts';
import { connectionKey } from '../../trace/lock-levels.ts';

export interface BusyChain {
  /** Place in TraceStore.threads. */
  thread: number;
  /** Connection; 0 = not known. */
  context: number;
  path: string;
  /** Requested lock level, 1..4; 0 if only the step's result was recorded. */
  level: number;
  refusals: number;
  /**
   * Steps that returned SQLITE_BUSY to the app, without those that the engine's wrapper repeats by
   * itself.
   */
  steps: number;
  /** Distinct result codes, including extended ones. */
  codes: number[];
  /**
   * For each refused SQL call: from its first refusal to the end of its last attempt, microseconds.
   */
  tries: [from: number, to: number][];
  /** Refusals in each of them: more than one where SQLite's busy handler repeats the request. */
  refusalsByTry: number[];
  /** First refusal's begin; last refusal's end, or the grant. */
  fromUs: number;
  toUs: number;
  granted: boolean;
  /** Rows of the first refusal and of the last call of the chain. */
  firstRow: number;
  lastRow: number;
}

/** Pauses of SQLite's own busy handler (busy_timeout), milliseconds; the last one repeats. */
const SQLITE_PAUSES_MS = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/**
 * Refusals without a pause: those within one SQL call count as one if the call paused at least as
 * long as SQLite's own busy handler does.
 */
export function refusalsWithoutPause({ tries, refusalsByTry }: BusyChain): number {
  return tries.reduce((sum, [fromUs, toUs], i) => {
    const refusals = refusalsByTry[i]!;
    let pausesMs = 0;
    for (let n = 0; n < refusals - 1; n++)
      pausesMs += SQLITE_PAUSES_MS[Math.min(n, SQLITE_PAUSES_MS.length - 1)]!;
    return sum + (toUs - fromUs >= pausesMs * 1000 ? Math.min(refusals, 1) : refusals);
  }, 0);
}

/** Refusals further apart than this aren't retries of one another. */
const RETRY_GAP_US = 5_000_000;

/** In order of time. Most traces have none, which their failures show quickly. */
export const busyChains = fact(
  'busyChains',
  'retries after SQLITE_BUSY',
  { failures },
  ({ threads }, { failures }, facts): BusyChain[] => {
    const refused = ({ events: { op, result } }: ThreadStore, row: number): boolean =>
      isRefusal(result[row]!) && (op[row] === Op.xLock || isSqlOp(op[row]!));
    if (!threads.some((thread) => failures.of(thread).some((row) => refused(thread, row))))
      return [];
    const handled = facts.get(handledFailures);
    const chains = threads.flatMap((thread) => chainsOf(thread, handled.of(thread)));
    return chains.sort((a, b) => a.fromUs - b.fromUs);
  },
);

function chainsOf(thread: ThreadStore, handled: ReadonlySet<number>): BusyChain[] {
  const { events, definitions, index } = thread;
  const found: BusyChain[] = [];
  /** By connection and file; and by connection, its last one. */
  const running = new Map<number, BusyChain>();
  const ofConnection = new Map<number, BusyChain>();
  const begin = (row: number, path: string, level: number): BusyChain => {
    const context = events.context[row]!;
    const fromUs = events.t0[row]!;
    const chain = {
      thread: index,
      context,
      path,
      level,
      refusals: 0,
      steps: 0,
      codes: [],
      tries: [],
      refusalsByTry: [],
      fromUs,
      toUs: fromUs,
      granted: false,
      firstRow: row,
      lastRow: row,
    };
    found.push(chain);
    return chain;
  };
  const touch = (chain: BusyChain, row: number, rc: number): void => {
    chain.toUs = events.t0[row]! + events.dur[row]!;
    chain.lastRow = row;
    if (rc !== 0 && !chain.codes.includes(rc)) chain.codes.push(rc);
  };
  /** Another xLock: of the same SQL call as the one before, or the first refusal of the next. */
  const attempt = (chain: BusyChain, row: number, rc: number): void => {
    const caller = events.parent[row]!;
    const last = chain.tries.at(-1);
    const isSame = last && caller !== 0 && caller === events.parent[chain.lastRow];
    touch(chain, row, rc);
    if (isSame) {
      last[1] = chain.toUs;
      if (rc !== 0) chain.refusalsByTry[chain.tries.length - 1]!++;
    } else if (rc !== 0) {
      chain.tries.push([events.t0[row]!, chain.toUs]);
      chain.refusalsByTry.push(1);
    }
  };
  for (let row = 0; row < events.count; row++) {
    const op = events.op[row]!;
    const rc = events.result[row]!;
    if (op === Op.xLock) {
      const key = connectionKey(events.object[row]!, events.context[row]!);
      let chain = running.get(key);
      if (isRefusal(rc)) {
        if (
          !chain ||
          chain.level !== events.aux[row] ||
          events.t0[row]! - chain.toUs > RETRY_GAP_US
        ) {
          const file = definitions.get(events.object[row]!);
          chain = begin(row, file?.kind === 'file' ? file.path : '', events.aux[row]!);
          running.set(key, chain);
          ofConnection.set(chain.context, chain);
        }
        chain.refusals++;
        attempt(chain, row, rc);
      } else if (rc === 0 && chain && events.endSeq[row] !== 0 && events.aux[row]! >= chain.level) {
        attempt(chain, row, 0);
        chain.granted = true;
        running.delete(key);
      }
    } else if ((op === Op.sqlStep || op === Op.sqlExec) && isBusy(rc) && !handled.has(row)) {
      const context = events.context[row]!;
      let chain = ofConnection.get(context);
      // the step's row comes before its xLock's; a chain without refusals consists of steps only
      if (!chain || events.t0[row]! - chain.toUs > RETRY_GAP_US || chain.granted) {
        chain = begin(row, '', 0);
        ofConnection.set(context, chain);
      }
      chain.steps++;
      if (chain.refusals === 0) touch(chain, row, rc);
    }
  }
  return merged(found);
}

/**
 * The first step of a chain begins before its first refusal, so it made a separate chain: merge the
 * two.
 */
function merged(chains: BusyChain[]): BusyChain[] {
  const kept: BusyChain[] = [];
  const last = new Map<number, BusyChain>();
  for (const chain of chains) {
    const before = last.get(chain.context);
    if (
      before &&
      before.level === 0 &&
      chain.level > 0 &&
      chain.firstRow >= before.firstRow &&
      chain.fromUs <= before.toUs
    ) {
      before.level = chain.level;
      before.path = chain.path;
      before.refusals = chain.refusals;
      before.tries = chain.tries;
      before.refusalsByTry = chain.refusalsByTry;
      before.steps += chain.steps;
      before.granted = chain.granted;
      for (const code of chain.codes) if (!before.codes.includes(code)) before.codes.push(code);
      before.fromUs = chain.fromUs;
      before.firstRow = chain.firstRow;
      before.lastRow = chain.lastRow;
      before.toUs = chain.toUs;
    } else {
      kept.push(chain);
      last.set(chain.context, chain);
    }
  }
  return kept;
}
