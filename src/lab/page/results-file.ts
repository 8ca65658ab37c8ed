/** Results as files: JSON, with left-out passes and their reasons, and reports. */
import { gridResult } from '../experiments/grid-result.ts';
import type { LabOutcome } from '../experiments/outcome.ts';
import type { Run } from '../experiments/model/types.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import { storedVerdicts } from '../experiments/storage-verdicts.ts';
import { reportCsv, reportHtml, reportSvg } from '../results/report.ts';
import { whatIfCsv, whatIfHtml, whatIfSvg, type WhatIf } from '../results/what-if-report.ts';
import { experimentResultOf } from './compare.ts';
import { saveFile } from '../../viewer/ui/save-file.ts';
import type { PlacedOffer } from './catalog.ts';
import type { QueuedRun } from './run-queue.ts';

interface Shown {
  readonly heading: string;
  readonly item: QueuedRun;
}

/** A result doesn't include the content of the user's files. */
export function withoutFiles({ database, engineFile: _, ...run }: Run): Run {
  // only a name, as after reading a file
  return database ? { ...run, database: { name: database.name } as typeof database } : run;
}
const withoutFile = (result: RunResult): RunResult => ({
  ...result,
  run: withoutFiles(result.run),
});

/** The shown results, in the command's form. */
export function outcomeOnPage(offer: PlacedOffer, columns: readonly Shown[]): LabOutcome {
  if (offer.kind === 'experiment') {
    const { results, ...rest } = experimentResultOf(
      offer.experiment,
      columns.map(({ item }) => item),
    );
    return {
      experiment: {
        ...rest,
        results: Object.fromEntries(Object.entries(results).map(([id, r]) => [id, withoutFile(r)])),
      },
    };
  }
  if (columns.length > 2) {
    const done = columns.map(({ heading, item }) => ({
      name: heading,
      result: item.result ?? whyNot(item),
    }));
    const { runs, ...rest } = gridResult(offer.id, done);
    return { grid: { ...rest, runs: runs.map(withoutFile) } };
  }
  const done = columns.flatMap(({ heading, item }) =>
    item.result ? [{ name: heading, result: item.result }] : [],
  );
  const last = done.length - 1;
  const stored = storedVerdicts(done);
  return {
    runs: done.map(({ result }, i) =>
      withoutFile(i === last ? { ...result, verdicts: [...result.verdicts, ...stored] } : result),
    ),
  };
}
const whyNot = ({ message }: QueuedRun): string => message || 'it was not run to its end';

/** The formats of a saved result. */
export const SAVED_AS = {
  json: {
    title: 'JSON',
    type: 'application/json',
    help: 'Everything, as the command prints it with --json',
  },
  html: {
    title: 'HTML report',
    type: 'text/html',
    help: 'One file with charts, tables and the environment',
  },
  svg: { title: 'SVG', type: 'image/svg+xml', help: 'The charts as one picture' },
  csv: { title: 'CSV', type: 'text/csv', help: 'Every number, a line each' },
} as const;
export type SavedAs = keyof typeof SAVED_AS;

/** Saves a result. @param name of the file, without `vfscope-lab-` and its extension */
export function saveResult(
  name: string,
  as: SavedAs,
  made: {
    readonly object: object;
    readonly html: () => string;
    readonly svg: () => string;
    readonly csv: () => string;
  },
): void {
  const text = as === 'json' ? `${JSON.stringify(made.object, null, 2)}\n` : made[as]();
  saveFile(`vfscope-lab-${name}.${as}`, new Blob([text], { type: SAVED_AS[as].type }));
}

/** Saves the shown results. JSON has the same form as `vfscope lab run --json`. */
export function saveOutcome(name: string, as: SavedAs, outcome: LabOutcome): void {
  saveResult(name, as, {
    object:
      'experiment' in outcome
        ? outcome.experiment
        : 'grid' in outcome
          ? outcome.grid
          : outcome.runs,
    html: () => reportHtml(outcome),
    svg: () => reportSvg(outcome),
    csv: () => reportCsv(outcome),
  });
}

/** Saves the estimated costs of other settings. JSON has the same form as the command's. */
export const saveWhatIf = (name: string, as: SavedAs, whatIf: WhatIf): void =>
  saveResult(name, as, {
    object: whatIf.object,
    html: () => whatIfHtml(whatIf),
    svg: () => whatIfSvg(whatIf),
    csv: () => whatIfCsv(whatIf),
  });
