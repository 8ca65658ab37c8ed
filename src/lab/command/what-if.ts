/**
 * `vfscope lab replay FILE --page-sizes` and `--checkpoints`: what a recording's pages or
 * checkpoints would cost with other settings. Nothing runs.
 */
import { Facts } from '../../analysis/core/graph.ts';
import { PAGE_SIZES_NOTE, pageSizes } from '../../analysis/pages/page-sizes.ts';
import { checkpointChoices, choiceNotes } from '../../analysis/what-if/checkpoint-choices.ts';
import { wrongUse } from '../../terminal/failure.ts';
import { Exit } from '../../terminal/open-file.ts';
import { jsonText, print } from '../../terminal/stdout.ts';
import { plain } from '../../text/clean.ts';
import type { TraceStore } from '../../trace/store.ts';
import { choiceTable } from '../results/checkpoint-choices.ts';
import { pageSizeTables } from '../results/page-sizes.ts';
import {
  checkpointsWhatIf,
  pageSizesWhatIf,
  whatIfCsv,
  whatIfHtml,
  whatIfSvg,
  type WhatIf,
} from '../results/what-if-report.ts';
import { writeReportFiles, type ReportFiles } from './report-files.ts';
import { tableLines } from './tables.ts';

interface Told {
  readonly whatIf: WhatIf;
  readonly lines: readonly string[];
}

/** @returns the exit code @throws CommandFailure where the recording has nothing to count */
export async function whatIfCommand(
  kind: 'pages' | 'checkpoints',
  store: TraceStore,
  json: boolean,
  files: ReportFiles = {},
): Promise<number> {
  const { whatIf, lines } = kind === 'pages' ? pagesOf(store) : checkpointsOf(store);
  await writeReportFiles(files, {
    html: () => whatIfHtml(whatIf),
    svg: () => whatIfSvg(whatIf),
    csv: () => whatIfCsv(whatIf),
  });
  await print(json ? jsonText(whatIf.object) : `${lines.join('\n')}\n`);
  return Exit.done;
}

/** Reads and writes at other page sizes, estimated. */
function pagesOf(store: TraceStore): Told {
  const databases = new Facts(store).get(pageSizes);
  if (databases.length === 0)
    throw wrongUse(
      'The recording has no read or write of a database page whose size is known: record the VFS calls of an app that uses one.',
    );
  const lines = pageSizeTables(databases).flatMap((one) => [
    plain(one.title),
    ...tableLines(one),
    '',
  ]);
  return { whatIf: pageSizesWhatIf(databases), lines: [...lines, PAGE_SIZES_NOTE] };
}

/** What other values of wal_autocheckpoint would cost. */
function checkpointsOf(store: TraceStore): Told {
  const logs = new Facts(store).get(checkpointChoices);
  if (logs.length === 0)
    throw wrongUse(
      'The recording has no write-ahead log: record an app that uses journal_mode=WAL.',
    );
  const lines = logs.flatMap((log, i) => [
    ...(i ? [''] : []),
    plain(log.path),
    ...(log.choices.length ? tableLines(choiceTable(log, i)) : []),
    ...choiceNotes(log).map((note) => `  ${plain(note)}`),
  ]);
  return { whatIf: checkpointsWhatIf(logs), lines };
}
