/**
 * What a packed column expects of the next row. Writer and reader keep the same expectations, so only surprises cost bytes.
 * Part of the file format: docs/trace-format.md, "Columns".
 */
import { Op } from '../../event/event.ts';
import { MalformedError, type ByteReader, type ByteWriter } from './bytes.ts';

/** op, flags, result, length, aux: few combinations in a chunk. */
export type Shape = [op: number, flags: number, result: number, length: number, aux: number];
export const SHAPE_FIELDS = 5;

/** aux is the id of a statement, kept apart from the shape. */
export const splitsAux = (op: number): boolean => op >= Op.sqlPrepare && op <= Op.sqlExec;
/** length and aux are counters that grow, kept apart from the shape. */
export const splitsLength = (op: number): boolean => op === Op.sqlCounters;

/** aux says what SQLite's headers hold (a page number in a frame's header), kept apart from the shape. */
export const splitsDetail = (op: number): boolean =>
  op === Op.xRead || op === Op.xWrite || op === Op.opfsWrite;

export function gcd(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y) [x, y] = [y, x % y];
  return x;
}

const RANKS = 64;

/** Ids as their place among those used lately: 0 none, 1..64 the place, 65 the next new id, 66 + id any other. */
export class IdRanks {
  private readonly recent: number[] = [];
  private highest = 0;

  private use(id: number, place: number): void {
    const { recent } = this;
    if (place > 0) for (let i = place; i > 0; i--) recent[i] = recent[i - 1]!;
    else if (place < 0) {
      recent.unshift(id);
      if (recent.length > RANKS) recent.pop();
    }
    recent[0] = id;
    if (id > this.highest) this.highest = id;
  }
  write(out: ByteWriter, id: number): void {
    if (id === 0) {
      out.varint(0);
      return;
    }
    const place = this.recent.indexOf(id);
    out.varint(place >= 0 ? place + 1 : id === this.highest + 1 ? RANKS + 1 : RANKS + 2 + id);
    this.use(id, place);
  }
  read(from: ByteReader): number {
    const code = from.varint();
    if (code === 0) return 0;
    const place = code <= RANKS ? code - 1 : -1;
    const id =
      place >= 0 ? this.recent[place] : code === RANKS + 1 ? this.highest + 1 : code - RANKS - 2;
    if (id === undefined) throw new MalformedError(`place ${code} of ${this.recent.length} ids`);
    this.use(id, place);
    return id;
  }
}

const PAGE = 4096;
const LARGEST_STEP = 2 ** 48;
/** The code of an offset that stands in a column of its own. */
export const RAW_OFFSET = 1;

/** Write an offset: 0 NaN, 1 raw, else 2 + (distance in pages, or in bytes with the low bit set). @returns whether it is raw */
export function offsetCode(out: ByteWriter, offset: number, expected: number): boolean {
  if (Number.isNaN(offset)) {
    out.varint(0);
    return false;
  }
  const d = offset - expected;
  if (!Number.isSafeInteger(offset) || Object.is(offset, -0) || Math.abs(d) >= LARGEST_STEP) {
    out.varint(RAW_OFFSET);
    return true;
  }
  const pages = d % PAGE === 0;
  const step = pages ? d / PAGE : d;
  out.varint(2 + (step < 0 ? -step * 2 - 1 : step * 2) * 2 + (pages ? 0 : 1));
  return false;
}

/** @param code not RAW_OFFSET */
export function offsetOf(code: number, expected: number): number {
  if (code === 0) return NaN;
  const v = Math.floor((code - 2) / 2);
  const step = v % 2 ? -(v + 1) / 2 : v / 2;
  return expected + ((code - 2) % 2 ? step : step * PAGE);
}

/** Stands for the counters, which are no object's. */
const COUNTERS = -1;
const LOW_IDS = 4096;

/** Where calls are expected by the id of their object: low ids, which are most, in an array. */
class NextOffsets {
  private readonly low = new Float64Array(LOW_IDS + 1);
  private readonly high = new Map<number, number>();

  get(id: number): number {
    return id < LOW_IDS ? this.low[id + 1]! : (this.high.get(id) ?? 0);
  }
  set(id: number, offset: number): void {
    if (id < LOW_IDS) this.low[id + 1] = offset;
    else this.high.set(id, offset);
  }
}

