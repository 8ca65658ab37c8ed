/**
 * The I/O map: reads and writes of one file over time (x) and offset (y), with its syncs as lines.
 *
 *   offset ^  r      w w          a cell counts the calls whose bytes fall into it
 *          |    r  w      |       | sync
 *          +----------------> time
 */
import { getOrMake } from '../core/maps.ts';
import { isRead, MOVES, SYNCS } from '../../event/operations.ts';
import { bytesCarried } from '../../trace/bytes-moved.ts';
import type { Definition, FileKind } from '../../event/definitions.ts';
import type { TraceStore } from '../../trace/store.ts';
import { fact } from '../core/graph.ts';
import { fileOf } from './files.ts';

/**
 * A file as SQLite's VFS sees it, a file in OPFS, or a store of IndexedDB (whose offsets are keys).
 */
export interface IoObject {
  /** Kind and name, which don't change as a trace grows. */
  key: string;
  path: string;
  kind: FileKind | 'opfs' | 'idb-store';
  reads: number;
  writes: number;
  syncs: number;
  /** Where its highest call ended: bytes, or for a store its highest key + 1. */
  end: number;
  /** Calls without an offset (keys that aren't numbers). */
  untied: number;
}

function keyOf(d: Definition | undefined): Pick<IoObject, 'key' | 'path' | 'kind'> | null {
  const { path, kind } = fileOf(d) ?? { path: '', kind: 'storage' };
  return kind === 'storage' ? null : { key: `${kind} ${path}`, path, kind };
}
/** Databases first, then storage, then SQLite's other files. */
const RANK: Partial<Record<IoObject['kind'], number>> = {
  'main-db': 0,
  opfs: 1,
  'idb-store': 1,
  wal: 2,
};

/** Objects with calls: databases first, and within each kind the busiest. */
export const ioObjects = fact('ioObjects', 'files and stores', {}, ioObjectsOf);

function ioObjectsOf(store: TraceStore): IoObject[] {
  const found = new Map<string, IoObject>();
  const objectOf = (d: Definition | undefined): IoObject | null => {
    const named = keyOf(d);
    const none = { reads: 0, writes: 0, syncs: 0, end: 0, untied: 0 };
    return named && getOrMake(found, named.key, () => ({ ...named, ...none }));
  };
  for (const { events, definitions } of store.threads) {
    const byId = new Map<number, IoObject | null>();
    let [lastId, last]: [number, IoObject | null] = [0, null];
    for (let row = 0; row < events.count; row++) {
      const op = events.op[row]!;
      const moves = MOVES[op]!;
      if (moves === 0 && !SYNCS[op]) continue;
      const id = events.object[row]!;
      if (id !== lastId) {
        lastId = id;
        last = getOrMake(byId, id, () => objectOf(definitions.get(id)));
      }
      if (!last) continue;
      if (moves === 0) last.syncs++;
      else {
        if (isRead(moves)) last.reads++;
        else last.writes++;
        const offset = events.offset[row]!;
        if (Number.isNaN(offset)) last.untied++;
        else
          last.end = Math.max(
            last.end,
            offset + (last.kind === 'idb-store' ? 1 : Math.max(1, bytesCarried(events, row))),
          );
      }
    }
  }
  return [...found.values()].sort(
    (a, b) => (RANK[a.kind] ?? 3) - (RANK[b.kind] ?? 3) || b.reads + b.writes - a.reads - a.writes,
  );
}

export interface IoMapRequest {
  key: string;
  fromUs: number;
  toUs: number;
  /** Columns and rows of the picture. */
  width: number;
  height: number;
  /** Offsets [0, end) fill the height. */
  end: number;
}
/**
 * Cells by `row * width + column`, row 0 at the highest offset: 0 = empty, else 1 + 16 x log2 of
 * the calls.
 */
export interface IoMap {
  reads: Uint8Array;
  writes: Uint8Array;
  /** Syncs by column. */
  syncs: Uint8Array;
}

/** Code of a cell by its calls. */
const CODES = Uint8Array.from({ length: 65_536 }, (_, n) =>
  n === 0 ? 0 : 1 + Math.round(15.8 * Math.log2(n)),
);
function coded(cells: Uint16Array): Uint8Array {
  const codes = new Uint8Array(cells.length);
  for (let i = 0; i < cells.length; i++) if (cells[i]) codes[i] = CODES[cells[i]!]!;
  return codes;
}

