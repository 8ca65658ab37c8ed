// Messages between threads: which was handled where, known and guessed facts, and how the time
// until an answer was spent.
import { describe, expect, test } from 'vitest';
import { Flag, MessageSize, Op, PortMove } from '../../src/event/event.ts';
import { CAPTURE_DEFAULTS } from '../../src/event/capture.ts';
import type { ChannelKind } from '../../src/event/channels.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { findings } from '../../src/analysis/findings/index.ts';
import { channelEnds } from '../../src/analysis/messages/channel-ends.ts';
import { bytesOf, messages, queueUs } from '../../src/analysis/messages/messages.ts';
import { rowsByOperation } from '../../src/analysis/core/rows-by-operation.ts';
import {
  requestDetails,
  type RequestDetails,
} from '../../src/analysis/messages/request-details.ts';
import { requests } from '../../src/analysis/messages/requests.ts';
import { reportOf } from '../../src/analysis/report/report.ts';
import { summaryOf } from '../../src/analysis/report/summary.ts';
import { privacyReport } from '../../src/analysis/privacy/privacy-report.ts';
import { sanitizeStore } from '../../src/analysis/privacy/sanitize.ts';
import { reportText } from '../../src/terminal/report-text.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { ThreadStore, TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

/** A page and its worker. */
class Two {
  readonly store = newStore();
  readonly page = new ThreadBuilder(this.store, {
    id: 'page',
    kind: 'page',
    url: 'https://app.example/',
  });
  readonly worker = new ThreadBuilder(this.store, { id: 'w' });
  readonly toWorker = end(this.page, 'worker', 'w');
  readonly toPage = end(this.worker, 'creator', 'w');

  done(): TraceStore {
    this.page.send();
    this.worker.send();
    return this.store;
  }
}
const end = (t: ThreadBuilder, channel: ChannelKind, key = '', side = 0): number =>
  t.define({ kind: 'channel', channel, key, side });
const post = (t: ThreadBuilder, object: number, aux: number, more = {}): number =>
  t.call('messagePost', { object, aux, ...more });
/** Handles at a time, microseconds. */
function handle(
  t: ThreadBuilder,
  object: number,
  aux: number,
  at: number,
  inside?: () => void,
): void {
  t.idle(at - t.now);
  t.call('messageHandle', { object, aux }, inside);
}
const pairs = (store: TraceStore): unknown[] =>
  new Facts(store)
    .get(messages)
    .map((m) => [
      `${m.from.thread.index} ${m.from.channel.channel} ${m.from.thread.events.aux[m.row]!}`,
      m.to
        ? `${m.to.thread.index} ${m.to.channel.channel} ${m.to.thread.events.aux[m.toRow]!}`
        : null,
      m.pairing,
      queueUs(m),
    ]);

