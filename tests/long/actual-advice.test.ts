/**
 * The index advisor on Actual's demo budget: its answer for a recording of the app is applied to a
 * copy of the app's database, where the app's statements run again. Then Actual itself runs without
 * some of its own indexes, and again with the advised ones, which a line after its last migration
 * creates. SHOW=1 prints the answers.
 */
import type { Page } from 'puppeteer-core';
import { expect, test } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { advise } from '../../src/lab/advisor/advise.ts';
import { candidatesOf } from '../../src/lab/advisor/candidates.ts';
import { Copy } from '../../src/lab/advisor/copy.ts';
import { recordedOf } from '../../src/lab/advisor/recorded.ts';
import { opened } from '../../src/sqlite/folded-lists.ts';
import { readSchema, type Schema } from '../../src/lab/advisor/schema.ts';
import { usesOf } from '../../src/lab/advisor/uses.ts';
import { adviceText } from '../../src/lab/command/advise.ts';
import type { Engines } from '../../src/lab/experiments/engine/open-engine.ts';
import { nodeSurroundings } from '../../src/lab/command/node.ts';
import { recordTraced } from '../browser/record-real.ts';
import { realApp } from '../oracle/real-apps.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { statementTable } from '../../src/analysis/statements/statement-table.ts';
import type { StatementRow } from '../../src/analysis/statements/statement-table.ts';

/**
 * Databases that absurd-sql stores in IndexedDB: blocks by number in the store `data`. Returns the
 * largest, as base64.
 */
const largestDatabase = (page: Page): Promise<{ name: string; base64: string }> =>
  page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error!);
      });
    let [name, bytes] = ['', new Uint8Array()];
    for (const { name: each } of await indexedDB.databases()) {
      const db = await done(indexedDB.open(each!));
      if (db.objectStoreNames.contains('data')) {
        const store = db.transaction('data').objectStore('data');
        const [keys, values] = await Promise.all([
          done(store.getAllKeys()),
          done(store.getAll() as IDBRequest<unknown[]>),
        ]);
        const blocks = values.flatMap((block, i) =>
          block instanceof ArrayBuffer && typeof keys[i] === 'number' && keys[i] >= 0
            ? [{ at: keys[i], block }]
            : [],
        );
        const size = blocks[0]?.block.byteLength ?? 0;
        const whole = new Uint8Array(blocks.length * size);
        for (const { at, block } of blocks) whole.set(new Uint8Array(block), at * size);
        if (whole.length > bytes.length) [name, bytes] = [each!, whole];
      }
      db.close();
    }
    let text = '';
    for (let i = 0; i < bytes.length; i += 8192)
      text += String.fromCharCode(...bytes.subarray(i, i + 8192));
    return { name, base64: btoa(text) };
  });

async function schemaOf(engines: Engines, file: Blob): Promise<Schema> {
  const copy = await Copy.open(engines, file);
  const schema = await readSchema((sql) => copy.ask(sql));
  await copy.close();
  return schema;
}

/** @param sql that the app runs on its database after its last migration */
async function recordedActual(sql = ''): Promise<{ store: TraceStore; file: Blob }> {
  const app = realApp('actual');
  let file = new Blob();
  const store = await recordTraced({
    ...app,
    behind: { [LAST_MIGRATION]: sql },
    async use(pages, rest) {
      await app.use(pages, rest);
      const { base64 } = await largestDatabase(pages[0]!);
      file = new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]);
      await rest();
    },
  });
  expect(file.size).toBeGreaterThan(100_000);
  return { store, file };
}
const LAST_MIGRATION = '1787013118115_add_account_groups.sql';

