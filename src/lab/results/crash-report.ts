/**
 * Crash tests as files for people and tools: one HTML page with its chart, the chart as SVG, all
 * numbers as CSV, everything as JSON.
 */
import { csvCell } from '../../formats/csv.ts';
import { blockHtml, chartsHtml, htmlPage } from '../../formats/html-page.ts';
import { barChart, chartsFile, type Chart } from '../../formats/svg-bars.ts';
import { countOf } from '../../text/numbers.ts';
import { assumptionsOf } from '../crash/assumptions.ts';
import {
  isTested,
  type CrashConfig,
  type CrashOptions,
  type CrashResult,
  type Guarantee,
  type NotTested,
} from '../crash/model.ts';
import { factPairs, ranFacts, type EnvironmentFact } from '../experiments/model/environment.ts';
import { breachLines, coverageLines, crashAnswer } from './crash.ts';

export interface CrashTests {
  readonly options: CrashOptions;
  readonly outcomes: readonly (CrashResult | NotTested)[];
}
const TITLE = 'Crash test';

/**
 * What ran them; [] = nothing ran. Excludes VFSs and pragmas, which are in the table with each
 * configuration.
 */
export function crashFacts(outcomes: CrashTests['outcomes']): EnvironmentFact[] {
  const tested = outcomes.filter(isTested);
  const all = (of: (config: CrashConfig) => string): string =>
    [...new Set(tested.map(({ config }) => of(config)))].join(', ');
  const on = {
    vfs: `${all(({ vfs }) => vfs)} (on storage emulated in memory)`,
    pragmas: `${all(({ journalMode }) => `journal_mode ${journalMode}`)}, ${all(({ synchronous }) => `synchronous ${synchronous}`)}`,
    passes: '1 of each crash',
  };
  return tested.length
    ? ranFacts(tested.map((result) => ({ name: result.config.vfs, result: { ...result, ...on } })))
    : [];
}

const noteOf = ({ options, outcomes }: CrashTests): string =>
  `Tested by vfscope on storage that is emulated in memory: ${countOf(outcomes.length, 'configuration')}, ${countOf(options.commits, 'commit')} each.`;
const chartsOf = ({ outcomes }: CrashTests): Chart[] =>
  crashAnswer(outcomes).charts.map(({ title, bars }) => barChart(title, bars));

/** One self-contained file. */
export function crashHtml(tests: CrashTests): string {
  const { options, outcomes } = tests;
  const { sentences, table } = crashAnswer(outcomes);
  const breaches = breachLines(outcomes);
  const facts = factPairs(crashFacts(outcomes));
  return htmlPage({
    title: TITLE,
    note: noteOf(tests),
    body: [
      ...(sentences.length ? [blockHtml({ heading: 'Answer', lines: sentences })] : []),
      ...chartsHtml('Chart', chartsOf(tests)),
      ...(table
        ? [
            blockHtml({
              heading: table.title,
              table: { head: table.head, rows: table.rows, texts: table.head.map((_, i) => i) },
              lines: [table.help],
            }),
          ]
        : []),
      ...(breaches.length ? [blockHtml({ heading: 'First breaches', lines: breaches })] : []),
      blockHtml({ heading: 'Checked', lines: coverageLines(outcomes) }),
      blockHtml({ heading: 'Assumptions', lines: assumptionsOf(options) }),
      ...(facts.length ? [blockHtml({ heading: 'Environment', facts })] : []),
    ],
  });
}

/** Only the chart. */
export const crashSvg = (tests: CrashTests): string =>
  chartsFile(TITLE, noteOf(tests), chartsOf(tests));

/** One line per configuration and kind of crash. Unknown values are empty. */
export function crashCsv({ outcomes }: CrashTests): string {
  const lines = [
    'vfs,journal_mode,synchronous,durability,crash,keeps,lost_commits_at_most,crashes,points,sampled_points,not_tested',
  ];
  for (const outcome of outcomes) {
    const { vfs, journalMode, synchronous, durability } = outcome.config;
    const place = [vfs, journalMode, synchronous, durability];
    const line = (kind: string, held: Guarantee | null, why: string | null): void => {
      const numbers = held && [held.mostLost, held.states, held.points, held.sampledPoints];
      const cells = [...place, kind, held?.level, ...(numbers ?? [null, null, null, null]), why];
      lines.push(cells.map((cell) => csvCell(cell ?? null)).join(','));
    };
    const why = isTested(outcome) ? null : outcome.cause;
    line('process death', isTested(outcome) ? outcome.processDeath : null, why);
    line('power loss', isTested(outcome) ? outcome.powerLoss : null, why);
  }
  return `${lines.join('\n')}\n`;
}

/** Everything, for JSON. */
export const crashObject = ({ options, outcomes }: CrashTests): object => ({
  ...options,
  assumptions: assumptionsOf(options),
  outcomes,
});
