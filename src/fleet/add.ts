/**
 * Adds traces and reports to a fleet's data set. Inputs are independent, so any number of processes
 * and machines can share the work.
 */
import { basename, resolve } from 'node:path';
import { sanitizeStore } from '../analysis/privacy/sanitize.ts';
import { formatCount } from '../text/numbers.ts';
import { CommandFailure } from '../terminal/failure.ts';
import { cannotRead } from '../terminal/open-file.ts';
import { unpackBy } from '../trace/file/codec.ts';
import { TraceFileError } from '../trace/file/format.ts';
import { readTrace } from '../trace/file/read.ts';
import { DataSet } from './data-set.ts';
import { gunzipAtOnce } from './gunzip-at-once.ts';
import { bytesOf, idOf, isTrace, Refused, reportBeside, reportsIn, traceBeside } from './inputs.ts';
import type { Labels } from './lives.ts';
import { reportParts, traceParts } from './unit.ts';

export interface Added {
  added: number;
  /** Already in the data set. */
  known: number;
  /** Couldn't be read. */
  leftOut: number;
}

/** What to add, and how. */
export interface Adding {
  /** Folder of the data set. */
  out: string;
  /** For traces without a report beside them. */
  labels: Labels;
  sanitize: boolean;
  /**
   * All inputs, including those of other shards: a report among them counts for the trace beside
   * it.
   */
  all: readonly string[];
}

/**
 * Opens a data set to add inputs to it.
 * @param complain takes what is wrong with an input; the others are added
 * @returns adds some of `all`; rejects with CommandFailure where the data set can't be written
 */
export function inputAdder(
  { out, labels, sanitize, all }: Adding,
  complain: (text: string) => void,
): (paths: readonly string[]) => Promise<Added> {
  unpackBy(gunzipAtOnce);
  const set = new DataSet(out);
  const inputs = new Set(all.map((path) => resolve(path)));
  const isAdded = ({ path, input }: { path: string; input: string }): boolean =>
    inputs.has(resolve(path)) || set.has(input);
  return (paths) => addInputs(paths, set, { labels, sanitize, complain, isAdded });
}

interface Options {
  labels: Labels;
  sanitize: boolean;
  complain: (text: string) => void;
  isAdded: (file: { path: string; input: string }) => boolean;
}
async function addInputs(paths: readonly string[], set: DataSet, options: Options): Promise<Added> {
  const { sanitize, complain } = options;
  const result: Added = { added: 0, known: 0, leftOut: 0 };
  for (const path of paths) {
    try {
      const bytes = bytesOf(path);
      const id = idOf(bytes);
      if (set.has(id)) {
        result.known++;
        continue;
      }
      set.add(
        id,
        isTrace(path)
          ? await partsOfTrace(path, bytes, id, options)
          : partsOfReports(path, bytes, sanitize, complain),
      );
      result.added++;
    } catch (e) {
      // the data set failed: the next input would fail, too
      if (e instanceof CommandFailure) throw e;
      complain(whyLeftOut(path, e));
      result.leftOut++;
    }
  }
  return result;
}

/** One bad input, whatever is in it, doesn't stop the others. */
function whyLeftOut(path: string, error: unknown): string {
  if (error instanceof TraceFileError || error instanceof Refused)
    return `${path}: ${error.message}`;
  if ((error as NodeJS.ErrnoException).syscall !== undefined) return cannotRead(path, error);
  return `${path} was left out: vfscope failed to add it (${String(error)}). Please report this.`;
}

/** Of a trace that has memory for columns of one type. */
const SMALL_BYTES = 1 << 22;

async function partsOfTrace(
  path: string,
  bytes: Uint8Array<ArrayBuffer>,
  id: string,
  { labels: given, sanitize, complain, isAdded }: Options,
): Promise<ReturnType<typeof traceParts>> {
  const width = bytes.length < SMALL_BYTES ? 'wide' : 'narrow';
  const { store, warnings } = await readTrace(bytes, { width });
  for (const warning of warnings) complain(`${path}: ${warning}`);
  const beside = reportBeside(path);
  return traceParts({
    id,
    store: sanitize ? sanitizeStore(store) : store,
    name: sanitize ? null : basename(path).replace(/\.vfst$/, ''),
    labels: { ...given, ...beside?.report.labels },
    isReported: beside !== null && isAdded(beside),
  });
}

function partsOfReports(
  path: string,
  bytes: Uint8Array,
  sanitize: boolean,
  complain: (text: string) => void,
): ReturnType<typeof reportParts> {
  const { reports, bad } = reportsIn(bytes);
  if (!reports.length) throw new Refused('it has no reports of vfscope/field.');
  const all = formatCount(bad + reports.length);
  if (bad === 1) complain(`${path}: 1 of ${all} items isn't a valid report.`);
  else if (bad) complain(`${path}: ${formatCount(bad)} of ${all} items aren't valid reports.`);
  const example = reports.length === 1 ? traceBeside(path) : null;
  const told = sanitize
    ? reports.map(({ id, report }) => ({
        id,
        report: {
          ...report,
          origin: '',
          statements: report.statements.map((s) => ({ ...s, text: '' })),
        },
      }))
    : reports;
  return reportParts(told.map((input) => ({ ...input, example })));
}
