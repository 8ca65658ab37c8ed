/**
 * Why a checkpoint ran, and in which mode: from the statement that it serves, else from the VFS
 * calls around it.
 */
import { statementText } from '../../trace/describe.ts';
import { ownersOf } from '../../trace/owners.ts';
import { Op } from '../../event/event.ts';
import { isVfsOp, isWebOp } from '../../event/operations.ts';
import type { ThreadStore } from '../../trace/store.ts';
import { Fcntl } from '../../sqlite/constants.ts';

/**
 * `autocheckpoint`: a commit made the log exceed its limit. `pragma`: PRAGMA wal_checkpoint or
 * sqlite3_wal_checkpoint. `close`: the last connection closed. `journal mode`: the database leaves
 * WAL mode.
 */
export type CheckpointTrigger = 'autocheckpoint' | 'pragma' | 'close' | 'journal mode' | 'unknown';
export type CheckpointMode = 'PASSIVE' | 'FULL' | 'RESTART' | 'TRUNCATE' | 'NOOP';

const CHECKPOINT = /\bwal_checkpoint\b\s*(?:[(=]\s*(?:"|\[|`)?([a-z?]+))?/i;
const MODES: readonly string[] = ['PASSIVE', 'FULL', 'RESTART', 'TRUNCATE', 'NOOP'];

/**
 * Mode that a PRAGMA's text requests; undefined if it isn't a checkpoint, null if the text doesn't
 * show it.
 */
export function modeOfText(text: string): CheckpointMode | null | undefined {
  const match = CHECKPOINT.exec(text);
  if (!match) return undefined;
  const word = match[1]?.toUpperCase();
  if (word === undefined) return 'PASSIVE';
  return MODES.includes(word) ? (word as CheckpointMode) : word.includes('?') ? null : 'PASSIVE';
}

/** @param from, to rows of the checkpoint's first and last call */
export function triggerOf(
  thread: ThreadStore,
  from: number,
  to: number,
): { trigger: CheckpointTrigger; mode: CheckpointMode | null } {
  const { events } = thread;
  const parent = events.parentRow(from);
  if (parent >= 0 && events.op[parent] === Op.sqlClose)
    return { trigger: 'close', mode: 'PASSIVE' };
  const row = ownersOf(thread).statement(from);
  if (row >= 0) {
    const text = statementText(thread, from);
    const mode = modeOfText(text);
    if (mode !== undefined) return { trigger: 'pragma', mode };
    if (/\bjournal_mode\b/i.test(text)) return { trigger: 'journal mode', mode: 'PASSIVE' };
    if (text !== '') return { trigger: 'autocheckpoint', mode: 'PASSIVE' };
  }
  if (!isVfsOp(events.op[from]!)) return { trigger: 'unknown', mode: null };
  // no statement: the last call before it is a commit's or a PRAGMA's, or the database is closed
  // right after
  for (let at = from - 1, seen = 0; at >= 0 && seen < 64; at--) {
    if (events.op[at] !== Op.xFileControl) continue;
    seen++;
    if (events.aux[at] === Fcntl.commitPhaseTwo) {
      if (closes(thread, from, to)) break;
      return { trigger: 'autocheckpoint', mode: 'PASSIVE' };
    }
    if (events.aux[at] === Fcntl.pragma) return { trigger: 'pragma', mode: null };
  }
  return closes(thread, from, to)
    ? { trigger: 'close', mode: 'PASSIVE' }
    : { trigger: 'unknown', mode: null };
}

/** The log is closed with it or right after; nothing is written or locked before that. */
function closes({ events, definitions }: ThreadStore, from: number, to: number): boolean {
  for (let at = from; at < Math.min(events.count, to + 16); at++) {
    const op = events.op[at]!;
    if (at > to && (op === Op.xWrite || op === Op.xLock || (!isVfsOp(op) && !isWebOp(op))))
      return false;
    const file = op === Op.xClose ? definitions.get(events.object[at]!) : undefined;
    if (file?.kind === 'file' && file.fileKind === 'wal') return true;
  }
  return false;
}
