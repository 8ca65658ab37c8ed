// Long queries: they report progress, stop at the next pause when canceled, and don't affect other
// queries.
import { serialize } from 'node:v8';
import { describe, expect, it, vi } from 'vitest';
import { fact, Facts, type AnyFact } from '../../src/analysis/core/graph.ts';
import { accesses } from '../../src/analysis/pages/page-accesses.ts';
import { anatomies } from '../../src/analysis/transactions/transaction-anatomy.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { QueryClient } from '../../src/viewer/ui/query-client.ts';
import type { QueryProgress, SessionPush } from '../../src/protocol/session.ts';
import { QueryQueue, RunningQuery } from '../../src/viewer/session/query-queue.ts';
import { Scheduler, type ScheduledWork } from '../../src/viewer/session/scheduler.ts';
import { Session } from '../../src/viewer/session/session.ts';
import type { QueryName } from '../../src/protocol/answers/queries.ts';
import { needsOf, QUERIES } from '../../src/viewer/session/query-table.ts';
import { syntheticStore } from '../traces/synthetic.ts';

/** A scheduler for a large trace that doesn't change, with nothing else to do. */
function scheduler(changes: Partial<ScheduledWork> = {}): Scheduler {
  const facts = new Facts({ eventCount: 1e6 } as TraceStore);
  return new Scheduler({
    ...{
      background: [],
      facts: () => facts,
      growing: () => false,
      pictured: () => false,
      dueIn: () => null,
      compute: () => undefined,
      pauseAfterMs: 0, // after each step
    },
    ...changes,
  });
}
let lastTest = 0;
/**
 * Facts by name. Those that were computed are in `done`.
 * @param then called when one is computed
 */
function needs(
  names: string,
  done: string[],
  then: (name: string) => void = () => undefined,
): AnyFact[] {
  const test = ++lastTest;
  return [...names].map((name) =>
    fact(`${name} of test ${test}`, `making ${name}`, {}, () => {
      then(name);
      done.push(name);
    }),
  );
}

describe('a query in steps', () => {
  it('reports what comes next, and its progress', async () => {
    const said: string[] = [];
    const query = new RunningQuery(({ what, done, of }) => said.push(`${what} ${done}/${of}`));
    await scheduler().prepare(needs('abc', []), query);
    expect(said).toEqual(['making a 0/3', 'making b 1/3', 'making c 2/3']);
  });

  it('that is canceled ends at its next pause, and the next one gets its answer, complete', async () => {
    const [first, second]: [string[], string[]] = [[], []];
    const one = new RunningQuery();
    const paced = scheduler();
    const said: string[] = [];
    const gone = paced.prepare(
      needs('abcdef', first, (name) => name === 'b' && one.cancel()),
      one,
    );
    const stays = paced.prepare(
      needs('xyz', second),
      new RunningQuery(({ what, of }) => said.push(`${what} of ${of}`)),
    );
    await expect(gone).rejects.toMatchObject({ name: 'AbortError' });
    await stays;
    expect([first, second]).toEqual([
      ['a', 'b'],
      ['x', 'y', 'z'],
    ]);
    // while it waits, what it waits for
    expect(said.slice(0, 2)).toEqual(['making a of 0', 'making b of 0']);
    expect(said.slice(2)).toEqual(['making x of 3', 'making y of 3', 'making z of 3']);
  });

  it('that is canceled before its turn does nothing', async () => {
    const done: string[] = [];
    const query = new RunningQuery();
    const gone = scheduler().prepare(needs('abc', done), query);
    query.cancel();
    await expect(gone).rejects.toMatchObject({ name: 'AbortError' });
    expect(done).toEqual([]);
  });

  it('goes before work that no query waits for', async () => {
    const order: string[] = [];
    const asked: Promise<void>[] = [];
    const background = needs('123', order, (name) => {
      if (name === '1') asked.push(paced.prepare(needs('abc', order), new RunningQuery()));
    });
    let computed: () => void;
    const end = new Promise<void>((resolve) => (computed = resolve));
    let due: number | null = 0;
    const paced: Scheduler = scheduler({
      background,
      pictured: () => true,
      dueIn: () => due,
      compute: () => computed(),
    });
    paced.plan();
    due = null;
    await end;
    await Promise.all(asked);
    expect(order.join(' ')).toMatch(/^1 (2 )?a b c (2 )?3$/);
  });
});

describe('facts computed with pauses', () => {
  const store = syntheticStore({ events: 1_200_000, threads: 3 });
  it.each([accesses, anatomies])(
    '$name: the same as at once, and nothing if it was canceled',
    (one: AnyFact) => {
      const [whole, given] = [new Facts(store), new Facts(store)];
      for (const facts of [whole, given]) for (const _ of facts.compute(one.needs));
      let pauses = -1;
      for (const _ of whole.compute([one])) pauses++;
      expect(pauses).toBeGreaterThan(0);
      let left = 2;
      for (const _ of given.compute([one])) if (--left === 0) break;
      // computed at once, because canceled parts are gone
      expect(given.missing([one])).toEqual([one]);
      // as bytes, because comparing millions of numbers one by one takes a minute
      expect(serialize(given.get(one)).equals(serialize(whole.get(one)))).toBe(true);
      expect([...whole.compute([one])]).toEqual([]); // it is there
    },
  );
});

