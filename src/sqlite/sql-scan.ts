/**
 * SQLite's tokenizer (tokenize.c, sqlite.org/lang_expr.html) over numbers: the UTF-8 bytes in an
 * engine's memory, or the UTF-16 units of a string. Nothing is allocated, as it runs for every
 * statement of the traced app. Unclosed tokens run to the text's end, since a text may be cut.
 * `"name"` is an identifier, though SQLite takes it for a string if no such name exists.
 */

/** An SQL text as numbers: UTF-8 bytes or UTF-16 units. */
export type Units = Uint8Array | Uint16Array;

export const Kind = {
  space: 0,
  comment: 1,
  word: 2,
  quoted: 3,
  string: 4,
  blob: 5,
  number: 6,
  parameter: 7,
  other: 8,
} as const;

const [IS_SPACE, IS_DIGIT, IS_WORD, STARTS_WORD] = [1, 2, 4, 8] as const;
const CLASSES = new Uint8Array(256).fill(IS_WORD | STARTS_WORD, 128);
for (let c = 0; c < 128; c++) {
  if (c === 32 || (c >= 9 && c <= 13) || c === 0) CLASSES[c] = IS_SPACE;
  else if (c >= 48 && c <= 57) CLASSES[c] = IS_DIGIT | IS_WORD;
  else if ((c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95)
    CLASSES[c] = IS_WORD | STARTS_WORD;
  else if (c === 36) CLASSES[c] = IS_WORD;
}
const classOf = (c: number): number => (c < 256 ? CLASSES[c]! : IS_WORD | STARTS_WORD);
const isSpace = (c: number): boolean => (classOf(c) & IS_SPACE) !== 0;
const isDigit = (c: number): boolean => c >= 48 && c <= 57;

/** Is this word `keyword`, in any case? @param keyword in lower-case letters */
export function isKeyword(u: Units, from: number, end: number, keyword: string): boolean {
  if (end - from !== keyword.length) return false;
  for (let i = 0; i < keyword.length; i++)
    if ((u[from + i]! | 32) !== keyword.charCodeAt(i)) return false;
  return true;
}

export class SqlScanner {
  /** `Kind` of the token found by `next`. */
  kind: number = Kind.space;
  private readonly stop: number;

  /** @param stop the unit that ends a text: 0 for C strings; -1 = none */
  constructor(stop: number) {
    this.stop = stop;
  }

  /**
   * The end of the token at `i`, which is before `end` and not on `stop`. Its kind is in `kind`.
   */
  next(u: Units, i: number, end: number): number {
    const c = u[i]!;
    const next = i + 1 < end ? u[i + 1]! : -1;
    const type = classOf(c);
    let at = i + 1;
    if (type & STARTS_WORD) {
      if ((c === 120 || c === 88) && next === 39) {
        this.kind = Kind.blob;
        return this.endBehind(u, i + 2, end, 39);
      }
      if (c >= 128) {
        const bom = byteOrderMark(u, i, end);
        if (bom) {
          this.kind = Kind.space;
          return i + bom;
        }
      }
      while (at < end && classOf(u[at]!) & IS_WORD) at++;
      this.kind = Kind.word;
      return at;
    }
    if (type & IS_SPACE) {
      while (at < end && isSpace(u[at]!) && u[at] !== this.stop) at++;
      this.kind = Kind.space;
      return at;
    }
    if (type & IS_DIGIT || (c === 46 && isDigit(next))) {
      this.kind = Kind.number;
      return numberEnd(u, i, end);
    }
    return this.mark(u, i, end, c, next);
  }

  /** Tokens that begin with a punctuation mark. */
  private mark(u: Units, i: number, end: number, c: number, next: number): number {
    let at = i + 1;
    this.kind = Kind.other;
    switch (c) {
      case 39: // '
        this.kind = Kind.string;
        return this.quotedEnd(u, at, end, c);
      case 34: // "
      case 96: // `
        this.kind = Kind.quoted;
        return this.quotedEnd(u, at, end, c);
      case 91: // [
        this.kind = Kind.quoted;
        return this.endBehind(u, at, end, 93);
      case 45: // --
        if (next !== 45) return at;
        this.kind = Kind.comment;
        while (at < end && u[at] !== 10 && u[at] !== this.stop) at++;
        return at;
      case 47: // /*
        if (next !== 42) return at;
        this.kind = Kind.comment;
        for (at++; at < end && u[at] !== this.stop; at++)
          if (u[at] === 42 && at + 1 < end && u[at + 1] === 47) return at + 2;
        return at;
      case 63: // ?1
        while (at < end && isDigit(u[at]!)) at++;
        this.kind = Kind.parameter;
        return at;
      case 58: // :name, @name, #name, $name::part(suffix)
      case 64:
      case 35:
      case 36:
        at = parameterEnd(u, i, end);
        if (at > i + 1) this.kind = Kind.parameter;
        return at;
      default:
        return at;
    }
  }

  /** The position after the next `quote`, skipping doubled ones. */
  private quotedEnd(u: Units, from: number, end: number, quote: number): number {
    let at = from;
    for (; at < end && u[at] !== this.stop; at++) {
      if (u[at] !== quote) continue;
      if (at + 1 >= end || u[at + 1] !== quote) return at + 1;
      at++;
    }
    return at;
  }
  private endBehind(u: Units, from: number, end: number, closing: number): number {
    for (let at = from; at < end; at++) {
      if (u[at] === closing) return at + 1;
      if (u[at] === this.stop) return at;
    }
    return end;
  }
}

/**
 * SQLite treats a byte order mark as white space.
 * @returns its length in units, 0 for anything else
 */
function byteOrderMark(u: Units, i: number, end: number): number {
  if (u[i] === 0xfeff) return 1;
  return u[i] === 0xef && i + 2 < end && u[i + 1] === 0xbb && u[i + 2] === 0xbf ? 3 : 0;
}

function digitsEnd(u: Units, from: number, end: number): number {
  let at = from;
  while (at < end && (isDigit(u[at]!) || u[at] === 95)) at++;
  return at;
}
function numberEnd(u: Units, i: number, end: number): number {
  if (u[i] === 48 && i + 1 < end && (u[i + 1]! | 32) === 120) {
    let at = i + 2;
    while (
      at < end &&
      (isDigit(u[at]!) || u[at] === 95 || ((u[at]! | 32) >= 97 && (u[at]! | 32) <= 102))
    )
      at++;
    return at;
  }
  let at = digitsEnd(u, i, end);
  if (at < end && u[at] === 46) at = digitsEnd(u, at + 1, end);
  if (at >= end || (u[at]! | 32) !== 101) return at;
  const signed = at + 1 < end && (u[at + 1] === 43 || u[at + 1] === 45);
  const exponent = at + (signed ? 2 : 1);
  return exponent < end && isDigit(u[exponent]!) ? digitsEnd(u, exponent, end) : at;
}
function parameterEnd(u: Units, i: number, end: number): number {
  const isWord = (at: number): boolean => at < end && (classOf(u[at]!) & IS_WORD) !== 0;
  let at = i + 1;
  for (;;) {
    if (isWord(at)) at++;
    else if (at > i + 1 && isWord(at + 2) && u[at] === 58 && u[at + 1] === 58) at += 2;
    else break;
  }
  if (at === i + 1 || at >= end || u[at] !== 40) return at;
  for (let close = at + 1; close < end && !isSpace(u[close]!); close++)
    if (u[close] === 41) return close + 1;
  return at;
}
