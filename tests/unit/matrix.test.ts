/** The table of features and browsers in docs/support.md claims exactly what tests prove. */
import { expect, test } from 'vitest';
import { currentMatrix, faults, readOrNull } from '../../tools/docs/matrix.ts';
import { storedTable } from '../../tools/docs/support-page.ts';

test('every cell with a claim has a test of that name, in that browser', () => {
  expect(faults(readOrNull), 'to fix it: change the row in tools/docs/matrix.ts').toEqual([]);
});

test('docs/support.md has the table', () => {
  expect(storedTable('matrix'), 'to fix it: npm run docs').toBe(currentMatrix());
});

test('a test that is missing, renamed, or of another browser is named', () => {
  const cell = (file: string, title: string) => ({ file, title });
  const files: Record<string, string> = {
    'tests/browser/a.test.ts': "test('here', () => {});",
    'tests/webkit/w.test.ts': 'test("here")',
  };
  const found = faults(
    (file) => files[file] ?? null,
    [
      [
        'one',
        cell('tests/browser/a.test.ts', 'here'),
        cell('tests/browser/a.test.ts', 'here'),
        cell('tests/webkit/w.test.ts', 'here'),
      ],
      [
        'two',
        cell('tests/browser/a.test.ts', 'gone'),
        null,
        cell('tests/browser/none.test.ts', 'here'),
      ],
      ['three', cell('tests/webkit/w.test.ts', 'here'), { no: 'because' }, null],
    ],
  );
  expect(found).toEqual([
    "one, Firefox: tests/browser/a.test.ts doesn't run in Firefox",
    'two, Chromium: tests/browser/a.test.ts has no test "gone"',
    "two, Safari: tests/browser/none.test.ts doesn't exist",
    "three, Chromium: tests/webkit/w.test.ts doesn't run in Chromium",
  ]);
});
