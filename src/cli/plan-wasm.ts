/**
 * wa-sqlite's wasm, which makes query plans and SQLite files, and the plans of statements in
 * findings.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Facts } from '../analysis/core/graph.ts';
import { findingPlans, type FindingPlans } from '../plan/finding-plans.ts';
import type { SqliteBuild } from '../plan/load-sqlite.ts';
import { Planner } from '../plan/planner.ts';

export const readWasm = (build: SqliteBuild = 'wa-sqlite'): Promise<Buffer> =>
  readFile(createRequire(import.meta.url).resolve(`${build}/dist/wa-sqlite.wasm`));

export const planner = (): Planner =>
  new Planner(async (build) => ({ wasmBinary: await readWasm(build) }));

/** From the recorded CREATE statements. */
export const plansOfFindings = async (facts: Facts): Promise<FindingPlans> =>
  findingPlans(facts, planner());
