/**
 * An outcome of the Lab as files for people and tools: one HTML page with charts, the charts as
 * SVG, all numbers as CSV.
 */
import type { Block, ReportTable } from '../../analysis/report/blocks.ts';
import { csvCell } from '../../formats/csv.ts';
import { blockHtml, chartsHtml, htmlPage } from '../../formats/html-page.ts';
import { barChart, chartsFile, curveChart, type Chart } from '../../formats/svg-bars.ts';
import { countOf, formatCount, UNKNOWN } from '../../text/numbers.ts';
import { experimentFor } from '../experiments/documents/tries.ts';
import { verdictsOfEach } from '../experiments/grid-result.ts';
import { clockStepMs, isTime, placed, stepMsOf } from '../experiments/model/aggregate.ts';
import { counterValue } from '../experiments/model/counter-words.ts';
import { environmentFacts, factPairs, type NamedResult } from '../experiments/model/environment.ts';
import { onWords } from '../experiments/model/vfs-facts.ts';
import { placedAgain, runsByHeading, titleOf, type LabOutcome } from '../experiments/outcome.ts';
import type { Growth, RunResult, Verdict } from '../experiments/model/result-types.ts';
import { workloadOf } from '../experiments/workloads/index.ts';
import { answerOf, type Answer } from './answers.ts';
import { countersOfExperiment, countersShown } from './columns.ts';
import { fromToText, milliseconds, number, type ResultTable } from './table.ts';
import { nativeTable } from './native.ts';
import { measuresOf } from './measures.ts';
import { twinNote, twinTable } from './twins.ts';
import { conclusionTexts, verdictSentence, verdictWord } from './verdicts.ts';

interface Parts {
  /** With the VFSs. */
  readonly title: string;
  readonly runs: readonly NamedResult[];
  readonly counters: readonly string[];
  readonly verdicts: readonly Verdict[];
  readonly conclusion: readonly string[];
  /** For the experiment of a question. */
  readonly answer: Answer | null;
  readonly growth: readonly Growth[];
  readonly skipped: readonly (readonly [name: string, why: string])[];
}

function partsOf(outcome: LabOutcome): Parts {
  const runs = runsByHeading(outcome);
  const title = `${titleOf(outcome)}, ${onWords(runs.map(({ result }) => result.run.config.vfs))}`;
  const results = runs.map(({ result }) => result);
  if ('experiment' in outcome) {
    const { experiment: id, verdicts, growth, skipped } = outcome.experiment;
    const experiment = placedAgain(experimentFor(id)!, outcome.experiment);
    const titles = new Map(experiment.variants.map((v) => [v.id, v.title]));
    return {
      title: experiment.title,
      runs: runs.map(({ name, result }) => ({ name: titles.get(name) ?? name, result })),
      counters: countersOfExperiment(experiment, results),
      conclusion: conclusionTexts(experiment, verdicts),
      answer: answerOf(id, outcome.experiment.results),
      verdicts,
      growth,
      skipped: Object.entries(skipped),
    };
  }
  const [first] = results;
  const counters = first
    ? countersShown(
        workloadOf(first.run.workload, first.run.sql),
        results.map(({ totals }) => totals),
      )
    : [];
  if ('grid' in outcome) {
    const { verdicts, growth, skipped } = outcome.grid;
    return {
      title,
      runs,
      counters,
      verdicts: [...verdicts, ...verdictsOfEach(runs)],
      conclusion: [],
      answer: null,
      growth,
      skipped: Object.entries(skipped),
    };
  }
  const verdicts = results.flatMap((result) => result.verdicts);
  return {
    ...{ title, runs, counters, verdicts },
    ...{ conclusion: [], answer: null, growth: [], skipped: [] },
  };
}

/** Of a kind. */
export const MOST_CHARTS = 8;
/**
 * Charts of an answer: a bar for each run with its time and each counter, a bar for each step if
 * one run has several, and curves if there is growth.
 */
