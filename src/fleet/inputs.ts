/**
 * What `vfscope fleet add` accepts: traces and report files, in folders or by name, and the part of
 * them that belongs to one shard.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isFieldReport, type FieldReport } from '../field/report.ts';
import { formatBytes } from '../text/numbers.ts';
import { wrongUse } from '../terminal/failure.ts';
import { cannotRead } from '../terminal/open-file.ts';
import type { ReportInput } from './unit.ts';

export interface Shard {
  /** From 1. */
  index: number;
  of: number;
}

const TRACE = /\.vfst$/;
const REPORTS = /\.(?:json|jsonl|ndjson)$/;
export const isTrace = (path: string): boolean => TRACE.test(path);

/** @param text such as 2/8 @throws CommandFailure */
export function shardOf(text: string): Shard {
  const [, index, of] = /^(\d+)\/(\d+)$/.exec(text) ?? [];
  const shard = { index: Number(index), of: Number(of) };
  if (!(shard.index >= 1 && shard.index <= shard.of && shard.of <= 10_000))
    throw wrongUse(`--shard ${text}: expected i/n, such as 1/4, with i from 1 to n.`);
  return shard;
}

/**
 * The files in the given files and folders, each once, sorted.
 * @throws CommandFailure where one doesn't exist, or is neither a trace nor a report file
 */
export function inputsOf(paths: readonly string[]): string[] {
  const found = paths.flatMap((path) => {
    try {
      if (!statSync(path).isDirectory()) {
        if (TRACE.test(path) || REPORTS.test(path)) return [path];
        throw wrongUse(`${path}: expected a .vfst trace, or reports as .json or .jsonl.`);
      }
      return readdirSync(path)
        .filter((name) => TRACE.test(name) || REPORTS.test(name))
        .map((name) => join(path, name));
    } catch (e) {
      if ((e as NodeJS.ErrnoException).syscall === undefined) throw e;
      throw wrongUse(cannotRead(path, e));
    }
  });
  return [...new Set(found)].sort();
}

/** The inputs of a shard. Chosen by name, so that machines agree even while files are added. */
export const inShard = (paths: readonly string[], { index, of }: Shard): string[] =>
  paths.filter(
    (path) => parseInt(idOf(Buffer.from(basename(path))).slice(0, 8), 16) % of === index - 1,
  );

/**
 * Maximum size of a report file: 64,000 page lives with 4 KB or less each. All are in memory at
 * once.
 */
const MOST_REPORT_BYTES = 256 * 2 ** 20;
/** The most that Node reads at once. */
const MOST_TRACE_BYTES = 2 ** 31 - 1;

/** Why an input can't be added, whatever is in it. */
export class Refused extends Error {}

const mostBytes = (path: string): number => (isTrace(path) ? MOST_TRACE_BYTES : MOST_REPORT_BYTES);
/** The bytes of an input. @throws Refused where it is too large; errors of node:fs */
export function bytesOf(path: string): Uint8Array<ArrayBuffer> {
  const { size } = statSync(path);
  const most = mostBytes(path);
  if (size <= most) return readFileSync(path);
  const limit = `it has ${formatBytes(size)}; vfscope fleet takes at most ${formatBytes(most)}`;
  throw new Refused(
    isTrace(path) ? `${limit}.` : `${limit}. Save its reports in several .jsonl files.`,
  );
}
/**
 * The same for a file that may lie beside another input.
 * @returns null where it doesn't exist or is too large
 */
function bytesBeside(path: string): Uint8Array | null {
  const { size = Infinity } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return size > mostBytes(path) ? null : readFileSync(path);
}

/** Id of an input, from its content only. */
export const idOf = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex').slice(0, 16);

/**
 * The reports of a file: one JSON object, a list of objects, or one object a line.
 * @returns each report once, and the number of items that aren't reports
 */
export function reportsIn(bytes: Uint8Array): {
  reports: Omit<ReportInput, 'example'>[];
  bad: number;
} {
  const reports = new Map<string, FieldReport>();
  let bad = 0;
  for (const item of itemsOf(new TextDecoder().decode(bytes)))
    if (isFieldReport(item)) reports.set(idOf(Buffer.from(JSON.stringify(item))), item);
    else bad++;
  return { reports: Array.from(reports, ([id, report]) => ({ id, report })), bad };
}

function itemsOf(text: string): unknown[] {
  const whole = parsed(text);
  if (whole !== undefined) return [whole].flat();
  return text.split('\n').flatMap((line) => (line.trim() ? [parsed(line)] : []));
}
/** @returns undefined where it isn't JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // counted as not a report
  }
}

/**
 * The report beside a trace (NAME.json beside NAME.vfst), which covers the same page life. `input`
 * is the id of its file.
 */
export function reportBeside(
  trace: string,
): { path: string; input: string; report: FieldReport } | null {
  const path = trace.replace(TRACE, '.json');
  const bytes = bytesBeside(path);
  if (!bytes) return null;
  const { reports } = reportsIn(bytes);
  return reports.length === 1 ? { path, input: idOf(bytes), report: reports[0]!.report } : null;
}
/** Id of the trace beside a report. */
export function traceBeside(reports: string): string | null {
  const path = reports.replace(REPORTS, '.vfst');
  const bytes = bytesBeside(path);
  return bytes && idOf(bytes);
}
