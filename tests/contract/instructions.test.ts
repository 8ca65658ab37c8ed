/** Instructions of a live app: equal to the Lab's counts, and no visible change for the app. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterEach, describe, expect, it } from 'vitest';
import { Facts } from '../../src/analysis/core/graph.ts';
import { statementTable } from '../../src/analysis/statements/statement-table.ts';
import { transactionRows } from '../../src/analysis/transactions/table.ts';
import { isStatementOp } from '../../src/event/operations.ts';
import { instructionsOf, Op } from '../../src/event/event.ts';
import countInstructions from '../../src/hooks/instructions.ts';
import { COUNTER } from '../../src/lab/meter/meter.ts';
import { ON_MEMORY_VFS } from './lab-counts.ts';
import { inTheLab } from './helpers/in-the-lab.ts';
import { storeOf } from './helpers/store.ts';
import { runScript } from './helpers/script.ts';
import { Traced, type Row } from './helpers/traced.ts';
import { loadWaSqlite } from './helpers/wa-sqlite.ts';

const WA_SQLITE = createRequire(import.meta.url).resolve(
  '@journeyapps/wa-sqlite/dist/wa-sqlite.wasm',
);
/** Functions that do nothing. */
function importsOf(module: WebAssembly.Module): WebAssembly.Imports {
  const imports: WebAssembly.Imports = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module))
    if (kind === 'function') (imports[from] ??= {})[name] = (): number => 0;
  return imports;
}

const open: Traced[] = [];
afterEach(() => {
  for (const t of open.splice(0)) t.restore();
});
const trace = (): Traced => {
  const t = new Traced({}, { meter: countInstructions });
  open.push(t);
  return t;
};
interface Reading {
  call: Row;
  first: number;
  own: number;
}
const readings = (t: Traced): Reading[] => {
  const rows = t.all();
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  return rows
    .filter(({ op }) => op === Op.sqlInstructions)
    .map(({ aux, offset, length, aux2 }) => ({
      call: bySeq.get(aux)!,
      first: offset,
      own: instructionsOf(length, aux2),
    }));
};

describe("the Lab's workload, from instantiation", () => {
  it.each(ON_MEMORY_VFS)('%o', async (config, ac60) => {
    const [atEnd, inSteps] = await inTheLab(config, 'total');
    expect(inSteps).toBe(ac60);
    const t = trace();
    await inTheLab(config, 'none');
    const closed = readings(t).find(({ call }) => call.op === Op.sqlClose)!;
    expect(closed.first).toBe(atEnd);
    expect(t.counters()).toEqual({ dropped: 0, faults: 0 });
  });
});

it('each call has a count, which includes the calls in it', async () => {
  const t = trace();
  const { sqlite3 } = await loadWaSqlite('journey-async');
  await runScript(sqlite3);
  const all = readings(t);
  const untimed = new Set<number>([Op.xSectorSize, Op.xDeviceCharacteristics]);
  const calls = t
    .all()
    .filter(({ op, endSeq }) => op < Op.sqlCounters && endSeq && !untimed.has(op));
  expect(all.map(({ call }) => call.seq).sort((a, b) => a - b)).toEqual(
    calls.map(({ seq }) => seq),
  );
  const bySeq = new Map(all.map((one) => [one.call.seq, one]));
  for (const { call, first, own } of all) {
    const parent = bySeq.get(call.parent);
    if (parent)
      expect(first + own <= parent.first + parent.own && first >= parent.first).toBe(true);
  }
});

