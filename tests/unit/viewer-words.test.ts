// Numbers and notices as text: unknown values are never 0, and every notice says what to do.
import { describe, expect, it } from 'vitest';
import { sortedFiles } from '../../src/viewer/ui/views/files/file-columns.ts';
import { noticesOf } from '../../src/viewer/ui/notices.ts';
import type { OriginFile } from '../../src/analysis/files/table.ts';
import type { LiveStats, ThreadRow } from '../../src/protocol/session.ts';
import type { StatementRow } from '../../src/analysis/statements/statement-table.ts';
import { countOf } from '../../src/text/numbers.ts';
import { shownColumns } from '../../src/viewer/ui/views/statements/statement-columns.ts';

const stats = (change: Partial<LiveStats> = {}): LiveStats => ({
  ...{
    recording: false,
    events: 12_345,
    seen: 12_345,
    flight: null,
    frozen: [],
    room: null,
    bytesReceived: 0,
    dropped: 0,
    faults: 0,
    ignoredMessages: 0,
    problems: [],
  },
  numbers: [],
  ...{ durationUs: 1, threads: 1, spooledBytes: 0, notes: 0, ...change },
});
const thread = (change: Partial<ThreadRow> = {}): ThreadRow => ({
  ...{
    index: 0,
    id: 'a',
    kind: 'worker',
    title: 'worker db.js',
    url: '',
    events: 1,
    dropped: 0,
    ended: null,
    engines: [],
    notes: [],
    lanes: [],
  },
  ...change,
});
it("a duration below the clock's step is shown as such in the table of statements", () => {
  const row = { executions: 3, totalUs: 0, meanUs: 0, p50Us: 0, p95Us: null } as StatementRow;
  const shown = (stepUs: number | null): string[] =>
    ['total', 'mean', 'p50', 'p95'].map((key) =>
      shownColumns(stepUs).find((c) => c.key === key)!.text!(row),
    );
  expect(shown(100)).toEqual(['< 300 µs', '< 100 µs', '< 100 µs', 'n/a']);
  expect(shown(null)).toEqual(['0', '0', '0', 'n/a']);
});

describe('notices', () => {
  it('are empty for a complete trace', () =>
    expect(noticesOf(stats(), [thread()], [])).toEqual([]));
  it('count drops, by thread on hover', () => {
    const [notice] = noticesOf(stats({ dropped: 1200 }), [thread({ dropped: 1200 })], []);
    expect(notice!.text).toContain('1,200 events were dropped');
    expect(notice!.title).toBe('worker db.js: 1,200');
  });
  it('show the same note of many threads once', () => {
    const note = { topic: 'worker-native', text: 'its page forbids wasm' };
    const notices = noticesOf(
      stats(),
      [thread({ notes: [note] }), thread({ index: 1, notes: [note, note] })],
      ['cut off'],
    );
    expect(notices.map((n) => n.text)).toEqual([
      'cut off',
      'A worker is not recorded: its page forbids wasm (3 times)',
    ]);
  });
  it('list what may hide a database before what hides nothing', () => {
    const notes = [
      { topic: 'not-restored', text: 'Storage.prototype' },
      {
        topic: 'service-worker-native',
        text: 'Not recorded: cause.',
        url: 'https://a.example/sw.js',
      },
      { topic: 'late-start', text: 'some workers may be missing' },
      { topic: 'worker-native', text: 'Not recorded: no storage.', url: 'data:text/javascript,1' },
      { topic: 'worker-native', text: 'Not recorded: CSP.', url: 'https://a.example/db.js' },
    ];
    const texts = noticesOf(stats({ ignoredMessages: 7 }), [thread({ notes })], ['cut off']).map(
      ({ text }) => text,
    );
    expect(texts.map((text) => text.split(/[ :]/).slice(0, 3).join(' '))).toEqual([
      'cut off',
      'A worker is',
      'The page was',
      'Your app froze',
      'A service worker',
      'A worker is',
      'vfscope ignored 7',
    ]);
    expect(texts[1]).toContain('db.js');
  });
  it('show problems, faults, and forged messages', () => {
    const texts = noticesOf(
      stats({ problems: ['disk full'], faults: 2, ignoredMessages: 7 }),
      [thread()],
      [],
    ).map((n) => n.text);
    expect(texts).toHaveLength(3);
    expect(texts.join()).toMatch(/disk full.*2 exceptions.*7 malformed messages/);
  });
});

describe('the files table', () => {
  const row = (path: string, reads: number): OriginFile => ({
    ...{
      path,
      kind: 'main-db',
      vfs: '',
      reads,
      readBytes: 0,
      writes: 0,
      writeBytes: 0,
      syncs: 0,
      locks: 0,
      opens: 0,
      timeUs: 0,
      origin: '',
    },
  });
  it('sorts numbers as numbers, text as text, ties by path', () => {
    const rows = [row('b', 9), row('a', 10), row('c', 9)];
    expect(sortedFiles(rows, 'reads', true).map((r) => r.path)).toEqual(['a', 'b', 'c']);
    expect(sortedFiles(rows, 'reads', false).map((r) => r.path)).toEqual(['b', 'c', 'a']);
    expect(sortedFiles(rows, 'path', true).map((r) => r.path)).toEqual(['c', 'b', 'a']);
  });
});

it('uses the singular and the plural of a thing', () => {
  expect([0, 1, 2, 1234].map((n) => countOf(n, 'page read'))).toEqual([
    '0 page reads',
    '1 page read',
    '2 page reads',
    '1,234 page reads',
  ]);
});
