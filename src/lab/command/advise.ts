/**
 * `vfscope lab advise FILE --database DATABASE`: finds indexes that make the recording's statements
 * cheaper on a copy of the database. In Node.
 */
import type { Advice, AdviceProgress } from '../advisor/advice.ts';
import { advise } from '../advisor/advise.ts';
import { recordedOf } from '../advisor/recorded.ts';
import {
  adviceFacts,
  adviceNotes,
  answerWords,
  effectTable,
  indexFacts,
  planLines,
  statementLines,
} from '../results/advice.ts';
import { adviceCsv, adviceHtml, adviceSvg } from '../results/advice-report.ts';
import { Facts } from '../../analysis/core/graph.ts';
import { listenForInterrupt } from '../../drive/interrupt.ts';
import { wrongUse } from '../../terminal/failure.ts';
import { complain, Exit, openTrace } from '../../terminal/open-file.ts';
import { print } from '../../terminal/stdout.ts';
import { checkWritable, writeWhole } from '../../terminal/write-file.ts';
import { cut, oneLine, shown } from '../../text/clean.ts';
import { databaseFrom } from './database.ts';
import { nodeSurroundings } from './node.ts';
import { checkReportFiles, writeReportFiles, type ReportFiles } from './report-files.ts';
import { factLines } from './run-text.ts';
import { tableLines } from './tables.ts';

export interface AdviseOptions {
  readonly file: string;
  readonly database: string;
  readonly json: boolean;
  /** Where to write the answer as JSON. */
  readonly out: string | undefined;
  /** Reports to write. */
  readonly files?: ReportFiles;
}

/** @returns the exit code @throws CommandFailure with the cause */
export async function adviseCommand({
  file,
  database,
  json,
  out,
  files = {},
}: AdviseOptions): Promise<number> {
  await checkReportFiles(files);
  if (out !== undefined) await checkWritable(out);
  const { store } = await openTrace(file);
  const forUser = (e: unknown): never => {
    if (!(e instanceof Error) || (e.name !== 'Error' && e.name !== 'SQLiteError')) throw e;
    throw wrongUse(e.message);
  };
  const copy = await databaseFrom(database).catch(forUser);
  const interrupt = listenForInterrupt(complain);
  let phase = '';
  const advice = await (async () => {
    const recorded = recordedOf(new Facts(store));
    const tell = ({ what, all }: AdviceProgress): void => {
      if (what !== phase) complain(`${what} (${all})`);
      phase = what;
    };
    return advise(nodeSurroundings(), copy.file, recorded, {
      onProgress: tell,
      stop: () => interrupt.heard(),
    });
  })()
    .catch(forUser)
    .finally(() => interrupt.ignore());
  const text = `${JSON.stringify(advice, null, 2)}\n`;
  if (out !== undefined) await writeWhole(out, [text]);
  const of = { advice, database: copy.name };
  await writeReportFiles(files, {
    html: () => adviceHtml(of),
    svg: () => adviceSvg(of),
    csv: () => adviceCsv(of),
  });
  await print(json ? text : adviceText(advice, copy.name));
  if (!advice.interruptedAt) return Exit.done;
  complain('interrupted: the answer has what was tried.');
  return Exit.browserFailed;
}

const MOST_PLANS = 3;
const MOST_STATEMENTS = 20;
const WIDEST = 100;
const short = (sql: string): string => cut(oneLine(sql), WIDEST);

/** The answer for a terminal. @param database its name */
export function adviceText(advice: Advice, database: string): string {
  const indexes = advice.indexes.flatMap((index, i) => [
    '',
    `${i + 1}. ${oneLine(index.sql)}`,
    ...indexFacts(index).map(([name, value]) => `  ${name.padEnd(12)}  ${shown(value)}`),
    ...tableLines(effectTable(index)),
    ...index.effects
      .slice(0, MOST_PLANS)
      .flatMap((effect) => [
        `  ${short(effect.sql)}`,
        ...planLines(effect).map((line) => `    ${shown(line)}`),
      ]),
  ]);
  const statements = advice.statements
    .slice(0, MOST_STATEMENTS)
    .flatMap((one) => [
      `  ${short(one.sql)}`,
      ...statementLines(one).map((line) => `    ${shown(line)}`),
    ]);
  const more = advice.statements.length - MOST_STATEMENTS;
  return `${[
    `Index advice for ${shown(database)}: ${answerWords(advice)}`,
    ...indexes,
    ...(statements.length ? ['', 'Statements without a new index', ...statements] : []),
    ...(more > 0 ? [`  and ${more} more (--json has them)`] : []),
    '',
    ...adviceNotes(advice).map((note) => `  ${shown(note)}`),
    ...factLines(adviceFacts(advice)),
  ].join('\n')}\n`;
}
