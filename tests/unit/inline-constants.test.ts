// The hook's constants are inlined as numbers: what is replaced, what stays, and what is rejected.
import { expect, it } from 'vitest';
import { inlineConstants, inlined, tableOf } from '../../tools/build/inline-constants.mjs';
import { Op } from '../../src/event/event.ts';

const tables = new Map([['Op', new Map([['xRead', 2]])]]);

it('replaces uses of a table that the module knows, and nothing else', () => {
  const use = 'f(Op.xRead, Op.none, a.Op.xRead, MyOp.xRead, Op.xReads)';
  expect(inlined(`import { Op } from './event.ts'; ${use}`, tables)).toBe(
    `import { Op } from './event.ts'; f(2, Op.none, a.Op.xRead, MyOp.xRead, Op.xReads)`,
  );
  expect(inlined(use, tables)).toBe(use);
});

it('turns bytes into words where the module requires it', () => {
  const use = "import { Op } from './event.ts'; f(W(Op.xRead), W(8), W(x), a.W(8))";
  const how = 'const W = (byte: number): number => byte >>> 2; ';
  expect(inlined(how + use, new Map([['Op', new Map([['xRead', 16]])]]))).toBe(
    `${how}import { Op } from './event.ts'; f(4, 2, W(x), a.W(8))`,
  );
  expect(inlined(use, new Map())).toBe(use);
});

it('reads a table from its source, and rejects one that has more than numbers', () => {
  expect(
    tableOf('A', 'export const A = {\n  // x\n  b: 1,\n  /** y: 3, */\n  c: 0xff,\n} as const;'),
  ).toEqual(
    new Map([
      ['b', 1],
      ['c', 255],
    ]),
  );
  expect(() => tableOf('A', 'export const A = { b: 1 + 1 } as const;')).toThrow('plain numbers');
  expect(() => tableOf('B', 'export const A = { b: 1 } as const;')).toThrow('plain numbers');
});

it('has every table as its module exports it', () => {
  const { transform } = inlineConstants();
  const all = Object.keys(Op).map((key) => `Op.${key}`);
  const run = transform as (code: string, id: string) => { code: string };
  const { code } = run(`import { Op } from './event.ts'; [${all.join()}]`, '/src/a.ts');
  expect(JSON.parse(code.slice(code.indexOf('[')))).toEqual(Object.values(Op));
});
