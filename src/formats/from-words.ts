/** The words of trace/describe.ts back as numbers: aux by its text, result codes by their names, definitions by name and operation. */
import { auxText } from '../trace/describe.ts';
import { Op } from '../event/event.ts';
import { type Definition, type FileKind, fileKindOfOpenFlags } from '../event/definitions.ts';
import { resultOfException } from '../event/exceptions.ts';
import { resultName } from '../sqlite/result-codes.ts';

/** Texts of the operations whose aux is one of few numbers. */
const SMALL_AUX = [
  Op.xLock,
  Op.xUnlock,
  Op.xFileControl,
  Op.xSync,
  Op.xAccess,
  Op.xDelete,
  Op.idbTransaction,
  Op.lockRequest,
  Op.lockHeld,
];
const AUX: ReadonlyMap<number, ReadonlyMap<string, number>> = new Map(
  SMALL_AUX.map((op) => {
    const texts = new Map<string, number>();
    for (let aux = 0; aux < 64; aux++)
      if (!texts.has(auxText(op, aux))) texts.set(auxText(op, aux), aux);
    return [op, texts];
  }),
);
const BITS = Array.from({ length: 31 }, (_, bit) => 2 ** bit);
const OPEN_FLAG: ReadonlyMap<string, number> = new Map(
  BITS.map((flag) => [auxText(Op.xOpen, flag), flag]),
);

/** @returns 0 where the text says nothing */
export function auxOfText(op: number, text: unknown): number {
  if (typeof text !== 'string' || text === '') return 0;
  if (op === Op.xOpen)
    return text.split(' | ').reduce((flags, name) => flags | (OPEN_FLAG.get(name) ?? 0), 0) >>> 0;
  const known = AUX.get(op)?.get(text);
  if (known !== undefined) return known;
  const number = Number(/^(?:level|opcode|flags) (\d+)$/.exec(text)?.[1] ?? 0);
  return number <= 0xffffffff ? number : 0;
}

const CODES: ReadonlyMap<string, number> = (() => {
  const codes = new Map<string, number>();
  for (let extended = 0; extended < 64; extended++)
    for (let primary = 0; primary < 256; primary++) {
      const code = (extended << 8) | primary;
      if (!codes.has(resultName(code))) codes.set(resultName(code), code);
    }
  return codes;
})();

/** What chrome-json.ts wrote as `result`: a number, or words. */
export function resultOfText(op: number, value: unknown): { result: number; threw: boolean } {
  if (typeof value === 'number') return { result: value | 0, threw: false };
  if (typeof value !== 'string') return { result: 0, threw: false };
  if (value === 'threw') return { result: 0, threw: true };
  if (value === 'failed') return { result: 1, threw: false };
  const exception = op >= 64 && op < 128 ? resultOfException(value) : null;
  if (exception !== null) return { result: exception, threw: op >= Op.opfsRemoveEntry }; // requests of IndexedDB fail without throwing
  const known = op < 64 || op >= Op.sqlOpen ? CODES.get(value) : undefined;
  return {
    result: known ?? (Number.isInteger(Number(value)) ? Number(value) | 0 : 0),
    threw: false,
  };
}

type WithoutId<D> = D extends unknown ? Omit<D, 'id'> : never;

/** @param openFlags SQLITE_OPEN_* of the file where its opening was seen, else 0 */
export function definitionOf(op: number, name: string, openFlags: number): WithoutId<Definition> {
  if (op < 64) {
    const guess: FileKind = /-wal$/.test(name)
      ? 'wal'
      : /-journal$|-mj[0-9A-F]{6,}$/.test(name)
        ? 'journal'
        : 'main-db';
    return {
      kind: 'file',
      path: name,
      fileKind: openFlags ? fileKindOfOpenFlags(openFlags) : guess,
      vfs: '',
      engine: 0,
      flags: openFlags,
    };
  }
  if (op >= Op.sqlOpen && op < 160)
    return op === Op.sqlOpen || op === Op.sqlClose
      ? { kind: 'name', text: name }
      : { kind: 'sql', text: name };
  if (
    op === Op.idbOpen ||
    op === Op.idbDeleteDatabase ||
    op === Op.idbTransaction ||
    op === Op.idbCommit ||
    op === Op.idbAbort
  )
    return { kind: 'idb-database', db: name };
  if (op < Op.opfsRemoveEntry) {
    const slash = name.lastIndexOf('/');
    return slash < 0
      ? { kind: 'idb-database', db: name }
      : { kind: 'idb-store', db: name.slice(0, slash), store: name.slice(slash + 1) };
  }
  if (op < Op.lockRequest) return { kind: 'opfs-file', path: name };
  if (op < Op.localStorageGet) return { kind: 'lock', text: name };
  if (op < Op.sqlOpen) return { kind: 'storage-key', text: name };
  return op === Op.error ? { kind: 'message', text: name } : { kind: 'name', text: name };
}