describe('which message was handled where', () => {
  test('a worker and its page: by number, with sizes where they are known; a message that threw was not posted', () => {
    const { page, worker, toWorker, toPage, ...two } = new Two();
    post(page, toWorker, 1, { flags: Flag.threw });
    post(page, toWorker, 1, { length: 100, aux2: MessageSize.whole });
    post(page, toWorker, 2);
    handle(worker, toPage, 1, 50);
    handle(worker, toPage, 2, 90);
    page.send();
    worker.send();
    expect(pairs(two.store)).toEqual([
      ['0 worker 1', '1 creator 1', 'exact', 49],
      ['0 worker 2', '1 creator 2', 'exact', 88],
    ]);
    expect(new Facts(two.store).get(messages).map(bytesOf)).toEqual([100, null]);
  });

  test("a lost event moves no other event, and a thread can't claim to be another", () => {
    const two = new Two();
    const liar = new ThreadBuilder(two.store, { id: 'x' });
    handle(liar, end(liar, 'creator', 'w'), 1, 10);
    liar.send();
    post(two.page, two.toWorker, 1);
    post(two.page, two.toWorker, 3); // 2 was dropped
    handle(two.worker, two.toPage, 3, 50);
    expect(pairs(two.done())).toEqual([
      ['0 worker 1', null, null, null],
      ['0 worker 3', '1 creator 3', 'exact', 49],
    ]);
  });

  test.each([
    [PortMove.sent, 'exact'],
    [PortMove.sentAfterUse, 'guess'],
  ])('a port that went along with a message goes on as its pair: %i', (how, pairing) => {
    const two = new Two();
    const { page, worker } = two;
    const [one, other] = [end(page, 'port', 'k', 1), end(page, 'port', 'k', 2)];
    page.call('messagePort', { object: other, context: two.toWorker, aux: 1, length: how });
    post(page, two.toWorker, 1);
    post(page, one, 1);
    handle(worker, two.toPage, 1, 20);
    const came = end(worker, 'port');
    worker.call('messagePort', {
      object: came,
      context: two.toPage,
      aux: 1,
      length: PortMove.received,
    });
    handle(worker, came, 1, 30);
    expect(pairs(two.done())).toContainEqual(['0 port 1', '1 port 1', pairing, 28]);
  });

  test('SharedWorkers and broadcasts are a guess, because others may have the name', () => {
    const two = new Two();
    const { page, worker } = two;
    const [shared, channel] = [end(page, 'shared-worker', 'u', 1), end(page, 'broadcast', 'b')];
    post(page, shared, 1);
    post(page, channel, 1);
    handle(worker, end(worker, 'shared-worker', 'u', 2), 1, 10);
    handle(worker, end(worker, 'broadcast', 'b'), 1, 20);
    expect(pairs(two.done())).toEqual([
      ['0 shared-worker 1', '1 shared-worker 1', 'guess', 10],
      ['0 broadcast 1', '1 broadcast 1', 'guess', 19],
    ]);
  });

  test("a thread that listens to a broadcast late doesn't receive earlier messages", () => {
    const two = new Two();
    const { page, worker } = two;
    const [channel, hears] = [end(page, 'broadcast', 'b'), end(worker, 'broadcast', 'b')];
    for (let n = 1; n <= 20; n++) post(page, channel, n);
    page.idle(980);
    post(page, channel, 21);
    handle(worker, hears, 1, 1010);
    page.idle(99);
    post(page, channel, 22);
    handle(worker, hears, 2, 1120);
    expect(pairs(two.done()).filter((m) => (m as unknown[])[2])).toEqual([
      ['0 broadcast 21', '1 broadcast 1', 'guess', 10],
      ['0 broadcast 22', '1 broadcast 2', 'guess', 20],
    ]);
  });

  test("a message that couldn't be read has a number, and was not handled", () => {
    const two = new Two();
    post(two.page, two.toWorker, 1);
    post(two.page, two.toWorker, 2);
    two.worker.idle(20);
    two.worker.call('messageHandle', { object: two.toPage, aux: 1, flags: Flag.threw });
    handle(two.worker, two.toPage, 2, 30);
    expect(pairs(two.done())).toEqual([
      ['0 worker 1', null, null, null],
      ['0 worker 2', '1 creator 2', 'exact', 29],
    ]);
  });

  test("a page's port to a SharedWorker is passed on to a worker, and arrives with a message", () => {
    const two = new Two();
    const { page, worker } = two;
    const shared = new ThreadBuilder(two.store, { id: 's', kind: 'shared-worker' });
    const own = end(page, 'shared-worker', 'u', 1);
    page.call('messagePort', { object: own, context: two.toWorker, aux: 1, length: PortMove.sent });
    post(page, two.toWorker, 1);
    handle(worker, two.toPage, 1, 20);
    const came = end(worker, 'port');
    const received = { aux: 1, length: PortMove.received };
    worker.call('messagePort', { ...received, object: came, context: two.toPage });
    // the worker passes one side of its own pair to the SharedWorker
    const [one, other] = [end(worker, 'port', 'k', 1), end(worker, 'port', 'k', 2)];
    worker.call('messagePort', { object: other, context: came, aux: 1, length: PortMove.sent });
    post(worker, came, 1);
    post(worker, one, 1);
    const serves = end(shared, 'shared-worker', 'u', 2);
    handle(shared, serves, 1, 40);
    const last = end(shared, 'port');
    shared.call('messagePort', { ...received, object: last, context: serves });
    handle(shared, last, 1, 50);
    shared.send();
    expect(pairs(two.done()).map((m) => (m as unknown[]).slice(0, 3))).toEqual([
      ['0 worker 1', '1 creator 1', 'exact'],
      ['1 port 1', '2 shared-worker 1', 'guess'],
      ['1 port 1', '2 port 1', 'guess'],
    ]);
  });

  test('moves of ports in a circle end, and no port is its own peer', () => {
    const { page, worker, toWorker, toPage, ...two } = new Two();
    const move = (t: ThreadBuilder, object: number, aux: number, length: number): number =>
      t.call('messagePort', {
        ...{ object, aux, length },
        context: t === page ? toWorker : toPage,
      });
    const [a, b] = [end(page, 'port', 'k', 1), end(page, 'port', 'k', 2)];
    const [c, d] = [end(worker, 'port'), end(worker, 'port')];
    post(page, toWorker, 1);
    post(worker, toPage, 1);
    // a is moved as c, which is moved as a; b as d, and d as a
    move(page, a, 1, PortMove.sent);
    move(worker, c, 1, PortMove.received);
    move(worker, c, 2, PortMove.sent);
    move(page, a, 2, PortMove.received);
    move(page, b, 3, PortMove.sent);
    move(worker, d, 3, PortMove.received);
    move(worker, d, 4, PortMove.sent);
    move(page, a, 4, PortMove.received);
    [a, b].forEach((port) => post(page, port, 1));
    page.send();
    worker.send();
    const ends = new Facts(two.store).get(channelEnds);
    expect(ends.filter((one) => one.channel.channel === 'port')).toHaveLength(4);
    expect(ends.filter((one) => one.peer === one)).toEqual([]);
  });

  test('many SharedWorkers, each with its own name: every port is examined a few times, not once for each name', () => {
    const { page, worker, ...two } = new Two();
    const count = 3000;
    for (let i = 0; i < count; i++) {
      post(page, end(page, 'shared-worker', `u${i}`, 1), 1);
      handle(worker, end(worker, 'shared-worker', `u${i}`, 2), 1, 2 * i + 9000);
    }
    page.send();
    worker.send();
    let reads = 0;
    const { definitions } = two.store.threads[0]!;
    const get = definitions.get.bind(definitions);
    definitions.get = (id) => {
      const found = get(id);
      if (found?.kind !== 'channel') return found;
      return new Proxy(found, {
        get: (target, name) => (reads++, Reflect.get(target, name) as unknown),
      });
    };
    const ends = new Facts(two.store).get(channelEnds);
    expect(ends.filter(({ peer }) => peer)).toHaveLength(2 * count);
    expect(reads).toBeLessThan(30 * count);
  });

  test('numbers that a page invents do no harm', () => {
    const two = new Two();
    post(two.page, two.toWorker, 0xffffffff);
    post(two.page, 999, 1);
    expect(pairs(two.done())).toEqual([['0 worker 4294967295', null, null, null]]);
  });
});

