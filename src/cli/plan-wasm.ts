/** wa-sqlite's wasm, which makes query plans and SQLite files, and the plans of what findings are about. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Facts } from '../analysis/core/graph.ts';
import { findingPlans, type FindingPlans } from '../plan/finding-plans.ts';
import { Planner } from '../plan/planner.ts';

export const readWasm = (): Promise<Buffer> =>
  readFile(createRequire(import.meta.url).resolve('wa-sqlite/dist/wa-sqlite.wasm'));

/** From the recorded CREATE statements. */
export const plansOfFindings = async (facts: Facts): Promise<FindingPlans> =>
  findingPlans(facts, new Planner(async () => ({ wasmBinary: await readWasm() })));
