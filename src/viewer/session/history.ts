/**
 * Which recordings stay on disk (HISTORY). The oldest are deleted to make room for the next,
 * including what a flight recorder froze of them. A recording that any panel shows or records is
 * locked, and stays.
 */
import { HISTORY } from '../../protocol/session.ts';
import { discardSpool, idleSpools, recordingOf, usedRecordings } from './spool.ts';

/** All copies of a recording. */
interface Stored {
  names: string[];
  bytes: number;
}

/** Recordings that no panel uses, the oldest first. */
async function idle(): Promise<Stored[]> {
  const used = await usedRecordings();
  const found = new Map<string, Stored>();
  for (const { name, bytes } of (await idleSpools()).reverse()) {
    const recording = recordingOf(name);
    if (used.has(recording)) continue; // a part of a running recording
    const stored = found.get(recording) ?? { names: [], bytes: 0 };
    stored.names.push(name);
    stored.bytes += bytes;
    found.set(recording, stored);
  }
  return [...found.values()];
}

/** @returns whether it was deleted: another panel may have opened it meanwhile */
async function remove({ names }: Stored): Promise<boolean> {
  try {
    for (const name of names) await discardSpool(name);
    return true;
  } catch {
    return false; // in use: it stays
  }
}

/** Maximum bytes of recordings that no panel uses. */
async function limit(): Promise<number> {
  const quota = (await navigator.storage.estimate?.().catch(() => null))?.quota;
  return Math.min(HISTORY.bytes, (quota ?? Infinity) * HISTORY.shareOfQuota);
}

/** Delete the oldest recordings beyond the limit. */
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

/** The disk is full: delete the oldest recording. @returns false if none can be deleted */
export async function makeRoom(): Promise<boolean> {
  for (const oldest of await idle()) if (await remove(oldest)) return true;
  return false;
}
