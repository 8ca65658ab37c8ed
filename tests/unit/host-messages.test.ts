// What is kept of the messages of errors that nobody caught, by capture level: they quote statements and values.
import { expect, test } from 'vitest';
import { messageAt } from '../../src/hooks/host-events.ts';

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
