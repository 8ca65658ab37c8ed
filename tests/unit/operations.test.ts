// The catalog of operations: lookups by code agree with it, and so do all decisions about what
// counts as what.
import { expect, it } from 'vitest';
import { Op } from '../../src/event/event.ts';
import {
  codesOf,
  isSqlOp,
  isStatementOp,
  isVfsOp,
  isWebOp,
  MOVES,
  Moves,
  opName,
  OPS,
  opSet,
  STORAGE_WRITES,
  SYNCS,
} from '../../src/event/operations.ts';

const events = OPS.filter((info) => info && info.code !== Op.none && info.code !== Op.end);

it('distinguishes layers by code as the catalog does', () => {
  for (const info of events) {
    const { code, layer, aside } = info!;
    expect([isVfsOp(code), isWebOp(code), isSqlOp(code)]).toEqual([
      layer === 'vfs',
      layer === 'web',
      layer === 'sql' && !aside,
    ]);
  }
  expect(isVfsOp(Op.none)).toBe(false);
  expect(codesOf(({ code }) => isStatementOp(code)).map(opName)).toEqual([
    'sqlite3_prepare',
    'sqlite3_step',
    'sqlite3_reset',
    'sqlite3_finalize',
    'sqlite3_exec',
  ]);
});

it('counts calls that request content as reads, and calls that send it as writes', () => {
  for (const op of [Op.xRead, Op.idbCount, Op.idbGetKey, Op.idbOpenKeyCursor, Op.opfsFileRead])
    expect(OPS[op]!.counts).toBe('read');
  for (const op of [Op.xFetch, Op.xTruncate, Op.idbDelete, Op.idbClear, Op.localStorageClear])
    expect([OPS[op]!.counts, MOVES[op]]).toEqual([null, Moves.none]);
  expect(OPS[Op.opfsGetFile]!.counts).toBe('open');
  expect(STORAGE_WRITES.map(opName)).toEqual([
    'idb.put',
    'idb.add',
    'idb.cursorUpdate',
    'opfs.write',
    'opfs.streamWrite',
    'localStorage.set',
  ]);
  expect(codesOf(({ code }) => SYNCS[code] === 1).map(opName)).toEqual([
    'xSync',
    'opfs.flush',
    'opfs.streamClose',
  ]);
});

it('knows the API of every call that has one, and of no other', () => {
  for (const info of events) expect(info!.api !== null).toBe(info!.layer === 'web');
  expect([...opSet(Op.xRead)].filter(Boolean)).toHaveLength(1);
});
