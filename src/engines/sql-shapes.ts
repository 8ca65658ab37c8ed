/**
 * Ids of statements' shapes, looked up by their bytes, without making a string for a known shape.
 */
import { SqlFolder } from '../sqlite/sql-fold.ts';

interface Shape {
  readonly words: Uint32Array;
  readonly bytes: number;
  readonly truncated: boolean;
  readonly id: number;
  /** Another shape with the same hash. */
  readonly next: Shape | undefined;
}

const MAX_SHAPES = 2500;

/**
 * The latest MAX_SHAPES to twice as many. There are two generations, and the older one is dropped
 * as a whole: deleting the oldest entries of a Map one by one makes each deletion iterate over the
 * gaps of earlier ones.
 */
export class SqlShapes {
  /** The folder's output, four bytes a word. */
  private words = new Uint32Array(0);
  /** Its output is what `find` looks up. */
  readonly folder = new SqlFolder((length) => {
    this.words = new Uint32Array((length >>> 2) + 1);
    return new Uint8Array(this.words.buffer);
  }, 0);
  private young = new Map<number, Shape>();
  private old = new Map<number, Shape>();
  private count = 0;
  // what the last `find` looked for
  private hash = 0;

  /** Id of the shape that has the first `bytes` of the folder's output, or -1. */
  find(bytes: number, truncated: boolean): number {
    const { words, folder } = this;
    for (let i = bytes; i & 3; i++) folder.out[i] = 0;
    const hash = (this.hash = hashOf(words, bytes));
    const young = matching(this.young.get(hash), words, bytes, truncated);
    if (young) return young.id;
    const old = matching(this.old.get(hash), words, bytes, truncated);
    if (!old) return -1;
    this.keep(old.words, bytes, truncated, old.id);
    return old.id;
  }

  /** Store the id of the shape that `find` didn't find. */
  add(bytes: number, truncated: boolean, id: number): void {
    this.keep(this.words.slice(0, (bytes + 3) >>> 2), bytes, truncated, id);
  }

  private keep(words: Uint32Array, bytes: number, truncated: boolean, id: number): void {
    if (this.count >= MAX_SHAPES) {
      this.old = this.young;
      this.young = new Map();
      this.count = 0;
    }
    this.young.set(this.hash, { words, bytes, truncated, id, next: this.young.get(this.hash) });
    this.count++;
  }
}

/** 30 bits, so that it is a small integer for the JavaScript engine. */
function hashOf(words: Uint32Array, bytes: number): number {
  let hash = bytes;
  for (let i = 0, n = (bytes + 3) >>> 2; i < n; i++) {
    hash = Math.imul(hash ^ words[i]!, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash >>> 2;
}

function matching(
  first: Shape | undefined,
  words: Uint32Array,
  bytes: number,
  truncated: boolean,
): Shape | undefined {
  for (let shape = first; shape; shape = shape.next) {
    if (shape.bytes !== bytes || shape.truncated !== truncated) continue;
    let i = shape.words.length;
    while (i > 0 && shape.words[i - 1] === words[i - 1]) i--;
    if (i === 0) return shape;
  }
  return undefined;
}
