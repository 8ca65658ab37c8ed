/**
 * What happened in a time range: calls by operation, statement, or file, each cut at the range's
 * ends.
 *
 *   calls     [==]   [=====|==]          |
 *   area                   |-------------|      counts calls that touch it; `total` is what lies inside
 */
import { hasCall } from '../core/layers.ts';
import { MOVES, opTable, isVfsOp } from '../../event/operations.ts';
import { bytesCarried, bytesMoved } from '../../trace/bytes-moved.ts';
import { UNKNOWN_SQL } from '../../text/clean.ts';
import { objectName } from '../../trace/describe.ts';
import { fileOf, IS_NAMELESS, UNKNOWN_FILE, type FileRow } from '../files/files.ts';
import { OPS, opName, type Layer, type OpInfo } from '../../event/operations.ts';
import type { EventColumns } from '../../trace/columns.ts';
import type { EventRef, ThreadStore, TraceStore } from '../../trace/store.ts';
import { longer } from '../../trace/typed-arrays.ts';
import { threadEndUs } from '../../trace/thread-end.ts';
import { definedAs, isInMemory, targetOf } from '../../trace/in-memory.ts';
import { Durations } from '../core/durations.ts';
import { fingerprintsOf } from '../core/fingerprints.ts';

export type AreaBy = 'operation' | 'statement' | 'file';
interface AreaRequest {
  /** [fromUs, toUs) */
  fromUs: number;
  toUs: number;
  by: AreaBy;
  /** Indices in TraceStore.threads; null = all. */
  threads: readonly number[] | null;
  layers: readonly Layer[];
}

export interface AreaRow {
  /**
   * The same on every thread and in every range. All spellings of one statement share it: their
   * fingerprint.
   */
  key: string;
  /** For a statement its text in its first run. */
  name: string;
  /** For a file; '' for other groups. */
  kind: FileRow['kind'] | '';
  /** Calls that touch the area. */
  count: number;
  /** Microseconds of them inside the area. */
  totalUs: number;
  /**
   * For the whole calls, including the time outside the area: the mean, and percentiles to within
   * 0.8 %.
   */
  meanUs: number;
  p50Us: number;
  p95Us: number;
  maxUs: number;
  /**
   * Bytes that they moved; for a statement, those of the VFS calls made for it (or of storage
   * calls, if no VFS call was recorded).
   */
  bytes: number;
  /** The longest call. */
  longest: EventRef;
}

/**
 * Rows of a block, and the latest end among them, so that blocks that ended before the area are
 * skipped.
 */
const SHIFT = 12;
/** Ids below this are looked up in an array. */
const CLOSE_IDS = 65_536;
const [SQL, VFS] = [1, 2];
/** Replaces a group's number: not a file, and a file whose definition is lost. */
const [NONE, LOST] = [-1, -2];
/** Indices in Groups.sums; the last two name the longest call. */
const [TOTAL_US, WHOLE_US, BYTES, MAX_US, THREAD, ROW] = [0, 1, 2, 3, 4, 5] as const;
const PLACES = 6;
type BlockEnds = readonly Float64Array[];

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

/** What calls other than by statement are grouped by: their operation, or their target. */
export const groupIdOf = (by: AreaBy, events: EventColumns, row: number): number =>
  by === 'file'
    ? targetOf(events, row)
    : events.op[row]! + (isInMemory(events, row) ? OPS.length : 0); // not storage: separate

/** The group of such an id, or of a statement's text; null = none. */
export function groupOf(thread: ThreadStore, by: AreaBy, id: number): GroupNames | null {
  if (by === 'statement') {
    const text = objectName(thread, id);
    return groupNames(text || UNKNOWN_SQL, '', fingerprintsOf(thread)(id) || undefined);
  }
  if (by === 'operation')
    return groupNames(
      `${opName(id % OPS.length)}${id < OPS.length ? '' : ' (memory journal)'}`,
      '',
    );
  const file = fileOf(definedAs(thread.definitions, id));
  return file && groupNames(file.path, file.kind);
}

type GroupNames = Pick<AreaRow, 'key' | 'name' | 'kind'>;
const groupNames = (name: string, kind: AreaRow['kind'], shape = name): GroupNames => ({
  key: `${kind} ${shape}`,
  name,
  kind,
});

interface Group extends GroupNames {
  durations: Durations;
}

/** Sums by group, in one array: objects with a number each would be changed a million times. */
class Groups {
  readonly all: Group[] = [];
  /** By group and place. */
  sums: Float64Array = new Float64Array(16 * PLACES);
  private readonly places = new Map<string, number>();

  /** Number of the group of this key, from 1. */
  of(names: GroupNames): number {
    let number = this.places.get(names.key);
    if (number !== undefined) return number;
    number = this.all.push({ ...names, durations: new Durations() });
    this.places.set(names.key, number);
    this.sums = longer(this.sums, number * PLACES);
    this.sums[(number - 1) * PLACES + MAX_US] = -1;
    return number;
  }

  rows({ threads }: TraceStore): AreaRow[] {
    return this.all.map(({ key, name, kind, durations }, i) => {
      const of = (place: number): number => this.sums[i * PLACES + place]!;
      const [count, totalUs] = [durations.count, of(TOTAL_US)];
      return {
        key,
        name,
        kind,
        count,
        totalUs,
        meanUs: count ? of(WHOLE_US) / count : 0,
        maxUs: of(MAX_US),
        bytes: of(BYTES),
        longest: threads[of(THREAD)]!.ref(of(ROW)),
        p50Us: durations.percentile(0.5),
        p95Us: durations.percentile(0.95),
      };
    });
  }
}