function chartsOf({ runs, counters, growth, answer }: Parts): Chart[] {
  const timed = runs.some(({ result }) => result.totalMs);
  const shown = [...(timed ? ['ms'] : []), ...counters];
  const [only] = runs;
  const bySteps = runs.length === 1 && only!.result.steps.length > 1;
  const bars = shown.flatMap((counter): Chart[] => {
    const rows = bySteps
      ? only!.result.steps.map(({ id }) => ({ label: id, result: only!.result, step: id }))
      : runs.map(({ name, result }) => ({ label: name, result, step: 'total' }));
    const all = rows.map(({ label, result, step }) => {
      const found = placed(result, { step, counter });
      const { least, most } = found?.spread ?? {};
      return {
        label,
        value: found?.value ?? null,
        text: found ? counterValue(found.value, counter, found.stepMs) : UNKNOWN,
        ...(least === undefined || most === undefined ? {} : { range: [least, most] as const }),
      };
    });
    return all.some(({ value }) => value) ? [barChart(headingOf(counter), all)] : [];
  });
  const curves = growth
    .filter(({ counter }) => shown.includes(counter))
    .flatMap(({ over, counter, curves: all }) => {
      const chart = curveChart(
        `${headingOf(counter)} over ${over}`,
        all.map(({ name, points }) => ({ label: name, points })),
        (y) => counterValue(y, counter, clockStepMs(runs)),
        formatCount,
      );
      return chart ?? [];
    });
  return [
    ...(answer?.charts ?? []).map((chart) => barChart(chart.title, chart.bars)),
    ...bars.slice(0, MOST_CHARTS),
    ...measuresOf(runs).map(({ chart }) => barChart(chart.title, chart.bars)),
    ...curves.slice(0, MOST_CHARTS),
  ];
}
/** The name of a counter's chart. */
export const headingOf = (counter: string): string => (counter === 'ms' ? 'Time' : counter);

/** As in a report. */
export const reportTable = ({ head, rows, texts = [] }: ResultTable): ReportTable => ({
  head,
  rows,
  texts: [0, ...texts],
});

/** A count of a step, 0 where no counter of its kind moved. */
const countAt = (result: RunResult, step: string, counter: string): string =>
  number(placed(result, { step, counter })?.value) || UNKNOWN;

function runsBlock({ runs, counters }: Parts): Block {
  const timed = runs.some(({ result }) => result.totalMs);
  const times = (result: RunResult): string[] => {
    const { totalMs } = result;
    const stepMs = stepMsOf(result);
    return totalMs
      ? [
          milliseconds(totalMs.median, stepMs),
          totalMs.n > 1 ? fromToText(totalMs, stepMs) : '',
          totalMs.passes.map((ms) => milliseconds(ms, stepMs)).join(', '),
        ]
      : [UNKNOWN, '', ''];
  };
  return {
    heading: 'Runs',
    table: {
      head: ['run', ...(timed ? ['time', 'from-to', 'passes'] : []), ...counters],
      rows: runs.map(({ name, result }) => [
        name,
        ...(timed ? times(result) : []),
        ...counters.map((counter) => countAt(result, 'total', counter)),
      ]),
      texts: [0],
    },
  };
}

function stepsBlocks({ runs, counters }: Parts): Block[] {
  return runs.flatMap(({ name, result }): Block[] => {
    if (result.steps.length < 2) return [];
    const timed = result.run.mode === 'time';
    const stepMs = stepMsOf(result);
    return [
      {
        heading: runs.length > 1 ? `Steps of ${name}` : 'Steps',
        table: {
          head: ['step', ...(timed ? ['time', 'from-to'] : []), ...counters],
          rows: result.steps.map(({ id, ms, skipped }) => [
            id,
            ...(timed
              ? [
                  ms ? milliseconds(ms.median, stepMs) : UNKNOWN,
                  ms && ms.n > 1 ? fromToText(ms, stepMs) : '',
                ]
              : []),
            ...counters.map((counter) => (skipped ? UNKNOWN : countAt(result, id, counter))),
          ]),
          texts: [0],
        },
        lines: result.steps.flatMap(({ id, skipped }) => (skipped ? [`${id}: ${skipped}`] : [])),
      },
    ];
  });
}

