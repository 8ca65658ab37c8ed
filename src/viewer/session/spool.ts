/**
 * A recording on disk while it runs: one .vfst file per recording in the extension's own OPFS.
 * Appended once a second, so that closing DevTools loses little; the journal (journal-file.ts) has
 * newer data. A Web Lock marks a spool in use; a spool without a lock is offered again.
 */
import { TraceWriter } from '../../trace/file/write.ts';
import type { Lane } from '../../trace/lanes/lanes.ts';
import type { ThreadStore, TraceStore } from '../../trace/store.ts';
import type { Spool } from '../../protocol/session.ts';
import { journalOf, sweepJournals } from './journal-file.ts';
import type { Annotations } from '../../trace/notes.ts';
import { extentOfFile, withNotes } from '../../trace/file/file-index.ts';
import { isMissing, removeFrom, unmark, whenSaved } from './spool-marks.ts';
import type { SyncAccessHandle, SyncFileHandle } from './sync-access.ts';

const FOLDER = 'spool';
const EXTENSION = '.vfst';
const lockName = (name: string): string => `vfscope spool ${name}`;

const folder = async (): Promise<FileSystemDirectoryHandle> =>
  (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });

/**
 * The common part of the names of a recording's copies. Its first two parts identify the recording.
 */
export const spoolName = (store: TraceStore, key: string, origin: string): string =>
  [key, Math.round(store.originMs), origin]
    .map((part) => encodeURIComponent(part))
    .join('~')
    .slice(0, 180);

/** Identifies a recording, for all of its copies. */
export const recordingOf = (name: string): string => journalOf(name);

/**
 * Marks the names of parts that a flight recorder froze, with a number: a separate copy without a
 * journal.
 */
export const FROZEN = 'frozen';
/** What its notes, filters, and selection belong to. */
export const idOf = (name: string): string => (isFrozenPart(name) ? name : recordingOf(name));
export const isFrozenPart = (name: string): boolean => name.includes(`~${FROZEN}`);

/** The current lanes of a thread, because a file contains their summaries. */
export type LanesOf = (thread: ThreadStore) => readonly Lane[];

const FULL = 'QuotaExceededError';
/** The disk is full, or vfscope's quota in the browser is. */
export const isFull = (error: unknown): boolean =>
  (error as DOMException | undefined)?.name === FULL;

/** The spool that is being written. */
export class DiskSpool {
  private constructor(
    readonly name: string,
    private readonly handle: SyncAccessHandle,
    private readonly writer: TraceWriter,
    private readonly release: Release,
  ) {}

  /**
   * @param key the panel's own @param origin what is recorded, shown when the recording is offered
   * again
   * @param tag distinguishes the recording's copies; '' = the first
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
          throw new DOMException(
            `the disk took ${written} of ${bytes.length} bytes: it is full, or the quota is used up`,
            FULL,
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
      await release();
      throw error;
    }
  }

  get bytes(): number {
    return this.writer.bytes;
  }

  /** Number of events in it, including those that the store has dropped since. */
  get events(): number {
    return this.writer.events;
  }

  /** Write what the trace gained since the last time. */
  async append(): Promise<void> {
    await this.writer.append();
    this.handle.flush();
  }

  /**
   * Write the rest. The file stays until `discardSpool`, in use until `close`. Notes may be written
   * to it.
   */
  async finish(): Promise<void> {
    await this.writer.finish();
    this.handle.flush();
    this.handle.close();
  }

  /** Let others use or delete it. */
  async close(): Promise<void> {
    this.handle.close();
    await this.release();
  }
}

/** Releases a spool. Resolves once others can take it. */
export type Release = () => Promise<void>;

/** Hold a spool's lock. @throws if another panel holds it */
export async function hold(name: string): Promise<Release> {
  return new Promise((resolve, reject) => {
    const over: Promise<unknown> = navigator.locks.request(
      lockName(name),
      { ifAvailable: true },
      (lock) => {
        if (!lock) throw new Error('This recording is open in another panel.');
        return new Promise<void>((letGo) =>
          resolve(async () => {
            letGo();
            await over;
          }),
        );
      },
    );
    over.catch(reject);
  });
}

