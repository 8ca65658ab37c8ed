/**
 * Whether an engine is completely recorded: its layers, and the workers of its page, which may do
 * storage for it.
 */
import { scriptName } from '../../text/clean.ts';
import { countOf } from '../../text/numbers.ts';
import type { SummaryEngine } from './summary.ts';

/**
 * What is and isn't recorded of an engine, as parts of a sentence: "recorded: web, vfs, sql; not:
 * counters, query (its cause)".
 */
export function engineCoverage({
  layers,
  queryNote,
  unrecordedWorkers: workers,
  earlierWorkers,
  note,
}: SummaryEngine): string {
  const titleOf = (layer: string): string =>
    layer === 'query' && queryNote ? `query (${queryNote})` : layer;
  const named = (on: boolean): string =>
    Object.entries(layers)
      .flatMap(([layer, is]) => (is === on ? [titleOf(layer)] : []))
      .join(', ');
  const missing = named(false);
  return [
    `recorded: ${named(true) || 'nothing'}`,
    ...(missing ? [`not: ${missing}`] : []),
    ...(note ? [note] : []),
    workersText(workers, earlierWorkers),
  ].join('; ');
}

function workersText([first, ...more]: readonly string[], hasEarlier: boolean): string {
  if (first === undefined)
    return hasEarlier
      ? "workers that ran before the recording began aren't recorded, and may store for it"
      : 'all workers that may store for it are recorded';
  const name = scriptName(first) || 'a worker';
  return more.length
    ? `${name} and ${countOf(more.length, 'other worker')} of its page aren't recorded, so what they store for it is missing`
    : `${name} of its page isn't recorded, so what it stores for the engine is missing`;
}
