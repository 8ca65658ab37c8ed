/** What the apps of a pair of recordings do (pairs.ts): SQL, and actions of pages and workers. */
import type { Page } from 'puppeteer-core';
import type { Scenario } from '../traces/golden/scenarios.ts';
import { openApp, type Workload, type WorkloadOptions } from '../oracle/baseline.ts';

export interface Twin extends Pick<Scenario, 'path' | 'tabs' | 'steps'> {
  /** Runs before the recording begins, in the same origin. */
  before?: Scenario['steps'];
  /** A fault of the browser: a module of tests/twins/faults that runs before the hook. */
  fault?: 'full-disk' | 'few-handles';
  /** What is done with the pages after the steps. */
  more?: (pages: readonly Page[]) => Promise<void>;
}

type Sql = NonNullable<WorkloadOptions['sql']>;

export const BLOCKS = '/block-idb/?blockSize=16384&cacheBlocks=4';
export const journey = (vfs: string): string => `/journeyapps-wa-sqlite/?vfs=${vfs}`;
export const step = (workload: Workload, options: WorkloadOptions): Scenario['steps'][number] => [
  { workload, options },
];
const NAME = 'twin.db';
/** Separates earlier statements from a series of transactions. */
export const APART = { pause: 150 };
/**
 * One run of statements on an existing database.
 * @param setup fills it, unrecorded
 * @param pragmas of both recordings
 * @param more differences
 */
export const twin = (
  path: string,
  [setup, work]: readonly [setup: Sql, work: Sql],
  pragmas: string[] = [],
  more: WorkloadOptions = {},
): Twin => ({
  path,
  before: [
    step('sql', { name: NAME, sql: setup, pragmas: pragmas.filter((text) => !OWN.test(text)) }),
  ],
  steps: [
    step('sql', {
      name: NAME,
      sql: [APART, ...work],
      pragmas: pragmas.filter((text) => !STORED.test(text)),
      unchecked: true,
      ...more,
    }),
  ],
});
/** PRAGMAs of a new database. */
const STORED = /^(page_size|auto_vacuum)/;
/** PRAGMAs of a connection that a setup doesn't need. */
const OWN = /^(wal_autocheckpoint|synchronous|cache_size|temp_store)/;

/** A table with `rows` rows of about 130 bytes. */
export const fill = (rows: number): string =>
  `CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT);
   WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
   INSERT INTO t SELECT i, printf('%0120d', i) FROM n`;
export const insert = "INSERT INTO t VALUES(NULL, 'some text')";
export const update =
  "UPDATE t SET body = printf('%0120d', $i + 1000) WHERE id = ($i * 7) % 400 + 1";
/** Writes other values, because unchanged pages aren't written. */
export const other = update.replace('1000', '9000');
export const scattered =
  "UPDATE t SET body = printf('%0120d', $i + 1000) WHERE id = ($i * 7919) % 3000 + 1";
export const byKey = 'SELECT body FROM t WHERE id = ($i * 7) % 400 + 1';
/** @param query of the database's URI */
export const attached = (query: string): Sql => [
  `ATTACH 'file:/other.db${query}' AS other`,
  'CREATE TABLE other.t(id INTEGER PRIMARY KEY, body TEXT)',
  [20, insert.replace('INTO t', 'INTO other.t')],
];
/** The same statements in one transaction. */
export const together = (...sql: Sql): Sql => ['BEGIN', ...sql, 'COMMIT'];
export const WAL = ['locking_mode=exclusive', 'journal_mode=wal'];

