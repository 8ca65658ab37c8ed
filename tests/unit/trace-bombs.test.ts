// Files that compress well: the cost of reading is limited by the file's size, and a file that
// would cost more is rejected by name.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  FREE_WORDS,
  MAX_RECORDED_EVENTS,
  MAX_RECORDED_WORDS,
} from '../../src/trace/file/budget.ts';
import { MAX_EVENTS, Tag } from '../../src/trace/file/format.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { sectionBytes } from '../../src/trace/file/section.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { sectionsOf } from '../fuzz/semantic.ts';
import { BOMBS } from '../traces/bombs.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';

const MOST_MB = 300;
/** The limit is 2 s. The rest is for a busy machine. */
const MOST_CPU_SECONDS = 4;
let folder: string;
let reader: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vfscope-bombs-'));
  reader = join(folder, 'read.mjs');
  await build({
    entryPoints: ['tests/traces/read-apart.ts'],
    outfile: reader,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Said {
  refused?: string;
  warnings?: string[];
  events?: number;
  cpuSeconds: number;
  mostMB: number;
}
function readApart(bytes: Uint8Array): Said {
  const file = join(folder, 'bomb.vfst');
  writeFileSync(file, bytes);
  const said = JSON.parse(
    execFileSync(process.execPath, [reader, file], { encoding: 'utf8' }),
  ) as Said;
  expect(said.mostMB).toBeLessThan(MOST_MB);
  expect(said.cpuSeconds).toBeLessThan(MOST_CPU_SECONDS);
  return said;
}

describe('a file that would cost more than its size allows', () => {
  test.each([
    [
      'lists of names',
      /other names unpack to more than [\d.]+ MiB, the most that a file of its size may hold/,
    ],
    ['small names', /other names unpack to more than/],
    ['empty objects', /other names unpack to more than/],
    ['SQLite engines', /other names unpack to more than/],
    ['numbers', /other names unpack to more than/],
    ['object keys', /other names unpack to more than/],
    ['values', /other names unpack to more than/],
    ['threads', /it describes more than 2000 threads, the maximum/],
  ])('%s: is refused by name', (name, why) => {
    const { refused } = readApart(BOMBS[name]!());
    expect(refused).toMatch(why);
    expect(refused).toMatch(
      /^TraceFileError: The trace file is too large to open: .*Record again for a shorter time/,
    );
  });

  test('chunks of events: are read as far as the limit allows', () => {
    const { warnings, events } = readApart(BOMBS['chunks of events']!());
    expect(events).toBe(0);
    expect(warnings).toHaveLength(51); // fifty warnings, and one with the number of others
    expect(warnings!.at(-1)).toMatch(/^2\d\d more parts of the file cannot be read/);
  });

  test('late ends: are left out', () => {
    const { warnings } = readApart(BOMBS['late ends']!());
    expect(warnings![0]).toMatch(
      /^The list of late ends at byte \d+ cannot be read and is left out: it holds 4294967295 ends, and its thread has 0 calls/,
    );
  });
});

test("memory for a thread's events is allocated once, however many claim to be it", async () => {
  const store = newStore();
  new ThreadBuilder(store).call('xRead');
  const { header, sections } = sectionsOf(
    new Uint8Array(await (await saveTrace(store)).arrayBuffer()),
  );
  const file = Buffer.concat([
    header,
    ...['a', 'b', 'c'].map((id) =>
      sectionBytes(
        Tag.thread,
        Buffer.from(JSON.stringify({ ...store.threads[0]!.info, id, index: 0 })),
      ),
    ),
    ...sections.map(({ tag, payload }) => sectionBytes(tag, payload)),
  ]);
  const read = await readTrace(new Uint8Array(file), { expected: new Map([[0, 100_000]]) });
  expect(read.store.threads.map(({ events }) => events.capacity)).toEqual([
    100_000,
    ...[0, 0],
    expect.any(Number),
  ]);
  expect(read.store.threads[3]!.events.capacity).toBeLessThan(100_000);
});

test('a recording ends below what any file may contain', () => {
  expect(MAX_RECORDED_EVENTS).toBeLessThan(MAX_EVENTS);
  expect(MAX_RECORDED_WORDS).toBeLessThan(FREE_WORDS);
});

test('the maximum number of names, in a file of few bytes, is read completely', async () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  t.call('xRead');
  for (let i = 0; t.thread.words < MAX_RECORDED_WORDS - 300_000; i++) {
    t.define({ kind: 'sql', text: i % 2 ? 'é'.repeat(60_000) : 'SELECT 1' });
    t.send();
  }
  const file = await saveTrace(store);
  expect(file.size).toBeLessThan(1 << 20);
  const { store: read, warnings } = await readTrace(file);
  expect(warnings).toEqual([]);
  expect(read.threads[0]!.words).toBe(t.thread.words);
});

test('ten thousand engines of a page cost only their size, and the list on screen is short', () => {
  const t = new ThreadBuilder(newStore());
  const layers = { vfs: true, sql: true, counters: true };
  for (let id = 0; id < 10_000; id++)
    t.say({
      ...{
        kind: 'engine',
        id,
        name: 'x',
        sqliteVersion: null,
        sourceId: null,
        suspension: 'none',
        note: null,
      },
      layers,
    });
  t.say({
    ...{
      kind: 'engine',
      id: 7,
      name: 'known better',
      sqliteVersion: null,
      sourceId: null,
      suspension: 'none',
      note: null,
    },
    layers,
  });
  t.send();
  expect(t.thread.engines).toHaveLength(1000);
  expect(t.thread.engines[7]!.name).toBe('known better');
  expect(t.thread.definitions.size).toBe(10_000);
});