/**
 * @param statements by thread: id of the statement's text by row, 0 = not known; needed for `by:
 * 'statement'` @param until the trace's end, microseconds: calls without an end end there, or with
 * their thread @param blockEnds called if calls began before the area
 */
export function areaRows(
  store: TraceStore,
  request: AreaRequest,
  until: number,
  statements: (thread: ThreadStore) => ArrayLike<number>,
  blockEnds: () => BlockEnds = () => blockEndsOf(store),
): AreaRow[] {
  const groups = new Groups();
  for (const thread of store.threads) {
    if (request.threads && !request.threads.includes(thread.index)) continue;
    const scan = new ThreadScan(
      thread,
      request,
      threadEndUs(thread, until),
      request.by === 'statement' ? statements(thread) : null,
      groups,
    );
    scan.run(() => blockEnds()[thread.index]!);
  }
  return groups.rows(store);
}

/**
 * The calls of one thread, block by block: a function that is called often is compiled sooner than
 * a long loop.
 */
class ThreadScan {
  private readonly shown: Uint8Array;
  /** By operation code: 1 = an SQL call, 2 = a VFS call. */
  private readonly layerOf = opTable(({ layer }) =>
    layer === 'sql' ? SQL : layer === 'vfs' ? VFS : 0,
  );
  /** Numbers of groups by id; 0 = not looked up. */
  private readonly close = new Int32Array(CLOSE_IDS);
  private readonly far = new Map<number, number>(); // a page can make up any id
  /** The layer whose calls count for a statement's bytes. */
  private readonly moving: number;

  constructor(
    private readonly thread: ThreadStore,
    private readonly request: AreaRequest,
    private readonly until: number,
    private readonly statements: ArrayLike<number> | null,
    private readonly groups: Groups,
  ) {
    const { by, layers } = request;
    const wanted = ({ layer }: OpInfo): boolean =>
      by === 'statement'
        ? layer !== 'host'
        : layers.includes(layer) && (by !== 'file' || layer === 'vfs' || layer === 'web');
    this.shown = opTable(wanted);
    this.moving = by === 'statement' && hasCall(thread, isVfsOp) ? VFS : 0;
  }

  run(blockEnds: () => Float64Array): void {
    const { events } = this.thread;
    const { fromUs, toUs } = this.request;
    const end = events.lowerBound(toUs);
    const first = events.lowerBound(fromUs);
    const ends = first > 0 ? blockEnds() : null;
    for (let block = 0; block << SHIFT < end; block++) {
      const [from, to] = [block << SHIFT, Math.min((block + 1) << SHIFT, end)];
      if (to <= first && ends![block]! <= fromUs) continue;
      this.rows(from, to, first);
    }
  }

  /** @returns its number; by file also NONE or LOST */
  private groupOf(id: number): number {
    const { thread, close, groups } = this;
    const known = id < close.length ? 0 : this.far.get(id);
    if (known) return known;
    const { by } = this.request;
    const found = groupOf(thread, by, id);
    const none = by === 'file' && !definedAs(thread.definitions, id) ? LOST : NONE;
    const group = found ? groups.of(found) : none;
    if (id < close.length) close[id] = group;
    else this.far.set(id, group);
    return group;
  }

  /** @param first the first row that begins in the area */
  private rows(from: number, to: number, first: number): void {
    const { shown, layerOf, close, statements, until, moving, groups } = this;
    const { events, index: thread } = this.thread;
    const { op, t0, dur, endSeq } = events;
    const { fromUs, toUs, by } = this.request;
    let { sums } = groups;
    for (let row = from; row < to; row++) {
      const code = op[row]!;
      if (!shown[code]) continue;
      const begin = t0[row]!;
      const whole = endSeq[row] === 0 ? Math.max(0, until - begin) : dur[row]!;
      if (row < first && begin + whole <= fromUs) continue;
      const id = statements ? statements[row]! : groupIdOf(by, events, row);
      if (id === 0 && by === 'statement') continue;
      let number = id < close.length ? close[id]! : 0;
      if (number === 0) {
        number = this.groupOf(id);
        ({ sums } = groups);
      }
      if (number < 0) {
        if (number === NONE || !IS_NAMELESS[code]) continue;
        const inMemory = isInMemory(events, row);
        number = groups.of(
          groupNames(UNKNOWN_FILE.path, inMemory ? 'memory-journal' : UNKNOWN_FILE.kind),
        );
        ({ sums } = groups);
      }
      const at = (number - 1) * PLACES;
      if (statements && layerOf[code] !== SQL) {
        if (layerOf[code] === moving) sums[at + BYTES]! += bytesMoved(events, row);
        continue;
      }
      groups.all[number - 1]!.durations.add(whole);
      sums[at + WHOLE_US]! += whole;
      sums[at + TOTAL_US]! +=
        begin >= fromUs && begin + whole <= toUs
          ? whole
          : Math.min(toUs, begin + whole) - Math.max(fromUs, begin);
      if (MOVES[code]) sums[at + BYTES]! += bytesCarried(events, row);
      if (whole > sums[at + MAX_US]!) {
        sums[at + MAX_US] = whole;
        sums[at + THREAD] = thread;
        sums[at + ROW] = row;
      }
    }
  }
}
