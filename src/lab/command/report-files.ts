/** `--html`, `--svg` and `--csv`: a result as files beside its text. */
import type { LabOutcome } from '../experiments/outcome.ts';
import { reportCsv, reportHtml, reportSvg } from '../results/report.ts';
import { checkWritable, writeWhole } from '../../terminal/write-file.ts';

/** Where each goes; undefined: not requested. */
export interface ReportFiles {
  readonly html?: string | undefined;
  readonly svg?: string | undefined;
  readonly csv?: string | undefined;
}
/** The outcome of `lab run`. */
export const makersOf = (outcome: LabOutcome): ReportMakers => ({
  html: () => reportHtml(outcome),
  svg: () => reportSvg(outcome),
  csv: () => reportCsv(outcome),
});
/** How to make each requested file. */
type ReportMakers = Readonly<Record<keyof ReportFiles, () => string>>;
const KINDS = ['html', 'svg', 'csv'] as const;

/** Checks before a long run. @throws CommandFailure (2) where one can't be written */
export async function checkReportFiles(files: ReportFiles): Promise<void> {
  for (const kind of KINDS) if (files[kind] !== undefined) await checkWritable(files[kind]);
}

/** @throws CommandFailure (2) where one can't be written */
export async function writeReportFiles(files: ReportFiles, makers: ReportMakers): Promise<void> {
  for (const kind of KINDS)
    if (files[kind] !== undefined) await writeWhole(files[kind], [makers[kind]()]);
}
