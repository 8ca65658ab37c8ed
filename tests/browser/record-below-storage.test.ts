/**
 * `vfscope record --below-storage`: Chromium counts the same storage calls as vfscope, on OPFS and
 * on IndexedDB; calls that the hook can't see are reported as a difference.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { belowStorage, type BelowStorageSums } from '../../src/analysis/below/browser-work.ts';
import { sampleSums } from '../../src/analysis/cpu/hot-functions.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { webCounts } from '../../src/analysis/files/web-counts.ts';
import { record } from '../../src/cli/record.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { EXTENSION } from './extension-harness.ts';
import { recordHarness } from './record-harness.ts';

const command = recordHarness();

/** Records the app on this VFS. @param more steps after the app's own */
async function recorded(
  vfs: string,
  more = '',
  options: { cpu?: boolean } = {},
): Promise<{ facts: Facts; below: BelowStorageSums }> {
  const script = path.join(command.folder, `${vfs}.mjs`);
  await writeFile(
    script,
    `export default async (page) => {
      await page.waitForFunction(() => document.body.dataset.state === 'done', { polling: 50 });
      ${more}
    };`,
  );
  const out = path.join(command.folder, `${vfs}.vfst`);
  const origin = command.server.origin(`below-${vfs.toLowerCase()}`);
  const url = `${origin}/journeyapps-wa-sqlite/?vfs=${vfs}&run=own-sql&n=20`;
  const args = { url, out, script, belowStorage: true, ...options, extension: EXTENSION };
  expect(await record(args), command.said).toBe(0);
  const { store, warnings } = await readTrace(await readFile(out));
  expect(warnings).toEqual([]);
  const facts = new Facts(store);
  return { facts, below: facts.get(belowStorage)! };
}

const callsOf = ({ sums }: BelowStorageSums, work: string): number =>
  sums.find((one) => one.work.startsWith(work))?.calls ?? 0;

test('the browser counts the same calls on IndexedDB, and its queue and work are measured', async () => {
  const { facts, below } = await recorded('IDBBatchAtomic');
  expect(below.check).toMatchObject({ verdict: 'equal', differences: [], after: 0 });
  const { idb } = facts.get(webCounts);
  const put = below.sums.find(({ work }) => work.startsWith('IndexedDB put'))!;
  expect(put.calls).toBe(idb.put);
  expect([put.queuedUs, put.workUs, put.answerUs]).not.toContain(null);
  expect(put.answerUs).toBeGreaterThanOrEqual(put.workUs! + put.queuedUs!);
  expect(callsOf(below, 'IndexedDB commits')).toBeGreaterThan(0);
});

/** Runs in the world of an extension's content script, which the hook doesn't reach. */
const UNSEEN = `await page.mainFrame().isolatedRealm().evaluate(() => new Promise((resolve, reject) => {
  const open = indexedDB.open('unseen');
  open.onupgradeneeded = () => open.result.createObjectStore('s');
  open.onsuccess = () => {
    const t = open.result.transaction('s', 'readwrite');
    for (let i = 0; i < 3; i++) t.objectStore('s').put(i, i);
    t.oncomplete = () => resolve();
    t.onabort = reject;
  };
}));`;

test("on OPFS, while it samples the CPU, the only difference is calls that the hook doesn't see", async () => {
  const { facts, below } = await recorded('AccessHandlePool', UNSEEN, { cpu: true });
  const { opfs, idb } = facts.get(webCounts);
  expect(idb.put).toBe(0);
  expect(below.check).toMatchObject({ verdict: 'different', after: 0 });
  expect(below.check.differences).toMatchObject([
    { call: 'idb.transaction', recorded: 0, reported: 1 },
    { call: 'idb.put', recorded: 0, reported: 3 },
  ]);
  expect(opfs.writes).toBeGreaterThan(50);
  expect(callsOf(below, 'opfs.write')).toBe(opfs.writes);
  expect(callsOf(below, 'opfs.read')).toBe(opfs.reads);
  expect(facts.get(sampleSums)).not.toBeNull();
});
