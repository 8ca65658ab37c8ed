/**
 * What happened in a stretch of time: calls by operation, statement or file, each call cut at the stretch's ends.
 *
 *   calls     [==]   [=====|==]          |
 *   area                   |-------------|      counts calls that touch it; `total` is what lies inside
 */
import { bytesMoved } from '../bytes-moved.ts';
import { objectName } from '../describe.ts';
import { OPS, opName, type Layer, type OpInfo } from '../event.ts';
import type { ThreadStore, TraceStore } from '../store.ts';
import { Durations } from './durations.ts';

export type AreaBy = 'operation' | 'statement' | 'file';
export interface AreaRequest {
  /** [fromUs, toUs) */
  fromUs: number;
  toUs: number;
  by: AreaBy;
  /** Places in TraceStore.threads; null = all. */
  threads: readonly number[] | null;
  layers: readonly Layer[];
}

export interface AreaRow {
  name: string;
  /** null where the group has calls of several. */
  layer: Layer | null;
  /** Calls that touch the area. */
  count: number;
  /** Microseconds of them inside the area, and on average. */
  totalUs: number;
  meanUs: number;
  /** Of the whole calls, to within 0.8 %. */
  p50Us: number;
  p95Us: number;
  maxUs: number;
  /** Bytes that they moved; by statement those of the VFS calls (or storage calls, where no VFS call was seen) made for it. */
  bytes: number;
  /** The longest call. Its row is its place in the columns. */
  longest: { thread: number; row: number };
}

/** Rows of a block, and the latest end among them: blocks that ended before the area are passed over. */
const SHIFT = 12;
/** Ids below are looked up in an array. */
const CLOSE_IDS = 65_536;
export type BlockEnds = readonly Float64Array[];

/** Latest end by block of rows, for every thread. */
export function blockEndsOf(store: TraceStore): BlockEnds {
  return store.threads.map(({ events }) => {
    const ends = new Float64Array((events.count >>> SHIFT) + 1);
    for (let row = 0; row < events.count; row++) {
      const end = events.endSeq[row] === 0 ? Infinity : events.t0[row]! + events.dur[row]!;
      if (end > ends[row >>> SHIFT]!) ends[row >>> SHIFT] = end;
    }
    return ends;
  });
}

class Group {
  readonly durations = new Durations();
  totalUs = 0;
  bytes = 0;
  maxUs = -1;
  longest = { thread: 0, row: 0 };
  constructor(
    readonly name: string,
    public layer: Layer | null,
  ) {}
}

/**
 * @param statements by thread: id of the statement's text by row, 0 = none known; needed for `by: 'statement'`
 * @param until where calls without an end are taken to end, microseconds
 */
export function areaRows(
  store: TraceStore,
  request: AreaRequest,
  until: number,
  statements: (thread: ThreadStore) => ArrayLike<number>,
  blockEnds: BlockEnds = blockEndsOf(store),
): AreaRow[] {
  const groups = new Map<string, Group>();
  for (const thread of store.threads) {
    if (request.threads && !request.threads.includes(thread.index)) continue;
    addThread(thread, request, until, request.by === 'statement' ? statements(thread) : null, blockEnds[thread.index]!, groups);
  }
  return [...groups.values()].map(({ name, layer, durations, totalUs, bytes, maxUs, longest }) => ({
    ...{ name, layer, count: durations.count, totalUs, meanUs: durations.count ? totalUs / durations.count : 0, maxUs, bytes, longest },
    ...{ p50Us: durations.percentile(0.5), p95Us: durations.percentile(0.95) },
  }));
}

function addThread(
  thread: ThreadStore,
  { fromUs, toUs, by, layers }: AreaRequest,
  until: number,
  statements: ArrayLike<number> | null,
  blockEnds: Float64Array,
  groups: Map<string, Group>,
): void {
  const { events } = thread;
  const { op, t0, dur, endSeq, object } = events;
  const wanted = ({ layer }: OpInfo): boolean =>
    by === 'statement' ? layer !== 'host' : layers.includes(layer) && (by !== 'file' || layer === 'vfs' || layer === 'web');
  const shown = Uint8Array.from(OPS, (info) => (info && wanted(info) ? 1 : 0));
  const isSql = Uint8Array.from(OPS, (info) => (info?.layer === 'sql' ? 1 : 0));
  const isVfs = Uint8Array.from(OPS, (info) => (info?.layer === 'vfs' ? 1 : 0));
  const close: (Group | undefined)[] = [];
  const far = new Map<number, Group>(); // a page can make up any id
  const groupOf = (id: number, row: number): Group => {
    const name = by === 'operation' ? opName(id) : objectName(thread, id) || (by === 'statement' ? 'statement not known' : 'no file');
    const layer = by === 'statement' ? 'sql' : OPS[op[row]!]!.layer;
    let group = groups.get(name);
    if (!group) groups.set(name, (group = new Group(name, layer)));
    if (id < CLOSE_IDS) close[id] = group;
    else far.set(id, group);
    return group;
  };
  const vfsSeen = by === 'statement' && hasVfs(thread, isVfs);
  const end = events.lowerBound(toUs);
  const first = events.lowerBound(fromUs);
  for (let row = 0; row < end; row++) {
    if (row < first && (row & ((1 << SHIFT) - 1)) === 0) {
      const block = row >>> SHIFT;
      if (blockEnds[block]! <= fromUs && (block + 1) << SHIFT <= first) {
        row = ((block + 1) << SHIFT) - 1;
        continue;
      }
    }
    const code = op[row]!;
    if (!shown[code]) continue;
    const begin = t0[row]!;
    const whole = endSeq[row] === 0 ? Math.max(0, until - begin) : dur[row]!;
    if (row < first && begin + whole <= fromUs) continue;
    const id = statements ? statements[row]! : by === 'file' ? object[row]! : code;
    if (id === 0 && by !== 'operation') continue;
    const group = (id < CLOSE_IDS ? close[id] : far.get(id)) ?? groupOf(id, row);
    if (by === 'statement' && !isSql[code]) {
      if ((isVfs[code] === 1) === vfsSeen) group.bytes += bytesMoved(events, row);
      continue;
    }
    if (group.layer !== null && by === 'file' && group.layer !== OPS[code]!.layer) group.layer = null;
    group.durations.add(whole);
    group.totalUs += begin >= fromUs && begin + whole <= toUs ? whole : Math.min(toUs, begin + whole) - Math.max(fromUs, begin);
    group.bytes += bytesMoved(events, row);
    if (whole > group.maxUs) {
      group.maxUs = whole;
      group.longest = { thread: thread.index, row };
    }
  }
}

function hasVfs({ events }: ThreadStore, isVfs: Uint8Array): boolean {
  for (let row = 0; row < events.count; row++) if (isVfs[events.op[row]!]) return true;
  return false;
}
