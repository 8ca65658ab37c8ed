/**
 * The columns of a packed chunk, each declared once: chunk.ts packs and unpacks by this list, and
 * the docs print it.
 */
import { MAX_TRACE_NS } from '../../event/clock.ts';
import { Op } from '../../event/event.ts';
import type { EventColumns, EventRow } from '../columns.ts';
import { MalformedError } from './bytes.ts';

/**
 * The earlier event whose number is subtracted: none, the last one, or the last with the same `op`
 * or the same call.
 */
export type Against = 'none' | 'event' | 'op' | 'call';

export interface FileColumn {
  /** Identifies the column in a file. Never renumber, only add. */
  readonly number: number;
  readonly field: keyof EventRow;
  readonly as: Form;
  readonly against: Against;
  /** The minimum and the maximum of its numbers. */
  readonly range: readonly [min: number, max: number];
}

const MAX_U32 = 2 ** 32 - 1;
const U32 = [0, MAX_U32] as const;
const I32 = [-(2 ** 31), 2 ** 31 - 1] as const;
const TIME = [1 - MAX_TRACE_NS, MAX_TRACE_NS - 1] as const;
const DURATION = [0, 2 * MAX_TRACE_NS - 1] as const;

/**
 * In the order of unpacking: `object` and `op` name a call, and `seq` is the base of other numbers.
 */
export const COLUMNS: readonly FileColumn[] = [
  { number: 1, field: 'op', as: 'number', against: 'none', range: [1, Op.end - 1] },
  { number: 2, field: 'object', as: 'number', against: 'op', range: U32 },
  { number: 3, field: 'seq', as: 'number', against: 'event', range: [1, MAX_U32] },
  { number: 4, field: 'endSeq', as: 'from seq', against: 'none', range: [-MAX_U32, MAX_U32] },
  { number: 5, field: 't0', as: 'ns', against: 'event', range: TIME },
  { number: 6, field: 'dur', as: 'ns', against: 'none', range: DURATION },
  { number: 7, field: 'flags', as: 'number', against: 'call', range: [0, 255] },
  { number: 8, field: 'result', as: 'number', against: 'call', range: I32 },
  { number: 9, field: 'offset', as: 'high word', against: 'call', range: U32 },
  { number: 10, field: 'offset', as: 'low word', against: 'call', range: U32 },
  { number: 11, field: 'length', as: 'number', against: 'call', range: U32 },
  { number: 12, field: 'parent', as: 'from seq', against: 'call', range: [-MAX_U32, MAX_U32] },
  { number: 13, field: 'context', as: 'number', against: 'call', range: U32 },
  { number: 14, field: 'aux', as: 'number', against: 'call', range: U32 },
  { number: 15, field: 'aux2', as: 'number', against: 'call', range: U32 },
];

type Form = 'number' | 'ns' | 'from seq' | 'high word' | 'low word';

/** Converts between the rows of a field and the numbers of its column, which are equally many. */
interface Conversion {
  read(events: EventColumns, field: keyof EventRow, from: number, numbers: Float64Array): void;
  /**
   * Writes the first rows, whose columns are wide.
   * @throws MalformedError if a number doesn't fit the field
   */
  write(events: EventColumns, field: keyof EventRow, numbers: Float64Array): void;
}

/** By the `as` of a column. */
export const FORMS: Readonly<Record<Form, Conversion>> = {
  number: {
    read(events, field, from, numbers) {
      numbers.set(events[field].subarray(from, from + numbers.length));
    },
    write(events, field, numbers) {
      events[field].set(numbers);
    },
  },
  ns: {
    read(events, field, from, numbers) {
      const us = events[field];
      for (let i = 0; i < numbers.length; i++) numbers[i] = Math.round(us[from + i]! * 1000);
    },
    write(events, field, numbers) {
      const us = events[field];
      for (let i = 0; i < numbers.length; i++) us[i] = numbers[i]! / 1000;
    },
  },
  'from seq': {
    read(events, field, from, numbers) {
      const { seq, [field]: values } = events;
      for (let i = 0; i < numbers.length; i++)
        numbers[i] = swapped(values[from + i]! - seq[from + i]!, seq[from + i]!);
    },
    write(events, field, numbers) {
      const { seq, [field]: values } = events;
      for (let i = 0; i < numbers.length; i++) {
        const value = swapped(numbers[i]!, seq[i]!) + seq[i]!;
        if (value !== value >>> 0)
          throw new MalformedError(`event ${i} has an impossible ${field}`);
        values[i] = value;
      }
    },
  },
  'high word': word(1),
  'low word': word(0),
};

/**
 * A distance from `seq` to a number that is 0 for none. 0 and -seq are swapped, so that none is 0.
 * Its own inverse.
 */
const swapped = (distance: number, seq: number): number =>
  distance === 0 ? -seq : distance === -seq ? 0 : distance;

/** Half of a 64-bit number. @param which of its words in memory */
function word(which: 0 | 1): Conversion {
  return {
    read(events, field, from, numbers) {
      const values = new Float64Array(events[field].subarray(from, from + numbers.length));
      const words = new Uint32Array(values.buffer);
      for (let i = 0; i < numbers.length; i++) numbers[i] = words[2 * i + which]!;
    },
    write(events, field, numbers) {
      const { buffer, byteOffset } = events[field];
      const words = new Uint32Array(buffer, byteOffset, 2 * numbers.length);
      for (let i = 0; i < numbers.length; i++) words[2 * i + which] = numbers[i]!;
    },
  };
}