/** One self-contained file. */
export function reportHtml(outcome: LabOutcome): string {
  const parts = partsOf(outcome);
  const { title, runs, verdicts, conclusion, answer, skipped } = parts;
  const facts = environmentFacts(runs);
  const twins = twinTable(runs);
  const native = nativeTable(runs);
  const notes = runs.flatMap(({ name, result }) => result.notes.map((note) => `${name}: ${note}`));
  const blocks: (Block | null)[] = [
    answer && { heading: 'Answer', lines: answer.sentences },
    answer?.table
      ? {
          heading: answer.table.title,
          table: reportTable(answer.table),
          lines: [answer.table.help],
        }
      : null,
    conclusion.length ? { heading: 'Conclusion', lines: conclusion } : null,
    verdicts.length
      ? {
          heading: 'Claims',
          table: {
            head: ['verdict', 'claim'],
            rows: verdicts.map((verdict) => [
              verdictWord(verdict),
              { text: verdictSentence(verdict), wide: true },
            ]),
            texts: [0, 1],
          },
        }
      : null,
  ];
  const tables: (Block | null)[] = [
    runsBlock(parts),
    skipped.length
      ? { heading: 'Not run', lines: skipped.map(([name, why]) => `${name}: ${why}`) }
      : null,
    ...measuresOf(runs).map(({ table }) => ({
      heading: table.title,
      table: reportTable(table),
      lines: [table.help],
    })),
    twins && {
      heading: twins.title,
      table: reportTable(twins),
      lines: [twins.help, ...(twinNote(twins) ? [twinNote(twins)] : [])],
    },
    native && { heading: native.title, table: reportTable(native), lines: [native.help] },
    ...stepsBlocks(parts),
    notes.length ? { heading: 'Notes', lines: notes } : null,
    {
      heading: 'Environment',
      facts: factPairs(facts),
    },
  ];
  const html = (all: readonly (Block | null)[]): string[] =>
    all.flatMap((block) => (block ? [blockHtml(block)] : []));
  return htmlPage({
    title,
    note: noteOf(parts),
    body: [...html(blocks), ...chartsHtml('Charts', chartsOf(parts)), ...html(tables)],
  });
}

const noteOf = ({ runs }: Parts): string => {
  const mode = runs[0]?.result.run.mode === 'count' ? 'Counted' : 'Timed';
  const place = runs[0]?.result.environment.runtime ?? UNKNOWN;
  return `${mode} by vfscope in ${place}, ${countOf(runs.length, 'run')}.`;
};

/** Its charts in one picture. */
export function reportSvg(outcome: LabOutcome): string {
  const parts = partsOf(outcome);
  return chartsFile(parts.title, noteOf(parts), chartsOf(parts));
}

/**
 * Every number on a line: for times the median, the minimum, the maximum, and the passes. Times are
 * in ms.
 */
export function reportCsv(outcome: LabOutcome): string {
  const lines = ['run,vfs,step,counter,value,min,max,passes'];
  for (const { name, result } of runsByHeading(outcome)) {
    const steps = [
      ...result.steps.map(({ id, ms, parts, counters }) => ({ id, ms, parts, counters })),
      { id: 'total', ms: result.totalMs, parts: {}, counters: result.totals },
    ];
    for (const { id, ms, parts, counters } of steps) {
      const place = [name, result.run.config.vfs, id];
      for (const [counter, spread] of [['ms', ms] as const, ...Object.entries(parts)])
        if (spread)
          lines.push(
            [...place, counter, spread.median, spread.least, spread.most, spread.passes.join(' ')]
              .map(csvCell)
              .join(','),
          );
      for (const [counter, value] of Object.entries(counters))
        if (!isTime(counter))
          lines.push([...place, counter, value, null, null, null].map(csvCell).join(','));
    }
  }
  return `${lines.join('\n')}\n`;
}
