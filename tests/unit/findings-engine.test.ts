// Findings on traces of a real engine: every rule that VFS calls show fires on work done wrong, and
// not on the same work done right.
import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import type { Finding } from '../../src/analysis/findings/index.ts';
import { storeOf } from '../contract/helpers/store.ts';
import { Traced } from '../contract/helpers/traced.ts';
import { CREATE_T, insertT, loadWaSqlite, type Sqlite } from '../contract/helpers/wa-sqlite.ts';
import { adviceText } from '../../tools/docs/findings.ts';
import { wrapped } from '../../tools/docs/wrap.ts';
import { findingsOf } from '../traces/analyses.ts';

let traced: Traced | null = null;
afterEach(() => {
  traced?.restore();
  traced = null;
});

/**
 * Rules that no recording in this repository shows, so docs/findings.md has their advice written by
 * hand.
 */
const BY_HAND = ['F02', 'F08', 'F21', 'F22', 'F25', 'F40'];
const page = wrapped(readFileSync('docs/findings.md', 'utf8'), Infinity);

const EXCLUSIVE_WAL = 'PRAGMA locking_mode=exclusive;PRAGMA journal_mode=wal;';
const FILL =
  "WITH RECURSIVE c(x) AS(VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<20000) INSERT INTO t SELECT x,x*7,'text number '||x FROM c;";
const SCAN = 'SELECT sum(b) FROM t';

interface Engine {
  sqlite3: Sqlite;
  db: number;
  exec(sql: string): Promise<number>;
}
interface Setting {
  batchAtomic?: boolean;
}

/**
 * Simulates IOCAP_BATCH_ATOMIC: BEGIN, COMMIT and ROLLBACK_ATOMIC_WRITE answer OK, all other file
 * controls NOTFOUND.
 */
function makeBatchAtomic(vfs: Record<string, unknown>): void {
  vfs.jDeviceCharacteristics = () => 0x4000 | 0x800;
  vfs.jFileControl = (_file: number, op: number) => (op >= 31 && op <= 33 ? 0 : 12);
}

async function findings(
  work: (e: Engine) => Promise<void>,
  { batchAtomic = false }: Setting = {},
): Promise<Finding[]> {
  traced?.restore();
  let ms = 0;
  // a busy machine would pause where the work doesn't
  const t = (traced = new Traced({ now: () => (ms += 0.01) }));
  const { sqlite3, vfs } = await loadWaSqlite('journey-sync');
  if (batchAtomic) makeBatchAtomic(vfs);
  const db = await sqlite3.open_v2('app.db');
  await work({ sqlite3, db, exec: (sql) => sqlite3.exec(db, sql) });
  return findingsOf(storeOf(t));
}
/** All but F53, because these workloads prepare each statement every time. */
const rules = (list: readonly Finding[]): string[] =>
  list.map((f) => f.rule).filter((rule) => rule !== 'F53');
const inserts = async ({ exec }: Engine, n: number, from = 0): Promise<void> => {
  for (let i = 0; i < n; i++) await exec(insertT(from + i));
};

/** Invariants of every finding. */
function wellFormed(list: readonly Finding[]): void {
  for (const f of list) {
    expect(f.title).not.toMatch(/NaN|undefined|null|Infinity/);
    expect(f.evidence.count).toBeGreaterThan(0);
    expect(f.evidence.events.length).toBeLessThanOrEqual(200);
    expect(f.evidence.toUs).toBeGreaterThanOrEqual(f.evidence.fromUs);
    if (f.savingUs !== null) expect(f.savingUs).toBeGreaterThanOrEqual(0);
    expect(f.savingHow.length).toBeGreaterThan(0);
  }
  const savings = list.map((f) => f.savingUs ?? -1);
  expect(savings).toEqual([...savings].sort((a, b) => b - a));
}

interface Golden {
  rule: string;
  name: string;
  wrong: (e: Engine) => Promise<unknown>;
  right: (e: Engine) => Promise<unknown>;
  setting?: Setting;
  /** Text that the title contains. */
  says: RegExp;
  /** All rules that may fire on the wrong work, and on the right. */
  wrongList: string[];
  rightList?: string[];
}

