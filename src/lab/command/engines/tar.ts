/**
 * Reads an npm package's archive, a gzipped tar file: only regular files, by their paths inside the
 * package. The archive isn't trusted: links and paths that lead out of the package are ignored, and
 * its unpacked size is limited.
 */
import { gunzipSync } from 'node:zlib';

const BLOCK = 512;
/** Limit for all files. All packages known here are far smaller. */
const MOST_BYTES = 512 * 2 ** 20;
const [FILE, OLD_FILE, LONG_NAME, PAX] = ['0', '\0', 'L', 'x'];

const textOf = (block: Uint8Array, from: number, length: number): string => {
  const bytes = block.subarray(from, from + length);
  const end = bytes.indexOf(0);
  return Buffer.from(end < 0 ? bytes : bytes.subarray(0, end)).toString('utf8');
};

/** `path=` of a pax header: lines of `length key=value`. */
const paxPath = (text: string): string | null => /^\d+ path=(.*)$/m.exec(text)?.[1] ?? null;

/** A path inside the package's folder, relative to it; null where it leads elsewhere. */
function inside(path: string): string | null {
  const [, ...parts] = path.split('/'); // npm puts everything into one folder, usually `package`
  if (parts.length === 0 || parts.some((part) => part === '' || part === '.' || part === '..'))
    return null;
  return parts.some((part) => /[\\:]/.test(part)) ? null : parts.join('/');
}

/**
 * @returns content by path
 * @throws Error where it isn't such an archive, is truncated, or is too large
 */
export function filesOf(archive: Uint8Array): Map<string, Uint8Array> {
  const bytes = gunzipSync(archive, { maxOutputLength: MOST_BYTES });
  const files = new Map<string, Uint8Array>();
  let longName: string | null = null;
  for (let at = 0; at + BLOCK <= bytes.length;) {
    const header = bytes.subarray(at, at + BLOCK);
    at += BLOCK;
    if (header.every((byte) => byte === 0)) continue; // two of these mark the end
    const size = Number.parseInt(textOf(header, 124, 12).trim() || '0', 8);
    if (!(size >= 0) || at + size > bytes.length) throw new Error('the archive is cut off');
    const content = bytes.subarray(at, at + size);
    at += Math.ceil(size / BLOCK) * BLOCK;
    const type = String.fromCharCode(header[156]!);
    if (type === LONG_NAME) longName = textOf(content, 0, size);
    else if (type === PAX) longName = paxPath(content.toString('utf8')) ?? longName;
    else {
      const prefix = textOf(header, 345, 155);
      const name = longName ?? [prefix, textOf(header, 0, 100)].filter(Boolean).join('/');
      longName = null;
      const path = type === FILE || type === OLD_FILE ? inside(name) : null;
      if (path !== null) files.set(path, content);
    }
  }
  if (files.size === 0) throw new Error('the archive holds no files');
  return files;
}
