/**
 * Holds and waits as columns: who (thread, connection), what (resource), in which mode, from when
 * to when. A resource is a Web Lock's name, an OPFS file open for synchronous access, an IndexedDB
 * database with its stores, or a database file locked by SQLite.
 */
import { columns } from '../../trace/number-columns.ts';
import { lockLevelText } from '../../sqlite/constants.ts';

export type ResourceKind = 'web-lock' | 'access-handle' | 'idb' | 'sqlite';
export interface LockResource {
  kind: ResourceKind;
  /** Name of the lock, path of the file, name of the database. */
  name: string;
  /** Of the page or worker, because an origin shares storage and locks. */
  origin: string;
}

/** Modes of Web Locks and IndexedDB transactions. SQLite's are its lock levels, 1..4. */
export const Mode = { shared: 1, exclusive: 4 } as const;

/** A mode as text, in the terms of its kind. */
export function modeText(kind: ResourceKind, mode: number): string {
  if (kind === 'sqlite') return lockLevelText(mode);
  if (kind === 'idb') return mode >= 4 ? 'readwrite' : 'readonly';
  return mode >= 4 ? 'exclusive' : 'shared';
}

/** How an interval ended. */
export const Outcome = {
  /** Released; granted. */
  done: 0,
  /** SQLITE_BUSY, NoModificationAllowedError, ifAvailable without success, aborted. */
  refused: 1,
  /** Not ended at the trace's end, or when its thread ended. */
  open: 2,
} as const;

export class IntervalColumns extends columns({
  /** Place in TraceStore.threads. */
  thread: Uint16Array,
  /** SQLite connection, IndexedDB transaction or access handle; 0 = not known. */
  context: Uint32Array,
  /** Place in Locks.resources. */
  resource: Uint32Array,
  mode: Uint8Array,
  outcome: Uint8Array,
  /** Microseconds. */
  from: Float64Array,
  to: Float64Array,
  /** Row of the call that requested it. */
  row: Uint32Array,
}) {
  /** @returns its index */
  push(
    thread: number,
    context: number,
    resource: number,
    mode: number,
    outcome: number,
    from: number,
    to: number,
    row: number,
  ): number {
    if (this.count === this.capacity) this.reserve(1); // as in Accesses.push
    const i = this.count++;
    this.thread[i] = thread;
    this.context[i] = context;
    this.resource[i] = resource;
    this.mode[i] = mode;
    this.outcome[i] = outcome;
    this.from[i] = from;
    this.to[i] = Math.max(from, to);
    this.row[i] = row;
    return i;
  }

  /**
   * Indices by resource, each list in order of `from`.
   * @param isWanted a resource; the lists of others are empty
   */
  byResource(resources: number, isWanted: (resource: number) => boolean): Uint32Array[] {
    const wanted = Uint8Array.from({ length: resources }, (_, r) => Number(isWanted(r)));
    const counts = new Uint32Array(resources);
    if (wanted.includes(1))
      for (let i = 0; i < this.count; i++) counts[this.resource[i]!]! += wanted[this.resource[i]!]!;
    const lists = Array.from(counts, (n) => new Uint32Array(n));
    if (!lists.some(({ length }) => length)) return lists;
    counts.fill(0);
    for (let i = 0; i < this.count; i++) {
      const r = this.resource[i]!;
      if (wanted[r]) lists[r]![counts[r]!++] = i;
    }
    const { from } = this;
    for (const list of lists) {
      let sorted = true;
      for (let i = 1; i < list.length && sorted; i++)
        sorted = from[list[i - 1]!]! <= from[list[i]!]!;
      if (!sorted) list.sort((a, b) => from[a]! - from[b]! || a - b);
    }
    return lists;
  }
}

/**
 * Whether two modes of a resource exclude each other.
 * @param asked the requested mode @param held the other's mode
 */
export function conflicts(kind: ResourceKind, asked: number, held: number): boolean {
  if (kind !== 'sqlite')
    return kind === 'access-handle' || asked === Mode.exclusive || held === Mode.exclusive;
  if (asked <= 1) return held >= 3; // SHARED is refused under PENDING
  return asked >= 4 ? held >= 1 : held >= 2; // only one from RESERVED on; EXCLUSIVE excludes all
}
