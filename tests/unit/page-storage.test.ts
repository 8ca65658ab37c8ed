// What a page stores, as sentences: names are the page's, sizes may be unknown.
import { expect, it } from 'vitest';
import { storageSentences, type PageStorage } from '../../src/protocol/page-storage.ts';

const NOTHING: PageStorage = {
  origin: 'http://app.example',
  crossOriginIsolated: false,
  databases: [],
  indexedDbBytes: null,
  files: [],
  moreFiles: false,
  kvvfs: [],
  wasm: [],
  failures: [],
};

it('is silent about a page that stores nothing', () => {
  expect(storageSentences(NOTHING)).toEqual([]);
});

it('names databases and files with their sizes, and the engine that was loaded', () => {
  const sentences = storageSentences({
    ...NOTHING,
    databases: [{ name: 'fieldnotes.db', version: 1 }],
    indexedDbBytes: 57_344,
    files: [
      { path: '/big.bin', size: 1 << 20, sqlite: false },
      { path: '/app.db', size: null, sqlite: true },
    ],
    kvvfs: [{ storage: 'localStorage', keys: 1, characters: 2048 }],
    wasm: ['http://app.example/wa-sqlite-async.wasm?v=1', 'http://app.example/physics.wasm'],
  });
  expect(sentences).toEqual([
    'This page stores 1 database in IndexedDB (56 KiB): fieldnotes.db.',
    'This page stores 2 files in OPFS: /app.db (SQLite, in use), /big.bin (1 MiB).',
    'SQLite stores 1 key in localStorage (2 KiB).',
    'This page loaded wa-sqlite-async.wasm.',
  ]);
});

it('cuts what the page made long, and lets no control character through', () => {
  const [sentence] = storageSentences({
    ...NOTHING,
    databases: [...Array(5)].map((_, i) => ({ name: `${i}\u202e${'x'.repeat(5000)}`, version: 1 })),
  });
  expect(sentence!.length).toBeLessThan(260);
  expect(sentence).not.toContain('\u202e');
  expect(sentence).toContain('5 databases in IndexedDB: 0?');
  expect(sentence!.endsWith(', and 2 more.')).toBe(true);
});
