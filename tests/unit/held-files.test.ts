// Files that a VFS stores in JavaScript's memory, detected from its calls.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { heldFiles, HeldFiles } from '../../src/analysis/memory/held-files.ts';
import { plainPath } from '../../src/event/file-names.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { mostIn } from '../../src/timeline/memory-counter.ts';
import { TimelineLanes } from '../../src/timeline/timeline-lanes.ts';
import type { OpName } from '../../src/event/event.ts';
import { newStore, ThreadBuilder, type CallFields } from '../traces/builder.ts';
import { environment } from '../traces/findings/stage.ts';

const KIB = 1024;

/**
 * A page, and its worker, which writes 8 KiB, truncates them to 4 KiB, and creates and deletes a
 * journal of 2 KiB.
 */
function made(): { page: ThreadBuilder; worker: ThreadBuilder; db: number } {
  const store = newStore();
  const page = new ThreadBuilder(store, { kind: 'page' });
  const worker = new ThreadBuilder(store, { parent: page.thread.info.id });
  for (const t of [page, worker]) t.say(environment());
  const db = worker.file('/app.db');
  const journal = worker.file('/app.db-journal', 'journal');
  const call = (op: OpName, fields: CallFields): void => {
    worker.call(op, { dur: 10, ...fields });
  };
  call('xWrite', { object: db, offset: 0, length: 4 * KIB });
  call('xWrite', { object: journal, offset: 0, length: 2 * KIB });
  call('xWrite', { object: db, offset: 4 * KIB, length: 4 * KIB });
  call('xDelete', { object: journal });
  call('xTruncate', { object: db, offset: 4 * KIB });
  call('xWrite', { object: db, offset: 40 * KIB, length: KIB, result: 10 }); // failed
  return { page, worker, db };
}
const send = ({ page, worker }: ReturnType<typeof made>): ThreadBuilder => {
  page.send();
  worker.send();
  return worker;
};
const shown = ({ store }: ThreadBuilder): [string, number, number][] =>
  new Facts(store).get(heldFiles).map(({ path, bytes, most }) => [path, bytes, most]);

test('sizes are what was written, truncated, and deleted', () => {
  const worker = send(made());
  expect(shown(worker)).toEqual([
    ['/app.db', 4 * KIB, 8 * KIB],
    ['/app.db-journal', 0, 2 * KIB],
  ]);
  const held = new HeldFiles(worker.thread).update();
  const kib = [...mostIn(held, 0, 60, 6)].map((bytes) => bytes / KIB);
  expect(kib).toEqual([4, 6, 10, 10, 8, 4]);
});

test.each<[string, (t: ReturnType<typeof made>) => void]>([
  ['a storage call in the worker', ({ worker }) => void worker.call('idbPut', { length: 100 })],
  ['a storage call in its page', ({ page }) => void page.call('opfsWrite', { length: 100 })],
  ['a wait for another worker', ({ worker }) => void worker.call('atomicsWait')],
  [
    'a worker that is not recorded',
    ({ page }) =>
      page.say({ kind: 'note', id: 0, topic: 'worker-native', text: 'x', url: '' } as never),
  ],
])('%s: what is kept is not known', (_, more) => {
  const t = made();
  more(t);
  expect(shown(send(t))).toEqual([]);
});

test('if storage calls were excluded, what is stored is unknown', () => {
  const t = made();
  t.worker.thread.environment = environment();
  const worker = send(t);
  worker.thread.environment = {
    ...worker.thread.environment!,
    capture: { ...worker.thread.environment!.capture, layers: ['vfs'] },
  };
  expect(shown(worker)).toEqual([]);
});

test('the timeline has a track of it only if it is known', () => {
  const kinds = (t: ReturnType<typeof made>): string[] => {
    const { store, thread } = send(t);
    const lanes = new TimelineLanes(store);
    lanes.update(1000);
    return lanes.rowsOf(thread).map(({ kind }) => kind);
  };
  expect(kinds(made())).toContain('fileMemory');
  const stores = made();
  stores.page.call('idbGet');
  expect(kinds(stores)).not.toContain('fileMemory');
});

test('of real recordings, only one on a VFS in memory has files there', async () => {
  const held = async (name: string): Promise<[string, number][]> => {
    const { store } = await readTrace(readFileSync(`tests/traces/golden/${name}.vfst`));
    return new Facts(store).get(heldFiles).map(({ path, most }) => [plainPath(path), most]);
  };
  const [, most = 0] = (await held('memory-delete')).find(([path]) => /\.db$/.test(path)) ?? [];
  expect(most).toBeGreaterThan(8 * KIB);
  expect(most % (4 * KIB)).toBe(0);
  for (const name of ['opfs-sahpool', 'idb-batch-atomic', 'opfs-proxy', 'absurd-sql'])
    expect(await held(name)).toEqual([]);
});
