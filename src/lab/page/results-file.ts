/** The results on show as files: as JSON in the form of `vfscope lab run --json`, with passes that were left out and their reasons; and as reports. */
import { gridResult } from '../experiments/grid-result.ts';
import type { LabOutcome } from '../experiments/outcome.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import { storedVerdicts } from '../experiments/storage-verdicts.ts';
import { reportCsv, reportHtml, reportSvg } from '../results/report.ts';
import { experimentResultOf } from './compare.ts';
import type { PlacedOffer } from './catalog.ts';
import type { QueuedRun } from './run-queue.ts';

interface Shown {
  readonly heading: string;
  readonly item: QueuedRun;
}

/** What the user's files hold is no part of a result. */
function withoutFile(result: RunResult): RunResult {
  const { database, engineFile, ...run } = result.run;
  if (!database) return engineFile ? { ...result, run } : result;
  // a name alone, as a file that was read has it
  return { ...result, run: { ...run, database: { name: database.name } as typeof database } };
}

/** The results on show, as the command would have them. */
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

const json = (outcome: LabOutcome): string =>
  `${JSON.stringify('experiment' in outcome ? outcome.experiment : 'grid' in outcome ? outcome.grid : outcome.runs, null, 2)}\n`;

/** What the results on show are saved as. */
export const SAVED_AS = {
  json: { title: 'JSON', type: 'application/json', make: json },
  html: { title: 'HTML report', type: 'text/html', make: reportHtml },
  svg: { title: 'SVG', type: 'image/svg+xml', make: reportSvg },
  csv: { title: 'CSV', type: 'text/csv', make: reportCsv },
} as const;
export type SavedAs = keyof typeof SAVED_AS;

/** @returns its content, and a name for the file */
export function resultsFile(
  offer: PlacedOffer,
  columns: readonly Shown[],
  as: SavedAs,
): { name: string; file: Blob } {
  const { type, make } = SAVED_AS[as];
  return {
    name: `vfscope-lab-${offer.id}.${as}`,
    file: new Blob([make(outcomeOnPage(offer, columns))], { type }),
  };
}
