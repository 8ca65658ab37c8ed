/**
 * What `vfscope/field` reports about one page life, as one JSON object of less than 4 KB, for
 * `vfscope fleet`. It has short names, and lists instead of objects, because every user sends it.
 */
import { BUCKETS, type Histogram } from './buckets.ts';

export const REPORT_FORMAT = 1;
/**
 * Maximum length of a report, in bytes of UTF-8. The statements that take the least time are
 * dropped first.
 */
export const MOST_REPORT_BYTES = 4000;
/** Longer statement texts are cut; `hash` covers the full text. */
export const MOST_TEXT = 160;

/** Rules that need no trace, the only ones in reports. Ids as in docs/findings.md. */
export const FIELD_RULES = {
  hang: 'F05',
  busy: 'F06',
  malformed: 'F32',
  quota: 'F42',
  prepared: 'F53',
} as const;

export interface StatementReport {
  /**
   * With literals folded, on one line, cut after MOST_TEXT characters. '' where texts are left out.
   */
  text: string;
  /** Hash of the full folded text, 8 hex digits: the key where texts are cut or left out. */
  hash: string;
  runs: number;
  /** Sum of its runs, microseconds. */
  us: number;
  failed: number;
  histogram: Histogram;
}

export interface FieldReport {
  vfscope: typeof REPORT_FORMAT;
  /** Random id of this page life. */
  id: string;
  /** When it began, ms since the epoch, and its duration so far, ms. */
  at: number;
  ms: number;
  /** How many page lives it represents: 1 / the sampling rate. */
  weight: number;
  labels: Readonly<Record<string, string>>;
  origin: string;
  agent: string;
  engine: string | null;
  sqlite: string | null;
  /** The kinds of storage that its calls used: STORAGES, joined by +. */
  storage: string;
  statements: readonly StatementReport[];
  /** All statements, including those that the list leaves out. */
  runs: number;
  failed: number;
  /**
   * Durations of flushes of access handles, closing of streams, and IndexedDB transactions that
   * wrote.
   */
  syncs: Histogram;
  /** Count and sum of waits for Web Locks of UNSEEN_HOLDER_US or longer, microseconds. */
  locks: Histogram;
  lockUs: number;
  /** SQLITE_BUSY results that reached the app. */
  busy: number;
  /** Name, call, count. */
  errors: readonly (readonly [name: string, call: string, count: number])[];
  /** Rule, of FIELD_RULES; count. */
  findings: readonly (readonly [rule: string, count: number])[];
  /** Exceptions of vfscope/field itself. */
  faults: number;
  /** Why the app received a trace of its last seconds; null = it received none. */
  trace: string | null;
}

const MOST_ITEMS = 500;
/**
 * At least one of a million million page lives is sampled: sums of weights stay exact enough and
 * finite.
 */
const MOST_WEIGHT = 1e12;
/** Limits for labels, so that a report has space for the rest. */
export const MOST_LABELS = 20;
export const MOST_LABEL_NAME = 40;
export const MOST_LABEL = 200;
/** For all labels of a report, each as JSON in UTF-8. */
export const MOST_LABELS_BYTES = 1000;
const isText = (value: unknown, longest = 500): value is string =>
  typeof value === 'string' && value.length <= longest;
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isWhole = (value: unknown): value is number => isCount(value) && Number.isSafeInteger(value);
const isList = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.length <= MOST_ITEMS;
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isHistogram(value: unknown): value is Histogram {
  return (
    isList(value) &&
    value.length % 2 === 0 &&
    value.every((n, i) => isWhole(n) && (i % 2 === 1 || n < BUCKETS))
  );
}
const isStatement = (value: unknown): value is StatementReport =>
  isRecord(value) &&
  isText(value.text) &&
  isText(value.hash, 16) &&
  isWhole(value.runs) &&
  isCount(value.us) &&
  isWhole(value.failed) &&
  isHistogram(value.histogram);

/** Is this a report of this format? It comes from users' browsers, so it can contain anything. */
export function isFieldReport(value: unknown): value is FieldReport {
  if (!isRecord(value) || value.vfscope !== REPORT_FORMAT) return false;
  const { labels, statements, errors, findings } = value;
  return (
    isText(value.id, 64) &&
    value.id !== '' &&
    ['at', 'ms', 'lockUs'].every((key) => isCount(value[key])) &&
    ['runs', 'failed', 'busy', 'faults'].every((key) => isWhole(value[key])) &&
    isCount(value.weight) &&
    value.weight >= 1 &&
    value.weight <= MOST_WEIGHT &&
    isRecord(labels) &&
    Object.keys(labels).length <= MOST_LABELS &&
    Object.entries(labels).every(
      ([name, text]) => isText(name, MOST_LABEL_NAME) && isText(text, MOST_LABEL),
    ) &&
    ['origin', 'agent', 'storage'].every((key) => isText(value[key])) &&
    ['engine', 'sqlite', 'trace'].every((key) => value[key] === null || isText(value[key])) &&
    isHistogram(value.syncs) &&
    isHistogram(value.locks) &&
    isList(statements) &&
    statements.every(isStatement) &&
    isList(errors) &&
    errors.every((e) => isList(e) && isText(e[0]) && isText(e[1]) && isWhole(e[2])) &&
    isList(findings) &&
    findings.every((f) => isList(f) && isText(f[0], 8) && isWhole(f[1]))
  );
}
