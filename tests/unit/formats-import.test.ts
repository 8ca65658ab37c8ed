// Our own Chrome JSON read back: what the format holds comes back as it was; what it does not is said; a stranger's file is refused.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ChromeImportError, importChromeJson } from '../../src/formats/chrome-json-import.ts';
import { chromeJson } from '../../src/formats/chrome-json.ts';
import { auxOfText, resultOfText } from '../../src/formats/from-words.ts';
import { auxText, objectName, resultText } from '../../src/trace/describe.ts';
import { Op, opName } from '../../src/event/event.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore } from '../traces/builder.ts';
import { sampleStore } from '../traces/sample.ts';
import { syntheticStore } from '../traces/synthetic.ts';

async function exported(store: TraceStore): Promise<string> {
  let text = '';
  for await (const piece of chromeJson(store)) text += piece;
  return text;
}
/** What Chrome JSON holds of a trace. */
const held = (store: TraceStore): unknown =>
  store.threads.map((thread) => ({
    kind: thread.info.kind,
    calls: Array.from({ length: thread.events.count }, (_, i) => {
      const e = thread.events.row(i);
      const open = e.endSeq === 0;
      const result = open ? 0 : resultText(e.op, e.result, e.flags) || e.result;
      return [
        opName(e.op),
        Math.round(e.t0 * 1000),
        open ? null : Math.round(e.dur * 1000),
        objectName(thread, e.object),
        e.offset,
        e.length,
        auxText(e.op, e.aux),
        result,
      ];
    }),
  }));

describe('chrome json, imported', () => {
  test.each([
    ['something of everything', sampleStore()],
    ['two threads', syntheticStore({ events: 5000, threads: 2 })],
    ['a coarse clock', syntheticStore({ events: 5000, threads: 2, clockStepUs: 100 })],
    ['nothing', newStore()],
  ])('gives the same calls: %s', async (_, store) => {
    const { store: back, warnings } = importChromeJson(await exported(store));
    expect(warnings).toEqual([]);
    expect(held(back)).toEqual(held(store));
    expect(back.dropped).toBe(store.dropped);
    expect(back.originMs).toBe(store.originMs);
    for (const { events } of back.threads)
      for (let i = 0; i < events.count; i++) {
        if (i) expect(events.seq[i]!).toBeGreaterThan(events.seq[i - 1]!);
        if (events.endSeq[i]) expect(events.endSeq[i]!).toBeGreaterThan(events.seq[i]!);
      }
  });

  test('the summary of counts is the same', async () => {
    const store = syntheticStore({ events: 5000, threads: 2 });
    const [a, b] = [summaryOf(store), summaryOf(importChromeJson(await exported(store)).store)];
    expect(b.files.map((f) => [f.path, f.kind, f.vfs])).toEqual(
      a.files.map((f) => [f.path, f.kind, f.vfs]),
    );
    expect([b.events, b.durationUs, b.statements.distinct]).toEqual([
      a.events,
      a.durationUs,
      a.statements.distinct,
    ]);
  });

  test('words become the numbers that they came from', () => {
    for (let aux = 0; aux < 5; aux++) expect(auxOfText(Op.xLock, auxText(Op.xLock, aux))).toBe(aux);
    for (const flags of [0x106, 0x806, 0x80006, 0x1000004])
      expect(auxOfText(Op.xOpen, auxText(Op.xOpen, flags))).toBe(flags);
    for (const aux of [0, 1, 6, 10])
      expect(auxOfText(Op.idbTransaction, auxText(Op.idbTransaction, aux))).toBe(aux);
    for (const rc of [5, 10, 522, 5898, 0x205, 100, 101])
      expect(resultOfText(Op.xRead, resultText(Op.xRead, rc, 0)), String(rc)).toEqual({
        result: rc,
        threw: false,
      });
  });

  test('what is not ours is refused by name', () => {
    const refusal = (text: string): string => {
      try {
        importChromeJson(text);
      } catch (e) {
        expect(e).toBeInstanceOf(ChromeImportError);
        return (e as Error).message;
      }
      throw new Error('it was taken');
    };
    expect(refusal('{"traceEvents":')).toMatch(/no JSON.*cut off/);
    expect(refusal('[]')).toMatch(/without "traceEvents"/);
    expect(refusal('{"traceEvents":[]}')).toMatch(/not exported by vfscope/);
  });

  test('any change to a file: a store in order or a named refusal', async () => {
    const text = await exported(sampleStore());
    const file = JSON.parse(text) as { traceEvents: Record<string, unknown>[] };
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(-1, 1e300, 2 ** 53, 'threw', 'SQLITE_BUSY', '__proto__'),
    );
    const key = fc.constantFrom(
      'name',
      'ph',
      'ts',
      'dur',
      'tid',
      'args',
      'object',
      'offset',
      'length',
      'result',
      'detail',
      'open',
      '__proto__',
    );
    const change = fc.record({
      event: fc.nat(file.traceEvents.length - 1),
      key,
      value,
      inArgs: fc.boolean(),
    });
    let read = 0;
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 6 }),
        fc.option(fc.nat(text.length), { freq: 1 }),
        (changes, cut) => {
          const copy = structuredClone(file);
          for (const c of changes) {
            const event = copy.traceEvents[c.event]!;
            const target =
              c.inArgs &&
              typeof event.args === 'object' &&
              !Array.isArray(event.args) &&
              event.args !== null
                ? (event.args as Record<string, unknown>)
                : event;
            target[c.key] = c.value;
          }
          const changed = JSON.stringify(copy);
          try {
            const { store } = importChromeJson(cut === null ? changed : changed.slice(0, cut));
            read++;
            for (const { events } of store.threads)
              for (let i = 1; i < events.count; i++)
                expect(
                  events.seq[i]! > events.seq[i - 1]! && events.t0[i]! >= events.t0[i - 1]!,
                ).toBe(true);
            summaryOf(store);
          } catch (e) {
            if (!(e instanceof ChromeImportError)) throw e;
          }
        },
      ),
      { numRuns: 500 },
    );
    expect(read).toBeGreaterThan(100);
  });
});