/** Reads that mostly hit a quarter of the rows. */
export const SKEWED: Sql = [
  [1200, 'SELECT body FROM t WHERE id = (($i * 7919) % 6000) * (($i * 104729) % 6000) / 6000 + 1'],
  [600, 'SELECT body FROM t WHERE id = (($i * 3571) % 6000) * (($i * 8117) % 6000) / 6000 + 1'],
];
/** Searches for rows by a column without an index. */
export const byBody: Sql = [[20, "SELECT id FROM t WHERE body = printf('%0120d', $i * 7)"]];
export const BODY_INDEX = 'CREATE INDEX t_body ON t(body)';
/** A query whose result never changes. */
export const again = 'SELECT sum(length(body)) FROM t WHERE id > 100';
/** Two tables, joined by columns without an index. */
export const PARTS = 'CREATE TABLE p(t INTEGER, name TEXT); INSERT INTO p SELECT id, body FROM t';
export const insertPart = "INSERT INTO p VALUES(1, 'some text')";
export const PARTS_INDEX = 'CREATE INDEX p_t ON p(t)';
export const joined: Sql = [
  [10, 'SELECT count(p.name) FROM t JOIN p ON p.t = t.id + 0 WHERE t.id > $i'],
];
export const newest: Sql = [[20, 'SELECT id FROM t ORDER BY body DESC LIMIT $i + 1']];
/** A query that holds its 1 MB value until it is reset. */
export const LARGE = 'SELECT randomblob(1000000)';
/** A statement several times, with time between: memory is read when a statement has ended. */
export const apart = (times: number, item: Sql[number]): Sql =>
  Array.from({ length: times }, () => [item, byKey, { pause: 300 }]).flat();
/** Brings every page of the table into the cache. */
export const WARM = 'SELECT sum(length(body)) FROM t';
/** Repeatedly updates every page of a table. */
export const REWRITTEN: Sql = [[3, "UPDATE t SET body = printf('%0120d', id + $i + 1)"]];
export const rewriteAll = [85, "UPDATE t SET body = printf('%0120d', id + $i + 1)"] as const;
/** An in-memory journal, and writes that fill no block at any page size. */
export const MEMORY_REWRITES: Sql = [
  'PRAGMA journal_mode=memory',
  [10, "UPDATE t SET body = printf('%0120d', id + $i + 1) WHERE id % 40 = 0"],
];
export const TEMPORARY: Sql = [
  [3, 'SELECT count(*) FROM (SELECT body FROM t ORDER BY body DESC LIMIT -1 OFFSET 1)'],
];
export const saved = (sql: Sql): Scenario['steps'][number] =>
  step('sql', { name: 'saved.db', sql });
const COLUMNS = Array.from({ length: 20 }, (_, i) => `a_column_with_a_long_name_${i} TEXT`).join();
export const tables = (n: number): Sql =>
  Array.from({ length: n }, (_, i) => `CREATE TABLE t${i}(${COLUMNS})`);
/** The first statement. */
export const first: Sql = ['SELECT count(*) FROM t0'];

/** The database is filled and stays open. */
export const OPENED = step('sql', { name: NAME, sql: [fill(400)], leaveOpen: true });
export const STORED_BY_SQL_JS = step('sql', { name: NAME, sql: [fill(400)] });
export const LONG = { pause: 1500 };
export const attach = (n: number): Sql =>
  Array.from(
    { length: n },
    (_, i) => `ATTACH '/attached-${i}.db' AS a${i}; CREATE TABLE a${i}.t(id)`,
  );

/** Statements in a tab, some of which may fail. */
export const inTab =
  (tab: number, sql: Sql): Twin['more'] =>
  async (pages) => {
    const options = JSON.stringify({ name: NAME, sql, unchecked: true });
    await pages[tab]!.evaluate(`window.run('sql', ${options}).catch(() => {})`);
  };
/** A script in the first tab. */
export const inPage =
  (script: string): Twin['more'] =>
  async ([page]) =>
    void (await page!.evaluate(script));

/** Reloads the first tab. */
export const loadedAgain: Twin['more'] = async ([page]) => {
  await openApp(page!, page!.url(), () => page!.reload());
};

/** The first tab holds a Web Lock for `ms`, and the second one requests it. */
export const lockFor =
  (ms: number): Twin['more'] =>
  async ([holder, waiter]) => {
    await holder!.evaluate(
      `new Promise((held) => void navigator.locks.request('app', () => (held(), new Promise((r) => setTimeout(r, ${ms})))))`,
    );
    await waiter!.evaluate("navigator.locks.request('app', () => {})");
  };

/**
 * The second tab upgrades a database that the first one has open.
 * @param ms delay until the first one closes it; 0: when it gets the event
 */
