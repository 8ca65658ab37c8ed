/**
 * Registers a wa-sqlite VFS (an object with x* methods) in any other build of SQLite. Where the
 * build doesn't export sqlite3_vfs_register, such as sql.js, the object replaces its default VFS.
 */
import { opName } from '../../../event/operations.ts';
import { Rc } from '../../../sqlite/constants.ts';
import {
  EngineMemory,
  IO_METHODS,
  IO_METHODS_WORDS,
  VFS_METHODS,
  VFS_XOPEN_WORD,
  VFS_ZNAME_WORD,
  X_OPEN,
} from '../../../vfs-instrumented/interpose/io-methods.ts';
import { hasType } from '../../../vfs-instrumented/interpose/link-probe.ts';
import type { WasmFunction } from '../../../vfs-instrumented/interpose/natives.ts';
import { rawAllocate, type RawEngine } from './raw-engine.ts';
import { addToTable, asWords } from './table-functions.ts';

type Signature = Parameters<typeof asWords>[0];
type Vfs = Readonly<Record<string, unknown>>;
type Method = (...args: number[]) => number;

/** sqlite3_vfs up to xCurrentTimeInt64: sqlite.org/c3ref/vfs.html. */
const VFS_WORDS = 19;
const VfsWord = { version: 0, fileBytes: 1, path: 2, next: 3, fullPathname: 9 } as const;
const X_FULL_PATHNAME: Signature = { params: 'iiii', results: 'i' };
const ON_MEMORY = 'Run it on vfs=memory';
/** In sqlite3_file, only the pointer to its methods is ours. */
const FILE_BYTES = 8;
const METHODS_1 = IO_METHODS.filter(({ word }) => word < IO_METHODS_WORDS[1]);

/**
 * @param vfs with synchronous methods
 * @param defaultVfs address of the build's sqlite3_vfs, whose functions do what the object doesn't
 * @throws Error with a message for the user where the build doesn't accept a VFS
 */
export function registerVfs(
  engine: RawEngine,
  vfs: Vfs,
  asDefault: boolean,
  defaultVfs: number,
): number {
  const { table, find } = engine;
  if (!table) throw new Error(`it takes no VFS: it shows no function table. ${ON_MEMORY}`);
  const memory = new EngineMemory(engine.memory);
  const word = (at: number, n: number): number => memory.word(at + 4 * n);
  const put = (at: number, n: number, value: number): void =>
    void (memory.words()[(at >>> 2) + n] = value);
  const opens = table.get(word(defaultVfs, VFS_XOPEN_WORD)) as WasmFunction | null;
  if (!opens || !hasType(opens, X_OPEN))
    throw new Error(
      `it takes no VFS: its default VFS isn't where vfscope looks for it. ${ON_MEMORY}`,
    );
  /** Looked up at each call, so that overrides are called. */
  const slot = (signature: Signature, name: string): number =>
    addToTable(table, signature, (...args) =>
      (vfs[name] as Method).apply(vfs, asWords(signature, args)),
    );

  const methods = rawAllocate(engine, 4 * IO_METHODS_WORDS[1]);
  put(methods, 0, 1);
  for (const method of METHODS_1) put(methods, method.word, slot(method, opName(method.op)));

  const register = find('sqlite3_vfs_register') as Method | undefined;
  if (!register && !asDefault)
    throw new Error(`it takes no VFS: it exports no sqlite3_vfs_register. ${ON_MEMORY}`);
  const made = register ? rawAllocate(engine, 4 * VFS_WORDS) : defaultVfs;
  if (register) {
    for (let n = 0; n < VFS_WORDS; n++) put(made, n, word(defaultVfs, n));
    put(made, VfsWord.version, Math.min(2, word(defaultVfs, VfsWord.version)));
    put(made, VfsWord.fileBytes, FILE_BYTES);
    put(made, VfsWord.next, 0);
    const name = new TextEncoder().encode(`${String(vfs.name)}\0`);
    const at = rawAllocate(engine, name.length);
    memory.bytes().set(name, at);
    put(made, VFS_ZNAME_WORD, at);
  }
  put(made, VfsWord.path, Number(vfs.mxPathname));
  /** SQLite passes none for a journal, but the methods write to it. */
  const flagsOut = rawAllocate(engine, 4);
  const open = addToTable(table, X_OPEN, (pVfs, name, file, flags, out) => {
    const rc = (vfs.xOpen as Method).call(
      vfs,
      ...[pVfs, name, file, flags, out || flagsOut].map(Number),
    );
    put(Number(file), 0, rc === Rc.ok ? methods : 0);
    return rc;
  });
  put(made, VFS_XOPEN_WORD, open);
  for (const method of VFS_METHODS) put(made, method.word, slot(method, opName(method.op)));
  put(made, VfsWord.fullPathname, slot(X_FULL_PATHNAME, 'xFullPathname'));
  return register ? register(made, asDefault ? 1 : 0) : Rc.ok;
}
