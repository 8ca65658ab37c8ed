/** `vfscope lab diff A.json B.json`: two saved results side by side. */
import { readFile } from 'node:fs/promises';
import { savedOutcome, titleOf, type LabOutcome } from '../experiments/outcome.ts';
import { diffCsv, diffHtml, diffSvg, type ComparedResults } from '../results/diff-report.ts';
import { diffOf, type ResultDiff } from '../results/result-diff.ts';
import type { ResultTable } from '../results/table.ts';
import { wrongUse } from '../../terminal/failure.ts';
import { cannotRead, Exit } from '../../terminal/open-file.ts';
import { print } from '../../terminal/stdout.ts';
import { plain } from '../../text/clean.ts';
import { countOf } from '../../text/numbers.ts';
import { checkReportFiles, writeReportFiles, type ReportFiles } from './report-files.ts';
import { factLines } from './run-text.ts';
import { tableLines } from './tables.ts';

/** A saved result. @throws CommandFailure (2) with what is wrong with the file */
export async function readOutcome(path: string): Promise<LabOutcome> {
  const text = await readFile(path, 'utf8').catch((e: unknown) => {
    throw wrongUse(cannotRead(path, e, 'a result of the Lab'));
  });
  try {
    return savedOutcome(text, path);
  } catch (e) {
    throw wrongUse((e as Error).message);
  }
}

/**
 * @returns the exit code
 * @throws CommandFailure (2) where a file isn't a result, or the two can't be compared
 */
export async function diffResultsCommand({
  a,
  b,
  json,
  files = {},
}: {
  readonly a: string;
  readonly b: string;
  readonly json: boolean;
  /** Reports to write. */
  readonly files?: ReportFiles;
}): Promise<number> {
  await checkReportFiles(files);
  const [from, to] = [await readOutcome(a), await readOutcome(b)];
  let diff: ResultDiff;
  try {
    diff = diffOf(from, to);
  } catch (e) {
    throw wrongUse((e as Error).message);
  }
  const compared: ComparedResults = { title: titleOf(from), a, b, diff };
  await writeReportFiles(files, {
    html: () => diffHtml(compared),
    svg: () => diffSvg(compared),
    csv: () => diffCsv(compared),
  });
  await print(
    json ? `${JSON.stringify(diff, null, 2)}\n` : diffText(compared.title, { a, b }, diff),
  );
  return Exit.done;
}

/** @param files their names */
export function diffText(
  title: string,
  files: { readonly a: string; readonly b: string },
  { apart, times, counts, equal, onlyA, onlyB, otherRows, environment }: ResultDiff,
): string {
  const section = (table: ResultTable): string[] =>
    table.rows.length ? ['', table.title, ...tableLines(table)] : [];
  const alone = (name: string, names: readonly string[]): string[] =>
    names.map((run) => `  ${plain(run)}: only in ${name}`);
  return `${[
    title,
    `  A  ${plain(files.a)}`,
    `  B  ${plain(files.b)}`,
    ...section(apart),
    ...section(times),
    ...section(counts),
    '',
    `  ${countOf(equal, 'count is', 'counts are')} equal; ${countOf(counts.rows.length, 'count differs', 'counts differ')}`,
    ...alone('A', onlyA),
    ...alone('B', onlyB),
    ...otherRows.map((run) => `  ! ${plain(run)}: the rows that came back differ between A and B.`),
    ...factLines(environment),
  ].join('\n')}\n`;
}