export const upgradeAgainst =
  (ms: number): Twin['more'] =>
  async ([keeper, upgrader]) => {
    await keeper!.evaluate(`new Promise((opened) => {
      const request = indexedDB.open('upgraded', 1);
      request.onsuccess = () => {
        const db = request.result;
        db.onversionchange = () => ${ms ? `setTimeout(() => db.close(), ${ms})` : 'db.close()'};
        opened();
      };
    })`);
    await upgrader!.evaluate(`new Promise((opened) => {
      const request = indexedDB.open('upgraded', 2);
      request.onsuccess = () => (request.result.close(), opened());
    })`);
  };

/** Puts bytes into IndexedDB on a page that may store 1 MB. */
const putWithQuota =
  (bytes: number): Twin['more'] =>
  async ([page]) => {
    const session = await page!.createCDPSession();
    const origin = new URL(page!.url()).origin;
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1_000_000 });
    await page!.evaluate(`new Promise((ended) => {
      const request = indexedDB.open('full', 1);
      request.onupgradeneeded = () => request.result.createObjectStore('s');
      request.onsuccess = () => {
        const transaction = request.result.transaction('s', 'readwrite');
        transaction.objectStore('s').put(new Uint8Array(${bytes}), 1);
        transaction.oncomplete = ended;
        transaction.onabort = () => {
          addEventListener('unhandledrejection', ended, { once: true });
          void Promise.reject(transaction.error);
        };
      };
    })`);
  };

/**
 * Two tabs write: the second one requests the lock while the first one has it, and again 5 ms after
 * each refusal.
 */
export const twoWriters = (lockPolicy: string, hint: Sql): Twin => {
  const write = (
    tab: number,
    first: { pause: number },
    then: Sql,
  ): Scenario['steps'][number][number] => ({
    tab,
    workload: 'sql',
    options: {
      name: NAME,
      sql: [first, ...hint, 'BEGIN IMMEDIATE', insert, ...then, 'COMMIT'],
      retry: true,
      unchecked: true,
    },
  });
  return {
    path: `${journey('IDBBatchAtomic')}&lockPolicy=${lockPolicy}`,
    tabs: 2,
    before: [step('sql', { name: NAME, sql: [fill(400)] })],
    steps: [[write(0, APART, [{ pause: 1000 }]), write(1, { pause: 500 }, [])]],
  };
};

/**
 * Runs instead of a frozen page until it is told to continue.
 * @param frozen whether the holder is frozen during that time
 */
export const lockInFrozenTab =
  (frozen: boolean): Twin['more'] =>
  async ([holder, waiter]) => {
    await holder!.evaluate(
      `new Promise((held) => void navigator.locks.request('app', () => (held(), new Promise((r) => (globalThis.release = r)))))`,
    );
    const session = await holder!.createCDPSession();
    if (frozen) await session.send('Page.setWebLifecycleState', { state: 'frozen' });
    else await holder!.evaluate('release()');
    const asked = waiter!.evaluate("navigator.locks.request('app', () => {})");
    await waiter!.evaluate(`new Promise((r) => setTimeout(r, ${frozen ? 1000 : 0}))`);
    await session.send('Page.setWebLifecycleState', { state: 'active' });
    await holder!.evaluate('globalThis.release()');
    await asked;
  };

/**
 * A page that was frozen, and then begins a transaction on its connection.
 * @param closed whether the connection is closed during the freeze
 */
export const transactionAfterFreeze =
  (closed: boolean): Twin['more'] =>
  async ([page]) => {
    await page!.evaluate(`new Promise((opened) => {
      const request = indexedDB.open('kept', 1);
      request.onupgradeneeded = () => request.result.createObjectStore('s');
      request.onsuccess = () => ((globalThis.kept = request.result), opened());
    })`);
    const session = await page!.createCDPSession();
    await session.send('Page.setWebLifecycleState', { state: 'frozen' });
    await session.send('Page.setWebLifecycleState', { state: 'active' });
    await page!.evaluate(
      `${closed ? 'kept.close();' : ''} try { kept.transaction('s'); } catch {}`,
    );
  };

