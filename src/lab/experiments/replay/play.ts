/** Asks a VFS what a recording was asked, call by call, with bytes made up: through its own x* methods, as SQLite calls them. */
import { Op } from '../../../event/event.ts';
import { opName } from '../../../event/operations.ts';
import type { EngineModule } from '../engine/builds.ts';
import type { ReplayCall, ReplayFile, ReplayScript } from './calls.ts';
import { Fcntl, OpenFlag, Rc } from '../../../sqlite/constants.ts';
import { PAGE_SIZE_AT } from '../../../sqlite/page-size.ts';

type Vfs = Record<string, unknown>;
type Method = (...args: number[]) => number | Promise<number>;
export interface ReplayModule extends EngineModule {
  _sqlite3_malloc(bytes: number): number;
  /** wa-sqlite: what a VFS waits for before it can be asked again. */
  retryOps?: Promise<unknown>[];
}
export interface Played {
  /** That were made: fewer than the script has where it was stopped. */
  readonly calls: number;
  /** Calls made again, because the VFS had to wait for something first where the recording had not. */
  readonly retries: number;
  /** Calls that answered Rc.ok in the recording and not here, by operation; the other way round, too. */
  readonly differing: Readonly<Record<string, number>>;
}

/** How far it is. @returns whether to stop here */
type Progress = (done: number, all: number) => Promise<boolean>;
/** Writes of 64 KiB between two words of how far it is. */
const PROGRESS_CHUNKS = 16;

const CREATE_MAIN_DB = OpenFlag.readWrite | OpenFlag.create | OpenFlag.mainDb;
const FILE_BYTES = 1024;
const MOST_TRIES = 1000;

/** Plays scripts on one VFS of the second generation (wa-sqlite 2.x). */
export class Player {
  private readonly out: number;
  private data = 0;
  private room = 0;
  private readonly names = new Map<string, number>();
  /** Open handles by file: the last one takes the calls. */
  private readonly open = new Map<number, number[]>();
  private retries = 0;
  private readonly differing: Record<string, number> = {};

  constructor(
    private readonly vfs: Vfs,
    private readonly module: ReplayModule,
  ) {
    this.out = module._sqlite3_malloc(64);
  }

  /**
   * Makes the files that the recording found, so large as it read them. Before anything is recorded.
   * @param onProgress bytes written so far, and in all
   * @returns whether it made all of them: it was not stopped
   */
  async prepare(files: readonly ReplayFile[], onProgress?: Progress): Promise<boolean> {
    const all = files.reduce((sum, { name, size }) => sum + (name === null ? 0 : size), 0);
    let [done, chunks] = [0, 0];
    for (const [index, file] of files.entries()) {
      if (file.size === 0 || file.name === null) continue;
      const call = (op: number, more: Partial<ReplayCall> = {}): Promise<number> =>
        this.must(file, {
          op,
          file: index,
          offset: 0,
          length: 0,
          aux: 0,
          result: Rc.ok,
          us: 0,
          ...more,
        });
      const main = file.kind === 'main-db';
      await call(Op.xOpen, { aux: main ? CREATE_MAIN_DB : file.kind === 'wal' ? 0x80006 : 0x806 });
      if (main) for (const aux of [1, 2, 4]) await call(Op.xLock, { aux });
      for (let offset = 0; offset < file.size; offset += 65536) {
        const length = Math.min(65536, file.size - offset);
        await call(Op.xWrite, { offset, length });
        done += length;
        if (++chunks % PROGRESS_CHUNKS === 0 && (await onProgress?.(done, all))) return false;
      }
      if (main) await call(Op.xFileControl, { aux: Fcntl.sync }); // VFSs that keep versions commit by it; the others do not know it
      await call(Op.xSync, { aux: 2 });
      if (main) for (const aux of [1, 0]) await call(Op.xUnlock, { aux });
      await call(Op.xClose);
    }
    this.retries = 0;
    return true;
  }

  private async must(file: ReplayFile, call: ReplayCall): Promise<number> {
    const rc = await this.insist(file, call);
    if (rc !== Rc.ok && call.op !== Op.xFileControl)
      throw new Error(`${opName(call.op)} of ${file.name} answered ${rc} before the replay.`);
    return rc;
  }

  /** @param onProgress calls made so far, and in all: about a hundred times, and not less than once a thousand calls */
  async play({ files, calls }: ReplayScript, onProgress?: Progress): Promise<Played> {
    const { differing } = this;
    const every = Math.min(1000, Math.ceil(calls.length / 100));
    let made = 0;
    for (const call of calls) {
      if (made % every === 0 && (await onProgress?.(made, calls.length))) break;
      made++;
      const rc = await this.insist(files[call.file]!, call);
      const answers =
        call.op !== Op.xSectorSize &&
        call.op !== Op.xDeviceCharacteristics &&
        call.op !== Op.xFileControl;
      if (answers && (rc === Rc.ok) !== (call.result === Rc.ok))
        differing[opName(call.op)] = (differing[opName(call.op)] ?? 0) + 1;
    }
    for (const [index, handles] of this.open)
      while (handles.length) await this.once(files[index]!, closing(index));
    return this.played(made);
  }

