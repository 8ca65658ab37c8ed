/**
 * The documented questions give the same rows on DuckDB, ClickHouse (chdb), and Spark with two
 * executors, before and after compacting. OpenTelemetry's own message classes read the OTLP export.
 * tests/unit/fleet.test.ts queries DuckDB in CI.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { executions } from '../../src/analysis/core/executions.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { fleetAdd } from '../../src/cli/fleet.ts';
import { compact } from '../../src/fleet/compact.ts';
import { otlp } from '../../src/formats/otlp.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { answerOf, missing } from '../consumers/python.ts';
import { comparable, questions } from '../unit/fleet-queries.ts';

const GOLDEN = 'tests/traces/golden';
const set = mkdtempSync(join(tmpdir(), 'vfscope-fleet-engines-'));
beforeAll(async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await fleetAdd({ paths: [GOLDEN], out: set, labels: ['release=1.0'], shard: '1/1' });
});
afterAll(() => rmSync(set, { recursive: true }));

async function ofDuckDb(): Promise<string[][]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const answers: string[][] = [];
  for (const sql of questions((t) => `read_parquet('${join(set, t, '*', '*.parquet')}')`).values())
    answers.push(comparable((await connection.runAndReadAll(sql)).getRowObjects()).sort());
  connection.closeSync();
  instance.closeSync();
  return answers;
}

describe.each([
  ['ClickHouse', 'chdb', 120_000],
  ['Spark with a driver and two executors', 'spark', 600_000],
])('%s', (_, engine, limit) => {
  const why = engine === 'spark' ? missing(['pyspark'], ['java']) : missing([engine]);
  if (why) console.warn(`not tested: ${why}`);
  test.skipIf(why !== null).each(['as added', 'compacted'])(
    'answers as DuckDB does, %s',
    async (state) => {
      if (state === 'compacted') await compact(set);
      const asked = [...questions((table) => `fleet.${table}`).values()];
      const answers = answerOf('fleet.py', [engine, set], JSON.stringify(asked)) as unknown[][][];
      const rows = answers.map((each) => comparable(each.map((row) => ({ ...row }))).sort());
      expect(rows).toEqual(await ofDuckDb());
      expect(rows.every((each) => each.length > 0)).toBe(true);
    },
    limit,
  );
});

describe("OpenTelemetry's protobuf messages", () => {
  const why = missing(['opentelemetry.proto', 'google.protobuf']);
  if (why) console.warn(`not tested: ${why}`);
  test.skipIf(why !== null).each(readdirSync(GOLDEN).filter((name) => name.endsWith('.vfst')))(
    'read %s',
    async (name) => {
      const { store } = await readTrace(readFileSync(join(GOLDEN, name)));
      let lines = '';
      for await (const piece of otlp(store)) lines += piece;
      const facts = new Facts(store);
      const runs = store.threads.reduce((n, t) => n + facts.get(executions).of(t).count, 0);
      const found = answerOf('otlp.py', [], lines) as Record<string, number>;
      expect(found).toMatchObject({
        ...{ executions: runs, orphans: 0, backwards: 0 },
        ids: found.executions! + found.calls!,
        buckets: found.measured,
      });
      if (runs) expect(found).toMatchObject({ systems: ['sqlite'], lengths: [8, 16] });
    },
  );
});
