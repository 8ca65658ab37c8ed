/**
 * A replay as files for people and tools: one HTML page with charts, the charts as SVG, all counts
 * as CSV.
 */
import { csvCell } from '../../formats/csv.ts';
import { blockHtml, chartsHtml, htmlPage } from '../../formats/html-page.ts';
import { barChart, chartsFile, type Chart } from '../../formats/svg-bars.ts';
import { countOf, formatDuration, UNKNOWN } from '../../text/numbers.ts';
import {
  factPairs,
  ranFacts,
  vfsText,
  type EnvironmentFact,
} from '../experiments/model/environment.ts';
import { errorWords } from '../experiments/replay/control.ts';
import type { ReplayReport } from '../experiments/replay/replay.ts';
import { notesOf, replayGroups } from './replay.ts';
import { number } from './table.ts';

/** What ran replays. @param replays at least one, each with its name */
export const replayFacts = (
  replays: readonly { readonly heading: string; readonly report: ReplayReport }[],
): EnvironmentFact[] =>
  ranFacts(
    replays.map(({ heading, report }) => ({
      name: heading,
      result: {
        ...report,
        vfs: vfsText(report.config),
        pragmas: `${UNKNOWN} (a replay makes VFS calls: no SQLite connection is open)`,
        passes: '1',
      },
    })),
  );
/** All notes on it beside its numbers. */
export const replayLines = (report: ReplayReport): string[] => [
  ...notesOf(report),
  report.estimate,
  errorWords(report.error, report.errorWhy),
];

const titleOf = ({ config }: ReplayReport): string => `Replay on ${config.vfs}`;
const noteOf = ({ calls, environment }: ReplayReport): string =>
  `Replayed by vfscope in ${environment.runtime ?? UNKNOWN}: ${countOf(calls, 'VFS call')}.`;

/** Time and each storage call separately, because their numbers differ by orders of magnitude. */
function chartsOf({ recorded, replayed }: ReplayReport): Chart[] {
  const pair = (
    title: string,
    before: number | null,
    now: number,
    text: (n: number) => string,
  ): Chart =>
    barChart(title, [
      { label: 'recorded', value: before, text: before === null ? UNKNOWN : text(before) },
      { label: 'replayed', value: now, text: text(now) },
    ]);
  const names = Object.keys(replayed.web).filter((name) => replayed.web[name]);
  return [
    pair('Time in VFS calls, an estimate', recorded.vfsUs, replayed.vfsUs, formatDuration),
    ...names
      .sort()
      .map((name) => pair(name, recorded.web?.[name] ?? null, replayed.web[name]!, number)),
  ];
}

/** One self-contained file. */
export function replayHtml(report: ReplayReport): string {
  return htmlPage({
    title: titleOf(report),
    note: noteOf(report),
    body: [
      ...replayGroups([report]).map(({ title, help, rows }) =>
        blockHtml({
          heading: title,
          table: {
            head: ['count', 'recorded', 'replayed', 'replayed / recorded'],
            rows: rows.map(({ name, recorded, replayed: [cell] }) => [
              name,
              recorded ?? '',
              cell?.text ?? UNKNOWN,
              cell?.ratio ?? '',
            ]),
            texts: [0],
          },
          lines: [help],
        }),
      ),
      ...chartsHtml('Charts', chartsOf(report)),
      blockHtml({ heading: 'Notes', lines: replayLines(report) }),
      blockHtml({
        heading: 'Environment',
        facts: factPairs(replayFacts([{ heading: report.config.vfs, report }])),
      }),
    ],
  });
}

/** Only the charts. */
export const replaySvg = (report: ReplayReport): string =>
  chartsFile(titleOf(report), noteOf(report), chartsOf(report));

/** One line per count. Unknown values are empty. */
export function replayCsv({ recorded, replayed }: ReplayReport): string {
  const lines = ['layer,count,recorded,replayed'];
  const add = (
    layer: string,
    before: Readonly<Record<string, number>> | null,
    now: Readonly<Record<string, number>>,
  ): void => {
    for (const name of [...new Set([...Object.keys(before ?? {}), ...Object.keys(now)])].sort())
      lines.push([layer, name, before?.[name] ?? null, now[name] ?? null].map(csvCell).join(','));
  };
  add('time', { 'VFS calls, µs': recorded.vfsUs }, { 'VFS calls, µs': replayed.vfsUs });
  add('vfs', recorded.vfs, replayed.vfs);
  add('web', recorded.web, replayed.web);
  return `${lines.join('\n')}\n`;
}
