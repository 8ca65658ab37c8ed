/**
 * SQL texts as ids, with literals folded before they leave the page (unless the user chose capture
 * level 2). They are read, folded, and looked up as bytes in the engine's memory; only a new shape
 * needs a string.
 */
import type { CaptureLevel } from '../event/capture.ts';
import type { Recorder } from '../record/recorder.ts';
import type { EngineMemory } from '../vfs-instrumented/interpose/io-methods.ts';
import { SqlShapes } from './sql-shapes.ts';
import { SqlTemplates } from './sql-templates.ts';
import { mixBytes } from './value-hash.ts';

/** Longer texts are cut. */
const MAX_SQL_BYTES = 8192;
/** Maximum texts with literals that are distinguished; later ones are folded. */
const MAX_LITERAL_TEXTS = 20_000;
const SEMICOLON = 59;

/** SELECT or WITH, by their first two letters. */
const isQuery = (heap: Uint8Array, at: number): boolean => {
  const [c, next] = [heap[at]! | 32, heap[at + 1]! | 32];
  return (c === 115 && next === 101) || (c === 119 && next === 105);
};
const isSpace = (c: number): boolean => c === 32 || (c >= 9 && c <= 13);

export class SqlTexts {
  /** Statements in the last text, as far as it is stored: an upper bound if one of them fails. */
  statements = 0;
  /**
   * For the last statement: the salted hash of its text, including literals; 0 = it isn't a query,
   * it is too long, or hashes are off.
   */
  hash = 0;
  private readonly recorder: Recorder;
  private readonly shapes = new SqlShapes();
  private readonly templates = new SqlTemplates();
  private readonly utf8 = new TextDecoder();
  /** The last new id. */
  private newest = 0;

  private literalTexts = 0;

  /**
   * @param level of capture: at 0 texts have no ids, from 2 on literals stay @param salt of the
   * hashes of queries; 0 = no hashes
   */
  constructor(
    recorder: Recorder,
    private readonly level: CaptureLevel = 1,
    readonly salt = 0,
  ) {
    this.recorder = recorder;
  }

  /**
   * Id of the first statement at an address, as sqlite3_prepare takes it; 0 = none.
   * @param bytes its length; negative = up to the NUL
   */
  statementAt(memory: EngineMemory, address: number, bytes: number): number {
    return this.at(memory, address, bytes, true);
  }
  /** Id of everything at an address up to its NUL, as sqlite3_exec takes it; 0 = nothing. */
  scriptAt(memory: EngineMemory, address: number): number {
    return this.at(memory, address, -1, false);
  }

  private at(memory: EngineMemory, address: number, bytes: number, first: boolean): number {
    this.statements = this.hash = 0;
    if (!address) return 0;
    const heap = memory.bytes();
    const last = Math.min(heap.length, bytes < 0 ? heap.length : address + bytes);
    let start = address;
    // white space and empty statements before the first statement aren't part of it
    while (start < last && (isSpace(heap[start]!) || heap[start] === SEMICOLON)) start++;
    const cut = Math.min(last, start + MAX_SQL_BYTES);
    if (first && this.salt !== 0 && isQuery(heap, start)) {
      let to = start;
      while (to < last && to <= cut && heap[to] !== 0) to++;
      // after the cut, two texts may differ
      if (to <= cut) this.hash = mixBytes(this.salt, heap, start, to) >>> 0;
    }
    const { newest } = this;
    const { folder } = this.shapes;
    const fitting = first && this.level === 1;
    if (fitting) {
      const id = this.templates.find(heap, start, cut, cut < last);
      if (id > 0) {
        this.statements = 1;
        return id;
      }
    }
    const end = folder.fold(heap, start, cut, first);
    this.statements = folder.statements;
    if (this.level === 0) return 0;
    const truncated = end === cut && cut < last && heap[cut] !== 0;
    if (this.level === 1 || !folder.changed || this.literalTexts >= MAX_LITERAL_TEXTS) {
      const folded = this.idOf(folder.length, truncated);
      if (fitting && folded > 0 && this.newest === newest && !folder.kept)
        this.templates.learn(heap, start, end, cut, folded);
      return folded;
    }
    folder.out.set(heap.subarray(start, end)); // the folder has twice this capacity
    const id = this.idOf(end - start, truncated);
    if (this.newest !== newest && ++this.literalTexts === MAX_LITERAL_TEXTS)
      this.recorder.note(
        'tracer-error',
        `Only ${MAX_LITERAL_TEXTS} different statements are recorded with their literals.`,
      );
    return id;
  }

  /** Id of the first `bytes` of the folder's output. */
  private idOf(bytes: number, truncated: boolean): number {
    const { shapes } = this;
    const { out } = shapes.folder;
    let length = bytes;
    while (length > 0 && isSpace(out[length - 1]!)) length--;
    if (length === 0) return 0;
    const known = shapes.find(length, truncated);
    if (known >= 0) return known;
    const text = this.utf8.decode(out.subarray(0, length));
    const id = this.recorder.define(
      truncated ? { kind: 'sql', text, truncated } : { kind: 'sql', text },
    );
    shapes.add(length, truncated, id);
    this.newest = id;
    return id;
  }
}
