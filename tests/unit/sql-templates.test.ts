// Texts that fit a template get the same shape that folding gives, whatever the literals, and
// wherever the text ends.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SqlTexts } from '../../src/engines/sql-texts.ts';
import { Recorder } from '../../src/record/recorder.ts';
import { SqlFolder } from '../../src/sqlite/sql-fold.ts';
import type { EngineMemory } from '../../src/vfs-instrumented/interpose/io-methods.ts';

/** Texts in an engine's memory, and the shape of each. */
class Shapes {
  private readonly recorder = new Recorder({ capacity: 64, maxEngines: 0 });
  private readonly texts = new SqlTexts(this.recorder);
  private readonly known = new Map<number, string>();

  /**
   * @param after what follows the text
   * @param asLength the text's end is given by its length, not by a NUL
   */
  of(sql: string, after = '\0', asLength = false): string {
    const at = 8;
    const text = new TextEncoder().encode(sql);
    const heap = new Uint8Array([
      ...new Uint8Array(at),
      ...text,
      ...new TextEncoder().encode(after),
    ]);
    const memory = { bytes: () => heap } as unknown as EngineMemory;
    const id = this.texts.statementAt(memory, at, asLength ? text.length : -1);
    for (const d of this.recorder.takeDefinitions())
      if (d.kind === 'sql') this.known.set(d.id, d.text);
    return id === 0 ? '' : this.known.get(id)!;
  }
}
const folded = (sql: string): string => new Shapes().of(sql);

/** Number of calls of the folder while `run` runs. */
function folds(run: () => void): number {
  const prototype = SqlFolder.prototype as { fold: (...args: unknown[]) => unknown };
  const genuine = prototype.fold;
  let calls = 0;
  prototype.fold = function (...args) {
    calls++;
    return genuine.apply(this, args);
  };
  try {
    run();
  } finally {
    prototype.fold = genuine;
  }
  return calls;
}

describe('templates', () => {
  it('fold a shape twice, however often it is prepared', () => {
    const shapes = new Shapes();
    const seen = new Set<string>();
    const calls = folds(() => {
      for (let i = 0; i < 1000; i++)
        seen.add(
          shapes.of(`INSERT INTO t VALUES(${i}, '${i * 7919}', zeroblob(${50 + (i % 100)}))`),
        );
    });
    expect([...seen]).toEqual(['INSERT INTO t VALUES(?, ?, zeroblob(?))']);
    expect(calls).toBe(2);
  });

  it.each([
    ["SELECT 'a'", "SELECT 'a''b'"],
    ['SELECT 1', 'SELECT 1.5'],
    ['SELECT 1', 'SELECT 1e5'],
    ['SELECT 10', 'SELECT 0x10'],
    ['SELECT 1 , 2', 'SELECT 1 ,-2'],
    ['SELECT 1 -- a', 'SELECT 1 -- b'],
    ['SELECT 1;', 'SELECT 1'],
    ['SELECT 1', 'SELECT 1; SELECT 2'],
    ["SELECT x'00'", "SELECT x'0000'"],
    ['SELECT a IN (1,2)', 'SELECT a IN (1,2,3)'],
    ["SELECT 'a' ", "SELECT 'a"],
    ['SELECT t.a, 1', 'SELECT t.b, 1'],
    ['SELECT ?1, 5', 'SELECT ?2, 5'],
  ])('%s does not stand for %s', (first, second) => {
    const shapes = new Shapes();
    for (const sql of [first, first, first, second, first, second, second, second])
      expect(shapes.of(sql)).toBe(folded(sql));
  });

  it("a setting's number isn't a hole", () => {
    const shapes = new Shapes();
    const texts = [1, 1, 2, 1, 3].map((n) => `PRAGMA cache_size=${n}`);
    expect(texts.map((sql) => shapes.of(sql))).toEqual(texts);
  });

  it("a length ends a text as a NUL does, and what follows isn't part of it", () => {
    const shapes = new Shapes();
    for (const after of ['\0', '9', ';', "'", ', 3)', ' AND b'])
      for (const n of [1, 22, 333])
        expect(shapes.of(`SELECT a = ${n}`, `${after}\0`, true)).toBe('SELECT a = ?');
  });

  it('any texts, in any order, get what folding alone gives', () => {
    const literal = fc.constantFrom(
      ...`'' 'a' 'it''s' 'é' 0 7 42 1.5 .5 1e3 0x1F 1_0 x'00' -1 'open`.split(' '),
    );
    const piece = fc.constantFrom(
      ...`SELECT PRAGMA cache_size IN VALUES ( ) , ; ? ?1 :a - + "q" [b] x t. -- /* */ = é`.split(
        ' ',
      ),
      '\n',
      ' ',
      ' ',
    );
    const shape = fc.array(fc.oneof(piece, fc.constant(null)), { maxLength: 12 });
    const run = fc.tuple(
      shape,
      fc.array(fc.array(literal, { minLength: 12, maxLength: 12 }), { minLength: 3, maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 3 }), fc.boolean(), (runs, asLength) => {
        const shapes = new Shapes();
        const texts = runs.flatMap(([pieces, fillings]) =>
          fillings.map((with_) => pieces.map((p, i) => p ?? with_[i]).join('')),
        );
        for (const sql of [...texts, ...texts.reverse()])
          expect(shapes.of(sql, '\0', asLength)).toBe(folded(sql));
      }),
      { numRuns: 150 },
    );
  });
});