const GOLDENS: Golden[] = [
  {
    rule: 'F01',
    name: '1000 inserts, each its own transaction',
    wrong: async (e) => {
      await e.exec(CREATE_T);
      await inserts(e, 1000);
    },
    right: async (e) => {
      await e.exec(CREATE_T);
      await e.exec('BEGIN');
      await inserts(e, 1000);
      await e.exec('COMMIT');
    },
    says: /1,001 commits .*3,00\d syncs, 10,01\d writes/,
    wrongList: ['F01', 'F07'],
  },
  {
    rule: 'F02',
    name: '1000 selects of a page in the cache',
    wrong: async (e) => {
      await e.exec(CREATE_T + insertT(1));
      for (let i = 0; i < 1000; i++) await e.exec('SELECT c FROM t WHERE a=1');
    },
    right: async (e) => {
      await e.exec(CREATE_T + insertT(1));
      await e.exec('BEGIN');
      for (let i = 0; i < 1000; i++) await e.exec('SELECT c FROM t WHERE a=1');
      await e.exec('COMMIT');
    },
    says: /1,000 read transactions .*[5-7],\d{3} VFS calls: 2,\d{3} to lock and unlock, [3-5],\d{3} to look for changes/,
    wrongList: ['F02'],
  },
  {
    rule: 'F07',
    name: 'commits by rollback journal, and in a WAL',
    wrong: async (e) => {
      await e.exec(CREATE_T);
      await inserts(e, 100);
    },
    right: async (e) => {
      await e.exec(EXCLUSIVE_WAL + CREATE_T);
      await inserts(e, 100);
    },
    says: /journal writes/,
    wrongList: ['F01', 'F07'],
  },
  {
    rule: 'F08',
    name: 'WAL asked for without locking_mode=exclusive',
    wrong: async (e) => {
      await e.exec('PRAGMA journal_mode=wal;' + CREATE_T);
      await e.exec(insertT(1));
      await e.exec(insertT(2));
    },
    right: async (e) => {
      await e.exec(EXCLUSIVE_WAL + CREATE_T);
      await e.exec(insertT(1));
      await e.exec(insertT(2));
    },
    says: /3 later commits used a rollback journal/,
    wrongList: ['F08'],
  },
  {
    rule: 'F11',
    name: 'three scans with a cache of 256 KiB, and of 2 MiB',
    wrong: async (e) => {
      await e.exec('PRAGMA cache_size=-256;' + CREATE_T + FILL);
      for (let i = 0; i < 3; i++) await e.exec(SCAN);
    },
    right: async (e) => {
      await e.exec('PRAGMA cache_size=-2000;' + CREATE_T + FILL);
      for (let i = 0; i < 3; i++) await e.exec(SCAN);
    },
    says: /distinct pages were used/,
    wrongList: ['F11'],
  },
  {
    rule: 'F12',
    name: 'a large update on a batch-atomic VFS',
    setting: { batchAtomic: true },
    wrong: async (e) => {
      await e.exec(CREATE_T + FILL);
      await e.exec('PRAGMA cache_size=-256;UPDATE t SET b=b+1;');
    },
    right: async (e) => {
      await e.exec(CREATE_T + FILL);
      await e.exec('PRAGMA cache_size=-2000;UPDATE t SET b=b+1;');
    },
    says: /1 transaction on app\.db needed a rollback journal/,
    wrongList: ['F12'],
  },
  {
    rule: 'F13',
    name: 'a WAL without checkpoints',
    wrong: async (e) => {
      await e.exec(EXCLUSIVE_WAL + 'PRAGMA wal_autocheckpoint=0;' + CREATE_T);
      await inserts(e, 4200);
    },
    right: async (e) => {
      await e.exec(EXCLUSIVE_WAL + CREATE_T);
      await inserts(e, 4200);
    },
    says: /grew to 16\.\d MiB/,
    wrongList: ['F13'],
  },
  {
    rule: 'F21',
    name: 'a scan with pages of 1 KiB, and of 32 KiB',
    wrong: async (e) => {
      await e.exec('PRAGMA page_size=1024;' + CREATE_T + FILL);
      const other = await e.sqlite3.open_v2('app.db');
      await e.sqlite3.exec(other, SCAN);
    },
    right: async (e) => {
      await e.exec('PRAGMA page_size=32768;' + CREATE_T + FILL);
      const other = await e.sqlite3.open_v2('app.db');
      await e.sqlite3.exec(other, SCAN);
    },
    says: /reads of 1,024 bytes each/,
    wrongList: ['F21'],
  },
  {
    rule: 'F22',
    name: 'the schema of 200 tables, and of one',
    wrong: async (e) => {
      const tables = Array.from(
        { length: 200 },
        (_, i) =>
          `CREATE TABLE t${i}(identifier, title, description, created, changed);CREATE INDEX by_title_${i} ON t${i}(title);`,
      );
      await e.exec(`BEGIN;${tables.join('')}COMMIT;`);
      const other = await e.sqlite3.open_v2('app.db');
      await e.sqlite3.exec(other, 'SELECT count(*) FROM t1');
    },
    right: async (e) => {
      await e.exec(CREATE_T);
      const other = await e.sqlite3.open_v2('app.db');
      await e.sqlite3.exec(other, 'SELECT count(*) FROM t');
    },
    says: /pages of schema/,
    wrongList: ['F22'],
  },
  {
    rule: 'F25',
    name: 'synchronous=off on a batch-atomic VFS',
    setting: { batchAtomic: true },
    wrong: async (e) => {
      await e.exec('PRAGMA synchronous=off;' + CREATE_T);
      await inserts(e, 5);
    },
    right: async (e) => {
      await e.exec('PRAGMA synchronous=normal;' + CREATE_T);
      await inserts(e, 5);
    },
    says: /neither atomic write, journal nor sync/,
    wrongList: ['F25'],
  },
  {
    rule: 'F36',
    name: 'a sort that does not fit into the cache',
    wrong: async (e) => {
      await e.exec('PRAGMA cache_size=-64;PRAGMA temp_store=file;' + CREATE_T + FILL);
      await e.exec('SELECT c FROM t ORDER BY c||hex(zeroblob(200)) DESC LIMIT 1 OFFSET 15000');
    },
    right: async (e) => {
      await e.exec('PRAGMA cache_size=-64;PRAGMA temp_store=memory;' + CREATE_T + FILL);
      await e.exec('SELECT c FROM t ORDER BY c||hex(zeroblob(200)) DESC LIMIT 1 OFFSET 15000');
    },
    says: /of temporary files/,
    wrongList: ['F36'],
  },
  {
    rule: 'F40',
    name: 'VACUUM',
    wrong: async (e) => {
      await e.exec(CREATE_T + FILL);
      await e.exec('DELETE FROM t WHERE a%2');
      await e.exec('VACUUM');
    },
    right: async (e) => {
      await e.exec('PRAGMA auto_vacuum=incremental;' + CREATE_T + FILL);
      await e.exec('DELETE FROM t WHERE a%2');
      await e.exec('PRAGMA incremental_vacuum(10)');
    },
    says: /VACUUM wrote .* in \d+ writes/,
    wrongList: ['F40', 'F36'],
  },
  {
    rule: 'F41',
    name: 'the same pages copied at every checkpoint',
    wrong: async (e) => {
      await e.exec(EXCLUSIVE_WAL + 'PRAGMA wal_autocheckpoint=10;' + CREATE_T);
      await inserts(e, 500);
    },
    right: async (e) => {
      await e.exec(EXCLUSIVE_WAL + CREATE_T);
      await inserts(e, 500);
    },
    says: /checkpoints of app\.db copied/,
    wrongList: ['F41', 'F01'], // the first commit of a log that starts over syncs
  },
];

test.each(GOLDENS)(
  '$rule: $name',
  async ({ rule, wrong, right, setting, says, wrongList, rightList = [] }) => {
    const bad = await findings(async (e) => void (await wrong(e)), setting);
    if (process.env.FINDINGS_PRINT)
      for (const f of bad) console.log(f.rule, f.confidence, f.savingUs, f.title, '|', f.savingHow);
    wellFormed(bad);
    const found = bad.find((f) => f.rule === rule);
    expect(found?.title).toMatch(says);
    if (BY_HAND.includes(rule)) expect(page).toContain(`\n\n${adviceText([found!])}\n`);
    expect(rules(bad).filter((r) => !wrongList.includes(r))).toEqual([]);
    const good = await findings(async (e) => void (await right(e)), setting);
    if (process.env.FINDINGS_PRINT)
      for (const f of good) console.log('   healthy:', f.rule, f.confidence, f.savingUs, f.title);
    wellFormed(good);
    expect(rules(good).filter((r) => !rightList.includes(r))).toEqual([]);
  },
);
