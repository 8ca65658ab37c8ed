/**
 * Rows of one thread as packed columns, and back. Each column is a run of varints that says how a row differs from what was to
 * be expected of it, so that gzip finds little left: docs/trace-format.md, "Columns".
 */
import { MAX_TRACE_NS } from '../../event/clock.ts';
import { EventColumns } from '../columns.ts';
import { Op } from '../../event/event.ts';
import { ByteReader, ByteWriter, MalformedError } from './bytes.ts';
import { CHUNK_EVENTS } from './format.ts';
import {
  Expected,
  gcd,
  IdRanks,
  offsetCode,
  offsetOf,
  RAW_OFFSET,
  SHAPE_FIELDS,
  splitsAux,
  splitsDetail,
  splitsLength,
  type Shape,
} from './predict.ts';

/** Columns by number. Readers skip those that they do not know. */
const Column = {
  begin: 1,
  duration: 2,
  sequence: 3,
  end: 4,
  shapes: 5,
  shape: 6,
  object: 7,
  offset: 8,
  rawOffset: 9,
  parent: 10,
  context: 11,
  statement: 12,
  counters: 13,
  aux2: 14,
  detail: 15,
} as const;

const ns = (us: number): number => Math.round(us * 1000);
const us = (nanoseconds: number): number => nanoseconds / 1e3;

/** Pack rows [from, to). */
export function packRows(events: EventColumns, from: number, to: number): Uint8Array<ArrayBuffer> {
  const n = to - from;
  const column = (): ByteWriter => new ByteWriter(n * 2 + 16);
  const out = new Map<number, ByteWriter>(Object.values(Column).map((id) => [id, column()]));
  const at = (id: number): ByteWriter => out.get(id)!;
  packTimes(events, from, to, at(Column.begin), at(Column.duration));

  const shapes = new ShapeTable(at(Column.shapes));
  const objects = new IdRanks();
  const expected = new Expected();
  const [sequence, end, shape, object] = [
    at(Column.sequence),
    at(Column.end),
    at(Column.shape),
    at(Column.object),
  ];
  const [offset, parent, context, statement, counters] = [
    at(Column.offset),
    at(Column.parent),
    at(Column.context),
    at(Column.statement),
    at(Column.counters),
  ];
  const detail = at(Column.detail);
  for (let i = from; i < to; i++) {
    const op = events.op[i]!;
    const seq = events.seq[i]!;
    const endSeq = events.endSeq[i]!;
    sequence.zigzag(seq - expected.seq());
    end.varint(endSeq ? (endSeq > seq ? (endSeq - seq) * 2 : seq * 2 + 1) : 0);
    if (endSeq && endSeq <= seq) end.varint(endSeq); // no honest thread: kept as it is
    const index = shapes.indexOf(
      op,
      events.flags[i]!,
      events.result[i]!,
      splitsLength(op) ? 0 : events.length[i]!,
      splitsAux(op) || splitsDetail(op) ? 0 : events.aux[i]!,
    );
    shape.varint(index);
    const id = events.object[i]!;
    objects.write(object, id);
    const raw = offsetCode(offset, events.offset[i]!, expected.offset(op, id));
    if (raw) at(Column.rawOffset).f64(events.offset[i]!);
    parent.varint(expected.parentCode(seq, events.parent[i]!));
    context.zigzag(events.context[i]! - expected.context(op));
    if (splitsLength(op)) {
      counters.zigzag(events.length[i]! - expected.counterLength);
      counters.zigzag(events.aux[i]! - expected.counterAux);
    } else if (splitsAux(op)) statement.zigzag(events.aux[i]! - expected.statement);
    else if (splitsDetail(op)) detail.varint(expected.detailCode(events.aux[i]!));
    expected.saw(
      op,
      seq,
      endSeq,
      id,
      events.offset[i]!,
      events.length[i]!,
      events.context[i]!,
      events.aux[i]!,
    );
  }
  const rows = at(Column.aux2);
  if (events.aux2.subarray(from, to).some((v) => v !== 0)) {
    let last = 0;
    for (let i = from; i < to; i++) {
      rows.zigzag(events.aux2[i]! - last);
      last = events.aux2[i]!;
    }
  }
  const body = new ByteWriter(n * 8 + 256);
  for (const [id, bytes] of out) {
    if (!bytes.length) continue;
    body.u8(id);
    body.varint(bytes.length);
    body.append(bytes.view8());
  }
  return body.view8();
}

