/**
 * Which recordings stay on disk (HISTORY): the oldest make room for the next, with all that a flight recorder froze of them. One that any
 * panel shows or records is held by a lock, and stays.
 */
import { HISTORY } from '../../protocol/session.ts';
import { discardSpool, idleSpools, recordingOf, usedRecordings } from './spool.ts';

/** All copies of a recording. */
interface Stored {
  names: string[];
  bytes: number;
}

/** Those that no panel uses, the oldest first. */
async function idle(): Promise<Stored[]> {
  const used = await usedRecordings();
  const found = new Map<string, Stored>();
  for (const { name, bytes } of (await idleSpools()).reverse()) {
    const recording = recordingOf(name);
    if (used.has(recording)) continue; // a part of one that goes on
    const stored = found.get(recording) ?? { names: [], bytes: 0 };
    stored.names.push(name);
    stored.bytes += bytes;
    found.set(recording, stored);
  }
  return [...found.values()];
}

/** @returns whether it is gone: another panel may have opened it meanwhile */
async function remove({ names }: Stored): Promise<boolean> {
  try {
    for (const name of names) await discardSpool(name);
    return true;
  } catch {
    return false; // in use: it stays
  }
}

/** Bytes that recordings may have which no panel uses. */
async function limit(): Promise<number> {
  const quota = (await navigator.storage.estimate?.().catch(() => null))?.quota;
  return Math.min(HISTORY.bytes, (quota ?? Infinity) * HISTORY.shareOfQuota);
}

/** Delete the oldest recordings beyond the bound. */
export async function prune(): Promise<void> {
  const most = await limit();
  const stored = await idle();
  let count = stored.length + (await usedRecordings()).size;
  let bytes = stored.reduce((sum, one) => sum + one.bytes, 0);
  for (const oldest of stored) {
    if (count <= HISTORY.recordings && bytes <= most) return;
    if (!(await remove(oldest))) continue;
    count--;
    bytes -= oldest.bytes;
  }
}

/** The disk is full: delete the oldest recording. @returns false where there is none that may go */
export async function makeRoom(): Promise<boolean> {
  for (const oldest of await idle()) if (await remove(oldest)) return true;
  return false;
}