const MAX_CELLS = 1 << 22;
/** Ids below this are looked up in an array; a page can make up any id. */
const CLOSE_IDS = 65_536;
/** Rows between two pauses for other work. */
const STRETCH = 100_000;

/**
 * @param rest awaited between groups of rows
 * @throws RangeError for a picture without cells, or with too many
 */
export async function ioMap(
  store: TraceStore,
  request: IoMapRequest,
  rest: () => Promise<void>,
): Promise<IoMap> {
  const { key, fromUs, toUs, width, height, end } = request;
  if (!(width >= 1 && height >= 1 && width * height <= MAX_CELLS && toUs > fromUs))
    throw new RangeError(`an I/O map of ${width} x ${height} cells from ${fromUs} to ${toUs} us`);
  const reads = new Uint16Array(width * height);
  const writes = new Uint16Array(width * height);
  const syncs = new Uint8Array(width);
  const perUs = width / (toUs - fromUs);
  const perByte = height / Math.max(1, end);
  const isStore = key.startsWith('idb-store ');
  for (const { events, definitions } of store.threads) {
    const ids = new Set([...definitions].flatMap(([id, d]) => (keyOf(d)?.key === key ? [id] : [])));
    if (!ids.size) continue;
    const close = new Uint8Array(CLOSE_IDS);
    for (const id of ids) if (id < CLOSE_IDS) close[id] = 1;
    const last = events.lowerBound(toUs);
    for (let row = events.lowerBound(fromUs); row < Math.min(last, events.count);) {
      const until = Math.min(last, events.count, row + STRETCH);
      for (; row < until; row++) {
        const id = events.object[row]!;
        if (id < CLOSE_IDS ? close[id] === 0 : !ids.has(id)) continue;
        const op = events.op[row]!;
        const moves = MOVES[op]!;
        const column = Math.min(width - 1, Math.floor((events.t0[row]! - fromUs) * perUs));
        if (moves === 0) {
          if (SYNCS[op]) syncs[column] = Math.min(255, syncs[column]! + 1);
          continue;
        }
        const offset = events.offset[row]!;
        if (!(offset >= 0)) continue;
        const bytes = isStore ? 1 : Math.max(1, bytesCarried(events, row));
        const low = Math.min(height - 1, Math.floor(offset * perByte));
        const high = Math.min(height - 1, Math.max(low, Math.ceil((offset + bytes) * perByte) - 1));
        const cells = isRead(moves) ? reads : writes;
        for (let y = low; y <= high; y++) {
          const cell = (height - 1 - y) * width + column;
          if (cells[cell]! < 65535) cells[cell]!++;
        }
      }
      if (row < last) await rest();
    }
  }
  return { reads: coded(reads), writes: coded(writes), syncs };
}

/**
 * The read or write of a file nearest to a point of its map, or null if none is close enough.
 * @param point microseconds and offset, each with its tolerance
 */
export function ioAt(
  store: TraceStore,
  key: string,
  point: { us: number; slackUs: number; offset: number; slack: number },
): { thread: number; row: number } | null {
  let best: { thread: number; row: number } | null = null;
  let nearest = 2;
  const isStore = key.startsWith('idb-store ');
  for (const { events, definitions, index } of store.threads) {
    const last = Math.min(events.count, events.lowerBound(point.us + point.slackUs));
    for (let row = events.lowerBound(point.us - point.slackUs); row < last; row++) {
      const offset = events.offset[row]!;
      if (
        MOVES[events.op[row]!] === 0 ||
        !(offset >= 0) ||
        keyOf(definitions.get(events.object[row]!))?.key !== key
      )
        continue;
      const bytes = isStore ? 1 : Math.max(1, bytesCarried(events, row));
      const away =
        Math.max(0, offset - point.offset, point.offset - offset - bytes) /
        Math.max(1, point.slack);
      const apart = Math.abs(events.t0[row]! - point.us) / point.slackUs;
      if (away <= 1 && away + apart < nearest) {
        nearest = away + apart;
        best = { thread: index, row };
      }
    }
  }
  return best;
}