/** SQL that reaches a full quota. @param bytes of a row */
export const insertWithQuota =
  (bytes: number): Twin['more'] =>
  async (pages) => {
    const session = await pages[0]!.createCDPSession();
    const origin = new URL(pages[0]!.url()).origin;
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 20_000_000 });
    await inTab(0, [`INSERT INTO t VALUES(NULL, zeroblob(${bytes}))`])!(pages);
  };

/**
 * For sql.js: a change is committed in memory and put into IndexedDB, and then the worker is
 * terminated.
 * @param held whether the page reads the store during that time
 */
export const endedWhileSaving = (held: boolean): Twin['more'] =>
  inPage(`(async () => {
    const saving = () => window.run('sql', { name: '${NAME}', sql: ["${insert}"], unchecked: true });
    if (${held}) {
      const { result } = await new Promise((resolve, reject) => {
        const request = indexedDB.open('sql-js-files');
        request.onsuccess = () => resolve(request);
        request.onerror = () => reject(request.error);
      });
      const store = result.transaction('files').objectStore('files');
      const until = performance.now() + 2000;
      await new Promise((resolve) => {
        const keep = () => {
          if (performance.now() < until) store.count().onsuccess = keep;
          else resolve();
          if (performance.now() > until - 500) window.shutdown();
        };
        keep();
        saving().catch(() => {});
      });
    } else {
      await saving();
      window.shutdown();
    }
  })()`);

/** A failed background write, after which SQL continues. */
export const goesOn =
  (bytes: number): Twin['more'] =>
  async (pages) => {
    await putWithQuota(bytes)!(pages);
    await inTab(0, [[5, insert]])!(pages);
  };

/**
 * Runs in the first tab, with `run(code, name)`: a worker, once it has posted a message. In its
 * code `open(name)` is a file's access handle.
 */
const withWorkers = (script: string): Twin['more'] =>
  inPage(`(async () => {
    const open = "const open = async (name) => (await (await navigator.storage.getDirectory()).getFileHandle(name, { create: true })).createSyncAccessHandle();";
    const run = (code, name = '') => new Promise((done) => {
      const worker = new Worker(URL.createObjectURL(new Blob([open + code], { type: 'text/javascript' })), { name });
      worker.onmessage = () => done(worker);
    });
    ${script}
  })()`);

/**
 * A worker has a file's handle, and another one requests it and two more at once.
 * @param after what the other one does when it is refused
 */
export const handlesAtOnce = (after: string): Twin['more'] =>
  withWorkers(`
    await run("open('b').then((handle) => { globalThis.kept = handle; postMessage(0); })");
    await run(\`(async () => {
      const asked = ['a', 'b', 'c'].map(open);
      ${after}
      setTimeout(() => postMessage(0), 1000);
    })()\`);
  `);

/** A worker opens `count` files. */
export const manyHandles = (count: number): Twin['more'] =>
  withWorkers(`
    await run(\`(async () => {
      globalThis.kept = [];
      for (let i = 0; i < ${count}; i++) kept.push(await open('file-' + i).catch(() => null));
      setTimeout(() => postMessage(0), 1000);
    })()\`);
  `);

/**
 * A worker is terminated while it writes, and the next one opens the same file. Chromium lets the
 * first one write for 2 s more.
 * @param closes whether the first one closes its handle instead
 */
export const handedOn = (closes: boolean): Twin['more'] =>
  withWorkers(`
    const first = await run(\`open('a').then((handle) => {
      globalThis.kept = handle;
      setTimeout(() => {
        if (${closes}) return handle.close(), postMessage(0);
        postMessage(0);
        for (let i = 0; i < 1000; i++) handle.write(new Uint8Array(1 << 20), { at: 0 }), handle.flush();
      }, 200);
    })\`);
    first.terminate();
    await run(\`(async () => {
      for (let handle = null; !handle; ) {
        handle = await open('a').catch(() => null);
        if (!handle) await new Promise((again) => setTimeout(again, 100));
      }
      setTimeout(() => postMessage(0), 1000);
    })()\`, 'next');
  `);
