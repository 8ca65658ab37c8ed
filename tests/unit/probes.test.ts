/** The probes' own parts, without a browser: patching, sizes, and keys. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inlineKey, numericKey, valueBytes } from '../../src/probes/value-size.ts';
import { ownerOf, Patches } from '../../src/record/patches.ts';
import { ProbeContext } from '../../src/probes/context.ts';
import { RecordReader } from '../../src/event/batch.ts';
import { drainRecords } from '../../src/record/drain.ts';
import { Flag, Op } from '../../src/event/event.ts';
import { Recorder } from '../../src/record/recorder.ts';

class Api {
  calls: unknown[][] = [];
  put(this: Api, key: number, value?: string): string {
    if (key < 0) throw new RangeError('negative');
    this.calls.push([key, value]);
    return `${key}=${value}`;
  }
}
const install = (begin: () => number = () => 0) => {
  const recorder = new Recorder({ capacity: 16, maxEngines: 0 });
  const patches = new Patches();
  const context = new ProbeContext(recorder, patches, globalThis);
  context.record<Api>(Api.prototype, 'put', {
    begin: (_self, args) => (begin(), recorder.begin(Op.idbPut, 0, Number(args[0]), 0)),
    end: (token, result) => recorder.end(token, String(result).length),
  });
  return { recorder, patches, context };
};
const reader = (recorder: Recorder): RecordReader =>
  new RecordReader(drainRecords(recorder.memory.buffer)!.records);

describe('patching', () => {
  test('keeps shape and results, records the call, and restores the same descriptor', () => {
    const before = Object.getOwnPropertyDescriptor(Api.prototype, 'put')!;
    const { recorder, patches } = install();
    const during = Object.getOwnPropertyDescriptor(Api.prototype, 'put')!;
    expect(during.value).not.toBe(before.value);
    expect({ ...during, value: null }).toEqual({ ...before, value: null });
    expect([Api.prototype.put.name, Api.prototype.put.length]).toEqual([
      'put',
      before.value.length,
    ]);
    expect(() => Reflect.construct(Api.prototype.put, [])).toThrow(TypeError);
    const api = new Api();
    expect(api.put(3, 'x')).toBe('3=x');
    expect(api.calls).toEqual([[3, 'x']]);
    expect(() => api.put(-1)).toThrow(new RangeError('negative'));
    const records = reader(recorder);
    expect(
      [0, 1].map((i) => [records.op(i), records.offset(i), records.result(i), records.flags(i)]),
    ).toEqual([
      [Op.idbPut, 3, 3, 0],
      [Op.idbPut, -1, 1, Flag.threw],
    ]);
    expect(patches.restore()).toEqual([]);
    expect(Object.getOwnPropertyDescriptor(Api.prototype, 'put')).toEqual(before);
    expect(Api.prototype.put).toBe(before.value);
  });

  test('an exception in vfscope is counted, and never reaches the app', () => {
    const { recorder, patches } = install(() => {
      throw new Error('ours');
    });
    expect(new Api().put(1)).toBe('1=undefined');
    expect(recorder.faults).toBe(1);
    expect(recorder.takeDefinitions()).toEqual([
      expect.objectContaining({ topic: 'tracer-error', text: 'probe put: Error: ours' }),
    ]);
    patches.restore();
  });

  test("the app's wrapper around ours stays, and works", () => {
    const native = Object.getOwnPropertyDescriptor(Api.prototype, 'put')!;
    const { recorder, patches } = install();
    const ours = Api.prototype.put;
    Api.prototype.put = function (this: Api, key, value) {
      return `app ${ours.call(this, key, value)}`;
    };
    expect(patches.restore()).toEqual([]);
    recorder.enabled = false;
    expect(new Api().put(2)).toBe('app 2=undefined');
    expect(recorder.backlogRecords).toBe(0);
    Object.defineProperty(Api.prototype, 'put', native);
  });

  test('what the app has frozen is named, and everything else is restored', () => {
    class Frozen {
      get [Symbol.toStringTag](): string {
        return 'not asked';
      }
      get = (): number => 1;
    }
    const [frozen, tagged, other] = [
      { get: () => 1 },
      Object.assign(new Frozen(), { name: 'Tagged' }),
      { get: () => 2 },
    ];
    const patches = new Patches();
    const natives = [frozen, tagged, other].map(({ get }) => get);
    for (const owner of [other, frozen, tagged]) patches.method(owner, 'get', () => 3);
    for (const owner of [frozen, tagged]) Object.freeze(owner);
    expect(patches.restore()).toEqual(['Tagged.get', 'get']);
    expect([
      frozen.get === natives[0],
      tagged.get === natives[1],
      other.get === natives[2],
    ]).toEqual([false, false, true]);
  });

  test("what is missing or can't be replaced is left alone", () => {
    const patches = new Patches();
    const frozen = Object.freeze({ f: () => 1 });
    expect(patches.method(undefined, 'f', () => 2)).toBe(false);
    expect(patches.method({}, 'f', () => 2)).toBe(false);
    expect(patches.method(frozen, 'f', () => 2)).toBe(false);
    expect(ownerOf(new Api(), 'put')).toBe(Api.prototype);
    expect(ownerOf(new Api(), 'none')).toBeUndefined();
  });

  test('texts are defined once, and beyond the limit share one id', () => {
    const { recorder, patches, context } = install();
    const ids = ['a', 'b', 'a', 'c', 'd'].map((text) => context.textId('lock', text, 2));
    expect(ids[2]).toBe(ids[0]);
    expect(ids[3]).toBe(ids[4]);
    expect(recorder.takeDefinitions().map((d) => 'text' in d && d.text)).toEqual([
      'a',
      'b',
      '(others)',
    ]);
    patches.restore();
  });
});

describe('sizes and keys', () => {
  test('sizes of what SQLite file systems store', () => {
    expect(valueBytes(new Uint8Array(4096).subarray(96))).toBe(4000);
    expect(valueBytes({ path: '/a', offset: -4096, version: 1, data: new ArrayBuffer(4096) })).toBe(
      4 + 8 + 8 + 4096,
    );
    expect(valueBytes([new Blob(['abc']), 'ab', null, undefined, true, 1n])).toBe(3 + 4 + 8);
    expect(valueBytes({ a: { b: { c: { d: 'too deep' } } } })).toBe(0);
  });
  test('accessors are not called', () => {
    const value = { get data(): string { throw new Error('called'); } }; // prettier-ignore
    expect(valueBytes(value)).toBe(0);
    expect(inlineKey(value, 'data')).toBeUndefined();
  });
  test('the number in a key', () => {
    expect([
      numericKey(7),
      numericKey('7'),
      numericKey(['/a', 4096]),
      numericKey([1, 'x']),
      numericKey(undefined),
    ]).toEqual([7, NaN, 4096, 1, NaN]);
    expect([numericKey(['/a', -8192, -3]), numericKey([2, 7]), numericKey(['/a'])]).toEqual([
      -8192,
      7,
      NaN,
    ]);
    expect(inlineKey({ path: '/a', at: { index: 3 } }, ['path', 'at.index'])).toEqual(['/a', 3]);
    expect([inlineKey(5, 'x'), inlineKey({ x: 1 }, ''), inlineKey({ x: 1 }, null)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
  test('any value has a size, and any path a result', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withTypedArray: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
        }),
        fc.string(),
        (value, path) => {
          expect(valueBytes(value)).toBeGreaterThanOrEqual(0);
          expect(typeof numericKey(inlineKey(value, path))).toBe('number');
        },
      ),
    );
  });
});
