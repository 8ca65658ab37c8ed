/**
 * The flame graph: statement -> VFS call -> storage call, or the other way around. A frame is as
 * wide as the time of it and its callees. A statement's frame has the same time as in the table of
 * statements, because both come from one sweep.
 */
import type { ThreadStore } from '../../trace/store.ts';
import { executions } from '../core/executions.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';
import type { Facts, Known } from '../core/graph.ts';
import { threadFact } from '../core/graph.ts';
import { hasSql } from '../core/layers.ts';
import { getOrMake } from '../core/maps.ts';
import { isInScope, type Scope } from '../core/scope.ts';
import { PARTS, type Part } from '../core/time-parts.ts';
import { isWhole, type TimeRange } from '../core/time-range.ts';
import { KEYS, type CallTimes } from '../time/call-times.ts';
import { sweeps } from '../time/thread-times.ts';
import { textOfSql } from '../time/time-shares.ts';
import { frameCall, frameKeys, frameName, OWN, type CallKind } from './call-frames.ts';
import { recordedTexts, type RecordedTexts } from '../core/recorded-texts.ts';
import { statementsIn, type StatementTest } from './statements-in-scope.ts';
import { within } from './statement-counts.ts';

export interface Frame {
  /** Index of the frame above; -1 = none. */
  parent: number;
  depth: number;
  /** `own`: SQLite's own code, in the inverted graph. `function`: from CPU samples. */
  kind: 'statement' | 'vfs' | 'storage' | 'own' | 'function';
  /** Fingerprint of a statement, null = not known; else the call: `xRead main-db`, `idb.get`. */
  name: string | null;
  /** The shown text of a statement, if known; else null. */
  sql: string | null;
  /**
   * Calls that began in the range; for a statement its executions; for samples their number. In the
   * inverted graph, calls of the topmost frame.
   */
  calls: number;
  /** Microseconds, and the part that no frame below has. */
  totalUs: number;
  selfUs: number;
  /** What most of the time was. */
  part: Part;
  /** Kind of the call; null = not a call, or one that only waits. */
  call: CallKind | null;
}
export interface FlameGraph {
  /** Each frame is followed by those below it, the widest first. */
  frames: Frame[];
  totalUs: number;
}

/** A frame while it is being summed. */
export interface Node extends Pick<Frame, 'kind' | 'name' | 'calls' | 'call'> {
  /** Own nanoseconds by part. */
  self: Float64Array;
  below: Map<number | string | null, Node>;
}
export const newNode = (
  kind: Frame['kind'],
  name: string | null,
  call: CallKind | null = null,
): Node => ({
  ...{ kind, name, call },
  calls: 0,
  self: new Float64Array(PARTS.length),
  below: new Map(),
});

/** A frame with everything below it: nanoseconds by part, and their sum. */
interface Totals {
  node: Node;
  ns: Float64Array;
  sum: number;
  below: Totals[];
}

const NEEDS = { sweeps };
const timesIn = (
  thread: ThreadStore,
  { sweeps }: Known<typeof NEEDS>,
  range: TimeRange,
): CallTimes => {
  const { events } = thread;
  const keys = frameKeys(thread, (sql) => textOfSql(events, sql));
  const times = sweeps.of(thread).callTimes(keys, range);
  times.countCalls(range);
  return times;
};

/** For the entire thread. */
const callPaths = threadFact('callPaths', 'time of each call', NEEDS, (thread, known) =>
  timesIn(thread, known, {}),
);

/** Needs of `flameGraph`. */
export const FLAME_NEEDS = { callPaths, executions, recordedTexts, ...NEEDS };

/**
 * @param scope its range, thread, statement, and part of time @param inverted calls at the top,
 * each with its own time, and their callers below
 * @returns null if no SQL call was recorded
 */
export function flameGraph(facts: Facts, scope: Scope, inverted = false): FlameGraph | null {
  const { threads } = facts.store;
  if (!threads.some(hasSql)) return null;
  const known = facts.known(FLAME_NEEDS);
  const taken = statementsIn(facts, scope);
  const top = newNode('statement', null);
  for (const thread of threads) {
    if (!isInScope(thread, scope)) continue;
    const times = isWhole(scope) ? known.callPaths.of(thread) : timesIn(thread, known, scope);
    addThread(top, thread, times, scope, taken);
    countExecutions(top, thread, known, scope, taken);
  }
  return graphOf(inverted ? invertedOf(top) : top, scope.part !== undefined, known.recordedTexts);
}

