/**
 * Counters of statements are read from memory once their address is known, and by calls otherwise.
 */
import { beforeEach, expect, test } from 'vitest';
import { Op } from '../../src/event/event.ts';
import { newCounts, StatusReader } from '../../src/engines/statement-status.ts';
import { StatementStatus } from '../../src/sqlite/constants.ts';
import { EngineMemory } from '../../src/vfs-instrumented/interpose/io-methods.ts';
import type { Recorder } from '../../src/record/recorder.ts';

const STMT = 4096;
const { fullScanStep, vmStep, run, filterHit } = StatementStatus;
let words: Uint32Array;
/** Of the array of counters, in words after the statement's address. */
let place: number;
let calls: number[];
let steps: number[];
let rare: [code: number, value: number][];
let version: number;

function reader(): { runs(count: number): void } {
  const memory = new WebAssembly.Memory({ initial: 1 });
  words = new Uint32Array(memory.buffer);
  const status = (stmt: number, code: number): number => {
    calls.push(code);
    return code > filterHit ? 640 : words[stmt / 4 + place + code]!;
  };
  const recorder = {
    instant(
      op: number,
      _t: number,
      _o: number,
      value: number,
      _i: number,
      _c: number,
      aux: number,
    ) {
      if (op === Op.sqlStmtStatus) steps.push(value);
      else rare.push([aux, value]);
    },
  } as unknown as Recorder;
  const reach = (name: string): (() => number) | null =>
    name === 'sqlite3_stmt_status'
      ? (status as unknown as () => number)
      : name === 'sqlite3_libversion_number'
        ? () => version
        : null;
  const status_ = new StatusReader(recorder, new EngineMemory(memory), reach);
  const last = newCounts();
  return {
    runs(count) {
      for (let i = 0; i < count; i++) {
        status_.begin(STMT, last);
        words[STMT / 4 + place + run]! += 1;
        words[STMT / 4 + place + vmStep]! += 7;
        words[STMT / 4 + place + fullScanStep]! += 5;
        status_.read(STMT, 1, 1, 1, last, 0);
      }
    },
  };
}
beforeEach(() => {
  [place, calls, steps, rare, version] = [40, [], [], [], 3_053_000];
});

test('a thousand runs take one call a counter in every 64 runs', () => {
  reader().runs(1000);
  expect(new Set(steps)).toEqual(new Set([7]));
  expect(steps).toHaveLength(1000);
  // 3 runs to find the address, 15 reads to compare, and the memory once
  expect(calls).toHaveLength((2 * 3 + Math.floor((2 * 997) / 128)) * filterHit + 1);
  expect(rare).toEqual([[StatementStatus.memoryUsed, 640]]);
});

test("where the counters aren't words of the statement, each run makes calls", () => {
  place = 400;
  reader().runs(100);
  expect(steps).toEqual(Array.from({ length: 100 }, () => 7));
  expect(calls).toHaveLength(2 * 100 * filterHit + 1);
});

test('while two addresses hold the same words, each run makes calls', () => {
  const engine = reader();
  const twin = STMT / 4 + place + 20;
  for (let i = 0; i < 10; i++) {
    words[twin + run]! += 1;
    words[twin + vmStep]! += 7;
    words[twin + fullScanStep]! += 5;
    engine.runs(1);
  }
  expect(calls).toHaveLength(2 * 10 * filterHit + 1);
  engine.runs(1); // now they differ
  calls = [];
  engine.runs(10);
  expect(calls).toEqual([]);
});

test('an address that turns out to be wrong is dropped', () => {
  const engine = reader();
  engine.runs(3);
  words.copyWithin(STMT / 4 + 80, STMT / 4 + 40, STMT / 4 + 60);
  place = 80;
  engine.runs(64);
  calls = [];
  engine.runs(10);
  expect(calls).toHaveLength(2 * 10 * filterHit);
  expect(steps.slice(-10)).toEqual(Array.from({ length: 10 }, () => 7));
});

test("counters that a release lacks aren't requested, because its function would return something else", () => {
  version = 3_035_000;
  const engine = reader();
  words[STMT / 4 + place + filterHit] = 0xdead_beef;
  engine.runs(100);
  expect(Math.max(...calls.filter((code) => code < 99))).toBe(run);
  expect(rare).toEqual([[StatementStatus.memoryUsed, 640]]);
});
