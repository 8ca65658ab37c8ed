/** The results on show as JSON, in the form of `vfscope lab run --json`: passes that were left out, with their reasons, are in it. */
import { gridResult } from '../experiments/grid-result.ts';
import type { RunResult } from '../experiments/model/result-types.ts';
import { storedVerdicts } from '../experiments/storage-verdicts.ts';
import { experimentResultOf } from './compare.ts';
import type { Offer } from './catalog.ts';
import type { QueuedRun } from './run-queue.ts';

/** What the user's database holds is no part of a result. */
const withoutFile = (result: RunResult): unknown => ({
  ...result,
  run: {
    ...result.run,
    ...(result.run.database ? { database: { name: result.run.database.name } } : {}),
  },
});

/** @returns its text, and a name for the file */
export function resultsFile(
  offer: Offer,
  columns: readonly { heading: string; item: QueuedRun }[],
): { name: string; text: string } {
  const name = `vfscope-lab-${offer.id}.json`;
  if (offer.kind === 'experiment') {
    const { results, ...rest } = experimentResultOf(
      offer.experiment,
      columns.map(({ item }) => item),
    );
    return {
      name,
      text: text({
        ...rest,
        results: Object.fromEntries(Object.entries(results).map(([id, r]) => [id, withoutFile(r)])),
      }),
    };
  }
  if (columns.length > 2) {
    const done = columns.map(({ heading, item }) => ({
      name: heading,
      result: item.result ?? whyNot(item),
    }));
    const { runs, ...rest } = gridResult(offer.id, done);
    return { name, text: text({ ...rest, runs: runs.map(withoutFile) }) };
  }
  const done = columns.flatMap(({ heading, item }) =>
    item.result ? [{ name: heading, result: item.result }] : [],
  );
  const last = done.length - 1;
  const stored = storedVerdicts(done);
  return {
    name,
    text: text(
      done.map(({ result }, i) =>
        withoutFile(i === last ? { ...result, verdicts: [...result.verdicts, ...stored] } : result),
      ),
    ),
  };
}
const whyNot = ({ message }: QueuedRun): string => message || 'it was not run to its end';
const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