describe('the session', () => {
  it('cancels one query, and answers the others', async () => {
    const pushed: QueryProgress[] = [];
    const hear = (push: SessionPush): void => {
      if (push.k !== 'computing') return;
      pushed.push(push.progress);
      if (push.progress.id === 1 && push.progress.of > 0 && push.progress.done === 2)
        void session.cancelQuery(1);
    };
    const session: Session = new Session(hear);
    await session.open(await saveTrace(syntheticStore({ events: 150_000 })), 'large.vfst');
    const gone = session.query('overview', {}, 1);
    const stays = session.query('overview', {}, 2);
    await expect(gone).rejects.toMatchObject({ name: 'AbortError' });
    const { numbers } = await stays;
    expect(numbers.length).toBeGreaterThan(3);
    const own = (id: number): QueryProgress[] => pushed.filter((p) => p.id === id && p.of > 0);
    expect(own(1).map(({ done }) => done)).toEqual([0, 1, 2]);
    expect(own(2).map(({ done }) => done)).toEqual(own(2).map((_, i) => i));
    expect(own(2)).toHaveLength(own(2)[0]!.of);
    await session.cancelQuery(2); // was answered
    expect((await session.query('overview', {}, 3)).numbers).toEqual(numbers);
  });

  it("reports an answer's version before the answer arrives", async () => {
    const order: string[] = [];
    let last = -1;
    const session: Session = new Session((push) => {
      if (push.k === 'answering') order.push(`${push.id} is of ${push.version}`);
      else if (push.k === 'change') last = push.change.version;
      else if (push.k === 'opening')
        void session.query('headline', {}, 7).then(() => order.push('7'));
    });
    // sent while the file is read, and answered once it is read
    await session.open(await saveTrace(syntheticStore({ events: 150_000 })), 'large.vfst');
    await vi.waitFor(() => expect(order).toEqual([`7 is of ${last}`, '7']), 10_000);
  });

  it('processes a compared trace in steps, too, whichever of the two is large', async () => {
    const pushed: QueryProgress[] = [];
    const session: Session = new Session((push) => {
      if (push.k !== 'computing') return;
      pushed.push(push.progress);
      if (push.progress.id === 1 && push.progress.what.endsWith(', in B'))
        void session.cancelQuery(1);
    });
    await session.open(await saveTrace(syntheticStore({ events: 1000 })), 'small.vfst');
    await session.openOther(await saveTrace(syntheticStore({ events: 150_000 })), 'large.vfst');
    await expect(session.query('comparison', {}, 1)).rejects.toMatchObject({ name: 'AbortError' });
    const both = await session.query('comparison', {}, 2);
    expect(both!.numbers.length).toBeGreaterThan(3);
    const [first, second] = [1, 2].map((query) =>
      pushed.filter(({ id, of }) => id === query && of > 0),
    ) as [QueryProgress[], QueryProgress[]];
    const inB = ({ what }: QueryProgress): boolean => what.endsWith(', in B');
    // the first one is canceled when A is done, and the second one needs only B
    expect(first.map(inB)).toEqual([...Array<boolean>(first[0]!.of / 2).fill(false), true]);
    expect(second).toHaveLength(second[0]!.of);
    expect(second.every(inB)).toBe(true);
  });

  it('describes everything that it computes in words', () => {
    const facts = new Facts(syntheticStore({ events: 100 }));
    const labels = (Object.keys(QUERIES) as QueryName[]).flatMap((name) => [
      ...facts.compute(needsOf(name)),
    ]);
    expect(labels.length).toBeGreaterThan(20);
    for (const { label } of labels) expect(label).toMatch(/^[\p{L}\d]/u);
    expect(needsOf('annotations')).toEqual([]);
  });
});

describe('query ids', () => {
  it('assign progress and cancellation to the right query', async () => {
    const canceled: number[] = [];
    const asked: number[] = [];
    const queries = new QueryClient({
      query: ((_name: string, _args: object, id: number) => {
        asked.push(id);
        return id === 2 ? new Promise(() => undefined) : Promise.resolve([]);
      }) as never,
      cancelQuery: (id) => Promise.resolve(void canceled.push(id)),
    });
    const heard: string[] = [];
    const one = queries.run('errors', {}, () => heard.push('one'));
    const two = queries.run('errors', {}, ({ done }) => heard.push(`two ${done}`));
    queries.progressed({ id: 2, what: '', done: 4, of: 9 });
    await one.answer;
    queries.progressed({ id: 1, what: '', done: 4, of: 9 }); // is answered
    one.cancel();
    two.cancel();
    queries.progressed({ id: 2, what: '', done: 5, of: 9 });
    expect({ asked, heard, canceled }).toEqual({
      asked: [1, 2],
      heard: ['two 4'],
      canceled: [2],
    });
  });

  it('are released, also after a failure', async () => {
    const asked = new QueryQueue(() => undefined);
    await expect(asked.during(1, () => Promise.reject(new RangeError('no')))).rejects.toThrow('no');
    expect(await asked.during(1, () => Promise.resolve(3))).toBe(3);
    asked.cancel(1);
  });
});
