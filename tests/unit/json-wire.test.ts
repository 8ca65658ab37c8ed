/** Messages as JSON texts: Safari's runtime.Port delivers the same as one with structured clone. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRelayMessage, type RelayMessage } from '../../src/protocol/messages.ts';
import { PartReader, toParts } from '../../src/protocol/json-wire.ts';

/** Delivers it as a port that carries JSON would. */
const delivered = <T>(part: T): T => JSON.parse(JSON.stringify(part)) as T;
function traveled(message: unknown, max?: number): unknown {
  const reader = new PartReader();
  const whole = [...toParts(message, max)].map((part) => reader.take(delivered(part)));
  expect(whole.slice(0, -1)).toEqual(whole.slice(0, -1).map(() => null));
  return whole.at(-1)!.message;
}
const records = new Uint8Array(64 * 1000).map((_, i) => (i * 167) >> 3).buffer;
const relayed: RelayMessage = {
  ...{ k: 'relay', source: 's', n: 7, seen: 3 },
  body: {
    ...{ k: 'data', channel: 'c' },
    data: {
      k: 'batch',
      batch: {
        thread: 'a1',
        first: 0,
        count: 1000,
        timeOrigin: 1.5,
        dropped: 0,
        faults: 0,
        definitions: [],
        records,
      },
    },
  },
};

describe('a message over JSON', () => {
  test('a batch arrives with its bytes, whole or in pieces', () => {
    for (const max of [undefined, 1000, 7]) {
      const arrived = traveled(relayed, max);
      expect(isRelayMessage(arrived)).toBe(true);
      expect(arrived).toEqual(relayed);
    }
  });

  test('a batch of the usual size is one text, and takes a third more bytes', () => {
    const parts = [...toParts(relayed)];
    expect(parts).toHaveLength(1);
    expect(parts[0]!.json.length).toBeLessThan((records.byteLength * 4) / 3 + 300);
  });

  test('numbers that JSON lacks, and every byte, at every length', () => {
    expect(traveled({ a: [NaN, Infinity, -Infinity, 0] })).toEqual({
      a: [NaN, Infinity, -Infinity, 0],
    });
    const bytes = fc.uint8Array({ maxLength: 70_000 });
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 50_000 }), (array, max) => {
        const arrived = traveled({ bytes: array.slice().buffer }, max) as { bytes: ArrayBuffer };
        expect(Buffer.compare(Buffer.from(arrived.bytes), Buffer.from(array))).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  test('texts arrive unchanged, even if cut inside a surrogate pair', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.integer({ min: 1, max: 5 }),
        (text, max) => {
          expect((traveled({ text }, max) as { text: string }).text === text).toBe(true);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("anything that isn't a part is rejected, and the next message is whole again", () => {
    const reader = new PartReader();
    for (const wrong of [null, 'text', {}, { json: 1, more: false }, relayed])
      expect(() => reader.take(wrong)).toThrow('a part of a message was expected');
    expect(reader.take({ json: '{"k":', more: true })).toBeNull();
    expect(() => reader.take({ json: '}', more: false })).toThrow(SyntaxError);
    expect(reader.take({ json: '{"k":1}', more: false })).toEqual({ message: { k: 1 } });
  });
});
