// What a module's static data reveals about its SQLite.
import { expect, test } from 'vitest';
import { fingerprint } from '../../src/engines/fingerprint.ts';

const HEADER = 'SQLite format 3\0';
const ID = `2025-11-04 19:38:17 ${'0f'.repeat(32)}`;
/** The fingerprint of a module with these texts one after another in its memory. */
const of = (...texts: string[]): ReturnType<typeof fingerprint> => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  new Uint8Array(memory.buffer).set(Buffer.from(texts.join(''), 'latin1'), 1024);
  return fingerprint({}, memory, {});
};

test.each([
  ['behind a NUL', '\0'],
  ['joined to another text', 'ABCDEF'],
  ['behind other data', '?'],
])('the version stands %s', (_, before) => {
  expect(of(HEADER, ID, '\0', before, '3.51.0\0')).toMatchObject({
    sqliteVersion: '3.51.0',
    sourceId: ID,
  });
});

test("another software's version isn't SQLite's", () => {
  expect(of(HEADER, 'ReiserFS V3.6.19\0', ID, '\0', '3.51.0\0')?.sqliteVersion).toBe('3.51.0');
  expect(of(HEADER, 'ReiserFS V3.6.19\0')?.sqliteVersion).toBeNull();
});

test('the version is the one nearest to the source id', () => {
  expect(of(HEADER, '?3.6.19\0', 'x'.repeat(2000), ID, '\0', '3.51.0\0')?.sqliteVersion).toBe(
    '3.51.0',
  );
  expect(of(HEADER, ID, '\0', '3.51.0\0', 'x'.repeat(2000), '?3.6.19\0')?.sqliteVersion).toBe(
    '3.51.0',
  );
});

test("a module without the header of a database isn't SQLite", () =>
  expect(of('3.51.0\0')).toBeNull());
