/**
 * F11 in a real browser: after the advised cache size is set, the same work reads no more than F11
 * predicted.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { record } from '../../src/cli/record.ts';
import { missRatioAt, type MissRatio } from '../../src/analysis/cache/miss-ratio.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { EXTENSION } from './extension-harness.ts';
import { recordHarness } from './record-harness.ts';
import { findingsOf, missRatiosOf } from '../traces/analyses.ts';
import { longTest } from './long-test.ts';

const command = recordHarness();

/**
 * 6,000 rows of about 130 bytes, reads that mostly hit a quarter of the rows, and updates between
 * them.
 */
const WORK = [
  `CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT);
   WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
   INSERT INTO t SELECT i, printf('%0120d', i) FROM n`,
  [1200, 'SELECT body FROM t WHERE id = (($i * 7919) % 6000) * (($i * 104729) % 6000) / 6000 + 1'],
  [100, "UPDATE t SET body = printf('%0120d', $i) WHERE id = ($i * 7919) % 6000 + 1"],
  [600, 'SELECT body FROM t WHERE id = (($i * 3571) % 6000) * (($i * 8117) % 6000) / 6000 + 1'],
];

async function recordedWith(
  cacheSize: number,
): Promise<{ curve: MissRatio | undefined; advice: string | undefined; confidence: unknown }> {
  const script = path.join(command.folder, `steps${cacheSize}.mjs`);
  const options = JSON.stringify({ pragmas: [`cache_size=${cacheSize}`], sql: WORK });
  await writeFile(
    script,
    `export default async (page) => {
      await page.waitForFunction(() => document.body.dataset.state === 'ready', { polling: 50 });
      await page.evaluate((options) => window.run('sql', options), ${options});
    };`,
  );
  const out = path.join(command.folder, `cache${cacheSize}.vfst`);
  const url = `${command.server.origin(`cache${-cacheSize}`)}/journeyapps-wa-sqlite/?vfs=OPFSCoopSync`;
  expect(await record({ url, out, script, extension: EXTENSION }), command.said).toBe(0);
  const { store } = await readTrace(await readFile(out));
  expect(store.dropped).toBe(0);
  const found = findingsOf(store).find(({ rule }) => rule === 'F11');
  return {
    curve: missRatiosOf(store)[0],
    advice: found?.advice,
    confidence: found?.confidence,
  };
}

longTest(
  'the advised cache reads no more than was said, and nothing is advised any more',
  async () => {
    const before = await recordedWith(-200);
    expect(before.confidence).toBe('certain');
    const set = Number(/cache_size=(-\d+)/.exec(before.advice!)![1]);
    expect(set).toBe(-before.curve!.goal!.kib!);
    const after = await recordedWith(set);
    const said = missRatioAt(before.curve!, before.curve!.goal!.pages)! * before.curve!.requests;
    const reads = after.curve?.reads ?? 0;
    console.info(
      `cache_size=-200: ${before.curve!.reads} reads; ${set}: at most ${Math.round(said)} said, ${reads} read`,
    );
    expect(reads).toBeLessThanOrEqual(said + 0.5);
    expect(after.advice).toBeUndefined();
    // and between the two, from the same recording
    for (const kib of [-320, -480]) {
      const { curve } = await recordedWith(kib);
      const most = missRatioAt(before.curve!, curve!.size.pages!)! * before.curve!.requests;
      console.info(`cache_size=${kib}: at most ${Math.round(most)} said, ${curve!.reads} read`);
      expect(curve!.reads).toBeLessThanOrEqual(most + 0.5);
    }
  },
  120_000,
);
