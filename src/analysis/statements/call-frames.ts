/**
 * Calls as frames of a call path: VFS calls by operation and kind of file, storage calls by
 * operation.
 */
import { FILE_KINDS } from '../../event/definitions.ts';
import { Op } from '../../event/event.ts';
import { ACTIVITIES, opName } from '../../event/operations.ts';
import { definedAs, targetOf } from '../../trace/in-memory.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { ById } from '../core/by-id.ts';
import { ACTIVITY_OF_OP, IDB_WAIT } from '../../trace/lanes/lanes.ts';
import { PART_WORDS } from '../core/time-parts.ts';
import type { CallTimes, PathKeys } from '../time/call-times.ts';

/** SQLite's own code. */
export const OWN = 'SQLite';
/** `meta`: calls that do something else, such as opening a file. */
const KINDS = ['read', 'write', 'sync', 'lock', 'meta'] as const;
export type CallKind = (typeof KINDS)[number] | 'idbTransaction';
/** Operations have codes below. */
const CODES = 256;

/** Paths of calls below a root. @param root from `PathKeys` */
export function frameKeys(
  { events, definitions }: ThreadStore,
  root: PathKeys['root'],
  rooted = false,
): PathKeys {
  /** By target of calls: index in FILE_KINDS, from 1; 0 = not a file. */
  const kinds = new ById<number>();
  const kindOf = (target: number): number => {
    const d = definedAs(definitions, target);
    return kinds.set(target, d?.kind === 'file' ? 1 + FILE_KINDS.indexOf(d.fileKind) : 0);
  };
  return {
    root,
    rooted,
    vfs(row) {
      const target = targetOf(events, row);
      return events.op[row]! + CODES * (kinds.get(target) ?? kindOf(target));
    },
    storage: true,
  };
}

/**
 * A call's kind, as on its track of the timeline; null = it only waits, or is vfscope's own.
 * @param place below a root
 */
export function frameCall({ key }: CallTimes, place: number): CallKind | null {
  const code = key[place]! % CODES;
  if (code === Op.tracer) return null;
  const activity = ACTIVITY_OF_OP[code]!;
  return activity === IDB_WAIT
    ? 'idbTransaction'
    : (KINDS.find((kind) => kind === ACTIVITIES[activity]) ?? null);
}

/** `xRead main-db`, `idb.get`, `vfscope`. @param place below a root */
export function frameName({ level, key }: CallTimes, place: number): string {
  const code = key[place]! % CODES;
  if (level[place] === 2) return code === Op.tracer ? PART_WORDS.tracer.title : opName(code);
  const kind = FILE_KINDS[Math.floor(key[place]! / CODES) - 1];
  return kind ? `${opName(code)} ${kind}` : opName(code);
}