it('of a real engine: statements and transactions have the counts of their calls', async () => {
  const t = trace();
  const { sqlite3 } = await loadWaSqlite('journey-sync');
  await runScript(sqlite3);
  const facts = new Facts(storeOf(t));
  const ofStatements = facts
    .get(statementTable)!
    .rows.reduce((sum, row) => sum + (row.instructions ?? 0), 0);
  const calls = readings(t).filter(({ call }) => isStatementOp(call.op));
  expect(ofStatements).toBe(calls.reduce((sum, { own }) => sum + own, 0));
  const transactions = facts.get(transactionRows);
  const all = Array.from({ length: transactions.count }, (_, i) => transactions.at(i));
  expect(all.length).toBeGreaterThan(10);
  for (const { instructions, commitInstructions, outcome } of all) {
    expect(instructions).toBeGreaterThan(0);
    if (outcome !== 'committed') expect(commitInstructions).toBeNull();
    else expect(commitInstructions! > 0 && commitInstructions! <= instructions!).toBe(true);
  }
});

it('the app gets the same rows, exports, and bytes', async () => {
  const plain = await runScript((await loadWaSqlite('journey-sync')).sqlite3);
  const t = trace();
  expect(await runScript((await loadWaSqlite('journey-sync')).sqlite3)).toEqual(plain);
  const bytes = readFileSync(WA_SQLITE);
  const before = bytes.toString('base64');
  const module = await WebAssembly.compile(bytes);
  const also = new WebAssembly.Module(bytes);
  for (const made of [module, also])
    expect(WebAssembly.Module.exports(made).map(({ name }) => name)).not.toContain(COUNTER);
  expect(bytes.toString('base64')).toBe(before);
  t.restore();
  // the only difference is the counter, which is now only in the module itself
  expect(WebAssembly.Module.exports(module).map(({ name }) => name)).toContain(COUNTER);
});

it("a module that isn't SQLite, or is broken, is left alone", async () => {
  const broken = new TextEncoder().encode('\0asm\x01\0\0\0SQLite format 3\0');
  const errorOf = async (): Promise<string[]> =>
    [
      await WebAssembly.compile(broken).catch(String),
      await WebAssembly.instantiate(broken, {}).then(String, String),
      await WebAssembly.compile(new Uint8Array(4)).then(String, String),
    ] as string[];
  const plain = await errorOf();
  const t = trace();
  expect(await errorOf()).toEqual(plain);
  const notes = t.definitions.concat().filter(({ kind }) => kind === 'note');
  t.all();
  expect(notes).toEqual([]);
  expect(t.definitions.filter(({ kind }) => kind === 'note')).toMatchObject([
    { topic: 'engine', text: expect.stringContaining("SQLite's instructions can't be counted") },
    { topic: 'engine', text: expect.stringContaining("SQLite's instructions can't be counted") },
  ]);
});

it.each([
  ['and counts', { meter: countInstructions }],
  ['only', {}],
] as const)('vfscope records %s: an instance is like a native one', async (_, options) => {
  // vfscope wraps its exports
  const bytes = readFileSync(WA_SQLITE.replace('.wasm', '-async.wasm'));
  const module = await WebAssembly.compile(bytes);
  const native = await WebAssembly.instantiate(module, importsOf(module));
  const t = new Traced({}, options);
  open.push(t);
  const made = await WebAssembly.instantiate(bytes, importsOf(module));
  const { instance } = made as unknown as WebAssembly.WebAssemblyInstantiatedSource;
  expect(Object.keys(instance)).toEqual(Object.keys(native));
  expect(Object.keys(instance.exports)).toEqual(Object.keys(native.exports));
  expect(instance).toBeInstanceOf(WebAssembly.Instance);
  // emnapi returns other exports
  const other = {};
  const laid = new Proxy(instance, {
    get: (target, name): unknown => (name === 'exports' ? other : Reflect.get(target, name)),
  });
  expect(laid.exports).toBe(other);
});

it('a module from elsewhere is rejected, with the cause', async () => {
  const module = await WebAssembly.compile(readFileSync(WA_SQLITE)); // not metered
  const t = trace();
  await WebAssembly.instantiate(module, importsOf(module));
  t.all();
  expect(t.definitions.filter(({ kind }) => kind === 'note')).toMatchObject([
    { text: expect.stringContaining("didn't see it compile") },
  ]);
});
