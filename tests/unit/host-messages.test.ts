// How much of uncaught errors' messages is stored, by capture level, because they quote statements
// and values.
import { expect, test } from 'vitest';
import { Recorder } from '../../src/record/recorder.ts';
import { messageAt } from '../../src/record/error-message.ts';

test.each([
  ['Uncaught Error: near "Ann": syntax error', 'Error', 'Uncaught Error: near ?: syntax error'],
  [
    `SQLiteError: UNIQUE constraint failed: t.c in INSERT INTO t VALUES('it''s', 42, x'00')`,
    'SQLiteError',
    'SQLiteError: UNIQUE constraint failed: t.c in INSERT INTO t VALUES(??, ?, x?)',
  ],
  [
    'QuotaExceededError: Quota exceeded.',
    'QuotaExceededError',
    'QuotaExceededError: Quota exceeded.',
  ],
  [
    "Uncaught DOMException: can't open Ann's\nfile",
    'DOMException',
    'Uncaught DOMException: can?s\nfile',
  ],
  ['Uncaught it is "Ann and all that', 'Error', 'Uncaught it is ?'],
  [
    "Uncaught SecurityError: Failed to execute 'getDirectory' on 'StorageManager': 'Ann' may not",
    'SecurityError',
    "Uncaught SecurityError: Failed to execute 'getDirectory' on 'StorageManager': ? may not",
  ],
  ["Error: Failed to execute 'select 1' on 'Ann'", 'Error', 'Error: Failed to execute ? on ?'],
  ['string', 'Error', 'string'],
])('%j', (message, kind, folded) => {
  expect([0, 1, 2, 3].map((level) => messageAt(level as 0 | 1 | 2 | 3, message))).toEqual([
    kind,
    folded,
    message,
    message,
  ]);
});

test("an error inside a hook is reported at the same level, and runs none of the app's code", () => {
  const at = (level: 0 | 1 | 2, thrown: unknown): unknown => {
    const recorder = new Recorder({ capacity: 64, maxEngines: 0, level });
    recorder.fault('a getter', thrown);
    return recorder.takeDefinitions().map((one) => 'text' in one && one.text);
  };
  const error = new Error('near "Ann"');
  expect([0, 1, 2].map((level) => at(level as 0 | 1 | 2, error))).toEqual([
    ['a getter: Error'],
    ['a getter: Error: near ?'],
    ['a getter: Error: near "Ann"'],
  ]);
  const ran: string[] = [];
  const own = Object.defineProperty(new Error(), 'message', { get: () => ran.push('message') });
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  expect([at(1, own), at(1, revoked), at(1, { toString: () => ran.push('toString') })]).toEqual([
    ['a getter: Error: '],
    ['a getter: object'],
    ['a getter: object'],
  ]);
  expect(ran).toEqual([]);
});
