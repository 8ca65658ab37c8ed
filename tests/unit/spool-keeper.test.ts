// A recording's copy on a fake disk: what remains of it if the disk is full, and what is offered
// again.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TraceStore } from '../../src/trace/store.ts';
import { journalOf } from '../../src/viewer/session/journal-file.ts';
import { discardSpool, idleSpools } from '../../src/viewer/session/spool.ts';
import { markSaved } from '../../src/viewer/session/spool-marks.ts';
import { SpoolKeeper } from '../../src/viewer/session/spool-keeper.ts';
import { Op } from '../../src/event/event.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { Disk } from './spool-disk.ts';
import { batchOf, newStore, ThreadBuilder } from '../traces/builder.ts';
import { syntheticStore } from '../traces/synthetic.ts';

let disk: Disk;
beforeEach(() => vi.stubGlobal('navigator', (disk = new Disk()).navigator));
afterEach(() => vi.unstubAllGlobals());

describe('the copy of a recording', () => {
  const problems: string[] = [];
  const solved: string[] = [];
  const MANY = 200_000;
  async function kept(
    store: TraceStore,
  ): Promise<{ spool: SpoolKeeper; name: string; bytes: number }> {
    problems.length = solved.length = 0;
    const spool = new SpoolKeeper(
      (text) => problems.push(text),
      (text) => solved.push(text),
      1,
      1,
    );
    spool.begin(
      store,
      'k',
      () => 'https://app.example',
      () => [],
    );
    await vi.waitFor(
      () => expect(Buffer.from([...disk.files.values()][0] ?? []).includes('STAT')).toBe(true),
      { timeout: 10_000 },
    ); // after all chunks
    return { spool, name: [...disk.files.keys()][0]!, bytes: disk.used };
  }
  const forgetMost = (store: TraceStore): void =>
    store.threads[0]!.forget(store.threads[0]!.events.count - 5000);

  it('is rewritten once most of it is dropped', async () => {
    const store = syntheticStore({ events: MANY, threads: 1 });
    const { spool, name, bytes } = await kept(store);
    forgetMost(store);
    await vi.waitFor(() => expect([...disk.files.keys()].includes(name)).toBe(false));
    expect(disk.files.size).toBe(1);
    expect(disk.used).toBeLessThan(bytes / 5);
    await spool.finish();
    await spool.drop();
    expect([disk.files.size, disk.locks.size, problems]).toEqual([0, 0, []]);
  });

  it('stays unchanged if there is no space for a second one', async () => {
    const store = syntheticStore({ events: MANY, threads: 1 });
    const { spool, name, bytes } = await kept(store);
    disk.room = bytes + 200; // enough for a header, not for the events
    forgetMost(store);
    await vi.waitFor(() =>
      expect([disk.made.size, disk.files.size, disk.locks.size]).toEqual([2, 1, 1]),
    ); // the second one was written and removed
    await spool.finish();
    expect([...disk.files.keys()]).toEqual([name]);
    expect(disk.used).toBeGreaterThanOrEqual(bytes);
    await spool.drop();
    expect([disk.files.size, disk.locks.size]).toEqual([0, 0]);
  });

  it("that can't grow any further is kept until the recording is dropped, then deleted", async () => {
    const store = syntheticStore({ events: 20_000, threads: 1 });
    const { spool, name, bytes } = await kept(store);
    disk.room = bytes + 10;
    store.threads[0]!.define({ kind: 'name', id: 9999, text: 'one more word' });
    await vi.waitFor(() =>
      expect(problems).toEqual([
        expect.stringContaining('backup copy on disk stopped growing: the disk took'),
      ]),
    );
    expect(await idleSpools()).toEqual([]); // in use, so not offered
    await spool.finish();
    // the second problem: its end is missing, too
    expect([[...disk.files.keys()], problems.length, solved.length]).toEqual([[name], 2, 1]);
    await spool.drop();
    expect([disk.files.size, disk.locks.size]).toEqual([0, 0]);
  });

  it('outlives the trace on screen, a save, and the next recording', async () => {
    const store = syntheticStore({ events: 1000, threads: 1 });
    const { spool, name } = await kept(store);
    await spool.finish();
    expect(spool.name).toBe(name);
    await markSaved(name);
    await spool.letGo();
    expect([spool.name, disk.locks.size]).toEqual([null, 0]);
    disk.files.set('unsaved.vfst', new Uint8Array(100));
    const listed = async (): Promise<unknown> =>
      (await idleSpools()).map(({ name, savedAt, events }) => [name, savedAt, events]);
    const two = [
      [name, 2, store.eventCount],
      ['unsaved.vfst', null, null],
    ];
    expect(await listed()).toEqual(two);

    const next = new SpoolKeeper(
      (text) => problems.push(text),
      () => {},
      1,
    );
    next.begin(
      syntheticStore({ events: 1000, threads: 1 }),
      'next',
      () => '',
      () => [],
    );
    await vi.waitFor(() => expect(disk.files.size).toBe(3));
    await next.finish();
    expect([await listed(), problems]).toEqual([two, []]);
    await next.drop();
    expect([...disk.files.keys()].sort()).toEqual([name, 'unsaved.vfst'].sort());
  });
});

