// How a recording was made: reported only by the panel, stored in the file; times of recordings
// made differently aren't compared.
import { describe, expect, it } from 'vitest';
import { devtoolsBy, type ConditionsDefinition } from '../../src/event/conditions.ts';
import type { Definition } from '../../src/event/definitions.ts';
import { conditions, slowedText, unlikeText } from '../../src/analysis/core/conditions.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { badges } from '../../src/analysis/findings/badges.ts';
import { explained, explainedText } from '../../src/analysis/findings/explanation.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import { diffOf } from '../../src/analysis/report/diff.ts';
import { verdictLines } from '../../src/analysis/report/diff-table.ts';
import { checkedOwnDefinition } from '../../src/event/own-definitions.ts';
import { isThreadMessage } from '../../src/protocol/messages.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { Session } from '../../src/viewer/session/session.ts';
import { batchOf, newStore, ThreadBuilder } from '../traces/builder.ts';

const CHROMIUM = 'Mozilla/5.0 Chrome/156.0.0.0';
const FIREFOX = 'Mozilla/5.0 Gecko/20100101 Firefox/153.0';
const environment = (userAgent: string): Definition =>
  ({
    ...{ kind: 'environment', id: 0, url: '', threadKind: 'worker', crossOriginIsolated: false },
    ...{ clockStepUs: 5, userAgent, hidden: null },
    capture: { capture: 1, layers: ['sql', 'vfs', 'web'], buffer: 1024 },
  }) as Definition;
const made = (
  devtools: boolean | null,
  wasmFactor: number | null = null,
  awaitExtraNs: number | null = null,
): ConditionsDefinition => ({ kind: 'conditions', id: 0, devtools, wasmFactor, awaitExtraNs });

/** Five runs of a statement. */
function recorded(how: ConditionsDefinition | null, us = 1000, userAgent = CHROMIUM): TraceStore {
  const store = newStore();
  const t = new ThreadBuilder(store);
  t.say(environment(userAgent));
  if (how) t.say(how);
  const object = t.define({ kind: 'sql', text: 'SELECT 1' });
  for (let i = 1; i <= 5; i++) t.call('sqlStep', { object, aux: i, result: 101, dur: us });
  t.send();
  return store;
}
const of = (store: TraceStore) => new Facts(store).get(conditions);
const badgeOf = (store: TraceStore): string | undefined =>
  new Facts(store).get(badges).find(({ badge }) => badge === 'DevTools open')?.say;

describe('how a recording was made', () => {
  it('is reported where DevTools slow the page down, in Chromium', () => {
    expect(of(recorded(made(true)))).toMatchObject({ devtools: true, slowed: true });
    expect(of(recorded(made(true), 1000, FIREFOX))).toMatchObject({ slowed: false });
    expect(of(recorded(made(null)))).toMatchObject({ devtools: null, slowed: false });
    expect(of(recorded(null))).toMatchObject({ devtools: null, slowed: false });
    expect(badgeOf(recorded(made(true)))).toMatch(/WebAssembly runs at about half its speed/);
    expect(badgeOf(recorded(made(true), 1000, FIREFOX))).toBeUndefined();
    expect(badgeOf(recorded(made(null)))).toBeUndefined();
    expect(slowedText(of(recorded(made(true, 2.3, 2500))))).toMatch(
      /WebAssembly took 2\.3 times as long in the page as outside of it, and each await 2\.5 µs more\./,
    );
    const text = (store: TraceStore) => explainedText(new Facts(store).get(explained)!);
    expect(text(recorded(made(true)))).toMatch(/Times and savings are those with DevTools open\.$/);
    expect(text(recorded(made(null)))).toMatch(/in SQL\.$/);
  });

  it('decides whether times are compared', () => {
    const [open, closed, unknown] = [made(true), made(false), null].map((how) => of(recorded(how)));
    expect(unlikeText(open!, closed!)).toMatch(/^DevTools slowed A down and not B/);
    expect(unlikeText(closed!, open!)).toMatch(/^DevTools slowed B down and not A/);
    expect(unlikeText(open!, unknown!)).toBe(
      "DevTools slowed A down, and B doesn't show whether they were open: times aren't compared. Record both the same way.",
    );
    expect(unlikeText(unknown!, open!)).toMatch(/^DevTools slowed B down, and A doesn't show/);
    for (const [a, b] of [
      [open, open],
      [closed, closed],
      [closed, unknown],
      [unknown, unknown],
    ])
      expect(unlikeText(a!, b!)).toBeNull();
    const diff = (a: ConditionsDefinition, b: ConditionsDefinition) =>
      diffOf(new Facts(recorded(a)), new Facts(recorded(b, 3000)));
    const judged = diff(made(true), made(true));
    expect([judged.whole.verdict, judged.statements[0]!.time.verdict]).toEqual([
      'changed',
      'changed',
    ]);
    const unlike = diff(made(true), made(false));
    expect([unlike.whole.verdict, unlike.statements[0]!.time]).toMatchObject([
      'unknown',
      { verdict: 'unknown', spreadUs: null, pairs: null, slower: null },
    ]);
    expect(verdictLines(unlike)).toEqual([
      unlike.unlike,
      'A spent 5 ms in all statements, B 15 ms.',
    ]);
  });

  it("can't be set by a page, and is checked in a file", () => {
    const { info } = newStore().thread({
      ...{ id: 't', kind: 'page', url: '', name: '', parent: null, timeOrigin: 0 },
    });
    const message = (definitions: Definition[]) => ({
      k: 'batch',
      batch: batchOf(info, 0, [], definitions),
    });
    expect(isThreadMessage(message([]))).toBe(true);
    expect(isThreadMessage(message([made(true)]))).toBe(false);
    expect(checkedOwnDefinition({ ...made(true, 2, 3), more: 1 })).toEqual(made(true, 2, 3));
    for (const wrong of [{ devtools: 1 }, { wasmFactor: -1 }, { awaitExtraNs: NaN }])
      expect(checkedOwnDefinition({ ...made(true), ...wrong })).toBeNull();
  });

  it('stays with the trace: in its file, and in a sanitized copy', async () => {
    const session = new Session(() => {});
    await session.begin({ originMs: 0, spoolKey: '', devtools: true, flight: null });
    const { port1, port2 } = new MessageChannel();
    await session.attach(port2);
    port1.postMessage({
      ...{ k: 'hello', protocol: 1, timeOrigin: 0 },
      thread: { id: 'page', kind: 'page', url: 'https://app.example/', name: '', parent: null },
    });
    const saved = async () => (await readTrace(await session.save())).store;
    await expect.poll(async () => of(await saved()).devtools).toBe(true);
    await session.slowdown({ wasmFactor: 2, awaitExtraNs: 1500 });
    const store = await saved();
    const expected = { devtools: true, wasmFactor: 2, awaitExtraNs: 1500 };
    expect(of(store)).toMatchObject(expected);
    expect(of(sanitizeStore(store))).toMatchObject(expected);
    port1.close();
    await session.clear();
  });
});

describe("whether DevTools were open, detected from the page's pace", () => {
  it.each([
    [2, 1000, true],
    [7, 7200, true],
    [1, 0, false],
    [1.25, 200, false],
    [1, 1000, null],
    [3, 0, null],
    [null, 0, null],
    [2, null, null],
  ] as const)('WebAssembly %s times as long, %s ns more for an await: %s', (wasm, await_, open) => {
    expect(devtoolsBy({ wasmFactor: wasm, awaitExtraNs: await_ })).toBe(open);
  });
});
