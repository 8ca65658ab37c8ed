/**
 * Sums time while SQL runs by call path, during a sweep. A moment belongs to the call that decides
 * it (time-partition.ts), and so to one path: its root, the VFS call, the storage call.
 *
 *   sqlite3_step     ============================
 *   xRead               ==================
 *   idb.get                ~~~~~~~~~~
 *   path             ssss|vvv|wwwwwwwwww|vvv|ssss     s SELECT   v SELECT > xRead   w SELECT > xRead > idb.get
 *
 * No moment counts twice, even if storage calls overlap: a path and everything below it never
 * exceed the path above.
 */
import { isSqlOp, isVfsOp } from '../../event/operations.ts';
import type { EventColumns } from '../../trace/columns.ts';
import type { Owners } from '../../trace/owners.ts';
import { longer } from '../../trace/typed-arrays.ts';
import { ById } from '../core/by-id.ts';
import { IS_WEB_CALL } from '../core/layers.ts';
import { PARTS } from '../core/time-parts.ts';
import { isWhole, type TimeRange } from '../core/time-range.ts';
import type { TimeKeeper } from './time-shares.ts';

/** The keys of paths. */
export interface PathKeys {
  /** The root of an SQL call: any whole number; 0 = none. */
  root(sql: number): number;
  /** Calls without a root have no path: they all have place 0. */
  rooted?: boolean;
  /** The key of VFS calls: a whole number below KEYS; -1 = none, so their time is the root's. */
  vfs(row: number): number;
  /** Storage calls are distinguished by operation. */
  storage?: boolean;
}

/** Maximum keys of a level. */
export const KEYS = 2 ** 24;
/** In a path's number, after the place above it. */
const LEVEL = 2 * KEYS;

export class CallTimes implements TimeKeeper {
  /**
   * By place: the place above it, -1 = none; and its key by `PathKeys`: a root, the key of a VFS
   * call, a code in `Op`.
   */
  parent: Int32Array = new Int32Array(64).fill(-1);
  key: Float64Array = new Float64Array(64);
  /** By place: 0 = a root, 1 = a VFS call, 2 = a storage call or the tracer. */
  level: Uint8Array = new Uint8Array(64);
  ns: Float64Array = new Float64Array(64 * PARTS.length);
  readings: Float64Array = new Float64Array(64 * PARTS.length);
  readonly openEnds: number[] = [0];
  /** By place: calls that began in the range; see `countCalls`. */
  calls: Float64Array = new Float64Array(64);
  count = 1;
  private readonly roots = new ById<number>();
  private readonly below = new Map<number, number>();
  /** Calls made by one call follow each other: the last lookup. */
  private sql = -2;
  private root = 0;
  private vfs = -2;
  private from = -1;
  private vfsPlace = 0;

  constructor(
    private readonly events: EventColumns,
    private readonly owners: Owners,
    private readonly keys: PathKeys,
  ) {}

  placeOf(row: number): number {
    return this.placeAt(row, row);
  }

  placeAt(winner: number, engine: number): number {
    const { keys, owners } = this;
    let root = this.rootOf(winner);
    let serving = winner;
    if (root === 0) {
      const other = this.rootOf(engine);
      if (other !== 0 || owners.engine(winner) < 0) serving = engine;
      root = other;
    }
    if (root === 0 && keys.rooted) return 0;
    const vfs = owners.vfs(serving);
    const above = vfs < 0 ? root : this.placeOfVfs(root, vfs);
    const op = this.events.op[winner]!;
    return keys.storage && !isVfsOp(op) && !isSqlOp(op) ? this.child(above, 2, op) : above;
  }

  /** Count the calls that began in a range, without those that the app itself made. */
  countCalls({ fromUs, toUs }: TimeRange): void {
    const { events, owners } = this;
    const [from, to] = isWhole({ fromUs, toUs })
      ? [0, events.count]
      : [events.lowerBound(fromUs ?? -Infinity), events.lowerBound(toUs ?? Infinity)];
    for (let row = from; row < to; row++) {
      const op = events.op[row]!;
      if ((isVfsOp(op) || IS_WEB_CALL[op]) && owners.engine(row) >= 0) {
        const place = this.placeOf(row);
        this.calls[place]!++; // the array may have grown in between
      }
    }
  }

  /** Place of the root that a call serves. */
  private rootOf(row: number): number {
    const sql = this.owners.sql(row);
    if (sql !== this.sql) {
      this.sql = sql;
      const key = sql < 0 ? 0 : this.keys.root(sql);
      this.root =
        key === 0 ? 0 : (this.roots.get(key) ?? this.roots.set(key, this.add(-1, 0, key)));
    }
    return this.root;
  }

  private placeOfVfs(root: number, row: number): number {
    if (row !== this.vfs || root !== this.from) {
      this.vfs = row;
      this.from = root;
      const key = this.keys.vfs(row);
      this.vfsPlace = key < 0 ? root : this.child(root, 1, key);
    }
    return this.vfsPlace;
  }

  private child(parent: number, level: 1 | 2, key: number): number {
    const number = parent * LEVEL + (level - 1) * KEYS + key;
    let place = this.below.get(number);
    if (place === undefined) this.below.set(number, (place = this.add(parent, level, key)));
    return place;
  }

  private add(parent: number, level: number, key: number): number {
    const place = this.count++;
    this.parent = longer(this.parent, this.count);
    this.key = longer(this.key, this.count);
    this.level = longer(this.level, this.count);
    this.calls = longer(this.calls, this.count);
    this.ns = longer(this.ns, this.count * PARTS.length);
    this.readings = longer(this.readings, this.count * PARTS.length);
    this.openEnds.push(0);
    this.parent[place] = parent;
    this.level[place] = level;
    this.key[place] = key;
    return place;
  }
}