/**
 * A click posts two messages. The worker is in a SELECT until 200 ms, handles the first until 430 ms, and then the second, whose SQL takes
 * 5 ms, of which 2 ms are storage.
 */
function clicked(awaits = false): TraceStore {
  const two = new Two();
  const { page, worker, toWorker, toPage } = two;
  const sql = worker.define({ kind: 'sql', text: 'SELECT * FROM all_notes' });
  const quick = worker.define({ kind: 'sql', text: 'SELECT 1' });
  page.idle(10_000);
  post(page, toWorker, 1);
  post(page, toWorker, 2);
  const run = (object: number, dur: number, storage = 0): void => {
    worker.call('sqlStep', { object, aux: object, result: 101, dur: dur - storage }, () => {
      if (storage) worker.call('opfsRead', { dur: storage });
    });
  };
  const answer = (n: number): number => post(worker, toPage, n);
  handle(worker, toPage, 1, 10_100, () => {
    run(sql, 429_900);
    if (!awaits) answer(1);
  });
  handle(worker, toPage, 2, 440_100, () => {
    run(quick, 5000, 2000);
    if (!awaits) answer(2);
  });
  if (awaits) [1, 2].forEach(answer);
  handle(page, toWorker, 1, 460_000);
  handle(page, toWorker, 2, 480_000);
  page.call('interaction', {
    object: page.define({ kind: 'name', text: 'click' }),
    offset: 5,
    length: 16_000,
  });
  page.call('longTask', {
    object: page.define({ kind: 'name', text: 'long task' }),
    offset: 470,
    length: 60_000,
  });
  return two.done();
}

/**
 * A worker that takes two messages at once and awaits its SQL: a SELECT for the first one until 430 ms, and 5 ms for the second one.
 * @param select how long the first one's is, microseconds
 */
