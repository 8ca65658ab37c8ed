/**
 * Rows of the table `events` in the order of a column with few distinct texts, so that SQLite
 * needn't sort a million rows to group them. Only the texts are sorted. The rows are then
 * distributed to them: two passes over numbers.
 *
 *   rows, in their order    read write read sync read        texts, sorted    read sync write
 *   rows, by text           read read read | sync | write
 */

/** Rows of one thread, and codes that stand for their texts. */
export interface Stretch {
  /** Its wanted rows, ascending. */
  rows: Uint32Array;
  /** By row: a number that the text depends on. */
  codes: ArrayLike<number>;
  /** Rows with the same code have the same text. */
  textOf(row: number): string | null;
}

/** Codes below this use an array as index. The limit exists because a page chooses its ids. */
const LOW_CODES = 4096;

/** Index of a text among those seen so far; the same for all threads. */
class Places {
  readonly texts: (string | null)[] = [];
  private readonly known = new Map<string | null, number>();

  of(text: string | null): number {
    let place = this.known.get(text);
    if (place === undefined) this.known.set(text, (place = this.texts.push(text) - 1));
    return place;
  }
}

/** Indexes of a thread's codes, determined once each. */
function byCode(places: Places, { codes, textOf }: Stretch): (row: number) => number {
  const low = new Int32Array(LOW_CODES).fill(-1);
  const high = new Map<number, number>();
  return (row) => {
    const code = codes[row]!;
    const known = code < LOW_CODES ? low[code]! : (high.get(code) ?? -1);
    if (known >= 0) return known;
    const place = places.of(textOf(row));
    if (code < LOW_CODES) low[code] = place;
    else high.set(code, place);
    return place;
  };
}

/**
 * @param stretches of the threads, in their order
 * @param rowsBefore by thread: rows of the threads before it
 * @returns rows counted over all threads, those with the same text in their original order; NULL
 * comes first, or last if descending, as in SQLite
 */
export function rowsByText(
  stretches: readonly Stretch[],
  rowsBefore: readonly number[],
  descending: boolean,
): Uint32Array {
  const total = stretches.reduce((n, { rows }) => n + rows.length, 0);
  const places = new Places();
  const placeOf = new Uint32Array(total);
  let at = 0;
  for (const stretch of stretches) {
    const of = byCode(places, stretch);
    for (const row of stretch.rows) placeOf[at++] = of(row);
  }
  const { texts } = places;
  const next = new Uint32Array(texts.length); // where the next row of a text goes
  for (let i = 0; i < total; i++) next[placeOf[i]!]!++;
  const sorted = texts
    .map((_, place) => place)
    .sort((a, b) => compareTexts(texts[a]!, texts[b]!) * (descending ? -1 : 1));
  let before = 0;
  for (const place of sorted) {
    const count = next[place]!;
    next[place] = before;
    before += count;
  }
  const ordered = new Uint32Array(total);
  at = 0;
  stretches.forEach(({ rows }, i) => {
    const first = rowsBefore[i]!;
    for (let k = 0; k < rows.length; k++) ordered[next[placeOf[at++]!]!++] = first + rows[k]!;
  });
  return ordered;
}

/** As SQLite's collation BINARY does: NULL first, texts by the bytes of their UTF-8. */
export function compareTexts(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x === y) continue;
    const [xIsHalf, yIsHalf] = [isSurrogate(x), isSurrogate(y)];
    return xIsHalf === yIsHalf ? x - y : xIsHalf ? 1 : -1;
  }
  return a.length - b.length;
}
/** Half of a character beyond U+FFFF, which sorts after all others. */
const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xe000;