/** Recordings of which a panel uses a copy. */
export async function usedRecordings(): Promise<Set<string>> {
  const prefix = lockName('');
  const held = (await navigator.locks.query()).held ?? [];
  return new Set(
    held.flatMap(({ name }) =>
      name?.startsWith(prefix) ? [recordingOf(name.slice(prefix.length))] : [],
    ),
  );
}

/**
 * List entries of files by name and size, because those of ten recordings are read again each time
 * the list opens.
 */
const extents = new Map<string, Awaited<ReturnType<typeof extentOfFile>>>();
async function extentOf(
  name: string,
  file: File,
): Promise<Awaited<ReturnType<typeof extentOfFile>>> {
  const key = `${file.size} ${name}`;
  const known = extents.get(key);
  if (known !== undefined) return known;
  const extent = await extentOfFile(file);
  extents.set(key, extent);
  return extent;
}

/**
 * Spools that no panel uses, and `own`: newest first. Empty ones are deleted. @param own names of
 * the recordings that this panel shows
 */
export async function idleSpools(own: readonly string[] = []): Promise<Spool[]> {
  const used = new Set((await navigator.locks.query()).held?.map((lock) => lock.name));
  const found: Spool[] = [];
  const directory = await folder();
  for await (const [name, handle] of directory.entries()) {
    const shown = own.includes(name);
    if (handle.kind !== 'file' || (used.has(lockName(name)) && !shown)) continue;
    try {
      const file = await (handle as FileSystemFileHandle).getFile();
      if (file.size === 0) await sweep(directory, name);
      else {
        const { events = null, durationUs = null } = (await extentOf(name, file)) ?? {};
        const begunMs = begunOf(name) ?? file.lastModified;
        found.push({
          name,
          id: idOf(name),
          shown,
          begunMs,
          events,
          durationUs,
          savedAt: await whenSaved(name),
          bytes: file.size,
          origin: originOf(name),
          frozen: isFrozenPart(name),
        });
      }
    } catch {
      // deleted meanwhile, or another panel has opened it: skip it
    }
  }
  return found.sort((a, b) => b.begunMs - a.begunMs || (a.name < b.name ? 1 : -1));
}

/** Delete an empty one, unless a panel has started to write it. @throws if one has */
async function sweep(directory: FileSystemDirectoryHandle, name: string): Promise<void> {
  const release = await hold(name);
  try {
    const file = await (await directory.getFileHandle(name)).getFile();
    if (file.size === 0) await directory.removeEntry(name);
  } finally {
    await release();
  }
}

/** When a recording started, ms; null = its name doesn't tell. */
function begunOf(name: string): number | null {
  const said = name.split('~')[1];
  return said !== undefined && /^\d{1,15}$/.test(said) ? Number(said) : null;
}

function originOf(name: string): string {
  const origin = name.slice(0, -EXTENSION.length).split('~')[2] ?? '';
  try {
    return decodeURIComponent(origin);
  } catch {
    return origin; // cut inside an escape: shown unchanged
  }
}

/** A spool's bytes. @throws if it was deleted */
export async function readSpool(name: string): Promise<File> {
  try {
    return await (await (await folder()).getFileHandle(name)).getFile();
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new Error(
      'This recording is no longer on disk. It made room for newer ones, or another panel deleted it.',
      { cause: error },
    );
  }
}

/**
 * Delete a spool and its journal. Another panel may already have done so. @throws if a panel uses
 * it
 */
export async function discardSpool(name: string): Promise<void> {
  const release = await hold(name);
  try {
    await removeFrom(await folder(), name);
    await unmark(name);
  } finally {
    await release();
  }
  await sweepJournals(await spoolNames());
}

async function spoolNames(): Promise<string[]> {
  const names: string[] = [];
  for await (const name of (await folder()).keys()) names.push(name);
  return names;
}

/** Notes of a finished recording that this panel holds. An interrupted recording takes none. */
export async function writeNotes(name: string, annotations: Annotations): Promise<void> {
  const found = (await (await folder()).getFileHandle(name)) as SyncFileHandle;
  const tail = await withNotes(await found.getFile(), annotations);
  if (!tail) return;
  const handle = await found.createSyncAccessHandle();
  try {
    const written = handle.write(tail.bytes, { at: tail.at });
    if (written < tail.bytes.length) throw new DOMException('the disk is full', FULL);
    handle.truncate(tail.at + tail.bytes.length);
    handle.flush();
  } finally {
    handle.close();
  }
}
