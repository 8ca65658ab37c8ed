/**
 * Texts of recently prepared statements, with holes for plain numbers and strings. A text that
 * matches has the template's shape, because folding only needs to know where a literal ends.
 * Comparing takes a tenth of the time of folding, and apps prepare a few shapes many times.
 */
import { Kind, SqlScanner, type Units } from '../sqlite/sql-scan.ts';

/**
 * Bytes that stand for a literal in a template. A text that contains them doesn't make a template.
 */
const [NUMBER, STRING] = [1, 2] as const;
const [QUOTE, SEMICOLON, ZERO, NINE] = [39, 59, 48, 57] as const;
/** Longer texts don't make a template. */
const MOST_BYTES = 1024;
/** Number of stored templates, by a hash of what precedes the first literal; a power of two. */
const BUCKETS = 64;
const PREFIX = 24;
/**
 * What may follow a number so that any other number of digits ends there, too: white space, `)`,
 * `,`, `;`, and the end.
 */
const endsNumber = (c: number | undefined): boolean =>
  c === undefined || c === 0 || c === 32 || c === 10 || c === 41 || c === 44 || c === 59;

interface Template {
  readonly id: number;
  readonly bytes: Uint8Array;
  /** The statement ended at a semicolon, not at the text's end. */
  readonly closed: boolean;
}

export class SqlTemplates {
  private readonly buckets: (Template | undefined)[] = new Array<Template | undefined>(
    BUCKETS,
  ).fill(undefined);
  /** Texts that didn't match since one last did. */
  private readonly misses = new Uint32Array(BUCKETS);
  private readonly scanner = new SqlScanner(0);
  private bucket = 0;

  /**
   * Id of the shape of the text at `from`, which ends at `end` or its NUL, whichever comes first;
   * -1 = no match.
   * @param cut more may follow at `end`
   */
  find(u: Uint8Array, from: number, end: number, cut: boolean): number {
    let hash = 0;
    for (let i = from, most = Math.min(end, from + PREFIX); i < most; i++) {
      const c = u[i]!;
      if ((c >= ZERO && c <= NINE) || c === QUOTE || c === 0) break;
      hash = Math.imul(hash ^ c, 0x9e3779b1);
    }
    this.bucket = hash >>> 26;
    const template = this.buckets[this.bucket];
    if (template === undefined || !fits(template, u, from, end, cut)) return -1;
    this.misses[this.bucket] = 0;
    return template.id;
  }

  /**
   * A text that `find` didn't find has this shape, which was seen before.
   * @param end of the statement, before its semicolon if it has one
   * @param cut end of the text that was read
   */
  learn(u: Uint8Array, from: number, end: number, cut: number, id: number): void {
    const misses = ++this.misses[this.bucket]!;
    // less and less often: alternating shapes are folded
    if ((misses & (misses - 1)) !== 0 || end - from > MOST_BYTES) return;
    const bytes = this.holed(u, from, end);
    if (bytes) this.buckets[this.bucket] = { id, bytes, closed: end < cut && u[end] === SEMICOLON };
  }

  private holed(u: Units, from: number, end: number): Uint8Array | null {
    const { scanner } = this;
    const bytes: number[] = [];
    for (let i = from; i < end;) {
      const after = scanner.next(u, i, end);
      if (scanner.kind === Kind.string) {
        if (u[after - 1] !== QUOTE || after - i < 2) return null; // not closed
        bytes.push(STRING);
      } else if (scanner.kind === Kind.number) {
        for (let at = i; at < after; at++) if (u[at]! < ZERO || u[at]! > NINE) return null;
        if (after < end && !endsNumber(u[after])) return null;
        bytes.push(NUMBER);
      } else if (scanner.kind === Kind.blob) return null;
      else
        for (let at = i; at < after; at++) {
          if (u[at]! <= STRING) return null;
          bytes.push(u[at]!);
        }
      i = after;
    }
    return Uint8Array.from(bytes);
  }
}

function fits(
  { bytes, closed }: Template,
  u: Uint8Array,
  from: number,
  end: number,
  cut: boolean,
): boolean {
  let at = from;
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i]!;
    if (at >= end) return false;
    if (c > STRING) {
      if (u[at] !== c) return false;
      at++;
    } else if (c === NUMBER) {
      const begin = at;
      while (at < end && u[at]! >= ZERO && u[at]! <= NINE) at++;
      if (at === begin) return false;
    } else {
      if (u[at] !== QUOTE) return false;
      at++;
      while (at < end && u[at] !== QUOTE && u[at] !== 0) at++;
      if (at >= end || u[at] !== QUOTE) return false;
      at++;
    }
  }
  if (at >= end) return !closed && !cut;
  return closed ? u[at] === SEMICOLON : u[at] === 0;
}
