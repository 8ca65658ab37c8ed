// Messages that a page forges: sent through the guards, and, if they pass, through a recording's
// ports into a store.
import {
  checkedThreadCommand,
  checkedThreadMessage,
  isRelayMessage,
  PROTOCOL_VERSION,
} from '../../src/protocol/messages.ts';
import { Field, RECORD_BYTES } from '../../src/event/event.ts';
import { TraceStore } from '../../src/trace/store.ts';
import { randomOf, type Random } from './random.ts';

const ODD = [
  undefined,
  null,
  NaN,
  Infinity,
  -1,
  0.5,
  2 ** 53,
  1e300,
  '',
  'a',
  '__proto__',
  'x'.repeat(70_000),
  [],
  {},
  [[]],
  true,
  new ArrayBuffer(8),
];
const KINDS = [
  'file',
  'sql',
  'engine',
  'note',
  'environment',
  'values',
  'stack',
  'b-tree-pages',
  'b-tree-names',
  'database-header',
  'storage',
  'cost',
  'nothing',
];
const KEYS = [
  'id',
  'kind',
  'text',
  'path',
  'fileKind',
  'vfs',
  'name',
  'layers',
  'values',
  'of',
  'file',
  'at',
  'page',
  'children',
  'topic',
  'url',
  'toString',
];

function object(
  r: Random,
  keys: readonly string[],
  honest: Record<string, unknown>,
): Record<string, unknown> {
  const made: Record<string, unknown> = { ...honest };
  for (let k = r.below(3); k > 0; k--) {
    const key = r.of(keys);
    if (r.chance(0.3)) delete made[key];
    else made[key] = r.of(ODD);
  }
  return made;
}
const definition = (r: Random): unknown =>
  r.chance(0.1)
    ? r.of(ODD)
    : object(r, KEYS, {
        kind: r.of(KINDS),
        id: r.below(5),
        text: 'a',
        path: '/a.db',
        fileKind: 'main-db',
        vfs: '',
        name: 'e',
        layers: {},
        of: 1,
        values: ['1'],
        topic: 'engine',
      });

/** @param at approximate number of earlier records */
function records(r: Random, n: number, at: number): ArrayBuffer {
  const buffer = new ArrayBuffer(n * RECORD_BYTES);
  const [f64, u32] = [new Float64Array(buffer), new Uint32Array(buffer)];
  for (let i = 0; i < u32.length; i++)
    u32[i] = r.chance(0.8) ? r.below(40) : r.of([0, 255, 0xffffffff, 0x7ff00000, 0x80000000]);
  for (let i = 0; i < f64.length; i += RECORD_BYTES / 8) {
    f64[i] = r.chance(0.8) ? i : r.of([NaN, Infinity, 1e300, -1e12, 4.6e9]);
    f64[i + 1] = r.chance(0.8) ? i + 1 : r.of([NaN, -Infinity, 1e300, 4.5e9]);
  }
  for (let i = 0; i < n; i++)
    if (r.chance(0.9)) u32[(i * RECORD_BYTES + Field.seq) >>> 2] = 2 * (at + i) + 1;
  return buffer;
}

function message(r: Random, at: number): unknown {
  if (r.chance(0.05)) return r.of(ODD);
  const id = r.of(['a', 'b']);
  switch (r.below(5)) {
    case 0: {
      const thread = object(r, ['id', 'kind', 'url', 'name', 'parent'], {
        id,
        kind: 'worker',
        url: '',
        name: '',
        parent: null,
      });
      return object(r, ['k', 'protocol', 'timeOrigin', 'thread'], {
        k: 'hello',
        protocol: PROTOCOL_VERSION,
        timeOrigin: r.of([0, 1.7e12, 1e300]),
        thread,
      });
    }
    case 1:
      return object(r, ['k', 'thread', 'reason'], { k: 'bye', thread: id, reason: 'closed' });
    default: {
      const count = r.below(30);
      const definitions = Array.from({ length: r.chance(0.7) ? 0 : r.below(4) }, () =>
        definition(r),
      );
      const batch = {
        thread: id,
        first: r.chance(0.8) ? at : r.below(100),
        count,
        timeOrigin: r.of([0, 0, 1.7e12]),
        dropped: 0,
        faults: 0,
        definitions,
        records: records(r, count, at),
      };
      return {
        k: 'batch',
        batch: object(
          r,
          ['thread', 'first', 'count', 'timeOrigin', 'dropped', 'records', 'definitions'],
          batch,
        ),
      };
    }
  }
}

/**
 * @returns a store of what passed the guards @throws Error if one of them throws, or rows are out
 * of order
 */
export function forgedStore(seed: number, messages = 40): TraceStore {
  const r = randomOf(seed);
  const store = new TraceStore(0);
  for (let i = 0; i < messages; i++) {
    const said = message(r, 30 * i);
    checkedThreadCommand(said);
    isRelayMessage(said);
    const checked = checkedThreadMessage(said);
    if (checked?.k === 'hello') store.thread({ ...checked.thread, timeOrigin: checked.timeOrigin });
    else if (checked?.k === 'batch') store.threadById(checked.batch.thread)?.append(checked.batch);
    else if (checked?.k === 'bye')
      store.threads.forEach((thread) => (thread.ended ??= checked.reason));
  }
  for (const { events } of store.threads)
    for (let i = 1; i < events.count; i++)
      if (events.seq[i]! <= events.seq[i - 1]! || events.t0[i]! < events.t0[i - 1]!)
        throw new Error(`forged messages of seed ${seed}: row ${i} is out of order`);
  return store;
}
