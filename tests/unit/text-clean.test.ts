// Texts of a trace, fit to be shown.
import { expect, test } from 'vitest';
import { oneLine, plain, shownLines } from '../../src/text/clean.ts';

test('line ends and tabs are a space, and a question mark stands for nothing but a control character', () => {
  const sql = 'SELECT a,\r\n\t  b\nFROM t\u0000\u202e';
  expect(plain(sql)).toBe('SELECT a, b FROM t??');
  expect(oneLine(` ${sql}\n`)).toBe('SELECT a, b FROM t??');
  expect(shownLines(sql)).toBe('SELECT a, \n b\nFROM t??');
});
