/**
 * Ids for the files of one engine. A path always has the same id, so its opens, reads, and deletes
 * share one row.
 */
import { fileKindOfPath } from '../../event/file-names.ts';
import { type FileKind, fileKindOfOpenFlags } from '../../event/definitions.ts';
import type { Recorder } from '../../record/recorder.ts';
import { HeadersOf } from './engine-block.ts';

const MAX_PATHS = 20_000;
const HEADERS: Partial<Record<FileKind, number>> = {
  'main-db': HeadersOf.mainDb,
  wal: HeadersOf.wal,
  journal: HeadersOf.journal,
};

export class FileNames {
  private readonly recorder: Recorder;
  private readonly engine: () => number;
  /** By VFS, then by path. */
  private readonly known = new Map<string, Map<string, { id: number; kind: FileKind }>>();
  private count = 0;
  private readonly headers = new Map<number, number>();
  /** Database by WAL. */
  private readonly ofWal = new Map<number, number>();
  private memoryJournalId = 0;
  private strangerId = 0;

  /** @param engine id of the engine's definition, requested before the first file */
  constructor(recorder: Recorder, engine: () => number) {
    this.recorder = recorder;
    this.engine = engine;
  }

  private define(path: string, fileKind: FileKind, vfs: string, flags: number): number {
    const id = this.recorder.define({
      kind: 'file',
      path,
      fileKind,
      vfs,
      engine: this.engine(),
      flags,
    });
    const headers = HEADERS[fileKind];
    if (headers) this.headers.set(id, headers);
    if (fileKind === 'wal')
      this.ofWal.set(id, this.known.get(vfs)?.get(path.slice(0, -4))?.id ?? 0);
    return id;
  }

  /** Which headers its calls carry: one of HeadersOf. */
  headersOf(id: number): number {
    return this.headers.get(id) ?? HeadersOf.none;
  }

  /**
   * The database that a file's pages belong to: the database of a WAL, or the file itself.
   * @returns its id; 0 = a WAL whose database wasn't seen
   */
  databaseOf(id: number): number {
    return this.ofWal.get(id) ?? id;
  }

  /**
   * A file that is being opened.
   * @param path null for a temporary file without a name
   * @param flags SQLITE_OPEN_*
   */
  opened(path: string | null, vfs: string, flags: number): number {
    const kind = fileKindOfOpenFlags(flags);
    return path === null
      ? this.define('(temp)', kind, vfs, flags)
      : this.byPath(path, vfs, kind, flags, true);
  }

  /** A file in a call of xDelete or xAccess. */
  named(path: string, vfs: string): number {
    return this.byPath(path, vfs, fileKindOfPath(path), 0, false);
  }

  private byPath(path: string, vfs: string, kind: FileKind, flags: number, sure: boolean): number {
    let paths = this.known.get(vfs);
    const before = paths?.get(path);
    if (before && (before.kind === kind || !sure)) return before.id;
    if (this.count >= MAX_PATHS) {
      this.known.clear();
      this.headers.clear();
      this.count = 0;
      paths = undefined;
    }
    if (!paths) this.known.set(vfs, (paths = new Map()));
    const id = this.define(path, kind, vfs, flags);
    paths.set(path, { id, kind });
    this.count++;
    return id;
  }

  /** SQLite's in-memory journal isn't a file and is counted separately. */
  memoryJournal(): number {
    return (this.memoryJournalId ||= this.define('(memory journal)', 'memory-journal', '', 0));
  }

  /** A file whose xOpen wasn't seen. */
  stranger(): number {
    return (this.strangerId ||= this.define('(opened before recording)', 'other', '', 0));
  }
}
