/**
 * Events as cells of files, column by column. The cells are the same as those of the columns in
 * analysis/events/table.ts, which compute one event at a time, but take a fraction of the time. A
 * test compares them.
 */
import {
  ACTIVITIES,
  COUNTS,
  LAYERS,
  NAMES,
  type eventColumns,
  type ThreadView,
} from '../analysis/events/table.ts';
import { bytesMoved } from '../trace/bytes-moved.ts';
import { detailText, isFailure, lengthOf, offsetOf, resultText } from '../trace/describe.ts';
import { isInMemory } from '../trace/in-memory.ts';
import { longer, type Numbers } from '../trace/typed-arrays.ts';
import { Texts, type Cells } from './parquet-column.ts';
import { toNs } from './tables.ts';

/** @returns cells of `count` events, from one on. They hold until the next column is asked for */
type Reader = (view: ThreadView, from: number, count: number) => Cells;

/** Written over by the next column. */
let room = new Float64Array(0);
const numbers =
  (fill: (out: Float64Array, view: ThreadView, from: number) => void): Reader =>
  (view, from, count) => {
    room = longer(room, count);
    const out = room.subarray(0, count);
    fill(out, view, from);
    return out;
  };
const texts =
  (fill: (out: Texts, view: ThreadView, from: number) => void): Reader =>
  (view, from, count) => {
    const out = new Texts(count);
    fill(out, view, from);
    return out.cells;
  };

/** Numbers of a column of events. */
const recorded = (name: 'seq' | 'aux' | 'aux2' | 'flags'): Reader =>
  numbers((out, { events }, from) => out.set(events[name].subarray(from, from + out.length)));
/** The same where 0 is none. */
const known = (of: (view: ThreadView) => Numbers): Reader =>
  numbers((out, view, from) => {
    out.set(of(view).subarray(from, from + out.length));
    for (let i = 0; i < out.length; i++) if (out[i] === 0) out[i] = NaN;
  });

/** By operation, place of its text: -1 = not looked up yet. */
const places = new Int32Array(256);
/**
 * A text for each operation.
 * @param isNone null, or whether an event has none whatever its operation
 */
const byOperation = (
  all: readonly (string | null)[],
  isNone: typeof isInMemory | null = null,
): Reader =>
  texts((out, { events }, from) => {
    const { ids } = out.cells;
    const { op } = events;
    places.fill(-1);
    for (let i = 0; i < ids.length; i++) {
      if (isNone?.(events, from + i)) continue;
      const code = op[from + i]!;
      let place = places[code]!;
      if (place < 0) places[code] = place = out.place(all[code]!);
      ids[i] = place;
    }
  });
/** The name of what an id of the thread stands for. */
const named = (of: (view: ThreadView) => Numbers): Reader =>
  texts((out, view, from) => {
    const { ids } = out.cells;
    const all = of(view);
    const found = new Map<number, number>();
    let [last, lastPlace] = [-1, 0];
    for (let i = 0; i < ids.length; i++) {
      const id = all[from + i]!;
      if (id !== last) {
        let place = found.get(id);
        if (place === undefined) found.set(id, (place = out.place(view.name(id))));
        [last, lastPlace] = [id, place];
      }
      ids[i] = lastPlace;
    }
  });

/** By name, as files hold them: times are nanoseconds. */
export const eventCells: Readonly<Record<keyof typeof eventColumns, Reader>> = {
  thread: numbers((out, { thread }) => out.fill(thread.index)),
  seq: recorded('seq'),
  end_seq: known(({ events }) => events.endSeq),
  ts: numbers((out, { events: { t0 } }, from) => {
    for (let i = 0; i < out.length; i++) out[i] = toNs(t0[from + i]!) + 0; // not -0
  }),
  dur: numbers((out, { events: { dur, endSeq } }, from) => {
    for (let i = 0; i < out.length; i++)
      out[i] = endSeq[from + i] === 0 ? NaN : toNs(dur[from + i]!) + 0;
  }),
  layer: byOperation(LAYERS),
  op: byOperation(NAMES),
  object_id: known(({ events }) => events.object),
  object: named(({ events }) => events.object),
  kind: texts((out, view, from) => {
    const { events } = view;
    const { ids } = out.cells;
    let [last, lastInMemory, lastPlace] = [-1, false, 0];
    for (let i = 0; i < ids.length; i++) {
      const row = from + i;
      const object = events.object[row]!;
      const inMemory = isInMemory(events, row);
      if (object !== last || inMemory !== lastInMemory) {
        [last, lastInMemory] = [object, inMemory];
        lastPlace = out.place(view.at(row).kind);
      }
      ids[i] = lastPlace;
    }
  }),
  offset: numbers((out, { events }, from) => {
    for (let i = 0; i < out.length; i++) out[i] = offsetOf(events, from + i) ?? NaN;
  }),
  length: numbers((out, { events }, from) => {
    for (let i = 0; i < out.length; i++) out[i] = lengthOf(events, from + i);
  }),
  result: numbers((out, { events: { result, endSeq } }, from) => {
    for (let i = 0; i < out.length; i++) out[i] = endSeq[from + i] === 0 ? NaN : result[from + i]!;
  }),
  result_name: texts((out, { events: { op, result, flags, endSeq } }, from) => {
    const { ids } = out.cells;
    for (let i = 0; i < ids.length; i++) {
      const row = from + i;
      if (endSeq[row] === 0) continue;
      const text = resultText(op[row]!, result[row]!, flags[row]!);
      if (text) ids[i] = out.place(text);
    }
  }),
  detail: texts((out, { thread }, from) => {
    const { ids } = out.cells;
    for (let i = 0; i < ids.length; i++) {
      const text = detailText(thread, from + i);
      if (text) ids[i] = out.place(text);
    }
  }),
  aux: recorded('aux'),
  aux2: recorded('aux2'),
  flags: recorded('flags'),
  parent_seq: known(({ events }) => events.parent),
  connection: known(({ events }) => events.context),
  statement_seq: numbers((out, { owners, events: { seq } }, from) => {
    for (let i = 0; i < out.length; i++) {
      const row = owners.statement(from + i);
      out[i] = row < 0 ? NaN : seq[row]!;
    }
  }),
  statement: named(({ statementId }) => statementId),
  statement_id: known(({ statementId }) => statementId),
  activity: byOperation(ACTIVITIES),
  counts: byOperation(COUNTS, isInMemory),
  bytes: numbers((out, { events }, from) => {
    for (let i = 0; i < out.length; i++) out[i] = bytesMoved(events, from + i);
  }),
  failed: numbers((out, { events }, from) => {
    const { op, result, flags, endSeq } = events;
    for (let i = 0; i < out.length; i++) {
      const row = from + i;
      out[i] = endSeq[row] !== 0 && isFailure(op[row]!, result[row]!, flags[row]!) ? 1 : 0;
    }
  }),
};
