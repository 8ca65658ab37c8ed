/** Whether a value from a file has the form of a result. Its content isn't checked. */
import { isFaultKey } from './model/faults.ts';
import { KNOBS } from './model/knobs.ts';
import { VFS_NAMES } from './model/types.ts';
import type { ExperimentResult, GridResult, RunResult } from './model/result-types.ts';

type Fields = Readonly<Record<string, unknown>>;
type Is = (value: unknown) => boolean;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText: Is = (value) => typeof value === 'string';
const isFlag: Is = (value) => typeof value === 'boolean';
const isNumber: Is = (value) => typeof value === 'number' && Number.isFinite(value);
const orNull =
  (is: Is): Is =>
  (value) =>
    value === null || is(value);
const absentOr =
  (is: Is): Is =>
  (value) =>
    value === undefined || is(value);
const listOf =
  (is: Is): Is =>
  (value) =>
    Array.isArray(value) && value.every(is);
const recordOf =
  (is: Is): Is =>
  (value) =>
    isObject(value) && Object.values(value).every(is);
const shape =
  (fields: Readonly<Record<string, Is>>): Is =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, is]) => is(value[name]));

const isSpread = shape({
  median: isNumber,
  least: isNumber,
  most: isNumber,
  mad: isNumber,
  n: isNumber,
  passes: listOf(isNumber),
});
const isSetting: Is = (value) => value === null || isText(value) || isNumber(value);
const isVerdict = shape({
  text: isText,
  holds: orNull(isFlag),
  left: orNull(isNumber),
  right: orNull(isNumber),
  why: absentOr(isText),
  compared: absentOr(isObject),
});
const absentOrNull = (is: Is): Is => absentOr(orNull(is));
/** Absent fields: older files don't have them. */
export const isEnvironment = shape({
  runtime: absentOr(isText),
  userAgent: absentOr(isText),
  platform: absentOrNull(isText),
  cores: absentOrNull(isNumber),
  processor: absentOrNull(isText),
  disk: absentOrNull(isText),
  clockStepUs: absentOrNull(isNumber),
  crossOriginIsolated: absentOrNull(isFlag),
  jspi: absentOrNull(isFlag),
});
const isEngine = shape({
  package: isText,
  version: isText,
  variant: isText,
  sqlite: isText,
  wasmBytes: isNumber,
});
const isStep = shape({
  id: isText,
  title: isText,
  counters: recordOf(isNumber),
  unstable: listOf(isText),
  ms: orNull(isSpread),
  parts: recordOf(isSpread),
  skipped: absentOr(isText),
  twin: absentOr(isFlag),
  checkpoints: absentOr(listOf(listOf(isNumber))),
});
const isRun = shape({
  workload: isText,
  parameters: recordOf(isNumber),
  mode: (value) => value === 'time' || value === 'count',
  repeats: isNumber,
  asText: absentOr(isFlag),
  sql: absentOr(isText),
  database: absentOr(shape({ name: isText })),
  config: shape(
    Object.fromEntries(
      KNOBS.map(({ key }) => [key, isFaultKey(key) ? absentOr(isSetting) : isSetting]),
    ),
  ),
});
const runResult = shape({
  run: isRun,
  version: isNumber,
  steps: listOf(isStep),
  totals: recordOf(isNumber),
  totalMs: orNull(isSpread),
  warmUpMs: orNull(isNumber),
  leftOut: listOf(shape({ pass: isNumber, reason: isText })),
  settings: recordOf(isText),
  environment: isEnvironment,
  engine: absentOr(isEngine),
  digest: isText,
  notes: listOf(isText),
  verdicts: listOf(isVerdict),
  native: absentOr(
    shape({ program: isText, sqlite: isText, steps: recordOf(isSpread), totalMs: isSpread }),
  ),
  fault: absentOr(
    shape({
      flushes: isNumber,
      handles: isNumber,
      refused: isNumber,
      overQuota: isNumber,
      answer: orNull(shape({ step: isText, code: orNull(isText), message: isText })),
      whole: orNull(isFlag),
      damage: isText,
    }),
  ),
  stored: orNull(shape({ digest: isText, tables: recordOf(isText) })),
});
const isPoint = shape({ x: isNumber, y: isNumber, from: isNumber, to: isNumber });
const isCurve = shape({
  name: isText,
  slope: orNull(isNumber),
  lastSlope: orNull(isNumber),
  points: (value) => listOf(isPoint)(value) && (value as unknown[]).length > 0,
});
const together = {
  skipped: recordOf(isText),
  verdicts: listOf(isVerdict),
  growth: listOf(shape({ over: isText, counter: isText, curves: listOf(isCurve) })),
};
export const isVfs: Is = (value) => VFS_NAMES.some((name) => name === value);
const experimentResult = shape({
  experiment: isText,
  results: recordOf(runResult),
  on: absentOr(listOf(isVfs)),
  ...together,
});
const gridResult = shape({
  workload: isText,
  ...together,
  runs: (value) => listOf(runResult)(value) && (value as unknown[]).length > 0,
});

export const isRunResult = (value: unknown): value is RunResult => runResult(value);
export const isExperimentResult = (value: unknown): value is ExperimentResult =>
  experimentResult(value);
export const isGridResult = (value: unknown): value is GridResult => gridResult(value);