describe('the journal of a recording', () => {
  it('is told what the copy has, once it has it; it is emptied when the copy is complete, and deleted with it', async () => {
    const told: string[] = [];
    const journal = {
      covered: () => () => void told.push('covered'),
      end: async (empty: boolean) => void told.push(empty ? 'empty' : 'still needed'),
    };
    const store = syntheticStore({ events: 1000, threads: 1 });
    const [copied, origin] = [
      (spool: SpoolKeeper) =>
        vi.waitFor(() => expect([told.includes('covered'), spool.bytes > 0]).toEqual([true, true])),
      () => 'https://app.example',
    ];
    const begin = (): SpoolKeeper => {
      told.length = 0;
      const spool = new SpoolKeeper(
        () => {},
        () => {},
        1,
        1,
      );
      spool.begin(store, 'k', origin, () => [], journal);
      return spool;
    };
    const whole = begin();
    await copied(whole);
    await whole.finish();
    expect(told.at(-1)).toBe('empty');
    disk.journals.add(`${journalOf(whole.name!)}.0`).add('another.0');
    await whole.drop();
    expect([...disk.journals]).toEqual([]);

    const cut = begin();
    await copied(cut);
    disk.room = disk.used;
    store.threads[0]!.define({ kind: 'name', id: 9999, text: 'one more word' });
    await cut.finish();
    expect(told.at(-1)).toBe('still needed');
    disk.journals.add(`${journalOf(cut.name!)}.0`);
    await discardSpool('another.vfst');
    expect(disk.journals.size).toBe(1);
    await cut.drop();
    expect(disk.journals.size).toBe(0);
  });

  it("isn't told so while the copy can't grow", async () => {
    let covered = 0;
    const problems: string[] = [];
    const spool = new SpoolKeeper(
      (text) => problems.push(text),
      () => {},
      1,
      1,
    );
    disk.room = 0;
    const journal = { covered: () => () => void covered++, end: () => Promise.resolve() };
    spool.begin(
      syntheticStore({ events: 1000, threads: 1 }),
      'k',
      () => '',
      () => [],
      journal,
    );
    await vi.waitFor(() => expect(problems.length).toBe(1));
    expect(covered).toBe(0);
    disk.room = Infinity;
    await vi.waitFor(() => expect(covered).toBeGreaterThan(0));
    await spool.drop();
  });
});

describe('a disk that is full for a while', () => {
  it("is retried: the copy has what couldn't be written then, and the problem isn't reported any more", async () => {
    const problems = new Set<string>();
    const spool = new SpoolKeeper(
      (text) => problems.add(text),
      (text) => problems.delete(text),
      1,
      1,
    );
    const store = newStore();
    const t = new ThreadBuilder(store);
    spool.begin(
      store,
      'k',
      () => 'https://app.example',
      () => [],
    );
    const grow = (): number => {
      for (let i = 0; i < 500; i++) t.call('xRead', { object: t.file(`/${i}.db`) });
      const open = t.call('xSync', { open: true });
      t.send();
      return open;
    };
    const open = grow();
    await vi.waitFor(() => expect(disk.used).toBeGreaterThan(1000));
    disk.room = disk.used;
    t.thread.append(
      batchOf(t.thread.info, 501, [[9000, 9000, open, open + 9, Op.end, 3, 0, 0, 0, 0, 0, 0, 0]]),
    );
    await vi.waitFor(() =>
      expect([...problems]).toEqual([
        expect.stringContaining('Free some disk space: vfscope retries automatically.'),
      ]),
    );
    disk.room = Infinity;
    await vi.waitFor(() => expect(problems.size).toBe(0));
    await spool.finish();
    const [bytes] = [...disk.files.values()];
    const { store: read, warnings } = await readTrace(bytes!);
    expect(warnings).toEqual([]);
    expect(read.threads[0]!.events.row(500)).toEqual(t.thread.events.row(500));
    expect([read.eventCount, read.threads[0]!.definitions.size]).toEqual([501, 500]);
    await spool.drop();
  });
});

describe('recordings that are offered again', () => {
  const name = 'k~0~https%3A%2F%2Fapp.example.vfst';
  it('are those not in use; one that is gone, or in use by another panel since, hides none of the others', async () => {
    disk.files.set(name, new Uint8Array(100));
    disk.files.set('empty.vfst', new Uint8Array());
    disk.files.set('begun.vfst', new Uint8Array());
    disk.listed = ['gone.vfst', 'begun.vfst', name, 'empty.vfst'];
    const query = disk.navigator.locks.query;
    disk.navigator.locks.query = async () => {
      const held = await query();
      disk.locks.add('vfscope spool begun.vfst'); // another panel begins right after the query
      return held;
    };
    expect(await idleSpools()).toEqual([
      {
        name,
        id: 'k~0',
        shown: false,
        begunMs: 0,
        events: null,
        durationUs: null,
        savedAt: null,
        bytes: 100,
        origin: 'https://app.example',
        frozen: false,
      },
    ]);
    expect([...disk.files.keys()].sort()).toEqual(['begun.vfst', name]);
  });
});
