// Which recordings stay on disk, what the list shows of them, and how notes are written to one.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HISTORY } from '../../src/protocol/session.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { makeRoom, prune } from '../../src/viewer/session/history.ts';
import { discardSpool, hold, idleSpools, writeNotes } from '../../src/viewer/session/spool.ts';
import { SpoolKeeper } from '../../src/viewer/session/spool-keeper.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { Disk } from './spool-disk.ts';

let disk: Disk;
beforeEach(() => vi.stubGlobal('navigator', (disk = new Disk()).navigator));
afterEach(() => vi.unstubAllGlobals());

const ORIGIN = 'https%3A%2F%2Fapp.example';
const nameOf = (begun: number, key = 'tab-1', tag = ''): string =>
  `${key}~${begun}~${ORIGIN}${tag}.vfst`;
const put = (name: string, bytes = 100): void => void disk.files.set(name, new Uint8Array(bytes));
const left = (): string[] => [...disk.files.keys()];

describe('the limit of the history', () => {
  it('is ten recordings: the oldest are deleted, those in use stay and count', async () => {
    for (let n = 1; n <= HISTORY.recordings + 3; n++) put(nameOf(n * 1000));
    const release = await hold(nameOf(1000)); // shown here
    disk.locks.add(`vfscope spool ${nameOf(2000)}`); // recorded by another panel
    await prune();
    expect(left()).toEqual([1, 2, 6, 7, 8, 9, 10, 11, 12, 13].map((n) => nameOf(n * 1000)));
    await release();
    put(nameOf(20_000));
    await prune();
    expect(left()).toHaveLength(HISTORY.recordings);
    expect(left()).not.toContain(nameOf(1000));
  });

  it('is a share of the quota, without what is in use', async () => {
    disk.quota = 4000 / HISTORY.shareOfQuota;
    for (const n of [1, 2, 3, 4]) put(nameOf(n), 1500);
    put(nameOf(5), 90_000);
    disk.locks.add(`vfscope spool ${nameOf(5)}`);
    await prune();
    expect(left()).toEqual([nameOf(3), nameOf(4), nameOf(5)]);
  });

  it('deletes what a flight recorder froze along with its recording, but never for a running one', async () => {
    const parts = (n: number): string[] => [
      nameOf(n),
      nameOf(n, 'tab-1', '~frozen1'),
      nameOf(n, 'tab-1', '~frozen2'),
    ];
    for (let n = 1; n <= HISTORY.recordings + 1; n++) parts(n).forEach((name) => put(name));
    disk.locks.add(`vfscope spool ${nameOf(1)}`);
    await prune();
    expect(left().filter((name) => name.includes('~2~'))).toEqual([]);
    expect(left()).toHaveLength(3 * HISTORY.recordings);
    expect(left()).toEqual(expect.arrayContaining(parts(1)));
  });

  it('applies to all panels: none deletes what another shows', async () => {
    put(nameOf(1, 'tab-1'));
    put(nameOf(1, 'tab-2'));
    const release = await hold(nameOf(1, 'tab-2'));
    await expect(discardSpool(nameOf(1, 'tab-2'))).rejects.toThrow('open in another panel');
    await expect(hold(nameOf(1, 'tab-2'))).rejects.toThrow('open in another panel');
    expect(await makeRoom()).toBe(true);
    expect([left(), await makeRoom()]).toEqual([[nameOf(1, 'tab-2')], false]);
    await release();
    await discardSpool(nameOf(1, 'tab-2'));
    expect(left()).toEqual([]);
  });
});

describe('a recording on a full disk', () => {
  it('takes the space of the oldest ones, and reports it', async () => {
    const problems = new Set<string>();
    const keeper = new SpoolKeeper(
      (text) => problems.add(text),
      (text) => problems.delete(text),
      1,
      1,
    );
    for (const n of [1, 2, 3]) put(nameOf(n), 1_000_000);
    disk.room = 3_010_000;
    const store = syntheticStore({ events: 20_000, threads: 1 });
    keeper.begin(
      store,
      'tab-1',
      () => 'https://app.example',
      () => [],
    );
    await vi.waitFor(() =>
      expect([...problems]).toEqual([
        expect.stringMatching(
          /^The disk is full\. vfscope deleted \d earlier recordings? to store this one\.$/,
        ),
      ]),
    );
    await keeper.finish();
    expect(left()).toEqual([nameOf(2), nameOf(3), keeper.name]);
    const { events } = (await idleSpools([keeper.name!])).find(({ shown }) => shown)!;
    expect(events).toBe(store.eventCount);
    await keeper.drop();
  });
});

describe('the list of recordings', () => {
  const stored = async (store: TraceStore, name: string): Promise<void> =>
    void disk.files.set(name, new Uint8Array(await (await saveTrace(store)).arrayBuffer()));

  it('has the start, length, and number of events of each, the newest first', async () => {
    const store = newStore();
    const t = new ThreadBuilder(store);
    t.call('xRead', { dur: 10 });
    t.call('xWrite', { dur: 900 });
    t.send();
    const [from, to] = store.extent();
    await stored(store, nameOf(1000));
    put(nameOf(3000), 50); // truncated
    await stored(newStore(), nameOf(2000));
    expect(
      (await idleSpools()).map(({ begunMs, events, durationUs, id, origin }) => ({
        begunMs,
        events,
        durationUs,
        id,
        origin,
      })),
    ).toEqual([
      {
        begunMs: 3000,
        events: null,
        durationUs: null,
        id: 'tab-1~3000',
        origin: 'https://app.example',
      },
      { begunMs: 2000, events: 0, durationUs: 0, id: 'tab-1~2000', origin: 'https://app.example' },
      {
        begunMs: 1000,
        events: 2,
        durationUs: to - from,
        id: 'tab-1~1000',
        origin: 'https://app.example',
      },
    ]);
  });

  it('adds notes to a finished one, repeatedly; a truncated one stays unchanged', async () => {
    await stored(syntheticStore({ events: 500, threads: 1 }), nameOf(1));
    const notes = async (): Promise<string[]> =>
      (await readTrace(disk.files.get(nameOf(1))!)).store.annotations.notes.map(({ text }) => text);
    const lanes = { hidden: [], pinned: [], order: [] };
    for (const text of ['first', 'second'])
      await writeNotes(nameOf(1), { notes: [{ id: 1, fromUs: 1, toUs: 1, text }], lanes });
    expect(await notes()).toEqual(['second']);
    await writeNotes(nameOf(1), { notes: [], lanes });
    expect(await notes()).toEqual([]);
    put(nameOf(2), 50);
    await writeNotes(nameOf(2), { notes: [], lanes });
    expect(disk.files.get(nameOf(2))!.length).toBe(50);
  });
});
