/**
 * Whether an engine is completely recorded: its layers, and the workers of its page, which may do
 * storage for it.
 */
import { scriptName } from '../../text/clean.ts';
import { countOf } from '../../text/numbers.ts';
import type { SummaryEngine } from './summary.ts';

/** Names of layers that aren't clear by themselves. */
const LAYER_NAMES: Readonly<Record<string, string>> = {
  web: 'storage calls',
  vfs: 'VFS calls',
  sql: 'statements',
};

/**
 * What is and isn't recorded of an engine, as parts of a sentence: "recorded: storage calls, VFS
 * calls, statements; not recorded: counters, query (its cause)".
 */
export function engineCoverage({
  layers,
  queryNote,
  unrecordedWorkers: workers,
  earlierWorkers,
  note,
}: SummaryEngine): string {
  const titleOf = (layer: string): string =>
    layer === 'query' && queryNote ? `query (${queryNote})` : (LAYER_NAMES[layer] ?? layer);
  const named = (on: boolean): string =>
    Object.entries(layers)
      .flatMap(([layer, is]) => (is === on ? [titleOf(layer)] : []))
      .join(', ');
  const missing = named(false);
  return [
    `recorded: ${named(true) || 'nothing'}`,
    ...(missing ? [`not recorded: ${missing}`] : []),
    ...(note ? [note] : []),
    workersText(workers, earlierWorkers),
  ].join('; ');
}

function workersText([first, ...more]: readonly string[], hasEarlier: boolean): string {
  if (first === undefined)
    return hasEarlier
      ? "workers that ran before the recording began aren't recorded, and may use storage for it"
      : 'all workers that may use storage for it are recorded';
  const name = scriptName(first) || 'a worker';
  return more.length
    ? `${name} and ${countOf(more.length, 'other worker')} of its page aren't recorded, so the storage calls that they make for it are missing`
    : `${name} of its page isn't recorded, so the storage calls that it makes for the engine are missing`;
}
