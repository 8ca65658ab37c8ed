/** Packs rows of one thread into columns, and unpacks them: docs/trace-format.md, "Columns". */
import { EventColumns } from '../columns.ts';
import { ByteReader, ByteWriter, MalformedError } from './bytes.ts';
import { COLUMNS, FORMS, type Against, type FileColumn } from './chunk-columns.ts';
import { CHUNK_EVENTS } from './format.ts';

/** Pack rows [from, to). */
export function packRows(events: EventColumns, from: number, to: number): Uint8Array<ArrayBuffer> {
  const n = to - from;
  const slots = new Slots(events, from, n);
  const numbers = new Float64Array(n);
  const body = new ByteWriter(n * 8 + 256);
  for (const { number, field, as, against } of COLUMNS) {
    FORMS[as].read(events, field, from, numbers);
    const column = pack(numbers, slots.of(against));
    if (!column) continue;
    body.u8(number);
    body.varint(column.length);
    body.append(column.view8());
  }
  return body.view8();
}

/** @param numbers are overwritten @param slots null: no comparison @returns null if all are 0 */
function pack(numbers: Float64Array, slots: Uint16Array | null): ByteWriter | null {
  const n = numbers.length;
  const first = slots ? numbers[0]! : 0;
  const before = new Float64Array(SLOTS).fill(first);
  let step = 0;
  let signed = false;
  for (let i = 0; i < n; i++) {
    const number = numbers[i]!;
    const slot = slots ? slots[i]! : 0;
    const difference = number - before[slot]!;
    if (slots) before[slot] = number;
    numbers[i] = difference;
    if (difference < 0) signed = true;
    if (difference !== 0 && step !== 1 && (step === 0 || difference % step !== 0))
      step = gcd(Math.abs(difference), step);
  }
  if (first === 0 && step === 0) return null;
  const out = new ByteWriter(step === 0 ? 32 : n + 32);
  out.zigzag(first);
  out.u8(signed ? 1 : 0);
  out.varint(step);
  if (step === 0) return out;
  for (let i = 0; i < n; i++) {
    const steps = numbers[i]! / step;
    if (signed) out.zigzag(steps);
    else out.varint(steps);
  }
  return out;
}

/**
 * Unpack `n` rows.
 * @param into rows of an earlier chunk that may be overwritten, which saves an allocation
 * @throws MalformedError when the bytes are not `n` rows in the order of their sequence numbers
 */
export function unpackRows(bytes: Uint8Array, n: number, into?: EventColumns): EventColumns {
  if (n < 1 || n > CHUNK_EVENTS)
    throw new MalformedError(`a chunk holds 1 to ${CHUNK_EVENTS} events, this one has ${n}`);
  const columns = new Map<number, Uint8Array>();
  const body = new ByteReader(bytes);
  while (body.left) {
    const id = body.u8();
    // a section could hold millions of columns
    if (columns.has(id)) throw new MalformedError(`column ${id} comes twice`);
    columns.set(id, body.take(body.varint()));
  }
  const events = into && into.capacity >= n ? into : new EventColumns(n);
  const slots = new Slots(events, 0, n);
  const numbers = new Float64Array(n);
  for (const column of COLUMNS) {
    const packed = new ByteReader(columns.get(column.number) ?? ZEROS);
    unpack(packed, column, slots.of(column.against), numbers);
    FORMS[column.as].write(events, column.field, numbers);
  }
  for (let i = 1; i < n; i++)
    if (events.seq[i]! <= events.seq[i - 1]!)
      throw new MalformedError(
        `event ${i} has sequence number ${events.seq[i]} after ${events.seq[i - 1]}`,
      );
  events.count = n;
  return events;
}
/** An absent column. */
const ZEROS = Uint8Array.of(0, 0, 0);

function unpack(
  bytes: ByteReader,
  { field, range: [min, max] }: FileColumn,
  slots: Uint16Array | null,
  numbers: Float64Array,
): void {
  const first = bytes.zigzag();
  const signed = bytes.u8() !== 0;
  const step = bytes.varint();
  const check = (number: number, i: number): void => {
    if (!(number >= min && number <= max))
      throw new MalformedError(`event ${i} has an impossible ${field}: ${number}`);
  };
  if (step === 0) {
    check(first, 0);
    numbers.fill(first);
  } else {
    const before = new Float64Array(slots ? SLOTS : 1).fill(first);
    for (let i = 0; i < numbers.length; i++) {
      const slot = slots ? slots[i]! : 0;
      const number = before[slot]! + (signed ? bytes.zigzag() : bytes.varint()) * step;
      check(number, i);
      numbers[i] = number;
      if (slots) before[slot] = number;
    }
  }
  if (bytes.left) throw new MalformedError(`its ${field} is longer than its events`);
}

const SLOTS = 4096;
/**
 * The slot of each row, by what a column is compared with: each row is compared with the last row
 * of the same slot.
 */
class Slots {
  private readonly made = new Map<Against, Uint16Array | null>([['none', null]]);

  constructor(
    private readonly events: EventColumns,
    private readonly from: number,
    private readonly n: number,
  ) {}

  /** Call once the rows have their `op` and `object`, if the slot depends on them. */
  of(against: Against): Uint16Array | null {
    let slots = this.made.get(against);
    if (slots === undefined) this.made.set(against, (slots = this.make(against)));
    return slots;
  }
  private make(against: Against): Uint16Array {
    const { events, from, n } = this;
    const [ops, objects] = [events.op.subarray(from, from + n), events.object.subarray(from)];
    if (against === 'op') return new Uint16Array(ops);
    const slots = new Uint16Array(n);
    if (against === 'call')
      for (let i = 0; i < n; i++) slots[i] = (Math.imul(objects[i]!, 61) + ops[i]!) & (SLOTS - 1);
    return slots;
  }
}

function gcd(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y) [x, y] = [y, x % y];
  return x;
}
