/**
 * Counts the calls to one of our VFSs: calls and bytes by operation and kind of file, and the work
 * inside checkpoints. It overrides methods of the instance before it is registered; synchronous
 * calls stay synchronous. Cheap enough for time mode: a call adds to two array elements, and names
 * are made on reading.
 */
import { Op } from '../../../event/event.ts';
import { saysMoved } from '../../../event/operations.ts';
import { fileKindOfPath } from '../../../event/file-names.ts';
import { type FileKind, fileKindOfOpenFlags } from '../../../event/definitions.ts';
import type { EngineModule, Generation } from './builds.ts';
import type { Counters } from '../model/types.ts';
import { Fcntl } from '../../../sqlite/constants.ts';

type Method = (...args: unknown[]) => unknown;
const METHODS = [
  'xOpen',
  'xClose',
  'xRead',
  'xWrite',
  'xTruncate',
  'xSync',
  'xFileSize',
  'xLock',
  'xUnlock',
  'xCheckReservedLock',
  'xFileControl',
  'xDelete',
  'xAccess',
] as const;
type MethodName = (typeof METHODS)[number];

/** SQLite's in-memory journal never reaches a VFS. */
const KINDS = ['main-db', 'journal', 'wal', 'temp', 'other'] as const;
type Kind = (typeof KINDS)[number];
const kindIndex = (kind: FileKind): number =>
  Math.max(0, KINDS.indexOf(kind === 'memory-journal' ? 'other' : kind));
const OTHER = KINDS.indexOf('other');

const GAP_SIZES = [1e3, 1e4, 1e5, 1e6, 1e7];
const GAP_NAMES = ['1k', '10k', '100k', '1M', '10M'];

export class VfsTally {
  /** By method and kind: method index * number of kinds + kind. */
  private readonly calls = new Float64Array(METHODS.length * KINDS.length);
  private readonly bytes = new Float64Array(METHODS.length * KINDS.length);
  /** When the current checkpoint began to copy, ms, and the durations of finished ones. */
  private copyingFrom = 0;
  private checkpointMs: number[] = [];
  private readonly checkpoint = { count: 0, walReads: 0, dbWrites: 0, runs: 0 };
  /** Kinds of open files by sqlite3_file pointer (2.x) or file id (1.0). */
  private readonly files = new Map<unknown, number>();
  /** By method and kind, as `calls`: instructions since the previous call. */
  private readonly gaps = new Float64Array(METHODS.length * KINDS.length);
  private readonly sizes = new Float64Array(GAP_SIZES.length + 1);
  private gapFrom = 0n;
  /** Calls so far. */
  total = 0;
  private copying = false;
  /** The end of the last database write of this checkpoint. */
  private runEnd = -1;

  /**
   * @param vfs not yet registered
   * @param instructions of the engine so far, where they are counted; the counter stands still
   * while a VFS works
   */
  constructor(
    vfs: Record<string, unknown>,
    private readonly generation: Generation,
    private readonly module: EngineModule,
    private readonly instructions: (() => bigint) | null = null,
  ) {
    METHODS.forEach((name, index) => {
      const method = vfs[name];
      if (typeof method !== 'function') return;
      vfs[name] = (...args: unknown[]): unknown => {
        const at = this.count(name, index * KINDS.length, args);
        const answer = Reflect.apply(method as Method, vfs, args);
        if (name !== 'xRead' && name !== 'xWrite') return answer;
        const moved = (result: unknown): void => {
          if (saysMoved(Op[name], Number(result))) this.bytes[at]! += this.asked(args);
        };
        if (answer instanceof Promise) answer.then(moved, () => {});
        else moved(answer);
        return answer;
      };
    });
  }

  /** Gaps restart, because a step begins. @param instructions so far */
  mark(instructions: bigint): void {
    this.gapFrom = instructions;
  }

