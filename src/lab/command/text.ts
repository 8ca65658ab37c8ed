/**
 * Results of the Lab as text to store in a repository and compare line by line: stable order, full
 * counts.
 */
import { isTime, stepMsOf } from '../experiments/model/aggregate.ts';
import { answerOf } from '../results/answers.ts';
import { compare } from '../results/compare.ts';
import { sharesOf } from '../results/shares.ts';
import type { Experiment, Workload } from '../experiments/model/types.ts';
import type {
  ExperimentResult,
  RunResult,
  Spread,
  StepResult,
} from '../experiments/model/result-types.ts';
import type { NamedResult } from '../experiments/model/environment.ts';
import type { PlacedExperiment } from '../experiments/on-vfs.ts';
import { growthLines, passesTable, runsTable } from './growth-text.ts';
import {
  environmentLines,
  headOf,
  notCounted,
  passesText,
  spreadText,
  titleOn,
  verdictText,
} from './run-text.ts';
import { countersOfExperiment, countersShown } from '../results/columns.ts';
import { milliseconds, number } from '../results/table.ts';
import { table } from '../../terminal/report-text.ts';
import { measureLines, nativeLines, twinLines } from './tables.ts';
import { plain } from '../../text/clean.ts';
import { conclusionTexts } from '../results/verdicts.ts';
import { formatShare, UNKNOWN } from '../../text/numbers.ts';

export function listText(
  experiments: readonly Experiment[],
  workloads: readonly Workload[],
): string {
  return `${[
    'Experiments',
    ...experiments.flatMap((e) => [
      `  ${e.id.padEnd(24)}${e.title}`,
      `${' '.repeat(26)}${e.document}`,
    ]),
    '',
    'Workloads',
    ...workloads.map((w) => `  ${w.id.padEnd(24)}${w.title}${parametersText(w)}`),
  ].join('\n')}\n`;
}
const parametersText = (w: Workload): string => {
  const all = Object.entries(w.parameters).map(([name, p]) => `${name}=${p.default}`);
  return all.length ? ` (${all.join(', ')})` : '';
};

export function resultText(workload: Workload, result: RunResult): string {
  const columns = countersShown(
    workload,
    result.steps.map(({ counters }) => counters),
  );
  const timed = result.run.mode === 'time';
  const stepMs = stepMsOf(result);
  const row = (
    name: string,
    counters: StepResult['counters'],
    ms: Spread | null,
    parts: StepResult['parts'] = {},
    skipped?: string,
  ): string[] => [
    plain(name),
    ...(timed
      ? [
          milliseconds(ms?.median, stepMs),
          spreadText(ms, stepMs),
          ...partNames(result).map((part) => milliseconds(parts[part]?.median, stepMs)),
        ]
      : []),
    ...columns.map((c) => (skipped ? UNKNOWN : number(counters[c]))),
  ];
  return `${[
    `${titleOn(workload.title, [result])} (version ${result.version})`,
    ...headOf(result.run),
    '',
    ...(result.steps.every(({ skipped }) => skipped)
      ? ['  No step finished.']
      : table(
          ['step', ...(timed ? ['time', 'from-to', ...partNames(result)] : []), ...columns],
          [
            ...result.steps.map((s) => row(s.id, s.counters, s.ms, s.parts, s.skipped)),
            row(totalName(result), result.totals, result.totalMs),
          ],
        )),
    ...(passesText(result)
      ? ['', `  passes: ${passesText(result)}`, ...notCounted(result).map((words) => `  ${words}`)]
      : []),
    ...shareText(result),
    ...measureLines([{ name: result.run.workload, result }]),
    ...twinLines([{ name: result.run.workload, result }]),
    ...nativeLines([{ name: result.run.workload, result }]),
    ...footOf(result),
  ].join('\n')}\n`;
}
/** What the last row sums. */
function totalName({ steps, fault }: RunResult): string {
  if (fault?.answer) return 'finished steps';
  return steps.some(({ twin, skipped }) => twin && !skipped) ? 'total by SQL' : 'total';
}
const partNames = (result: RunResult): string[] => [
  ...new Set(result.steps.flatMap((s) => Object.keys(s.parts))),
];

const shareText = (result: RunResult): string[] =>
  sharesOf(result).flatMap(({ step, parts }) => [
    '',
    `  share of ${measured(result)} (${plain(step)}): ${parts.map(([p, share]) => `${p} ${formatShare(share)}`).join(', ')}`,
  ]);
const measured = (result: RunResult): string =>
  result.run.mode === 'count' ? 'instructions' : 'time';

/** Empty for a run that ended before it opened its database. */
function storedLines({ digest, stored, settings }: RunResult): string[] {
  const facts = [
    ...(digest ? [`rows ${digest}`] : []),
    ...(stored ? [`stored ${stored.digest}`] : []),
    ...(settings.page_count ? [`pages ${plain(settings.page_count)}`] : []),
  ];
  return facts.length ? ['', `  ${facts.join('; ')}`] : [];
}

