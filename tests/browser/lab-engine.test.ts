// Builds of SQLite on the Lab's page: sqlite.org's, and the user's wasm file. Counts are the same
// as in Node; a build that can't run is rejected by name.
import { readFileSync } from 'node:fs';
import type { ElementHandle } from 'puppeteer-core';
import { expect, it } from 'vitest';
import { SQLITE_ORG } from '../../src/lab/experiments/model/engine-names.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { exportsOf, hangingModule } from '../contract/helpers/rewrite-wasm.ts';
import { ON_SQLITE_ORG, ON_SQLITE_ORG_ISOLATED } from '../contract/lab-counts.ts';
import { serious } from './lab-axe.ts';
import { finished, lab, page, press, texts, useLabPage, wordsOf } from './lab-harness.ts';

useLabPage();
const WASM = 'node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3.wasm';
const upload = async (path: string): Promise<void> => {
  const input = (await page.$('[data-testid="engine-input"]')) as ElementHandle<HTMLInputElement>;
  await input.uploadFile(path);
};

const drop = (name: string, bytes: Iterable<number>): Promise<unknown> =>
  page.evaluate(
    (file, content) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(content)], file));
      document.body.dispatchEvent(
        new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }),
      );
    },
    name,
    [...bytes],
  );

it("sqlite.org's build has the same counts as in Node", async () => {
  const all = [...ON_SQLITE_ORG, ...ON_SQLITE_ORG_ISOLATED];
  const runs = all.map(([vfs]) =>
    runOf(
      workloadOf('ac60'),
      { config: { engine: SQLITE_ORG, vfs } },
      { mode: 'count', repeats: 1 },
    ),
  );
  const done = await lab.run(runs);
  expect(done.map(({ message }) => message).filter(Boolean)).toEqual([]);
  expect(done.map(({ result }, i) => [runs[i]!.config.vfs, result!.totals.instructions])).toEqual(
    all,
  );
});

it('a wasm file runs as the engine of a workload and of an experiment, as in Node', async () => {
  await press('place-experiments');
  await press('offer-ac60');
  await upload(WASM);
  await page.waitForSelector('[data-testid="engine-file"]');
  expect((await texts('engine-file'))[0]).toMatch(
    /^sqlite3\.wasm: SQLite 3\.54\.1, 858 KiB, SHA-256 [\da-f]{12}/,
  );
  await press('knob-vfs-memory');
  await press('knob-vfs-MemoryVFS');
  expect((await texts('lab-command'))[0]).toMatch(/ engine=sqlite3\.wasm$/);
  await press('lab-run');
  await finished(2);
  const results = (await wordsOf('[data-testid="results"]'))[0]!;
  for (const [vfs, count] of ON_SQLITE_ORG)
    if (!vfs.startsWith('opfs')) expect(results).toContain(count.toLocaleString('en'));
  expect(await serious(page)).toEqual([]);

  await press('offer-journal-modes');
  await press('experiment-vfs-MemoryVFS');
  await press('experiment-engine-sqlite3.wasm');
  await press('lab-run');
  await finished(5);
  expect((await wordsOf('[data-testid="environment"]'))[0]).toMatch(
    /SQLite 3\.54\.1Build sqlite3\.wasm SHA-256 /,
  );
  expect(await serious(page)).toEqual([]);
}, 60_000);

it("a build that the page can't run is rejected by name, with what to do", async () => {
  await press('place-experiments');
  await press('offer-ac60');
  const error = async (words: RegExp): Promise<void> => {
    await expect.poll(async () => (await texts('lab-error'))[0]).toMatch(words);
  };
  await upload('node_modules/sql.js/dist/sql-wasm.wasm');
  await error(
    /^sql-wasm\.wasm imports a\.a, .*, and \d+ more, which vfscope doesn't provide\. An extension can't run .* vfscope lab run --engine FILE\.wasm\.$/,
  );
  await drop('no $(SQL)ite.wasm', [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  await error(/^no___SQL_ite\.wasm doesn't export sqlite3_prepare_v2, .*\.$/);
  await drop('text.wasm', [1, 2, 3]);
  await error(/^text\.wasm isn't a wasm file: it doesn't begin as one does/);
  expect(await texts('engine-file')).toEqual([]);
}, 60_000);

it('a wasm file that hangs can be canceled, and the next one runs', async () => {
  await press('place-experiments');
  await press('offer-ac60');
  const functions = exportsOf(readFileSync(WASM)).filter(({ kind }) => kind === 0);
  await drop('hangs.wasm', hangingModule(functions.map(({ name }) => name)));
  await press('lab-give-up');
  await page.waitForSelector('[data-testid="lab-give-up"]', { hidden: true });
  expect([await texts('lab-error'), await texts('engine-file')]).toEqual([[], []]);
  await upload(WASM);
  await page.waitForSelector('[data-testid="engine-file"]');
}, 60_000);
