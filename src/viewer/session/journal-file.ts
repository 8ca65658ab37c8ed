/**
 * The journal of a recording, next to its copy on disk (spool.ts): messages of threads that the
 * copy doesn't have yet. Two files take turns. While one grows, the copy takes in the contents of
 * the other, which is then emptied. Entries are framed like a trace file's sections, so an entry
 * that a crash cut off is recognized. Nothing is flushed: written data survives a browser crash,
 * which is what the journal is for.
 */
import { checkedThreadMessage, type ThreadMessage } from '../../protocol/messages.ts';
import { ByteReader } from '../../trace/file/bytes.ts';
import { crc32 } from '../../trace/file/codec.ts';
import { SECTION_HEADER_BYTES } from '../../trace/file/format.ts';
import { jsonBytes, sectionBytes } from '../../trace/file/section.ts';
import type { SyncAccessHandle, SyncFileHandle } from './sync-access.ts';

const FOLDER = 'journal';
const TAG = 'JRNL';
const FILES = [0, 1] as const;

/** Number of the entry, and its message without the records. */
interface EntryHead {
  n: number;
  message: unknown;
}
interface Entry {
  n: number;
  message: ThreadMessage;
}

/** @param n counts across both files */
export function entryBytes(n: number, message: ThreadMessage): Uint8Array<ArrayBuffer> {
  const records = new Uint8Array(
    message.k === 'batch' ? message.batch.records : new ArrayBuffer(0),
  );
  const said =
    message.k === 'batch' ? { ...message, batch: { ...message.batch, records: null } } : message;
  const head = jsonBytes({ n, message: said } satisfies EntryHead);
  const payload = new Uint8Array(4 + head.length + records.length);
  new DataView(payload.buffer).setUint32(0, head.length, true);
  payload.set(head, 4);
  payload.set(records, 4 + head.length);
  return sectionBytes(TAG, payload);
}

/**
 * The entries of a file up to the first incomplete one. Pages wrote them, so they are validated
 * like messages from a port.
 */
export function entriesOf(file: Uint8Array): Entry[] {
  const found: Entry[] = [];
  for (let at = 0; at + SECTION_HEADER_BYTES <= file.length;) {
    const frame = new ByteReader(file.subarray(at + 4, at + SECTION_HEADER_BYTES));
    const [length, crc] = [frame.u32(), frame.u32()];
    const payload = file.subarray(at + SECTION_HEADER_BYTES, at + SECTION_HEADER_BYTES + length);
    if (
      payload.length < Math.max(length, 4) ||
      crc32(payload, crc32(file.subarray(at, at + 4))) !== crc
    )
      break;
    const { n, message } = entryOf(payload);
    if (message) found.push({ n, message });
    at += SECTION_HEADER_BYTES + length;
  }
  return found;
}

function entryOf(payload: Uint8Array): { n: number; message: ThreadMessage | null } {
  const until = 4 + new ByteReader(payload).u32();
  const { n, message } = JSON.parse(new TextDecoder().decode(payload.subarray(4, until))) as {
    n: number;
    message: { k: string; batch?: object };
  };
  const records = payload.slice(until).buffer;
  return {
    n,
    message: checkedThreadMessage(
      message.batch ? { ...message, batch: { ...message.batch, records } } : message,
    ),
  };
}

const folder = async (): Promise<FileSystemDirectoryHandle> =>
  (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });
const fileOf = (name: string, file: number): string => `${name}.${file}`;

/** The journal that belongs to a copy, for all copies of the recording. */
export const journalOf = (spool: string): string => spool.split('~').slice(0, 2).join('~');

/** Both files, empty. */
export async function openJournal(name: string): Promise<SyncAccessHandle[]> {
  const handles: SyncAccessHandle[] = [];
  try {
    for (const file of FILES) {
      const found = (await (
        await folder()
      ).getFileHandle(fileOf(name, file), { create: true })) as SyncFileHandle;
      const handle = await found.createSyncAccessHandle();
      handles.push(handle);
      handle.truncate(0);
    }
    return handles;
  } catch (error) {
    for (const handle of handles) handle.close();
    throw error;
  }
}

/** A journal's messages in order; [] if there is none. */
export async function readJournal(name: string): Promise<ThreadMessage[]> {
  const directory = await folder();
  const entries: Entry[] = [];
  for await (const [found, handle] of directory.entries())
    if (handle.kind === 'file' && FILES.some((file) => found === fileOf(name, file)))
      entries.push(
        ...entriesOf(
          new Uint8Array(await (await (handle as FileSystemFileHandle).getFile()).arrayBuffer()),
        ),
      );
  return entries.sort((a, b) => a.n - b.n).map(({ message }) => message);
}

/**
 * Delete the journals of recordings that have no copy.
 * @param spools names of all copies there are
 */
export async function sweepJournals(spools: readonly string[]): Promise<void> {
  const directory = await folder();
  const belong = new Set(
    spools.map(journalOf).flatMap((name) => FILES.map((file) => fileOf(name, file))),
  );
  const left: string[] = [];
  for await (const name of directory.keys()) if (!belong.has(name)) left.push(name);
  // a recording that has just started is writing it
  for (const name of left) await directory.removeEntry(name).catch(() => undefined);
}