  /** Cumulative, with the names in types.ts. Operations that never occurred are left out. */
  read(): Counters {
    const out: Record<string, number> = { 'vfs.calls': 0 };
    METHODS.forEach((name, index) =>
      KINDS.forEach((kind, k) => {
        const at = index * KINDS.length + k;
        const calls = this.calls[at]!;
        if (!calls) return;
        const add = (counter: string, n: number): void =>
          void (out[counter] = (out[counter] ?? 0) + n);
        add('vfs.calls', calls);
        add(`vfs.${name}`, calls);
        add(`vfs.${kind}.${name}`, calls);
        if (this.instructions) add(`gap.${kind}.${name}`, this.gaps[at]!);
        if (name !== 'xRead' && name !== 'xWrite') return;
        add(`vfs.${name}Bytes`, this.bytes[at]!);
        add(`vfs.${kind}.${name}Bytes`, this.bytes[at]!);
      }),
    );
    this.sizes.forEach((n, i) => {
      if (n)
        out[`gap.size.${i < GAP_SIZES.length ? `<${GAP_NAMES[i]}` : `>=${GAP_NAMES.at(-1)}`}`] = n;
    });
    for (const [name, n] of Object.entries(this.checkpoint)) out[`checkpoint.${name}`] = n;
    return out;
  }

  /** Called before the method. @returns index of the method and kind */
  private count(name: MethodName, base: number, args: unknown[]): number {
    const kind = this.kind(name, args);
    this.calls[base + kind]!++;
    this.total++;
    if (this.instructions) this.gap(base + kind, this.instructions());
    if (name === 'xFileControl') this.fileControl(args[1]);
    else if (this.copying) this.copied(name, KINDS[kind]!, args);
    return base + kind;
  }

  /** Bytes that xRead or xWrite will move. */
  private asked(args: unknown[]): number {
    return this.generation === 1
      ? (args[1] as { byteLength: number }).byteLength
      : (args[2] as number);
  }

  private gap(at: number, now: bigint): void {
    const gap = Number(now - this.gapFrom);
    this.gapFrom = now;
    this.gaps[at]! += gap;
    const size = GAP_SIZES.findIndex((limit) => gap < limit);
    this.sizes[size < 0 ? GAP_SIZES.length : size]!++;
  }

  private kind(name: MethodName, args: unknown[]): number {
    if (name === 'xDelete' || name === 'xAccess')
      return this.kindOfName(this.generation === 1 ? args[0] : args[1]);
    if (name !== 'xOpen') return this.files.get(args[0]) ?? OTHER;
    const [file, flags] = this.generation === 1 ? [args[1], args[2]] : [args[2], args[3]];
    const kind = kindIndex(fileKindOfOpenFlags(Number(flags)));
    this.files.set(file, kind);
    return kind;
  }

  /** xDelete and xAccess have no flags: SQLite's suffixes show the kind. */
  private kindOfName(name: unknown): number {
    const text = typeof name === 'number' ? this.module.UTF8ToString(name) : String(name);
    return kindIndex(fileKindOfPath(text));
  }

  private offset(args: unknown[]): number {
    return this.generation === 1
      ? Number(args[2])
      : (Number(args[3]) >>> 0) + Number(args[4]) * 2 ** 32;
  }

  private fileControl(op: unknown): void {
    if (op === Fcntl.ckptStart) {
      this.checkpoint.count++;
      this.copying = true;
      this.runEnd = -1;
      this.copyingFrom = performance.now();
    } else if (op === Fcntl.ckptDone && this.copying) {
      this.copying = false;
      this.checkpointMs.push(performance.now() - this.copyingFrom);
    }
  }

  /** The copy time of each checkpoint, ms, with its sync of the database, since the last call. */
  takeCheckpoints(): number[] {
    const taken = this.checkpointMs;
    this.checkpointMs = [];
    return taken;
  }

  private copied(name: MethodName, kind: Kind, args: unknown[]): void {
    if (name === 'xRead' && kind === 'wal') this.checkpoint.walReads++;
    if (name !== 'xWrite' || kind !== 'main-db') return;
    this.checkpoint.dbWrites++;
    const offset = this.offset(args);
    if (offset !== this.runEnd) this.checkpoint.runs++;
    this.runEnd = offset + this.asked(args);
  }
}
