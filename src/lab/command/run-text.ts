/** Numbers, times, settings, and verdicts of the Lab, formatted for its texts. */
import { stepMsOf } from '../experiments/model/aggregate.ts';
import { onWords } from '../experiments/model/vfs-facts.ts';
import type { Config, Run } from '../experiments/model/types.ts';
import type { RunResult, Spread, Verdict } from '../experiments/model/result-types.ts';
import {
  environmentFacts,
  factText,
  type EnvironmentFact,
  type NamedResult,
} from '../experiments/model/environment.ts';
import { fromToText, milliseconds } from '../results/table.ts';
import { verdictSentence, verdictWord } from '../results/verdicts.ts';
import { plain } from '../../text/clean.ts';

/** From the shortest to the longest pass; '' for one pass. @param stepMs of the clock */
export const spreadText = (s: Spread | null | undefined, stepMs: number): string =>
  s && s.n > 1 ? fromToText(s, stepMs) : '';

/**
 * Each pass, because a median hides two groups of runs. A pass in brackets is left out of the
 * median or is the warm-up.
 */
export function passesText(result: RunResult): string {
  const { totalMs, warmUpMs, leftOut } = result;
  if (!totalMs || (totalMs.passes.length === 1 && warmUpMs === null)) return '';
  const out = new Set(leftOut.map(({ pass }) => pass));
  const stepMs = stepMsOf(result);
  const passes = totalMs.passes.map((ms) => milliseconds(ms, stepMs));
  return [
    ...(warmUpMs === null ? [] : [`[${milliseconds(warmUpMs, stepMs)}]`]),
    ...passes.map((text, i) => (out.has(i + 1) ? `[${text}]` : text)),
  ].join(', ');
}
export const notCounted = ({ warmUpMs, leftOut }: RunResult): string[] => [
  ...(warmUpMs === null ? [] : ['in brackets first: the pass that warms up']),
  ...leftOut.map(({ pass, reason }) => `pass ${pass} is left out: ${plain(reason)}`),
];

/** `name=value` for all that have a value, separated by spaces. */
export const settingsText = (settings: readonly (readonly [string, unknown])[]): string =>
  settings
    .flatMap(([name, value]) => (value === null ? [] : [plain(`${name}=${String(value)}`)]))
    .join(' ');
/** The settings that differ from the build's defaults. */
export const configText = (config: Config): string => settingsText(Object.entries(config));
export const modeText = (run: Run): string =>
  run.mode === 'count'
    ? 'counted: metered engine, fresh instance, seeded'
    : 'timed: unmetered, median of the passes after one that warms up';
/** Mode, settings, and parameters, one per line. */
export const headOf = (run: Run): string[] => [
  `  ${modeText(run)}`,
  `  ${configText(run.config)}`,
  ...(Object.keys(run.parameters).length
    ? [`  ${settingsText(Object.entries(run.parameters))}`]
    : []),
];
/**
 * What ran these results, one fact per line. A value that only some have is on a line with their
 * names.
 */
export const environmentLines = (runs: readonly NamedResult[]): string[] =>
  factLines(runs.length ? environmentFacts(runs) : []);
export function factLines(facts: readonly EnvironmentFact[]): string[] {
  if (facts.length === 0) return [];
  const width = Math.max(...facts.map(({ label }) => label.length));
  return [
    '',
    'Environment',
    ...facts.flatMap(({ label, values }) =>
      values.map((value, i) => `  ${(i ? '' : label).padEnd(width)}  ${plain(factText(value))}`),
    ),
  ];
}

/** With the VFSs of the results. */
export const titleOn = (title: string, results: readonly RunResult[]): string =>
  `${title}, ${onWords(results.map(({ run }) => run.config.vfs))}`;

/** Marks failures so that they stand out in text. */
export function verdictText(v: Verdict): string {
  const word = v.holds === false ? verdictWord(v).toUpperCase() : verdictWord(v);
  return plain(`  ${word.padEnd(6)} ${verdictSentence(v)}`);
}