/** More ends than these are not searched for the lowest. */
const FEW_ENDS = 16;

interface Open {
  seq: number;
  endSeq: number;
}

/** The state that rows seen so far leave behind. */
export class Expected {
  private lastSeq = 0;
  /** End number of the last row where it directly follows: most rows. */
  private lastEnd = 0;
  private readonly ends = new Set<number>();
  /** The lowest of them, or less. */
  private leastEnd = Infinity;
  private readonly nextOffset = new NextOffsets();
  /** sql, vfs, web, host */
  private readonly contexts = [0, 0, 0, 0];
  private readonly open: Open[] = [];
  statement = 0;
  counterLength = 0;
  counterAux = 0;
  /** The last aux of a read or write that was not 0. */
  private detail = 0;

  /** The next sequence number that no end has taken. */
  seq(): number {
    let seq = this.lastSeq + 1;
    for (;;) {
      if (seq !== this.lastEnd) {
        if (seq < this.leastEnd) return seq;
        const taken = this.ends.delete(seq);
        this.leastEnd = this.least(seq + 1);
        if (!taken) return seq;
      }
      seq++;
    }
  }

  /** The lowest end; where that would take long, what it is not below. */
  private least(bound: number): number {
    if (this.ends.size > FEW_ENDS) return bound;
    let least = Infinity;
    for (const end of this.ends) if (end < least) least = end;
    return least;
  }

  /** Where the object's last call stopped; counters: what the last ones said. */
  offset(op: number, object: number): number {
    return this.nextOffset.get(op === Op.sqlCounters ? COUNTERS : object);
  }
  context(op: number): number {
    return this.contexts[group(op)]!;
  }

  /** 0: 0; else 1 + zigzag of the distance to the last that was not 0. */
  detailCode(aux: number): number {
    if (aux === 0) return 0;
    const d = aux - this.detail;
    return 1 + (d < 0 ? -d * 2 - 1 : d * 2);
  }
  detailOf(code: number): number {
    if (code === 0) return 0;
    const v = code - 1;
    return this.detail + (v % 2 ? -(v + 1) / 2 : v / 2);
  }

  /** 0: the innermost sql or vfs call that is open; 1: none; else 1 + how many numbers back it began, by its own number where later. */
  parentCode(seq: number, parent: number): number {
    if (parent === this.innermost(seq)) return 0;
    if (parent === 0) return 1;
    return parent < seq ? (seq - parent) * 2 : parent * 2 + 1;
  }
  parentOf(seq: number, code: number): number {
    if (code === 0) return this.innermost(seq);
    if (code === 1) return 0;
    return code % 2 ? (code - 1) / 2 : seq - code / 2;
  }
  private innermost(seq: number): number {
    const { open } = this;
    for (let last = open.at(-1); last; last = open.at(-1)) {
      if (last.endSeq === 0 || last.endSeq > seq) return last.seq;
      open.pop();
    }
    return 0;
  }

  saw(
    op: number,
    seq: number,
    endSeq: number,
    object: number,
    offset: number,
    length: number,
    context: number,
    aux: number,
  ): void {
    this.lastSeq = seq;
    if (endSeq === seq + 1) this.lastEnd = endSeq;
    else if (endSeq > seq) {
      this.ends.add(endSeq);
      if (endSeq < this.leastEnd) this.leastEnd = endSeq;
    }
    if (Number.isSafeInteger(offset)) {
      if (op === Op.sqlCounters) this.nextOffset.set(COUNTERS, offset);
      else if (object && Number.isSafeInteger(offset + length))
        this.nextOffset.set(object, offset + length);
    }
    this.contexts[group(op)] = context;
    if (splitsLength(op)) {
      this.counterLength = length;
      this.counterAux = aux;
    } else if (splitsAux(op)) this.statement = aux;
    else if (aux !== 0 && splitsDetail(op)) this.detail = aux;
    if ((op < 64 || (op >= 128 && op < 160)) && endSeq !== seq + 1) this.open.push({ seq, endSeq });
  }
}

const group = (op: number): number => (op < 64 ? 1 : op < 128 ? 2 : op < 160 ? 0 : 3);
