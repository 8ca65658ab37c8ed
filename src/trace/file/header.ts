/**
 * Where a file's bytes come from, and its header. A file that can't be a trace, or is newer, is
 * rejected with its cause.
 */
import { ByteReader } from './bytes.ts';
import { crc32 } from './codec.ts';
import {
  FILE_HEADER_BYTES,
  FORMAT_VERSION,
  MAGIC,
  TraceFileError,
  type FileHeader,
} from './format.ts';

export interface Source {
  size: number;
  /** The bytes [from, to), fewer at the end of the file. Don't write to them. */
  read(from: number, to: number): Promise<Uint8Array>;
}

export function sourceOf(file: Blob | Uint8Array): Source {
  if (file instanceof Uint8Array)
    return { size: file.length, read: (from, to) => Promise.resolve(file.subarray(from, to)) };
  return {
    size: file.size,
    read: async (from, to) => new Uint8Array(await file.slice(from, to).arrayBuffer()),
  };
}

/**
 * Each read of a Blob costs a message to another process, so this many bytes are read at once,
 * which are several sections.
 */
const WINDOW_BYTES = 1 << 20;

/** The same bytes, for reading all of them in order. */
export function inWindows(source: Source): Source {
  let at = 0;
  let window: Uint8Array = new Uint8Array(0);
  return {
    size: source.size,
    async read(from, until) {
      const to = Math.min(until, source.size);
      if (from >= at && to <= at + window.length) return window.subarray(from - at, to - at);
      const bytes = await source.read(
        from,
        Math.min(source.size, Math.max(to, from + WINDOW_BYTES)),
      );
      [at, window] = [from, bytes];
      return bytes.subarray(0, Math.max(0, to - from));
    },
  };
}

/** Whether two runs of bytes are equal. */
export const same = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/** @returns the header, and where its first section begins @throws TraceFileError */
export async function readHeader(source: Source): Promise<{ header: FileHeader; at: number }> {
  const head = await source.read(0, FILE_HEADER_BYTES);
  if (head.length < MAGIC.length || !same(head.subarray(0, MAGIC.length), MAGIC))
    throw new TraceFileError('not a trace', notATrace(head));
  if (head.length < FILE_HEADER_BYTES)
    throw new TraceFileError(
      'damaged',
      `The trace file ends within its header: ${source.size} bytes are too few. Save or copy it again.`,
    );
  const r = new ByteReader(head.subarray(MAGIC.length));
  const [version, length, crc] = [r.u32(), r.u32(), r.u32()];
  if (version > FORMAT_VERSION)
    throw new TraceFileError(
      'newer',
      `The file has format version ${version}; this vfscope reads up to version ${FORMAT_VERSION}. Open it with a newer vfscope.`,
    );
  const at = FILE_HEADER_BYTES + length;
  const damaged = (why: string): TraceFileError =>
    new TraceFileError(
      'damaged',
      `The trace file's header is damaged: ${why}. Save or copy the file again.`,
    );
  if (version === 0) throw damaged('it says format version 0');
  if (at > source.size || length > 1 << 20)
    throw damaged(`it claims ${length} bytes, the file has ${source.size}`);
  const json = await source.read(FILE_HEADER_BYTES, at);
  if (crc32(json) !== crc) throw damaged('its checksum does not match');
  let header: Partial<FileHeader> | null;
  try {
    header = JSON.parse(new TextDecoder().decode(json)) as Partial<FileHeader> | null;
  } catch {
    throw damaged("it isn't JSON");
  }
  if (typeof header?.originMs !== 'number' || !Number.isFinite(header.originMs))
    throw damaged("it doesn't say when the recording began");
  const { originMs, writer, savedAt, origin, sanitized } = header as Partial<
    Record<keyof FileHeader, unknown>
  > & { originMs: number };
  const text = (v: unknown): string => (typeof v === 'string' ? v : '');
  return {
    header: {
      originMs,
      writer: text(writer),
      savedAt: typeof savedAt === 'number' ? savedAt : 0,
      origin: text(origin),
      sanitized: sanitized === true,
    },
    at,
  };
}

function notATrace(head: Uint8Array): string {
  const text = new TextDecoder('latin1').decode(head);
  const what =
    head.length === 0
      ? 'is empty'
      : text.startsWith('SQLite format 3')
        ? 'is a SQLite database'
        : text.startsWith('VFST') || text.startsWith('\x89VFST')
          ? 'has lost its first bytes, as after a transfer that treated it as text'
          : /^\s*[[{]/.test(text)
            ? 'looks like JSON'
            : text.startsWith('PK')
              ? 'is a ZIP archive'
              : head[0] === 0x1f && head[1] === 0x8b
                ? 'is compressed by gzip'
                : "doesn't begin with vfscope's mark";
  return `This isn't a vfscope recording: the file ${what}. Choose a .vfst file that vfscope saved.`;
}
