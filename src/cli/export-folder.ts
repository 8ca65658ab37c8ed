/** A folder of traces as one partitioned Parquet data set (docs/fleet.md): `OUT/<table>/trace=<name>/part-0.parquet`. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parquetDataSet } from '../formats/parquet.ts';
import { sanitizeStore } from '../analysis/privacy/sanitize.ts';
import { CommandFailure, wrongUse } from '../terminal/failure.ts';
import { Exit, complain, openTrace } from '../terminal/open-file.ts';
import { cannotWrite, writeWhole } from '../terminal/write-file.ts';

/** @throws what node:fs says of a path that is there and cannot be looked at */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return false; // opening it as a file says so
    throw e;
  }
}

/** Partition of a trace: its file's name; of a sanitized one a hash of its content, so that a later run gives the same. */
async function nameOf(
  path: string,
  sanitize: boolean,
  taken: ReadonlySet<string>,
): Promise<string> {
  if (sanitize)
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
      .slice(0, 16);
  const plain =
    path
      .slice(dirname(path).length + 1)
      .replace(/\.vfst$/, '')
      .replace(/[^\w.-]/g, '_')
      .replace(/^\./, '_') || '_';
  let name = plain;
  for (let n = 2; taken.has(name); n++) name = `${plain}_${n}`;
  return name;
}

/**
 * Exports every .vfst file of a folder.
 * @returns the exit code: 0; 2 for another format, an empty folder, or when a trace was left out
 * @throws CommandFailure (exit code 2) when the data set cannot be written
 */
export async function exportDataSet(options: {
  folder: string;
  format: string;
  out?: string;
  sanitize: boolean;
}): Promise<number> {
  const { folder, format, out, sanitize } = options;
  if (format !== 'parquet' || out === undefined || out === '-') {
    complain(`${folder} is a folder: only --format parquet takes one, with --out FOLDER.`);
    return Exit.wrongUse;
  }
  const files = (await readdir(folder)).filter((name) => name.endsWith('.vfst')).sort();
  if (!files.length) {
    complain(`${folder} holds no .vfst files.`);
    return Exit.wrongUse;
  }
  const taken = new Set<string>();
  let leftOut = 0;
  for (const name of files) {
    const path = join(folder, name);
    const trace = await openTrace(path).catch((e: unknown) => {
      if (!(e instanceof CommandFailure)) throw e;
      complain(e.message);
      leftOut++;
    });
    if (!trace) continue;
    const partition = await nameOf(path, sanitize, taken);
    taken.add(partition);
    for (const { path: part, pieces } of parquetDataSet(
      partition,
      sanitize ? sanitizeStore(trace.store) : trace.store,
    )) {
      await makeFolder(dirname(join(out, part)));
      await writeWhole(join(out, part), pieces);
    }
  }
  complain(`${taken.size} of ${files.length} traces are in ${out}.`);
  return leftOut ? Exit.wrongUse : Exit.done;
}

/** @throws CommandFailure (exit code 2) */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((e: NodeJS.ErrnoException) => {
    throw wrongUse(cannotWrite(path, e));
  });
}