const footOf = (result: RunResult): string[] => [
  ...result.steps.flatMap((s) => (s.skipped ? [`  ${plain(s.id)}: n/a, ${plain(s.skipped)}`] : [])),
  ...result.notes.map((note) => `  ! ${plain(note)}`),
  ...(result.verdicts.length ? ['', ...result.verdicts.map(verdictText)] : []),
  ...storedLines(result),
  ...environmentLines([{ name: result.run.workload, result }]),
];

/** Two runs of one workload: every watched counter of both, with the exact difference. */
export function compareText(workload: Workload, a: RunResult, b: RunResult): string {
  const counters = [
    ...(a.totalMs && b.totalMs ? ['ms'] : []),
    ...countersShown(
      workload,
      [...a.steps, ...b.steps].map((s) => s.counters),
    ),
  ];
  // for a single step, the sum adds nothing
  const steps = [...a.steps.map(({ id }) => id), ...(a.steps.length > 1 ? ['total'] : [])];
  const rows = steps.flatMap((step) =>
    compare([a, b], step, counters)
      .filter(({ cells }) => cells.some((cell) => cell !== null))
      .map(({ counter, cells: [x, y] }) => [
        plain(step),
        counter,
        x?.text ?? UNKNOWN,
        y?.text ?? UNKNOWN,
        y?.difference.replace('−', '-') ?? '',
        y?.ratio.replace('−', '-') ?? '',
      ]),
  );
  return `${[
    `${titleOn(workload.title, [a, b])} (version ${a.version})`,
    'A',
    ...headOf(a.run),
    'B',
    ...headOf(b.run),
    ...(a.digest === b.digest ? [] : ['  ! The rows that came back differ between A and B.']),
    '',
    ...table(['step', 'counter', 'A', 'B', 'B - A', 'B / A'], rows),
    ...twinLines([
      { name: 'A', result: a },
      { name: 'B', result: b },
    ]),
    ...nativeLines([
      { name: 'A', result: a },
      { name: 'B', result: b },
    ]),
    '',
    ...[['A', a] as const, ['B', b] as const].flatMap(([name, result]) =>
      passesText(result)
        ? [
            `  passes ${name}: ${passesText(result)}`,
            ...notCounted(result).map((words) => `  ${name}: ${words}`),
          ]
        : [],
    ),
    ...[...a.notes, ...b.notes].map((note) => `  ! ${plain(note)}`),
    ...a.verdicts.map((v) => verdictText({ ...v, text: `A: ${v.text}` })),
    ...b.verdicts.map((v) => verdictText({ ...v, text: `B: ${v.text}` })),
    ...environmentLines([
      { name: 'A', result: a },
      { name: 'B', result: b },
    ]),
  ].join('\n')}\n`;
}

export function experimentText(
  experiment: PlacedExperiment,
  { results, skipped, verdicts, growth }: ExperimentResult,
): string {
  const ran = experiment.variants.flatMap((v) =>
    results[v.id] ? [{ name: v.id, result: results[v.id]! }] : [],
  );
  const counters = countersOfExperiment(
    experiment,
    ran.map(({ result }) => result),
  );
  return `${[
    experiment.title,
    `  ${experiment.document}`,
    `  ${experiment.question}`,
    ...answerLines(experiment.id, results),
    '',
    ...runsTable('variant', ran, counters, 'base', (name) => results[baseOf(experiment, name)]),
    ...baseLines(experiment),
    ...Object.entries(skipped).map(([id, why]) => `  ${id}: not run, ${plain(why)}`),
    ...sharesTable(ran),
    ...measureLines(ran),
    ...twinLines(ran),
    ...growthLines(
      growth.filter(({ counter }) => isTime(counter) || counters.includes(counter)),
      ran,
    ),
    ...passesTable('variant', ran),
    '',
    'Claims',
    ...verdicts.map(verdictText),
    '',
    'Conclusion',
    ...conclusionTexts(experiment, verdicts).map((line) => `  ${line}`),
    ...environmentLines(ran),
  ].join('\n')}\n`;
}

/** For the experiment of a question. */
function answerLines(id: string, results: ExperimentResult['results']): string[] {
  const sentences = answerOf(id, results)?.sentences ?? [];
  return sentences.length ? ['', 'Answer', ...sentences.map((line) => `  ${line}`)] : [];
}

/** The variant to compare with. */
const baseOf = ({ variants, baseline }: PlacedExperiment, id: string): string =>
  variants.find((v) => v.id === id)?.against ?? baseline;
/** The base of each variant. */
function baseLines(experiment: PlacedExperiment): string[] {
  const bases = [...new Set(experiment.variants.map(({ id }) => baseOf(experiment, id)))];
  return [`  base: ${bases.join(', ')}`];
}

/** Each variant made of transactions; nothing where there is none. */
function sharesTable(ran: readonly NamedResult[]): string[] {
  const rows = ran.flatMap(({ name, result }) =>
    sharesOf(result).map(({ parts }) => [name, ...parts.map(([, share]) => formatShare(share))]),
  );
  return rows.length
    ? [
        '',
        `Share of ${measured(ran[0]!.result)}`,
        ...table(['variant', 'begin', 'body', 'commit'], rows),
      ]
    : [];
}