/** The chunk's shapes, written out as they turn up. */
class ShapeTable {
  private readonly known: Shape[] = [];
  /** Places in `known` by a hash of the shape. */
  private readonly byHash = new Map<number, number[]>();

  constructor(private readonly out: ByteWriter) {}

  indexOf(op: number, flags: number, result: number, length: number, aux: number): number {
    const hash =
      op ^
      (flags << 8) ^
      Math.imul(result, 0x9e3779b1) ^
      Math.imul(length, 0x85ebca6b) ^
      Math.imul(aux, 0xc2b2ae35);
    let places = this.byHash.get(hash);
    if (!places) this.byHash.set(hash, (places = []));
    for (const place of places) {
      const s = this.known[place]!;
      if (s[0] === op && s[1] === flags && s[2] === result && s[3] === length && s[4] === aux)
        return place;
    }
    const shape: Shape = [op, flags, result, length, aux];
    for (const value of shape) this.out.zigzag(value);
    const place = this.known.push(shape) - 1;
    places.push(place);
    return place;
  }
}

function packTimes(
  events: EventColumns,
  from: number,
  to: number,
  begin: ByteWriter,
  duration: ByteWriter,
): void {
  let last = from < to ? ns(events.t0[from]!) : 0;
  let beginStep = 0;
  let durationStep = 0;
  for (let i = from; i < to; i++) {
    const t = ns(events.t0[i]!);
    beginStep = gcd(beginStep, t - last);
    last = t;
    durationStep = gcd(durationStep, ns(events.dur[i]!));
  }
  const [a, b] = [beginStep || 1, durationStep || 1];
  begin.varint(a);
  duration.varint(b);
  last = from < to ? ns(events.t0[from]!) : 0;
  begin.zigzag(last);
  for (let i = from; i < to; i++) {
    const t = ns(events.t0[i]!);
    begin.varint((t - last) / a);
    last = t;
    duration.varint(ns(events.dur[i]!) / b);
  }
}

/**
 * Unpack `n` rows.
 * @param into rows of an earlier chunk that may be overwritten: saves making room for each
 * @throws MalformedError when the bytes are not `n` rows in the order of their sequence numbers
 */