  /** @param calls that were made by now */
  played(calls: number): Played {
    return { calls, retries: this.retries, differing: { ...this.differing } };
  }

  /** A call that went well in the recording is asked until it does here, as long as the VFS only has to wait for something. */
  private async insist(file: ReplayFile, call: ReplayCall): Promise<number> {
    for (let tries = 0; ; tries++) {
      const rc = await this.once(file, call);
      const waiting = this.module.retryOps?.splice(0) ?? [];
      if (waiting.length === 0) return rc;
      await Promise.all(waiting);
      if (rc === Rc.ok || call.result !== Rc.ok || tries === MOST_TRIES) return rc;
      this.retries++;
      if (call.op === Op.xOpen) await this.once(file, closing(call.file)); // SQLite closes what did not open, too
    }
  }

  private async once(file: ReplayFile, call: ReplayCall): Promise<number> {
    const { out } = this;
    const { op, aux, length } = call;
    const [low, high] = [call.offset | 0, Math.floor(call.offset / 2 ** 32)];
    if (op === Op.xDelete) return this.ask('xDelete', 0, this.nameAt(file), aux);
    if (op === Op.xAccess) return this.ask('xAccess', 0, this.nameAt(file), aux, out);
    const handles = this.open.get(call.file) ?? [];
    this.open.set(call.file, handles);
    if (op === Op.xOpen) {
      const made = this.module._sqlite3_malloc(FILE_BYTES);
      handles.push(made);
      return this.ask('xOpen', 0, this.nameAt(file), made, aux, out);
    }
    const at = handles.at(-1);
    if (at === undefined) return Rc.busy; // opened before the recording began, or it did not open here
    switch (op) {
      case Op.xClose:
        handles.pop();
        return this.ask('xClose', at);
      case Op.xRead:
        return this.ask('xRead', at, this.dataOf(length), length, low, high);
      case Op.xWrite:
        return this.ask('xWrite', at, this.written(file, call), length, low, high);
      case Op.xTruncate:
        return this.ask('xTruncate', at, low, high);
      case Op.xFileSize:
      case Op.xCheckReservedLock:
        return this.ask(opName(op), at, out);
      case Op.xFileControl:
        return this.ask(
          'xFileControl',
          at,
          aux,
          aux === Fcntl.pragma ? this.pragma() : this.zeroed(),
        );
      case Op.xSectorSize:
      case Op.xDeviceCharacteristics:
        return this.ask(opName(op), at);
      default:
        return this.ask(opName(op), at, aux);
    }
  }

  /** Looked up at each call: a recorder lies over the VFS, and is to see it. */
  private async ask(name: string, ...args: number[]): Promise<number> {
    const method = this.vfs[name];
    return typeof method === 'function'
      ? await Reflect.apply(method as Method, this.vfs, args)
      : Rc.ok;
  }

  private nameAt({ name }: ReplayFile): number {
    if (name === null) return 0;
    let at = this.names.get(name);
    if (at === undefined) {
      const before = 4; // SQLite looks for the beginning of a name by four zeros
      const bytes = new TextEncoder().encode(`\0\0\0\0${name}\0\0`); // no URI parameters behind it
      at = this.module._sqlite3_malloc(bytes.length) + before;
      this.module.HEAPU8.set(bytes, at - before);
      this.names.set(name, at);
    }
    return at;
  }
  /** What a write stores is made up, but for a database's page size: absurd-sql's blocks have that size. */
  private written({ pageSize }: ReplayFile, { offset, length }: ReplayCall): number {
    const data = this.dataOf(length);
    const at = PAGE_SIZE_AT - offset;
    if (pageSize !== null && at >= 0 && at + 2 <= length)
      new DataView(this.module.HEAPU8.buffer).setUint16(
        data + at,
        pageSize === 65536 ? 1 : pageSize,
      );
    return data;
  }
  private dataOf(length: number): number {
    if (length > this.room)
      this.data = this.module._sqlite3_malloc((this.room = Math.max(65536, length)));
    return this.data;
  }
  private zeroed(): number {
    this.module.HEAPU8.fill(0, this.out, this.out + 64);
    return this.out;
  }
  /** `char*[3]` of a PRAGMA that no VFS knows: its own was not recorded. */
  private pragma(): number {
    const name = this.nameAt({ name: 'vfscope_replay', kind: 'other', size: 0, pageSize: null });
    this.zeroed();
    new DataView(this.module.HEAPU8.buffer).setUint32(this.out + 4, name, true);
    return this.out;
  }
}

const closing = (file: number): ReplayCall => ({
  op: Op.xClose,
  file,
  offset: 0,
  length: 0,
  aux: 0,
  result: Rc.ok,
  us: 0,
});
