/**
 * Merges the files of each table and day into one: copies the row groups of many files unchanged
 * and writes one footer. A compacted file names its inputs. So after a run that was interrupted
 * before it removed the merged files, neither the next run nor `fleet report` counts anything
 * twice.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { ColumnMetaData, FileMetaData, RowGroup } from 'hyparquet';
import { getOrMake } from '../analysis/core/maps.ts';
import { wrongUse } from '../terminal/failure.ts';
import { compactedName, DataSet, isCompacted, type DataFile } from './data-set.ts';
import { idOf } from './inputs.ts';

/** Key of a compacted file's metadata: ids of its inputs, separated by spaces. */
const INPUTS = 'vfscope.inputs';

/** The inputs whose rows are in a file. */
async function inputsIn(file: DataFile, bytes: Uint8Array): Promise<string[]> {
  if (!isCompacted(file)) return [file.name];
  const { key_value_metadata: pairs = [] } = await metadataOf(bytes);
  return pairs.find(({ key }) => key === INPUTS)?.value?.split(' ') ?? [];
}

async function metadataOf(bytes: Uint8Array): Promise<FileMetaData> {
  const { parquetMetadata } = await import('hyparquet');
  return parquetMetadata(exact(bytes));
}
/** Only its own bytes: the buffer of a small file holds others, too. */
export const exact = ({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer =>
  buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;

export interface Loaded {
  file: DataFile;
  bytes: Uint8Array;
  inputs: readonly string[];
}

/**
 * The files of a table that count, so that each input counts once, and the files that others
 * replace. Files with a missing input don't count.
 */
export async function currentFiles(
  set: DataSet,
  files: readonly DataFile[],
): Promise<{ current: Loaded[]; replaced: DataFile[] }> {
  const complete = new Set(set.ids());
  const seen = new Set<string>();
  const current: Loaded[] = [];
  const replaced: DataFile[] = [];
  const loaded: Loaded[] = [];
  for (const file of files) {
    if (!isCompacted(file) && !complete.has(file.name)) continue;
    const bytes = set.read(file);
    loaded.push({ file, bytes, inputs: await inputsIn(file, bytes) });
  }
  // the largest first: it replaces the files that it was made of
  for (const each of loaded.sort(
    (a, b) =>
      b.inputs.length - a.inputs.length ||
      Number(isCompacted(b.file)) - Number(isCompacted(a.file)),
  )) {
    const place = (input: string): string => `${each.file.day}/${input}`;
    if (each.inputs.every((input) => seen.has(place(input)))) replaced.push(each.file);
    else {
      current.push(each);
      each.inputs.forEach((input) => seen.add(place(input)));
    }
  }
  return { current, replaced };
}

/**
 * @returns files before and after
 * @throws CommandFailure where there is no data set, or while another process compacts it
 */
export async function compact(root: string): Promise<{ before: number; after: number }> {
  if (!existsSync(join(root, '_manifest')))
    throw wrongUse(`${root} isn't a data set of vfscope fleet.`);
  const set = new DataSet(root);
  set.insistOnColumns();
  const release = alone(root);
  try {
    set.clear();
    const result = { before: 0, after: 0 };
    const groups = new Map<string, DataFile[]>();
    for (const file of set.files())
      getOrMake(groups, `${file.table}/${file.day}`, (): DataFile[] => []).push(file);
    for (const files of groups.values()) {
      const { current, replaced } = await currentFiles(set, files);
      result.before += files.length;
      if (current.length > 1) {
        const { table, day } = files[0]!;
        const name = compactedName(
          idOf(
            Buffer.from(
              current
                .map(({ file }) => file.name)
                .sort()
                .join(),
            ),
          ),
        );
        set.write(`${table}/day=${day}`, name, [await joined(current)]);
        replaced.push(...current.map(({ file }) => file));
        result.after++;
      } else result.after += current.length;
      replaced.forEach((file) => set.remove(file));
    }
    return result;
  } finally {
    release();
  }
}

/**
 * Two runs at once could each write a file with the same rows. A killed run leaves its mark, and
 * the next run takes the mark over.
 */
function alone(root: string): () => void {
  const mark = join(root, '_manifest', 'compacting');
  const mine = `${hostname()} ${process.pid}`;
  for (;;)
    try {
      writeFileSync(mark, mine, { flag: 'wx' });
      return () => rmSync(mark, { force: true });
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code !== 'EEXIST') throw e;
      // one that was killed at its very begin left nothing in it
      const [, host, pid] = /^(\S+) (\d+)$/.exec(readFileSync(mark, 'utf8')) ?? [];
      if (host !== hostname() || isRunning(Number(pid)))
        throw wrongUse(
          `${root} is being compacted by ${host === undefined ? 'another process' : `process ${pid} on ${host}`}. If it isn't running any more, remove ${mark}.`,
        );
      rmSync(mark, { force: true });
    }
}
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (e) {
    return (e as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Merges files with the same schema. @throws Error where schemas differ */
async function joined(files: readonly Loaded[]): Promise<Uint8Array> {
  const { ByteWriter, ParquetWriter } = await import('hyparquet-writer');
  const sorted = [...files].sort((a, b) => (a.file.name < b.file.name ? -1 : 1));
  const metadata = await Promise.all(sorted.map(({ bytes }) => metadataOf(bytes)));
  const shape = (i: number): string => JSON.stringify(metadata[i]!.schema);
  const odd = metadata.findIndex((_, i) => shape(i) !== shape(0));
  if (odd > 0)
    throw wrongUse(
      `${sorted[odd]!.file.path} has other columns than ${sorted[0]!.file.path}: another version of vfscope wrote it. Make the data set again.`,
    );
  const kept = metadata[0]!.key_value_metadata?.filter(({ key }) => key !== INPUTS) ?? [];
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: metadata[0]!.schema,
    createdBy: 'vfscope',
    kvMetadata: [
      ...kept,
      { key: INPUTS, value: [...new Set(sorted.flatMap(({ inputs }) => inputs))].sort().join(' ') },
    ],
  }) as unknown as { row_groups: RowGroup[]; num_rows: bigint; finish(): void };
  for (const [i, { bytes }] of sorted.entries())
    for (const group of metadata[i]!.row_groups) {
      const columns = group.columns.map(({ meta_data }) => meta_data!);
      const begin = Math.min(...columns.map(beginOf));
      const end = Math.max(...columns.map((c) => beginOf(c) + Number(c.total_compressed_size)));
      const moved = BigInt(writer.offset - begin);
      writer.appendBytes(bytes.subarray(begin, end));
      parquet.row_groups.push(movedGroup(group, moved));
      parquet.num_rows += group.num_rows;
    }
  parquet.finish();
  return writer.getBytes();
}

const beginOf = ({ dictionary_page_offset, data_page_offset }: ColumnMetaData): number =>
  Number(dictionary_page_offset ?? data_page_offset);

/** Its offsets in another file. Indexes are stored elsewhere and aren't copied. */
const movedGroup = (group: RowGroup, by: bigint): RowGroup => ({
  ...group,
  file_offset: undefined,
  columns: group.columns.map(({ file_offset, meta_data }) => ({
    file_offset: file_offset + by,
    meta_data: {
      ...meta_data!,
      data_page_offset: meta_data!.data_page_offset + by,
      dictionary_page_offset:
        meta_data!.dictionary_page_offset && meta_data!.dictionary_page_offset + by,
    },
  })),
});