export function unpackRows(bytes: Uint8Array, n: number, into?: EventColumns): EventColumns {
  if (n < 1 || n > CHUNK_EVENTS)
    throw new MalformedError(`a chunk holds 1 to ${CHUNK_EVENTS} events, this one says ${n}`);
  const columns = new Map<number, ByteReader>();
  const body = new ByteReader(bytes);
  while (body.left) {
    const id = body.u8();
    if (columns.has(id)) throw new MalformedError(`column ${id} comes twice`); // some millions of them fit a section
    columns.set(id, new ByteReader(body.take(body.varint())));
  }
  const at = (id: number): ByteReader => columns.get(id) ?? new ByteReader(new Uint8Array(0));
  const events = into && into.capacity >= n ? into : new EventColumns(n);
  if (events.aux2.length) events.aux2 = new Uint32Array(0);
  unpackTimes(events, n, at(Column.begin), at(Column.duration));

  const shapes = readShapes(at(Column.shapes), n);
  const shapeCount = shapes.length / SHAPE_FIELDS;
  const objects = new IdRanks();
  const expected = new Expected();
  const [sequence, end, shape, object] = [
    at(Column.sequence),
    at(Column.end),
    at(Column.shape),
    at(Column.object),
  ];
  const [offset, rawOffset, parent, context, statement, counters] = [
    at(Column.offset),
    at(Column.rawOffset),
    at(Column.parent),
    at(Column.context),
    at(Column.statement),
    at(Column.counters),
  ];
  const detail = at(Column.detail);
  let lastSeq = 0;
  for (let i = 0; i < n; i++) {
    const seq = u32(expected.seq() + sequence.zigzag());
    if (seq <= lastSeq)
      throw new MalformedError(`event ${i} has sequence number ${seq} after ${lastSeq}`);
    lastSeq = seq;
    const code = end.varint();
    const endSeq = u32(code === 0 ? 0 : code % 2 ? end.varint() : seq + code / 2);
    const which = shape.varint();
    if (which >= shapeCount) notThere('shape', i);
    const place = which * SHAPE_FIELDS;
    const op = shapes[place]!;
    const id = u32(objects.read(object));
    const where = offset.varint();
    const from = where === RAW_OFFSET ? rawOffset.f64() : offsetOf(where, expected.offset(op, id));
    const parentSeq = u32(expected.parentOf(seq, parent.varint()));
    const connection = u32(expected.context(op) + context.zigzag());
    let length = shapes[place + 3]!;
    let aux = shapes[place + 4]!;
    if (splitsLength(op)) {
      length = u32(expected.counterLength + counters.zigzag());
      aux = u32(expected.counterAux + counters.zigzag());
    } else if (splitsAux(op)) aux = u32(expected.statement + statement.zigzag());
    else if (splitsDetail(op)) aux = u32(expected.detailOf(detail.varint()));
    events.op[i] = op;
    events.flags[i] = shapes[place + 1]!;
    events.result[i] = shapes[place + 2]!;
    events.seq[i] = seq;
    events.endSeq[i] = endSeq;
    events.object[i] = id;
    events.offset[i] = from;
    events.parent[i] = parentSeq;
    events.context[i] = connection;
    events.length[i] = length;
    events.aux[i] = aux;
    expected.saw(op, seq, endSeq, id, from, length, connection, aux);
  }
  const aux2 = at(Column.aux2);
  for (let i = 0, last = 0; aux2.left && i < n; i++)
    events.set('aux2', i, (last = u32(last + aux2.zigzag())));
  events.count = n;
  return events;
}

function unpackTimes(
  events: EventColumns,
  n: number,
  begin: ByteReader,
  duration: ByteReader,
): void {
  const [a, b] = [begin.varint(), duration.varint()];
  let t = begin.zigzag();
  for (let i = 0; i < n; i++) {
    t += begin.varint() * a;
    const d = duration.varint() * b;
    if (!(Math.abs(t) < MAX_TRACE_NS) || !(d < 2 * MAX_TRACE_NS))
      throw new MalformedError(`event ${i} has an impossible time`);
    events.t0[i] = us(t);
    events.dur[i] = us(d);
  }
}

/** The shapes one behind the other, SHAPE_FIELDS numbers each. */
function readShapes(bytes: ByteReader, n: number): Float64Array {
  let shapes = new Float64Array(64 * SHAPE_FIELDS);
  let used = 0;
  while (bytes.left) {
    if (used === n * SHAPE_FIELDS) throw new MalformedError('more shapes than events');
    if (used === shapes.length) {
      const more = new Float64Array(used * 2);
      more.set(shapes);
      shapes = more;
    }
    const [op, flags, result] = [bytes.zigzag(), bytes.zigzag(), bytes.zigzag()];
    if (op < 1 || op >= Op.end || flags < 0 || flags > 255 || result !== (result | 0))
      throw new MalformedError('an impossible shape');
    shapes.set([op, flags, result, u32(bytes.zigzag()), u32(bytes.zigzag())], used);
    used += SHAPE_FIELDS;
  }
  return shapes.subarray(0, used);
}

function u32(value: number): number {
  if (value !== value >>> 0) throw new MalformedError(`${value} is no u32`);
  return value;
}
function notThere(what: string, i: number): never {
  throw new MalformedError(`event ${i} names a ${what} that is not there`);
}
