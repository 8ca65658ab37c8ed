// Texts of a trace, prepared for display.
import { expect, test } from 'vitest';
import { oneLine, plain, shortPaths, shownLines, unindented } from '../../src/text/clean.ts';

test('line ends and tabs become a space, and only control characters become a question mark', () => {
  const sql = 'SELECT a,\r\n\t  b\nFROM t\u0000\u202e';
  expect(plain(sql)).toBe('SELECT a, b FROM t??');
  expect(oneLine(` ${sql}\n`)).toBe('SELECT a, b FROM t??');
  expect(shownLines(sql)).toBe('SELECT a, \n b\nFROM t??');
});

test('lines lose the indentation that all but the first share', () => {
  expect(unindented('SELECT a\n      FROM t\n\n        WHERE b')).toBe(
    'SELECT a\nFROM t\n\n  WHERE b',
  );
  expect(unindented('SELECT a')).toBe('SELECT a');
});

test('shows only the last part of a path, and leaves URLs and fractions unchanged', () => {
  expect(shortPaths('30 reads of /blocked/documents/Actual/db.sqlite, 2 of /app.db')).toBe(
    '30 reads of db.sqlite, 2 of /app.db',
  );
  expect(shortPaths('see https://a.example/b/c.html: 1/2/3 and/or that')).toBe(
    'see https://a.example/b/c.html: 1/2/3 and/or that',
  );
});
