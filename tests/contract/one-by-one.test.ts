/**
 * F01 on a real engine: commits of a dozen pages each, for a full-text index, and the actual calls
 * of one transaction with all of them.
 */
import { afterEach, expect, it } from 'vitest';
import { opName } from '../../src/event/operations.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { findingContextOf, findingsOf } from '../traces/analyses.ts';
import { storeOf } from './helpers/store.ts';
import { Traced } from './helpers/traced.ts';
import { loadWaSqlite } from './helpers/wa-sqlite.ts';

const open: Traced[] = [];
afterEach(() => {
  for (const t of open.splice(0)) t.restore();
});

const SCHEMA = `CREATE TABLE notes(id INTEGER PRIMARY KEY, title, body, tag);
  CREATE INDEX notes_by_tag ON notes(tag, title);
  CREATE VIRTUAL TABLE search USING fts5(title, body, content='notes', content_rowid='id', prefix='2 3');
  CREATE TRIGGER added AFTER INSERT ON notes BEGIN
    INSERT INTO search(rowid, title, body) VALUES (new.id, new.title, new.body);
  END;`;
const words = (seed: number, n: number): string =>
  Array.from({ length: n }, (_, i) => `w${(seed * 7919 + i * 104_729) % 2000}`).join(' ');
const note = (i: number): string =>
  `INSERT INTO notes(title, body, tag) VALUES ('${words(i, 4)}', '${words(i + 5, 40)}', 't${i % 7}');`;
const NOTES = 60;

async function recorded(before = '', after = ''): Promise<TraceStore> {
  const t = new Traced({}, { salt: 1 });
  open.push(t);
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  const first = await sqlite3.open_v2('app.db');
  await sqlite3.exec(first, `BEGIN; ${SCHEMA} COMMIT;`);
  await sqlite3.close(first);
  const db = await sqlite3.open_v2('app.db');
  await sqlite3.exec(db, before);
  for (let i = 0; i < NOTES; i++) await sqlite3.exec(db, note(i));
  await sqlite3.exec(db, after);
  await sqlite3.close(db);
  return storeOf(t);
}

it('finds commits that write a full-text index, and predicts no call that one transaction makes', async () => {
  const [apart, together] = [await recorded(), await recorded('BEGIN;', 'COMMIT;')];
  const found = findingsOf(apart).filter(({ rule }) => rule === 'F01');
  expect(found.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^\d+ commits of up to 1\d pages each, one after another, on app\.db: /),
  ]);
  expect(findingsOf(together).filter(({ rule }) => rule === 'F01')).toEqual([]);
  const [{ confidence, evidence, avoids = [] }] = found as [(typeof found)[0]];
  expect(confidence).toBe('likely');
  expect(evidence.count).toBeGreaterThan(0.85 * NOTES);
  expect(avoids.length).toBeGreaterThan(5);
  const [a, b] = [apart, together].map(findingContextOf);
  for (const { op, kind, calls } of avoids) {
    const less = (a!.cost(op, kind)?.calls ?? 0) - (b!.cost(op, kind)?.calls ?? 0);
    // a few commits write more pages than are listed, and count for nothing
    expect(calls, `${kind} ${opName(op)}`).toBeLessThanOrEqual(less);
    expect(calls, `${kind} ${opName(op)}`).toBeGreaterThan(0.8 * less);
  }
});
