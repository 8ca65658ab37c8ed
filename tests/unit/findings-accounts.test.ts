// Plain accounts: the largest cost that no finding explains is reported with its calls and
// statements, and nothing else is.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Flag } from '../../src/event/event.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { accounts } from '../../src/analysis/findings/accounts.ts';
import { explained } from '../../src/analysis/findings/explanation.ts';
import { totalTimeInSql } from '../../src/analysis/time/summary-time.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const titles = (store: TraceStore): string[] =>
  new Facts(store).get(accounts).map(({ title }) => title);
const golden = async (name: string): Promise<TraceStore> =>
  (await readTrace(readFileSync(`tests/traces/golden/${name}.vfst`))).store;

/** One statement that reads `pages` pages, 1 ms each, and writes as many, 1 ms each. */
function work(reads: number, writes: number): TraceStore {
  const t = new ThreadBuilder(newStore());
  const file = t.file('/app.db');
  const sql = t.define({ kind: 'sql', text: 'SELECT *\nFROM t' });
  t.call('sqlStep', { object: sql, aux: 1, context: 1, result: 101, dur: 1 }, () => {
    for (const [op, n] of [
      ['opfsRead', reads],
      ['opfsWrite', writes],
    ] as const)
      for (let i = 0; i < n; i++) {
        const call = { object: file, context: 1, offset: i * 4096, length: 4096 };
        t.call(op === 'opfsRead' ? 'xRead' : 'xWrite', call, () =>
          t.call(op, { offset: i * 4096, length: 4096, result: 4096, dur: 1000 }),
        );
      }
  });
  t.send();
  return t.store;
}

describe('accounts', () => {
  it('names the calls, how long each took, and the statement', () => {
    expect(titles(work(40, 0))).toEqual([
      expect.stringMatching(
        /^Reading takes 9\d(\.\d)? % of the time in SQL \(40 ms\)\. 40 reads, 1 ms each\. 100 % in "SELECT \* FROM t"$/,
      ),
    ]);
  });
  it('report only what is large', () => {
    expect(titles(work(40, 15))).toHaveLength(1);
    expect(titles(work(40, 30)).map((title) => title.split(' takes')[0])).toEqual([
      'Reading',
      'Writing and committing',
    ]);
    expect(titles(newStore())).toEqual([]);
  });
  it('of IndexedDB transactions are about commits only if more is written than read', () => {
    const inIdb = (request: 'idbGet' | 'idbPut'): string[] => {
      const t = new ThreadBuilder(newStore());
      const db = t.file('/app.db');
      const object = t.define({ kind: 'idb-store', db: 'vfs', store: 'blocks' });
      const flags = Flag.async;
      const mode = Number(request === 'idbPut');
      for (let context = 1; context <= 10; context++)
        t.call('sqlStep', { aux: 1, context: 1, result: 101, flags }, () =>
          t.call(mode ? 'xWrite' : 'xRead', { object: db, context: 1, length: 4096, flags }, () =>
            t.call('idbTransaction', { object, context, aux: mode, flags, dur: 2000 }, () =>
              t.call(request, { object, context, flags, dur: 1000 }),
            ),
          ),
        );
      t.send();
      return new Facts(t.store)
        .get(accounts)
        .map(({ title, advice }) => `${title.split(' in SQL')[0]}: ${advice.split(':')[0]}`);
    };
    expect(inIdb('idbGet')).toEqual([
      'Waiting for IndexedDB transactions takes 66.6 % of the time: Put SELECTs that belong together in one transaction',
      expect.stringMatching(/^Reading takes 33\.3 % /),
    ]);
    expect(inIdb('idbPut')).toEqual([
      'Writing and committing, with waits for IndexedDB transactions, takes 99.9 % of the time: Commit less often',
    ]);
  });
  it('count every call that takes, checks, or releases locks', () => {
    const t = new ThreadBuilder(newStore());
    const object = t.file('/app.db');
    t.call('sqlStep', { aux: 1, context: 1, result: 101 }, () => {
      for (const op of ['xLock', 'xCheckReservedLock', 'xUnlock'] as const)
        t.call(op, { object, context: 1 }, () => t.call('atomicsWait', { dur: 3000 }));
    });
    t.send();
    expect(titles(t.store)).toEqual([
      expect.stringMatching(/^Taking and releasing locks takes .*\. 3 lock calls, 3 ms each$/),
    ]);
  });
  it('name waits while another tab held the lock', async () => {
    expect(titles(await golden('idb-two-tabs'))).toEqual([
      expect.stringMatching(
        /^Waiting for locks that others held takes 38\.1 % .*\. 55 waits, 13\.9 ms each\. .* in "BEGIN IMMEDIATE"$/,
      ),
    ]);
  });
  it('count the waits that they add up, without those for an unrecorded holder', async () => {
    expect(titles(await golden('opfs-wl-two-tabs'))).toEqual([
      expect.stringContaining('. 47 waits, 81.1 ms each.'), // 11 more have no recorded holder
    ]);
  });
  it('report how much no finding explains', async () => {
    expect(titles(await golden('cache-thrash'))).toEqual([
      expect.stringContaining(
        'takes 67 % of the time in SQL (54.9 ms, 10.8 ms of it in the actions). ',
      ),
    ]);
  });
  it('mention what a rule examined without reporting it', async () => {
    const store = await golden('rollback-and-savepoints'); // its flushes are too few for a finding
    expect(titles(store)[1]).toMatch(/^Writing and committing takes 41\.1 % of the time in SQL/);
    expect(new Facts(store).get(explained)!.explainedUs).toBe(0);
  });
  it('are silent if findings explain what is large', async () => {
    const store = await golden('opfs-proxy');
    expect(titles(store)).toEqual([]);
    const { explainedUs, inSqlUs } = new Facts(store).get(explained)!;
    expect(inSqlUs).toBe(new Facts(store).get(totalTimeInSql));
    expect(explainedUs / inSqlUs).toBeGreaterThan(0.7);
  });
});
