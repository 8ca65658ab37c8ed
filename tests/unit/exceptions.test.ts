// How a storage call failed, by the name of the platform's exception: recorded by the hook, shown in every view.
import { describe, expect, it, vi } from 'vitest';
import { isFailure, resultText } from '../../src/trace/describe.ts';
import { Flag, Op } from '../../src/event/event.ts';
import { exceptionName, failureIn, failureOf } from '../../src/event/exceptions.ts';
import { errorQueries } from '../../src/viewer/session/queries/errors.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { contextOf } from './viewer-context.ts';

describe('a failure', () => {
  it.each(['NotFoundError', 'NoModificationAllowedError', 'QuotaExceededError', 'EncodingError'])(
    'keeps the name %s',
    (name) => {
      const result = failureOf(new DOMException('secret /path', name));
      expect(result).toBeLessThan(0);
      expect(exceptionName(result)).toBe(name);
    },
  );
  it('whose exception has an unlisted name is 1', () => {
    for (const error of [
      new DOMException('', 'zq'),
      new TypeError('x'),
      'NotFoundError',
      null,
      undefined,
      7,
    ])
      expect(failureOf(error)).toBe(1);
    expect(exceptionName(1)).toBeNull();
    expect(failureIn(null)).toBe(0);
    // files store it, so positions in the list never change
    expect(failureIn(new DOMException('', 'AbortError'))).toBe(-5);
  });
  it('is read without running any code of the page', () => {
    const ran = vi.fn(() => 'NotFoundError');
    const error = Object.defineProperties(new Error('of the app'), {
      name: { get: ran },
      toString: { value: ran },
    });
    const proxy = new Proxy(new DOMException('', 'NotFoundError'), {
      get: ran,
      getPrototypeOf: () => (ran(), null),
    });
    expect([failureOf(error), failureOf(proxy), ran.mock.calls.length]).toEqual([1, 1, 0]);
  });
});

it('is shown by the name of its exception', () => {
  const quota = failureOf(new DOMException('', 'QuotaExceededError'));
  expect([
    resultText(Op.idbPut, quota, 0),
    resultText(Op.idbPut, 1, 0),
    resultText(Op.idbPut, 0, 0),
  ]).toEqual(['QuotaExceededError', 'failed', '']);
  expect([
    resultText(Op.opfsWrite, quota, Flag.threw),
    resultText(Op.opfsWrite, 1, Flag.threw),
  ]).toEqual(['QuotaExceededError', 'threw']);
  // from a VFS: a result code, not an exception of the list
  expect(resultText(Op.xWrite, -1, Flag.threw)).toBe('threw');
  expect([
    isFailure(Op.idbPut, quota, 0),
    isFailure(Op.idbPut, 0, 0),
    isFailure(Op.opfsRead, 4096, 0),
  ]).toEqual([true, false, false]);
});

it('Errors distinguishes exceptions, and explains each', () => {
  const store = newStore();
  const t = new ThreadBuilder(store);
  const file = t.define({ kind: 'opfs-file', path: '/a.db' });
  const sql = t.define({ kind: 'sql', text: 'INSERT INTO t VALUES (?)' });
  for (const name of ['NotFoundError', 'QuotaExceededError', 'QuotaExceededError'])
    t.call('sqlStep', { object: sql, context: 1, aux: 1, result: 101 }, () => {
      t.call('opfsGetFileHandle', {
        object: file,
        result: failureOf(new DOMException('', name)),
        flags: Flag.threw | Flag.async,
      });
    });
  t.send();
  const { groups } = errorQueries.errors(contextOf(store), {});
  expect(groups.map(({ what, count, statements }) => [what, count, statements[0]?.text])).toEqual([
    ['QuotaExceededError', 2, 'INSERT INTO t VALUES (?)'],
    ['NotFoundError', 1, 'INSERT INTO t VALUES (?)'],
  ]);
  expect(groups[0]!.meaning).toContain('used up');
});