/** The frame of a statement. */
export const statementOf = (top: Node, text: string | null): Node =>
  getOrMake(top.below, text, () => newNode('statement', text));

function addThread(
  top: Node,
  thread: ThreadStore,
  times: CallTimes,
  scope: Scope,
  taken: StatementTest | null,
): void {
  const textOf = fingerprintsOf(thread);
  const nodes: (Node | null)[] = [];
  for (let place = 0; place < times.count; place++) {
    const level = times.level[place]!;
    const key = times.key[place]!;
    let node: Node | null;
    if (level === 0) {
      const text = textOf(key);
      node = !taken || taken(text) ? statementOf(top, text) : null;
    } else {
      const above = nodes[times.parent[place]!]!;
      node =
        above &&
        getOrMake(above.below, level * KEYS + key, () =>
          newNode(
            level === 1 ? 'vfs' : 'storage',
            frameName(times, place),
            frameCall(times, place),
          ),
        );
    }
    nodes.push(node);
    if (!node) continue;
    node.calls += times.calls[place]!;
    PARTS.forEach((name, part) => {
      if (scope.part === undefined || scope.part === name)
        node.self[part]! += times.ns[place * PARTS.length + part]!;
    });
  }
}
/** The same executions as in the table of statements: those that begin in the range. */
function countExecutions(
  top: Node,
  thread: ThreadStore,
  { executions }: Known<typeof FLAME_NEEDS>,
  scope: Scope,
  taken: StatementTest | null,
): void {
  const { t0 } = thread.events;
  const textOf = fingerprintsOf(thread);
  const all = executions.of(thread);
  for (let i = 0; i < all.count; i++) {
    if (!within(t0[all.firstRow[i]!]!, scope)) continue;
    const text = textOf(all.text[i]!);
    if (!taken || taken(text)) statementOf(top, text).calls++;
  }
}

/** Each frame with its own time or calls at the top, and the frames above it below. */
export function invertedOf(top: Node): Node {
  const inverted = newNode('statement', null);
  const turn = (node: Node, above: readonly Node[]): void => {
    for (const next of node.below.values()) turn(next, [...above, node]);
    if (node.calls === 0 && node.self.every((ns) => ns === 0)) return;
    const own = node.kind === 'statement';
    const path = [
      own ? newNode('own', OWN) : node,
      ...(own ? [node] : []),
      ...[...above].reverse(),
    ];
    let at = inverted;
    for (const { kind, name, call } of path) {
      at = getOrMake(at.below, `${kind} ${name}`, () => newNode(kind, name, call));
      at.calls += node.calls;
    }
    node.self.forEach((ns, part) => (at.self[part]! += ns));
  };
  for (const statement of top.below.values()) turn(statement, []);
  return inverted;
}

/**
 * Frames in order, and their totals, without those that have neither time nor calls.
 * @param timed also those without time
 */
export function graphOf(top: Node, timed: boolean, texts: RecordedTexts): FlameGraph {
  const frames: Frame[] = [];
  const totalsOf = (node: Node): Totals => {
    const below = [...node.below.values()].map(totalsOf);
    const ns = node.self.slice();
    for (const one of below) one.ns.forEach((n, part) => (ns[part]! += n));
    return { node, ns, sum: ns.reduce((a, b) => a + b, 0), below };
  };
  const list = ({ node, ns, sum, below }: Totals, parent: number, depth: number): void => {
    if (sum === 0 && (timed || (node.calls === 0 && below.length === 0))) return;
    const own = node.self.reduce((a, b) => a + b, 0);
    const place = frames.push({
      ...{ parent, depth, kind: node.kind, name: node.name, calls: node.calls },
      sql: node.kind === 'statement' && node.name !== null ? texts.get(node.name)! : null,
      totalUs: sum / 1000,
      selfUs: own / 1000,
      part: PARTS[ns.indexOf(Math.max(...ns))]!,
      call: node.call,
    });
    listAll(below, place - 1, depth + 1);
  };
  const listAll = (all: Totals[], parent: number, depth: number): void =>
    all
      .sort((a, b) => b.sum - a.sum || b.node.calls - a.node.calls)
      .forEach((one) => list(one, parent, depth));
  const { below, sum } = totalsOf(top);
  listAll(below, -1, 0);
  return { frames, totalUs: sum / 1000 };
}
