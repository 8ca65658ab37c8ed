// Extreme traces through every export: no events or one, calls without an end, hostile names, huge
// texts and times.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { EXPORT_FORMATS, exportCommand } from '../../src/cli/export.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { ThreadBuilder, newStore } from '../traces/builder.ts';

const folder = mkdtempSync(join(tmpdir(), 'vfscope-extremes-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true));

function one(
  act: (b: ThreadBuilder) => void,
  info: ConstructorParameters<typeof ThreadBuilder>[1] = {},
): TraceStore {
  const store = newStore();
  const b = new ThreadBuilder(store, info);
  act(b);
  b.send();
  return store;
}
/**
 * NUL, terminal escapes, JSON's own line separator, half a surrogate pair, a right-to-left
 * override, ends of comments and markup.
 */
const HOSTILE = '\u0000\u001b[2J\r\n\u2028\ud800\u202e"\'`\\,;</script>--><!--=cmd()\ufffe';

const STORES: Readonly<Record<string, () => TraceStore>> = {
  'no thread': () => newStore(),
  'a thread without events': () => one(() => {}),
  'one event': () =>
    one((b) => void b.call('xRead', { object: b.file('/a.db'), offset: 0, length: 16 })),
  'one event without an end': () =>
    one(
      (b) => void b.call('lockHeld', { object: b.define({ kind: 'lock', text: 'l' }), open: true }),
    ),
  'hostile names': () =>
    one(
      (b) => {
        const file = b.file(HOSTILE);
        const sql = b.define({ kind: 'sql', text: `SELECT 1 ${HOSTILE}` });
        b.call('sqlStep', { object: sql, result: 100 }, () =>
          b.call('xWrite', { object: file, offset: 0, length: 4096 }),
        );
      },
      { name: HOSTILE, url: `https://a.test/${HOSTILE}` },
    ),
  'times and offsets beyond 2^53': () =>
    one((b) => {
      b.now = 2 ** 43; // in us; 2^53 ns are 104 days
      b.call('xRead', { object: b.file('/a.db'), offset: 2 ** 60, length: 2 ** 31, dur: 2 ** 44 });
    }),
  'a statement of 4 MB': () =>
    one(
      (b) =>
        void b.call('sqlStep', {
          object: b.define({ kind: 'sql', text: `SELECT ${'x'.repeat(4 << 20)}` }),
          result: 101,
        }),
    ),
};

/** Reads the file as its first consumer would. @throws if it isn't what it claims */
const CHECKS: Readonly<Record<string, (bytes: Buffer) => unknown>> = {
  chrome: (bytes) => JSON.parse(bytes.toString()) as unknown,
  firefox: (bytes) => JSON.parse(bytes.toString()) as unknown,
  csv: (bytes) => expect(bytes.toString().split('\n')[0]).toMatch(/^thread,seq,/),
  sqlite: (bytes) => expect(bytes.toString('latin1', 0, 15)).toBe('SQLite format 3'),
  parquet: (bytes) => expect(bytes.toString('latin1', bytes.length - 4)).toBe('PAR1'),
  arrow: (bytes) => expect(bytes.toString('latin1', 0, 6)).toMatch(/^ARROW1|^\xff{4}/),
  html: (bytes) => expect(bytes.toString().match(/<script|<!--|\u001b/gi)).toBeNull(),
  vfst: (bytes) => expect(bytes.subarray(1, 5).toString()).toBe('VFST'),
};

describe.each(Object.keys(STORES))('%s', (name) => {
  const file = join(folder, 'trace.vfst');
  let events: number;
  beforeAll(async () => {
    const bytes = new Uint8Array(await (await saveTrace(STORES[name]!())).arrayBuffer());
    writeFileSync(file, bytes);
    events = (await readTrace(bytes)).store.eventCount;
  });

  test.each(EXPORT_FORMATS)('as %s', async (format) => {
    const out = join(folder, `out.${format}`);
    expect(await exportCommand({ file, format, out })).toBe(0);
    const bytes = readFileSync(out);
    CHECKS[format]?.(bytes);
    if (format === 'vfst') expect((await readTrace(bytes)).store.eventCount).toBe(events);
  });
});