test("Actual's demo budget: the answer, applied and run again", async () => {
  const { store, file } = await recordedActual();
  const place = nodeSurroundings();
  const { engines } = place;
  const recorded = recordedOf(new Facts(store));
  const advice = await advise(place, file, recorded);
  if (process.env['SHOW']) console.log(adviceText(advice, 'Actual'));
  expect(advice.statements.length).toBeGreaterThan(20);
  expect(advice.candidates).toBeGreaterThan(0);

  // the answer by hand: all statements without it, with it, and with each other candidate in
  // addition
  const total = async (...indexes: string[]): Promise<number> => {
    const copy = await Copy.open(engines, file);
    let sum = 0;
    for (const sql of indexes) await copy.exec(sql);
    for (const { sql, runs } of advice.statements)
      sum += runs * (await copy.run(sql, !/^\s*(?:select|with|values)\b/i.test(sql))).instructions;
    await copy.close();
    return sum;
  };
  const before = await total();
  const after = await total(...advice.indexes.map(({ sql }) => sql));
  if (process.env['SHOW']) console.log(before, after);
  if (advice.indexes.length) expect(after).toBeLessThan(0.99 * before);
  // and no index that it left out does better, tried or not
  const schema = await schemaOf(engines, file);
  const uses = recorded.statements.flatMap(({ text }) => usesOf(opened(text), schema) ?? []);
  const { candidates } = candidatesOf(
    schema,
    uses.map(({ tables }) => ({ tables, weight: 1 })),
    Infinity,
  );
  expect(candidates.length).toBeGreaterThanOrEqual(advice.candidates);
  const chosen = advice.indexes.map(({ sql }) => sql);
  for (const { sql } of candidates)
    if (!chosen.includes(sql))
      expect(await total(...chosen, sql), sql).toBeGreaterThan(0.99 * after);
  for (const index of advice.indexes)
    for (const effect of index.effects) expect(effect.after.rows).toBe(effect.before.rows);
});

/**
 * Indexes by which Actual finds transactions, and a page cache that holds few of them, so that
 * reads show what a run needs.
 */
const WITHOUT = [
  ...['trans_date', 'trans_sorted', 'trans_category_date', 'trans_category'],
  'idx_transactions_acct_tombstone',
]
  .map((name) => `DROP INDEX IF EXISTS ${name};`)
  .join(' ');
const SMALL_CACHE = 'PRAGMA cache_size=20;';

test('Actual without its own indexes: with the advised ones its statements read as predicted', async () => {
  const bare = `\n${WITHOUT}${SMALL_CACHE}`;
  const { store, file } = await recordedActual(bare);
  const advice = await advise(nodeSurroundings(), file, recordedOf(new Facts(store)));
  if (process.env['SHOW']) console.log(adviceText(advice, 'Actual without indexes'));
  expect(advice.indexes.length).toBeGreaterThan(0);
  const { store: again } = await recordedActual(
    `${bare}\n${advice.indexes.map(({ sql }) => `${sql};`).join('\n')}`,
  );
  const rowsOf = (of: TraceStore): ReadonlyMap<string | null, StatementRow> =>
    new Map(new Facts(of).get(statementTable)!.rows.map((row) => [row.text, row]));
  const [before, after] = [rowsOf(store), rowsOf(again)];
  const pages = ({ pages: of, executions }: StatementRow): number => (of?.read ?? 0) / executions;
  const compared = advice.indexes.flatMap(({ effects }) =>
    effects.flatMap(({ fingerprint, runs, before: promised, after: promisedAfter }) => {
      const [then, now] = [before.get(fingerprint), after.get(fingerprint)];
      return then && now
        ? [
            {
              ...{ fingerprint, runs },
              promised: [promised.pagesRead, promisedAfter.pagesRead] as const,
              recorded: [pages(then), pages(now)] as const,
            },
          ]
        : [];
    }),
  );
  if (process.env['SHOW']) console.log(JSON.stringify(compared, null, 1));
  // Actual's engine has no counters, so the reads count: those of the statement that read most
  // among those that an index is for
  const helped = compared.filter(({ promised: [then, now] }) => now < then);
  const [most] = [...helped].sort((a, b) => b.runs * b.recorded[0] - a.runs * a.recorded[0]);
  expect(most!.promised[1]).toBeLessThan(most!.promised[0]);
  expect(most!.recorded[1]).toBeLessThan(
    most!.recorded[0] * ((most!.promised[1] / most!.promised[0] + 1) / 2),
  );
  // the reads of the others depend on what was in the cache by chance
  const recordedAt = (at: 0 | 1): number =>
    helped.reduce((all, { runs, recorded }) => all + runs * recorded[at], 0);
  expect(recordedAt(1)).toBeLessThan(recordedAt(0));
});