function awaiting(select = 430_000): TraceStore {
  const { page, worker, toWorker, toPage, ...two } = new Two();
  const [slow, quick] = ['SELECT * FROM all_notes', 'SELECT 1'].map((text) =>
    worker.define({ kind: 'sql', text }),
  );
  post(page, toWorker, 1);
  post(page, toWorker, 2);
  handle(worker, toPage, 1, 50);
  handle(worker, toPage, 2, 99);
  const run = (object: number, dur: number): number =>
    worker.call('sqlStep', { object, aux: object, result: 101, dur });
  run(slow!, select);
  worker.idle(430_100 - worker.now);
  post(worker, toPage, 1);
  run(quick!, 5000);
  post(worker, toPage, 2);
  handle(page, toWorker, 1, 440_000);
  handle(page, toWorker, 2, 440_000);
  page.send();
  worker.send();
  return two.store;
}

const answersOf = (store: TraceStore): unknown[] =>
  new Facts(store)
    .get(requests)
    .map(({ pairing, answer }) => [pairing, answer?.from.thread.events.aux[answer.row]]);

describe('the time to an answer', () => {
  test('is queue, SQL, storage, and the way back, to the microsecond', () => {
    const [, second] = new Facts(clicked()).get(requests);
    expect(second).toMatchObject({
      pairing: 'exact',
      queueUs: 430_099,
      workUs: 5000,
      sqlUs: 3000,
      storageUs: 2000,
      answerQueueUs: 34_900,
      listenersUs: 1,
      totalUs: 470_000,
      inputUs: 5001,
    });
  });

  test('answers after an await are paired by order, as a guess', () => {
    expect(answersOf(clicked(true))).toEqual([
      ['guess', 1],
      ['guess', 2],
    ]);
  });

  test("a message that no thread requested isn't an answer, and doesn't hide one", () => {
    const two = new Two();
    const { page, worker, toWorker, toPage } = two;
    post(worker, toPage, 1); // ready
    post(page, toWorker, 1);
    post(page, toWorker, 2);
    handle(worker, toPage, 1, 100);
    handle(worker, toPage, 2, 200);
    worker.idle(100);
    post(worker, toPage, 2);
    post(worker, toPage, 3);
    expect(answersOf(two.done())).toEqual([
      ['guess', 2],
      ['guess', 3],
    ]);
  });

  test('of several answers the last is used, as a guess, and none is taken from another request', () => {
    const two = new Two();
    const { page, worker, toWorker, toPage } = two;
    post(page, toWorker, 1);
    post(page, toWorker, 2);
    handle(worker, toPage, 1, 100, () => [1, 2].forEach((n) => post(worker, toPage, n)));
    handle(worker, toPage, 2, 200);
    worker.idle(100);
    post(worker, toPage, 3);
    expect(answersOf(two.done())).toEqual([
      ['guess', 2],
      ['guess', 3],
    ]);
  });

  test('a message without an answer moves no later answer; of concurrent requests the first is answered first', () => {
    const { page, worker, toWorker, toPage, ...two } = new Two();
    post(page, toWorker, 1); // never answered
    handle(worker, toPage, 1, 10);
    for (let n = 2; n <= 5; n++) {
      page.idle(n * 10_000 - page.now);
      post(page, toWorker, n);
      handle(worker, toPage, n, n * 10_000 + 10);
      worker.idle(100);
      post(worker, toPage, n);
    }
    page.send();
    worker.send();
    expect(answersOf(two.store)).toEqual([
      ['exact', undefined],
      ...[2, 3, 4, 5].map((n) => ['guess', n]),
    ]);
    // the last of three concurrent requests was being handled when the recording ended
    const late = new Two();
    for (const n of [1, 2, 3]) post(late.page, late.toWorker, n);
    for (const n of [1, 2, 3]) handle(late.worker, late.toPage, n, 10 * n);
    for (const n of [1, 2]) {
      late.worker.idle(5000);
      post(late.worker, late.toPage, n);
    }
    expect(answersOf(late.done())).toEqual([
      ['guess', 1],
      ['guess', 2],
      ['exact', undefined],
    ]);
  });

  test('an answer through a port that came with the request is certain', () => {
    const two = new Two();
    const { page, worker } = two;
    const ask = (n: number, replies: number): void => {
      const [mine, theirs] = [end(page, 'port', `k${n}`, 1), end(page, 'port', `k${n}`, 2)];
      page.call('messagePort', {
        ...{ object: theirs, context: two.toWorker },
        ...{ aux: n, length: PortMove.sent },
      });
      post(page, two.toWorker, n);
      handle(worker, two.toPage, n, n * 1000);
      const came = end(worker, 'port');
      worker.call('messagePort', {
        ...{ object: came, context: two.toPage },
        ...{ aux: n, length: PortMove.received },
      });
      worker.idle(100); // it awaits something
      for (let i = 1; i <= replies; i++) post(worker, came, i);
      for (let i = 1; i <= replies; i++) handle(page, mine, i, n * 1000 + 200 + 10 * i);
    };
    ask(1, 1);
    ask(2, 2);
    const found = new Facts(two.done()).get(requests);
    expect(
      found.map(({ message, answer, pairing }) => [
        message.from.channel.channel,
        answer?.from.channel.channel,
        pairing,
      ]),
    ).toEqual([
      ['worker', 'port', 'exact'],
      ['worker', 'port', 'guess'], // the other message may be the answer
    ]);
  });

  test('pages send requests to a SharedWorker, also to one that greets them', () => {
    const two = new Two();
    const { page, worker } = two;
    const asks = end(page, 'shared-worker', 'u', 1);
    const serves = end(worker, 'shared-worker', 'u', 2);
    post(worker, serves, 1);
    handle(page, asks, 1, 10);
    post(page, asks, 1);
    handle(worker, serves, 1, 100, () => post(worker, serves, 2));
    handle(page, asks, 2, 200);
    const found = new Facts(two.done()).get(requests);
    expect(
      found.map(({ message, answer }) => [
        message.from.thread.index,
        answer?.from.thread.events.aux[answer.row],
      ]),
    ).toEqual([[0, 2]]);
  });

  test('totals: the parts are the whole, in the report, and in the summary only if messages were recorded', () => {
    const store = clicked();
    expect(summaryOf(store)).not.toHaveProperty('requests');
    store.threads[0]!.environment = {
      ...{ url: '', threadKind: 'page', crossOriginIsolated: false, clockStepUs: 5 },
      ...{ userAgent: '', hidden: false, capture: { ...CAPTURE_DEFAULTS, messages: true } },
    };
    const { requests: sums } = summaryOf(store);
    expect(sums).toEqual({
      ...{ count: 2, guessed: 0, unanswered: 0, nested: 0, unrecorded: 0, totalUs: 920_001 },
      ...{
        startUs: 199,
        queueUs: 430_000,
        behindUs: 0,
        sqlUs: 432_900,
        storageUs: 2000,
        otherUs: 0,
        answerQueueUs: 54_900,
        listenersUs: 2,
      },
    });
    const { count, guessed, unanswered, nested, unrecorded, totalUs, ...parts } = sums!;
    expect(Object.values(parts).reduce((a, b) => a + b)).toBe(totalUs);
    expect(reportText(reportOf(new Facts(store)))).toContain(
      'Requests between threads: 2 messages and their answers, 920 ms',
    );
  });

  test('in details: every step in order, and what the browser reported around it', () => {
    const store = clicked();
    const [page] = store.threads as [ThreadStore];
    const known = new Facts(store).known({ requests, rowsByOperation });
    const detailsOf = (row: number): RequestDetails | null =>
      requestDetails(store, known.requests, known.rowsByOperation, page, row);
    const { message, answer } = known.requests[1]!;
    const told = detailsOf(message.row)!;
    expect(told.pairing).toBe('exact');
    expect(told.steps.map(({ title, text }) => `${title} ${text}`)).toEqual([
      'Input 5 ms',
      'Queue 430 ms',
      'Start 99 µs',
      'Handled 5 ms',
      'SQL 3 ms',
      'Storage 2 ms',
      'Answer queue 34.9 ms',
      'Listeners 1 µs',
      'Total 470 ms',
    ]);
    const links = told.links.map(({ title, text }) => `${title}: ${text}`);
    expect(links).toEqual([
      'Posted in: click, 16 ms',
      'Handled by: listeners',
      'Answered by: postMessage',
      'Answer handled by: listeners',
      'Answer handled in: long task, 60 ms',
    ]);
    // the same from its other end, with a way back
    expect(detailsOf(answer!.toRow)!.steps).toEqual(told.steps);
    expect(detailsOf(answer!.toRow)!.links.map(({ title }) => title)).toContain('Posted by');
    // and from the click, whose user waited for the last of its requests, and from its SQL
    const [click, work] = told.links;
    expect(detailsOf(page.events.rowOfSeq(click!.ref.seq))!.steps).toEqual(told.steps);
    const { events } = store.threads[1]!;
    const select = events.rowOfSeq(work!.ref.seq) + 1;
    expect(events.op[select]).toBe(Op.sqlStep);
    expect(
      requestDetails(store, known.requests, known.rowsByOperation, store.threads[1]!, select)!
        .steps,
    ).toEqual(told.steps);
    const longTask = page.events.count - 1;
    expect(page.events.op[longTask]).toBe(Op.longTask);
    expect(detailsOf(longTask)).toBeNull();
  });

  test('on the timeline: a line for each pending request, in its phases', () => {
    const store = clicked();
    const lanes = new TimelineLanes(store);
    lanes.update(500_000);
    lanes.settle();
    const own = lanes.rows.filter(({ kind }) => kind === 'requests');
    expect(own.map(({ key, of, events }) => [key, of, events])).toEqual([
      ['0:requests1', undefined, 2],
      ['0:requests2', '2', 2],
    ]);
    const { settled, labelOf } = lanes.lane('0:requests2')!;
    const phases = Array.from({ length: settled.count }, (_, i) => [
      labelOf!(settled.rowOf(i), settled.kind[i]!),
      (settled.endOf(i) - settled.startOf(i)) / 1000,
    ]);
    expect(phases).toEqual([
      ['queue', 430_099],
      ['Read', 2000],
      ['CPU', 3000],
      ['answer queue', 34_900],
      ['listeners', 1],
    ]);
  });

  test("to a worker that isn't recorded: how long the answer took, as a guess, and in no total", () => {
    const store = newStore();
    const page = new ThreadBuilder(store, { id: 'page', kind: 'page' });
    const toWorker = end(page, 'worker', 'unknown');
    page.idle(1000);
    post(page, toWorker, 1);
    post(page, toWorker, 2);
    handle(page, toWorker, 1, 300_000);
    post(page, toWorker, 3); // nothing comes back
    page.send();
    store.threads[0]!.environment = {
      ...{ url: '', threadKind: 'page', crossOriginIsolated: false, clockStepUs: 5 },
      ...{ userAgent: '', hidden: false, capture: { ...CAPTURE_DEFAULTS, messages: true } },
    };
    const facts = new Facts(store);
    expect(facts.get(requests)).toEqual([]);
    expect(summaryOf(store).requests).toMatchObject({ count: 0, unrecorded: 3, totalUs: 0 });
    expect(reportText(reportOf(facts))).toContain(
      "Posted to workers that aren't recorded: 3 messages. Where their time went isn't known.",
    );
    const lanes = new TimelineLanes(store);
    lanes.update(500_000);
    lanes.settle();
    const { settled, labelOf, events } = lanes.lane('0:requests1')!;
    expect([events, settled.count]).toEqual([1, 1]);
    expect(labelOf!(settled.rowOf(0), settled.kind[0]!)).toBe(
      'worker that is not recorded (guess)',
    );
    expect(settled.endOf(0) / 1000).toBe(300_001);
  });

  const found = (store: TraceStore): string[] =>
    new Facts(store)
      .get(findings)
      .flatMap(({ rule, title, confidence }) =>
        rule === 'F59' ? [`${confidence}: ${title}`] : [],
      );

  test('F59: what the user waited for, and behind what; silent if nothing waited', () => {
    expect(found(clicked())).toEqual([
      'certain: A click waited 475 ms, 430 ms of them in the queue of Worker worker.js behind "SELECT * FROM all_notes"; its own SQL took 5 ms',
    ]);
    // its answer is a guess, and so is its total time
    expect(found(clicked(true))).toEqual([
      'possible: A click waited about 475 ms, 430 ms of them in the queue of Worker worker.js behind "SELECT * FROM all_notes"; its own SQL took 5 ms',
    ]);
    const two = new Two();
    post(two.page, two.toWorker, 1);
    handle(two.worker, two.toPage, 1, 99_000);
    expect(found(two.done())).toEqual([]);
    expect(found(awaiting())).toEqual([
      'possible: A message and its answer took about 440 ms, 430 ms of them in the queue of Worker worker.js behind "SELECT * FROM all_notes"; its own SQL took 5 ms',
    ]);
    expect(found(awaiting(200_000))).toEqual([]); // the rest wasn't SQL
  });

  test("a worker that takes messages concurrently: what a request waits for earlier ones isn't its own SQL", () => {
    const store = awaiting();
    const [, second] = new Facts(store).get(requests);
    expect(second).toMatchObject({ pairing: 'guess', queueUs: 98, behindUs: 430_000 });
    expect([second!.sqlUs + second!.storageUs, second!.totalUs]).toEqual([5000, 440_000]);
    const lanes = new TimelineLanes(store);
    lanes.update(500_000);
    lanes.settle();
    const { settled, labelOf } = lanes.lane('0:requests2')!;
    const phases = Array.from({ length: settled.count }, (_, i) => [
      labelOf!(settled.rowOf(i), settled.kind[i]!),
      (settled.endOf(i) - settled.startOf(i)) / 1000,
    ]);
    expect(phases).toEqual([
      ['queue (guess)', 98],
      ['other work', 1], // its listeners
      ['queue (guess)', 430_000],
      ['other work', 1],
      ['CPU', 5000],
      ['answer queue', 4899],
      ['listeners', 1],
    ]);
  });

  test("a worker's start isn't a queue: it ends with its first statement", () => {
    const two = new Two();
    const { page, worker, toWorker, toPage } = two;
    const sql = worker.define({ kind: 'sql', text: 'PRAGMA user_version' });
    page.idle(1000);
    post(page, toWorker, 1);
    post(page, toWorker, 2);
    worker.idle(501_000); // its script is loading
    worker.call('sqlStep', { object: sql, aux: sql, result: 101, dur: 100_000 });
    for (const n of [1, 2])
      handle(worker, toPage, n, 600_000 + n * 10_000, () => post(worker, toPage, n));
    const store = two.done();
    const [first, second] = new Facts(store).get(requests);
    expect([first!.queueUs, first!.startUs]).toEqual([609_000, 500_000]);
    expect([second!.queueUs, second!.startUs]).toEqual([618_999, 499_999]);
    expect(found(store)).toEqual([]);
  });

  test('over two workers: a nested request is part of its request, and a click waited for both', () => {
    const two = new Two();
    const { page, worker, toWorker, toPage } = two;
    const database = new ThreadBuilder(two.store, { id: 'd', url: 'https://app.example/db.js' });
    const [toDatabase, back] = [end(worker, 'worker', 'd'), end(database, 'creator', 'd')];
    const sql = database.define({ kind: 'sql', text: 'SELECT * FROM all_notes' });
    page.idle(10_000);
    post(page, toWorker, 1);
    handle(worker, toPage, 1, 10_100, () => post(worker, toDatabase, 1));
    database.call('sqlStep', { object: sql, aux: sql, result: 101, dur: 400_000 });
    handle(database, back, 1, 400_100, () => {
      database.call('sqlStep', { object: sql, aux: sql, result: 101, dur: 5000 });
      post(database, back, 1);
    });
    handle(worker, toDatabase, 1, 410_000);
    post(worker, toPage, 1);
    handle(page, toWorker, 1, 420_000);
    page.call('interaction', {
      object: page.define({ kind: 'name', text: 'click' }),
      ...{ offset: 5, length: 16_000 },
    });
    database.send();
    const store = two.done();
    const [outer, inner] = new Facts(store).get(requests);
    expect([outer!.outer, inner!.outer]).toEqual([null, outer]);
    expect(found(store)).toEqual([
      'possible: A click waited about 415 ms, 390 ms of them in the queue of Worker db.js behind "SELECT * FROM all_notes"; its own SQL took 5 ms',
    ]);
  });
});

test('channels survive a file; in a shared copy, they have no name of the app and pair as before', async () => {
  const two = new Two();
  end(two.page, 'broadcast', 'patients');
  post(two.page, two.toWorker, 1);
  handle(two.worker, two.toPage, 1, 10);
  const { store, warnings } = await readTrace(
    new Uint8Array(await (await saveTrace(two.done())).arrayBuffer()),
  );
  expect(warnings).toEqual([]);
  expect(pairs(store)).toEqual(pairs(two.store));
  expect(privacyReport(store).names).toBe(1);
  const shared = sanitizeStore(store);
  expect(pairs(shared)).toEqual(pairs(two.store));
  expect(JSON.stringify(shared.threads.map(({ said }) => said))).not.toContain('patients');
});
