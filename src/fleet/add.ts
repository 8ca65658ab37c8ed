/** Adds traces and reports to a fleet's data set. Each input stands alone, so any number of processes and machines share the work. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { sanitizeStore } from '../analysis/privacy/sanitize.ts';
import { TraceFileError } from '../trace/file/format.ts';
import { readTrace } from '../trace/file/read.ts';
import { DataSet } from './data-set.ts';
import { idOf, isTrace, reportBeside, reportsIn, traceBeside } from './inputs.ts';
import type { Labels } from './lives.ts';
import { reportParts, traceParts } from './unit.ts';

export interface Added {
  added: number;
  /** In the data set already. */
  known: number;
  /** Could not be read. */
  leftOut: number;
}

class NoReports extends Error {}

/**
 * @param labels of traces without a report beside them
 * @param complain takes what is wrong with an input; the others are added
 * @throws CommandFailure where the data set cannot be written
 */
export async function addInputs(
  paths: readonly string[],
  out: string,
  { labels, sanitize }: { labels: Labels; sanitize: boolean },
  complain: (text: string) => void,
): Promise<Added> {
  const set = new DataSet(out);
  const result: Added = { added: 0, known: 0, leftOut: 0 };
  for (const path of paths) {
    const bytes = readFileSync(path);
    const id = idOf(bytes);
    if (set.has(id)) {
      result.known++;
      continue;
    }
    try {
      if (isTrace(path)) set.add(id, await partsOfTrace(path, bytes, id, labels, sanitize));
      else set.add(id, partsOfReports(path, bytes, sanitize, complain));
      result.added++;
    } catch (e) {
      if (!(e instanceof TraceFileError || e instanceof NoReports)) throw e;
      complain(`${path}: ${e.message}`);
      result.leftOut++;
    }
  }
  return result;
}

async function partsOfTrace(
  path: string,
  bytes: Uint8Array<ArrayBuffer>,
  id: string,
  given: Labels,
  sanitize: boolean,
): Promise<ReturnType<typeof traceParts>> {
  const { store } = await readTrace(bytes);
  const report = reportBeside(path);
  return traceParts({
    id,
    store: sanitize ? sanitizeStore(store) : store,
    name: sanitize ? null : basename(path).replace(/\.vfst$/, ''),
    labels: { ...given, ...report?.labels },
    isReported: report !== null,
  });
}

function partsOfReports(
  path: string,
  bytes: Uint8Array,
  sanitize: boolean,
  complain: (text: string) => void,
): ReturnType<typeof reportParts> {
  const { reports, bad } = reportsIn(bytes);
  if (!reports.length) throw new NoReports('it holds no reports of vfscope/field.');
  if (bad) complain(`${path}: ${bad} of ${bad + reports.length} items are no reports.`);
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
