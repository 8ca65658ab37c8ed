/**
 * The cost of a recording's pages or checkpoints with other settings, as files for people and
 * tools: one HTML page with charts, the charts as SVG, all numbers as CSV.
 */
import type { Block } from '../../analysis/report/blocks.ts';
import { PAGE_SIZES_NOTE, type Between, type PageSizes } from '../../analysis/pages/page-sizes.ts';
import { choiceNotes, type CheckpointChoices } from '../../analysis/what-if/checkpoint-choices.ts';
import { csvCell } from '../../formats/csv.ts';
import { blockHtml, chartsHtml, htmlPage } from '../../formats/html-page.ts';
import { barChart, chartsFile, type Bar, type Chart } from '../../formats/svg-bars.ts';
import { formatBytes } from '../../text/numbers.ts';
import { choiceTable } from './checkpoint-choices.ts';
import { pageSizeTables } from './page-sizes.ts';
import { reportTable } from './report.ts';
import { number } from './table.ts';

/** The content of reports. */
export interface WhatIf {
  readonly title: string;
  readonly blocks: readonly Block[];
  readonly charts: readonly Chart[];
  readonly csv: readonly (readonly (string | number | null)[])[];
  /** Everything, for JSON. */
  readonly object: object;
}

/** Nothing runs, so there is no engine and no environment. */
const WHAT_IF_NOTE =
  'Computed by vfscope from a recording. Nothing ran, so the result is the same on every machine.';

const NUMBERS = ['reads', 'readBytes', 'writes', 'writeBytes'] as const;
/** @param databases of one recording */
export function pageSizesWhatIf(databases: readonly PageSizes[]): WhatIf {
  const charts = (
    { path, sizes }: PageSizes,
    title: string,
    of: (size: PageSizes['sizes'][number]) => Between,
  ): Chart[] => {
    if (sizes.every((size) => of(size).most === 0)) return [];
    const bars = sizes.map((size): Bar => {
      const { least, most } = of(size);
      return {
        label: `${number(size.pageSize)} bytes${size.recorded ? ', recorded' : ''}`,
        value: most,
        text: least === most ? formatBytes(most) : `${formatBytes(least)} to ${formatBytes(most)}`,
        range: [least, most],
      };
    });
    return [barChart(`${path}: ${title}, at least and at most`, bars)];
  };
  return {
    title: 'What if the pages had another size',
    blocks: [
      ...pageSizeTables(databases).map((one) => ({
        heading: one.title,
        table: reportTable(one),
      })),
      { heading: 'Notes', lines: [PAGE_SIZES_NOTE] },
    ],
    charts: databases.flatMap((database) => [
      ...charts(database, 'bytes read', ({ readBytes }) => readBytes),
      ...charts(database, 'bytes written', ({ writeBytes }) => writeBytes),
    ]),
    csv: [
      ['database', 'page_size', 'recorded', 'count', 'at_least', 'at_most'],
      ...databases.flatMap(({ path, sizes }) =>
        sizes.flatMap((size) =>
          NUMBERS.map((name) => [
            path,
            size.pageSize,
            Number(size.recorded),
            name,
            size[name].least,
            size[name].most,
          ]),
        ),
      ),
    ],
    object: { note: PAGE_SIZES_NOTE, databases },
  };
}

/** @param logs of one recording */
export function checkpointsWhatIf(logs: readonly CheckpointChoices[]): WhatIf {
  const chart = (
    { path, choices }: CheckpointChoices,
    title: string,
    of: (choice: CheckpointChoices['choices'][number]) => number,
  ): Chart =>
    barChart(
      `${path}: ${title}`,
      choices.map((choice) => ({
        label: `wal_autocheckpoint ${choice.autocheckpoint ? number(choice.autocheckpoint) : 'off'}${choice.recorded ? ', recorded' : ''}`,
        value: of(choice),
        text: number(of(choice)),
      })),
    );
  const counted = logs.filter(({ choices }) => choices.length);
  return {
    title: 'What if checkpoints ran at other distances',
    blocks: logs.map((log, i) => ({
      heading: log.path,
      ...(log.choices.length ? { table: reportTable(choiceTable(log, i)) } : {}),
      lines: choiceNotes(log),
    })),
    charts: counted.flatMap((log) => [
      chart(log, 'pages that checkpoints write to the database', ({ dbWrites }) => dbWrites),
      chart(log, 'frames in the log at once, at most', ({ largest }) => largest),
    ]),
    csv: [
      ['database', 'wal_autocheckpoint', 'recorded', 'count', 'value'],
      ...counted.flatMap(({ path, choices }) =>
        choices.flatMap(({ autocheckpoint, recorded, ...counts }) =>
          Object.entries(counts).map(([name, value]) => [
            path,
            autocheckpoint,
            Number(recorded),
            name,
            value,
          ]),
        ),
      ),
    ],
    object: { logs },
  };
}

/** One self-contained file. */
export const whatIfHtml = ({ title, blocks, charts }: WhatIf): string =>
  htmlPage({
    title,
    note: WHAT_IF_NOTE,
    body: [...chartsHtml('Charts', charts), ...blocks.map(blockHtml)],
  });
/** Only the charts. */
export const whatIfSvg = ({ title, charts }: WhatIf): string =>
  chartsFile(title, WHAT_IF_NOTE, charts);
/** Every number on a line. */
export const whatIfCsv = ({ csv }: WhatIf): string =>
  `${csv.map((cells) => cells.map(csvCell).join(',')).join('\n')}\n`;
