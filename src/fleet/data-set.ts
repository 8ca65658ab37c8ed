/**
 * The folder of a fleet's data set, without a lock and safe to be interrupted:
 *
 *   <table>/day=<day>/<id>.parquet         of one input; <id> comes from the input's content
 *   <table>/day=<day>/all-<hash>.parquet   of many, after `fleet compact`; its metadata names them
 *   _manifest/<id>.json                    written when all files of an input are there
 *   _tmp/                                  files that are being written
 *
 * A file is written under another name and renamed, so it is there whole or not at all. An input
 * that was interrupted has no entry in the manifest, and adding it again writes the same files over
 * what is there. Readers of Parquet skip names that begin with `_`.
 */
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PARQUET_SCHEMA_VERSION } from '../formats/parquet.ts';
import { cannotWrite } from '../terminal/write-file.ts';
import { wrongUse } from '../terminal/failure.ts';
import { idOf } from './inputs.ts';
import { FLEET_TABLES } from './tables.ts';
import { emptyPart, type Part } from './unit.ts';

/**
 * The tables and columns of the files; entries of the manifest record it. A new table or column
 * changes it, though not the schema's version. In one data set, a query over all files would fail
 * on the new column, or miss older inputs in the new table.
 */
const COLUMNS = idOf(
  Buffer.from(
    JSON.stringify([
      PARQUET_SCHEMA_VERSION,
      ...Array.from(FLEET_TABLES.values(), ({ name, columns }) => [
        name,
        ...columns.map((column) => `${column.name} ${column.type}`),
      ]),
    ]),
  ),
);

const MANIFEST = '_manifest';
const TEMPORARY = '_tmp';
const COMPACTED = 'all-';

/** A data file, by its location. */
export interface DataFile {
  table: string;
  day: string;
  /** Without `.parquet`. */
  name: string;
  path: string;
}
export const isCompacted = ({ name }: DataFile): boolean => name.startsWith(COMPACTED);
export const compactedName = (hash: string): string => `${COMPACTED}${hash}`;

/** A file written under `_tmp`, and its final location. */
interface Staged {
  readonly part: string;
  readonly path: string;
}
/** @throws CommandFailure where that fails; the file under `_tmp` is removed then */
function trying(file: Staged, run: (file: Staged) => void): Staged {
  try {
    run(file);
    return file;
  } catch (e) {
    rmSync(file.part, { force: true });
    throw wrongUse(cannotWrite(file.path, e as NodeJS.ErrnoException));
  }
}

export class DataSet {
  private readonly made = new Set<string>();
  private opened = false;

  /** @param root of the data set; it doesn't have to exist */
  constructor(readonly root: string) {}

  has(id: string): boolean {
    return existsSync(join(this.root, MANIFEST, `${id}.json`));
  }

  /** Ids of inputs whose files are complete. */
  ids(): string[] {
    return this.names(MANIFEST).flatMap((name) => /^([0-9a-f]{16})\.json$/.exec(name)?.[1] ?? []);
  }

  /**
   * Add the files of an input. They move to their final locations once all are written. If that
   * fails, none is removed from there, because another process may have added the same input.
   * @throws CommandFailure where a file can't be written, or the data set has other columns
   */
  add(id: string, parts: Iterable<Part>): void {
    this.open();
    const tables = new Set<string>();
    const staged: Staged[] = [];
    try {
      for (const { table, day, pieces } of parts) {
        tables.add(table);
        staged.push(this.stage(`${table}/day=${day}`, `${id}.parquet`, Buffer.concat([...pieces])));
      }
      for (const file of staged) this.place(file);
    } catch (e) {
      for (const { part } of staged) rmSync(part, { force: true });
      throw e;
    }
    const entry = JSON.stringify({ columns: COLUMNS, tables: [...tables] });
    this.place(this.stage(MANIFEST, `${id}.json`, Buffer.from(entry)));
  }

  /** Each table has a file, so that a query finds it. */
  private open(): void {
    if (this.opened) return;
    this.insistOnColumns();
    this.opened = true;
    for (const table of FLEET_TABLES.keys()) {
      const { day, pieces } = emptyPart(table);
      if (!existsSync(join(this.root, table, `day=${day}`, 'empty.parquet')))
        this.write(`${table}/day=${day}`, 'empty', pieces);
    }
  }

  /**
   * Files of different schema versions don't work in one query.
   * @throws CommandFailure where another version of vfscope made the data set
   */
  insistOnColumns(): void {
    const [id] = this.ids();
    if (id === undefined) return;
    const entry: unknown = JSON.parse(
      readFileSync(join(this.root, MANIFEST, `${id}.json`), 'utf8'),
    );
    if ((entry as { columns?: unknown }).columns !== COLUMNS)
      throw wrongUse(
        `Another version of vfscope made ${this.root}, with other columns. Add its traces and reports to a new folder.`,
      );
  }

  /** @param folder within the data set @param name without `.parquet` */
  write(folder: string, name: string, pieces: Iterable<Uint8Array>): void {
    this.place(this.stage(folder, `${name}.parquet`, Buffer.concat([...pieces])));
  }

  private stage(folder: string, name: string, bytes: Uint8Array): Staged {
    const part = join(this.root, TEMPORARY, randomUUID());
    const path = join(this.root, folder, name);
    return trying({ part, path }, () => {
      for (const each of [TEMPORARY, folder]) {
        if (!this.made.has(each)) mkdirSync(join(this.root, each), { recursive: true });
        this.made.add(each);
      }
      writeFileSync(part, bytes);
    });
  }
  private place(file: Staged): void {
    trying(file, ({ part, path }) => renameSync(part, path));
  }

  /** Data files of one or all tables, without the empty file of each table. */
  files(only?: string): DataFile[] {
    return [...FLEET_TABLES.keys()]
      .filter((table) => only === undefined || table === only)
      .flatMap((table) =>
        this.names(table).flatMap((folder) => {
          const day = /^day=(\d{4}-\d\d-\d\d)$/.exec(folder)?.[1];
          if (!day) return [];
          return this.names(join(table, folder)).flatMap((file): DataFile[] => {
            const name = /^(.*)\.parquet$/.exec(file)?.[1];
            if (!name || name === 'empty') return [];
            return [{ table, day, name, path: join(this.root, table, folder, file) }];
          });
        }),
      );
  }

  read({ path }: DataFile): Uint8Array {
    return readFileSync(path);
  }
  remove({ path }: DataFile): void {
    rmSync(path, { force: true });
  }

  /** Files of killed commands. After an hour, no command still writes them. */
  clear(): void {
    for (const name of this.names(TEMPORARY)) {
      const path = join(this.root, TEMPORARY, name);
      const { mtimeMs = Infinity } = statSync(path, { throwIfNoEntry: false }) ?? {};
      if (Date.now() - mtimeMs > 3_600_000) rmSync(path, { force: true });
    }
  }

  private names(folder: string): string[] {
    try {
      return readdirSync(join(this.root, folder)).sort();
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw e;
    }
  }
}
