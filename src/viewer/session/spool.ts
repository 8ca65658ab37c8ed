/**
 * A recording on disk while it runs: one .vfst file per recording in the extension's own OPFS, appended once a
 * second, so that closing DevTools loses little; the journal (journal-file.ts) has what came since. A Web Lock marks a spool in use; one without a lock is offered again.
 */
import { TraceWriter } from '../../trace/file/write.ts';
import type { Lane } from '../../trace/lanes/lanes.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import type { Spool } from '../../protocol/session.ts';
import { sweepJournals } from './journal-file.ts';
import { removeFrom, unmark, whenSaved } from './spool-marks.ts';
import type { SyncAccessHandle, SyncFileHandle } from './sync-access.ts';

const FOLDER = 'spool';
const EXTENSION = '.vfst';
const lockName = (name: string): string => `vfscope spool ${name}`;

const folder = async (): Promise<FileSystemDirectoryHandle> =>
  (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });

/** Of a recording's copies, up to what tells them apart; its first two parts tell the recording. */
export const spoolName = (store: TraceStore, key: string, origin: string): string =>
  [key, Math.round(store.originMs), origin]
    .map((part) => encodeURIComponent(part))
    .join('~')
    .slice(0, 180);

/** In the name of what a flight recorder froze, with a number: a copy of its own, without a journal. */
export const FROZEN = 'frozen';
export const isFrozenPart = (name: string): boolean => name.includes(`~${FROZEN}`);

/** Lanes of a thread as they are now: a file carries their summaries. */
export type LanesOf = (thread: ThreadStore) => readonly Lane[];

/** The spool that is being written. */
export class DiskSpool {
  private constructor(
    readonly name: string,
    private readonly handle: SyncAccessHandle,
    private readonly writer: TraceWriter,
    private readonly release: () => void,
  ) {}

  /**
   * @param key the panel's own @param origin what is recorded, shown when the recording is offered again
   * @param tag tells the recording's copies apart; '' = the first
   */
  static async create(
    store: TraceStore,
    key: string,
    origin: string,
    lanesOf: LanesOf,
    tag = '',
  ): Promise<DiskSpool> {
    const name = `${spoolName(store, key, origin)}${tag && `~${tag}`}${EXTENSION}`;
    const release = await hold(name);
    try {
      const file = (await (await folder()).getFileHandle(name, { create: true })) as SyncFileHandle;
      const handle = await file.createSyncAccessHandle();
      handle.truncate(0);
      let at = 0;
      const write = (bytes: Uint8Array<ArrayBuffer>): void => {
        const written = handle.write(bytes, { at });
        if (written < bytes.length)
          throw new Error(
            `the disk took ${written} of ${bytes.length} bytes: it is full, or the quota is used up`,
          );
        at += written;
      };
      return new DiskSpool(
        name,
        handle,
        new TraceWriter(store, { write }, { origin, lanesOf }),
        release,
      );
    } catch (error) {
      release();
      throw error;
    }
  }

  get bytes(): number {
    return this.writer.bytes;
  }

  /** Events in it, those that the store has forgotten since included. */
  get events(): number {
    return this.writer.events;
  }

  /** Write what the trace gained since the last time. */
  async append(): Promise<void> {
    await this.writer.append();
    this.handle.flush();
  }

  /** Write the rest; the file stays until `discardSpool`, in use until `close`. */
  async finish(): Promise<void> {
    await this.writer.finish();
    this.handle.flush();
  }

  close(): void {
    this.handle.close();
    this.release();
  }
}

/** Hold a spool's lock. @returns a function that lets go */
async function hold(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(lockName(name), { ifAvailable: true }, (lock) => {
        if (!lock) {
          reject(new Error('this recording is open in another panel'));
          return undefined;
        }
        return new Promise<void>((release) => resolve(release));
      })
      .catch(reject);
  });
}

/** Spools that no panel uses, newest first. Empty ones are swept away. */
export async function idleSpools(): Promise<Spool[]> {
  const used = new Set((await navigator.locks.query()).held?.map((lock) => lock.name));
  const found: Spool[] = [];
  const directory = await folder();
  for await (const [name, handle] of directory.entries()) {
    if (handle.kind !== 'file' || used.has(lockName(name))) continue;
    try {
      const file = await (handle as FileSystemFileHandle).getFile();
      if (file.size === 0) await sweep(directory, name);
      else
        found.push({
          name,
          writtenAt: file.lastModified,
          savedAt: await whenSaved(name),
          bytes: file.size,
          origin: originOf(name),
          frozen: isFrozenPart(name),
        });
    } catch {
      // gone meanwhile, or another panel has it by now: none of ours
    }
  }
  return found.sort((a, b) => b.writtenAt - a.writtenAt);
}

/** Delete an empty one, unless a panel has begun to write it. @throws when one has */
async function sweep(directory: FileSystemDirectoryHandle, name: string): Promise<void> {
  const release = await hold(name);
  try {
    const file = await (await directory.getFileHandle(name)).getFile();
    if (file.size === 0) await directory.removeEntry(name);
  } finally {
    release();
  }
}

function originOf(name: string): string {
  const origin = name.slice(0, -EXTENSION.length).split('~')[2] ?? '';
  try {
    return decodeURIComponent(origin);
  } catch {
    return origin; // cut inside an escape: shown as it is
  }
}

/** A spool's bytes. @throws where it is gone */
export async function readSpool(name: string): Promise<File> {
  return (await (await folder()).getFileHandle(name)).getFile();
}

/** Delete a spool that is not in use, and its journal; another panel may have done so. */
export async function discardSpool(name: string): Promise<void> {
  await removeFrom(await folder(), name);
  await unmark(name);
  const left: string[] = [];
  for await (const other of (await folder()).keys()) left.push(other);
  await sweepJournals(left);
}

/** Delete the copies of saved recordings that no panel uses. */
export async function discardSaved(): Promise<void> {
  for (const { name, savedAt } of await idleSpools())
    if (savedAt !== null) await discardSpool(name);
}
