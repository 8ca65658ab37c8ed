// Navigation: a late answer selects nothing, and of several requests the newest counts.
import { get } from 'svelte/store';
import { describe, expect, it } from 'vitest';
import { Navigation } from '../../src/viewer/ui/navigation.ts';
import { evidenceAt, evidenceMarksOf } from '../../src/viewer/ui/views/timeline/evidence-marks.ts';
import { LatestOnly } from '../../src/viewer/ui/requests/latest-only.ts';
import type { Queries } from '../../src/protocol/answers/queries.ts';
import type { EventDetails, SessionApi } from '../../src/protocol/session.ts';

interface Late {
  seq: number;
  answer: (event: EventDetails) => void;
  fail: (error: unknown) => void;
}
const neverAsked = (() =>
  Promise.reject(new Error('no query was expected'))) as SessionApi<Queries>['query'];
function navigation(): { model: Navigation; asked: Late[]; failures: string[] } {
  const asked: Late[] = [];
  const failures: string[] = [];
  const event: SessionApi['event'] = (_thread, seq) =>
    new Promise((answer, fail) => asked.push({ seq, answer, fail }));
  const attempt = (command: () => Promise<void>): Promise<boolean> =>
    command().then(
      () => true,
      (error: Error) => failures.push(error.message) === 0,
    );
  return { model: new Navigation({ event, query: neverAsked }, attempt), asked, failures };
}
const details = (seq: number): EventDetails =>
  ({ thread: 0, seq, t0: seq, dur: 1 }) as EventDetails;

describe('a selected event', () => {
  it("is ignored for a trace that was replaced meanwhile, and its failure isn't shown", async () => {
    const { model, asked, failures } = navigation();
    const selecting = [model.select(0, 1, { show: true }), model.select(0, 2)];
    const view = get(model.view);
    model.reset();
    asked[0]!.answer(details(1));
    asked[1]!.fail(new RangeError('thread 0 of 0'));
    await Promise.all(selecting);
    expect(get(model.selected)).toBeNull();
    expect(get(model.view)).toEqual(view);
    expect(failures).toEqual([]);
  });

  it('is the one selected last, whichever answer comes first', async () => {
    const { model, asked } = navigation();
    const selecting = [model.select(0, 1), model.select(0, 2)];
    asked[1]!.answer(details(2));
    await selecting[1];
    asked[0]!.answer(details(1));
    await selecting[0];
    expect(get(model.selected)?.seq).toBe(2);
  });

  it("that doesn't exist is reported", async () => {
    const { model, asked, failures } = navigation();
    const selecting = model.select(0, 1);
    asked[0]!.fail(new RangeError('no such event'));
    await selecting;
    expect(failures).toEqual(['no such event']);
  });
});

describe('the newest request', () => {
  it("runs after the current one, those between never run, and a canceled one doesn't either", async () => {
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const done: number[] = [];
    const work = new LatestOnly<number>(
      async (wish, wanted) => {
        begun.push(wish);
        await new Promise<void>((end) => ends.push(end));
        if (wanted()) done.push(wish);
      },
      () => {},
    );
    for (const wish of [1, 2, 3, 4]) work.want(wish);
    expect(begun).toEqual([1]);
    ends[0]!();
    await expect.poll(() => begun).toEqual([1, 4]);
    ends[1]!();
    await expect.poll(() => done).toEqual([4]);
    work.want(5);
    work.forget();
    ends[2]!();
    work.want(6);
    await expect.poll(() => begun).toEqual([1, 4, 5, 6]);
    expect(done).toEqual([4]);
  });

  it('runs even if the one before it failed, and only failures of current requests are reported', async () => {
    const failed: unknown[] = [];
    const begun: number[] = [];
    const work = new LatestOnly<number>(
      (wish) => {
        begun.push(wish);
        return wish < 3 ? Promise.reject(new Error(`no ${wish}`)) : Promise.resolve();
      },
      (error) => failed.push((error as Error).message),
    );
    work.want(1);
    work.want(2);
    await expect.poll(() => failed).toEqual(['no 2']);
    work.want(3);
    expect(begun).toEqual([1, 2, 3]);
  });
});

describe('evidence', () => {
  it("is zoomed to so that each event's statement fills a third of the width, unless it is easy to see", async () => {
    const places = {
      fromUs: Float64Array.of(10_000, 10_200, 500_000),
      toUs: Float64Array.of(10_010, 10_300, 500_010),
      statementFromUs: Float64Array.of(9_800, 10_100, 499_000),
      statementToUs: Float64Array.of(10_100, 10_300, 501_000),
    };
    const event = (thread: number, seq: number): Promise<EventDetails> =>
      Promise.resolve({ ...details(seq), thread });
    const query = (() => Promise.resolve(places)) as unknown as SessionApi<Queries>['query'];
    const attempt = (command: () => Promise<void>): Promise<boolean> => command().then(() => true);
    const model = new Navigation({ event, query }, attempt);
    model.takeExtents({ extent: [0, 1e6], drawn: [0, 1e6] });
    model.showAll();
    const events = [1, 2, 3].map((seq) => ({ thread: 0, seq }));
    await model.showEvidence('F', events, { from: 0, to: 1e6 });
    expect(get(model.view)).toEqual({ from: 9_500, to: 10_400 });
    expect(get(model.selected)?.seq).toBe(1);
    await model.stepEvidence(1); // 200 of the 900 us on screen: easy to see
    expect(get(model.view)).toEqual({ from: 9_500, to: 10_400 });
    expect(get(model.selected)?.seq).toBe(2);
    await model.stepEvidence(1);
    expect(get(model.view)).toEqual({ from: 497_000, to: 503_000 });
    expect(evidenceAt({ places }, 10_150, 100)).toBe(1);
    expect(evidenceAt({ places }, 20_000, 100)).toBe(-1);
    expect([...evidenceMarksOf({ places, at: 2 }).ranges.slice(0, 4)]).toEqual([
      10_000, 10_010, 10_200, 10_300,
    ]);
  });
});
