/**
 * Runs an engine app the way every test does, traced or not: open, prepare, run, close, hash what
 * it stored.
 */
import type { Page } from 'puppeteer-core';
import { goTo } from '../../src/drive/panel.ts';
import { runTraced, type OracleCounts } from './tracing.ts';

export interface WorkloadOptions {
  n?: number;
  /** Run first, in order, as `PRAGMA <text>`: `journal_mode=truncate`. */
  pragmas?: string[];
  /** own-sql only: all inserts in one transaction. */
  oneTransaction?: boolean;
  /** portable only: inserts with separate transactions; default 20. */
  autocommits?: number;
  /**
   * sql only: statements; the number of runs and a statement with the run's number for `$i`; a
   * query that is started and never reset; a pause in milliseconds; a statement that is prepared
   * once and gets the run's number as its parameter; or megabytes of the engine's memory to
   * allocate, during a statement or without one.
   */
  sql?: readonly (
    | string
    | readonly [number, string]
    | { readonly hold: string }
    | { readonly pause: number }
    | { readonly bound: readonly [number, string] }
    | { readonly allocate: number; readonly during?: string }
  )[];
  /** sql only: a statement that finds the database locked is rolled back and retried. */
  retry?: boolean;
  /** No integrity check at the end. */
  unchecked?: boolean;
  /** The database stays open, as in an app that doesn't close it. */
  leaveOpen?: boolean;
  /** Name of the database; default `test-<count>.db`. */
  name?: string;
}

export type Workload = 'standard' | 'own-sql' | 'portable' | 'attached' | 'sql';

export interface WorkloadResult {
  /** Aggregates, then ['checksum', hex]: equal in every engine. */
  rows: unknown[][];
  /**
   * Result of PRAGMA integrity_check: "ok"; null in engines other than SQLite, and if it wasn't
   * run.
   */
  integrity: string | null;
  /** First PRAGMA to integrity check, milliseconds of the worker's clock. */
  ms: number;
  /** sqliteVersion is null in engines other than SQLite. */
  engine: { package: string; sqliteVersion: string | null; vfs: string; build: string };
}

/** SHA-256 of what the origin stored: by OPFS path, by `database/store`, and over all. */
export interface StorageHash {
  total: string;
  opfs: Record<string, string>;
  idb: Record<string, string>;
  /** null where it is empty */
  localStorage: string | null;
}

/** The app page's API on `window`. */
interface EngineAppWindow {
  prepare(options?: { name?: string }): Promise<WorkloadResult['engine']>;
  run(workload?: Workload, options?: WorkloadOptions): Promise<WorkloadResult>;
  shutdown(): void;
}

/**
 * Opens an engine app and waits until it accepts calls. Rejects with the app's message if it fails
 * to start.
 * @param go navigates to the page, in a browser where page.goto doesn't work
 */
export async function openApp(
  page: Page,
  url: string,
  go: () => Promise<unknown> = () => goTo(page, url),
): Promise<void> {
  await go();
  await page.waitForFunction(() =>
    ['ready', 'error'].includes(document.body?.dataset['state'] ?? ''),
  );
  const error = await page.evaluate(() =>
    document.body.dataset['state'] === 'error' ? document.body.innerText : null,
  );
  if (error) throw new Error(`${url} did not start: ${error}`);
}

export function prepareApp(page: Page): Promise<WorkloadResult['engine']> {
  return page.evaluate(() => (window as unknown as EngineAppWindow).prepare());
}

export function runApp(
  page: Page,
  workload: Workload,
  options: WorkloadOptions = {},
): Promise<WorkloadResult> {
  return page.evaluate(
    (name, opts) => (window as unknown as EngineAppWindow).run(name, opts),
    workload,
    options,
  );
}

/** Ends the app's worker, which releases its files, and hashes what the origin has stored. */
export function storedBy(page: Page): Promise<StorageHash> {
  // as text, because a test runner rewrites import() in functions
  return page.evaluate(
    `window.shutdown(); import('/common/storage-hash.js').then(({ storageHash }) => storageHash())`,
  ) as Promise<StorageHash>;
}

interface Baseline {
  result: WorkloadResult;
  /** Only the run, without loading the engine and opening the database. */
  counts: OracleCounts;
  stored: StorageHash;
}

/**
 * The untraced reference of one run: rows, the oracle's counts, and the stored bytes.
 * @param url an engine app under an origin without storage
 */
export async function baseline(
  page: Page,
  url: string,
  workload: Workload,
  options: WorkloadOptions = {},
): Promise<Baseline> {
  await openApp(page, url);
  await prepareApp(page);
  const { result, counts } = await runTraced(page, () => runApp(page, workload, options));
  return { result, counts, stored: await storedBy(page) };
}
