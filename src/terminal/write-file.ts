/** Writes a command's files atomically: the old file stays until the new one is complete. */
import { access, constants, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { wrongUse } from './failure.ts';

type Pieces = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/**
 * Write a file piece by piece next to its target and rename it once it is complete. A target that
 * isn't a file (a device, a named pipe) is written directly.
 * @throws CommandFailure (exit code 2) if it can't be written, otherwise what the pieces throw
 */
export async function writeWhole(path: string, pieces: Pieces): Promise<void> {
  try {
    const present = await stat(path).catch(missing);
    // renaming over it wouldn't need this permission
    if (present) await access(path, constants.W_OK);
    if (present && !present.isFile()) return await fill(path, pieces);
    const place = present ? await realpath(path) : path; // keep a link
    const part = `${place}.${process.pid}.part`;
    try {
      await fill(part, pieces);
      await rename(part, place);
    } catch (e) {
      await rm(part, { force: true });
      throw e;
    }
  } catch (e) {
    if ((e as NodeJS.ErrnoException).syscall === undefined) throw e;
    throw wrongUse(cannotWrite(path, e as NodeJS.ErrnoException));
  }
}

/**
 * Checks before long work that its result can be written there.
 * @throws CommandFailure (exit code 2)
 */
export async function checkWritable(path: string): Promise<void> {
  const folder = dirname(path);
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory()) throw wrongUse(`There is no folder ${folder} to write ${path} into.`);
  const present = await stat(path).catch(() => null);
  if (present && !present.isFile()) throw wrongUse(`${path} can't be written: it isn't a file.`);
  await access(present ? path : folder, constants.W_OK).catch((e: NodeJS.ErrnoException) => {
    throw wrongUse(cannotWrite(path, e));
  });
}

async function fill(path: string, pieces: Pieces): Promise<void> {
  const target = await open(path, 'w');
  try {
    for await (const piece of pieces) await target.writeFile(piece);
  } finally {
    await target.close();
  }
}

function missing(e: NodeJS.ErrnoException): null {
  if (e.code !== 'ENOENT') throw e;
  return null;
}

/** Why a file couldn't be written, as text for the user. @param error of node:fs */
export function cannotWrite(path: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return `${path} can't be written: there is no folder ${dirname(path)}.`;
  if (code === 'EISDIR') return `${path} can't be written: it is a folder.`;
  if (code === 'ENOSPC') return `${path} can't be written: the disk is full.`;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return `${path} can't be written: you have no permission to write there (${code}).`;
  return `${path} can't be written: ${message}.`;
}
