/**
 * `vfscope lab replay FILE --config vfs=...`: runs a recording's VFS calls on another VFS, with
 * counts side by side, and writes the replay as a trace for Compare.
 */
import { readFile } from 'node:fs/promises';
import { readWords } from '../experiments/plan.ts';
import { hasFaults } from '../experiments/model/faults.ts';
import { replay, type ReplayReport } from '../experiments/replay/replay.ts';
import { DEFAULT_CONFIG, type Config } from '../experiments/model/types.ts';
import type { TraceStore } from '../../trace/store.ts';
import { listenForInterrupt, type Interrupt } from '../../drive/interrupt.ts';
import { launchBrowser } from '../../drive/browser.ts';
import { browserFailed, wrongUse } from '../../terminal/failure.ts';
import { openLab } from '../drive/lab.ts';
import { TAB_CLOSED } from './browser.ts';
import { nodeSurroundings } from './node.ts';
import { replayGroups } from '../results/replay.ts';
import {
  replayCsv,
  replayFacts,
  replayHtml,
  replayLines,
  replaySvg,
} from '../results/replay-report.ts';
import { number } from '../results/table.ts';
import { checkReportFiles, writeReportFiles, type ReportFiles } from './report-files.ts';
import { configText, factLines } from './run-text.ts';
import { whatIfCommand } from './what-if.ts';
import { complain, Exit, openTrace } from '../../terminal/open-file.ts';
import { print } from '../../terminal/stdout.ts';
import { EXTENSION } from '../../drive/extension-folders.ts';
import { table } from '../../terminal/report-text.ts';
import { plain } from '../../text/clean.ts';
import { checkWritable, writeWhole } from '../../terminal/write-file.ts';
import { UNKNOWN } from '../../text/numbers.ts';

export interface ReplayOptions {
  readonly file: string;
  readonly config: readonly string[];
  readonly node: boolean;
  readonly json: boolean;
  readonly headed: boolean;
  /** Where to write the replay's trace. */
  readonly out: string | undefined;
  /** Reports to write. */
  readonly files?: ReportFiles;
  /** Estimate other page sizes; nothing is replayed. */
  readonly pageSizes: boolean;
  /** Count other values of wal_autocheckpoint; nothing is replayed. */
  readonly checkpoints: boolean;
}

/** @returns the exit code @throws CommandFailure with the cause */
export async function replayCommand({
  file,
  config,
  node,
  json,
  headed,
  out,
  files = {},
  pageSizes,
  checkpoints,
}: ReplayOptions): Promise<number> {
  const runsNothing = pageSizes ? '--page-sizes' : checkpoints ? '--checkpoints' : null;
  if (runsNothing && (config.length || out !== undefined || (pageSizes && checkpoints)))
    throw wrongUse(`${runsNothing} runs nothing: leave --config, --out, and the other one away.`);
  const on = runsNothing ? DEFAULT_CONFIG : configOf(config);
  const opened = await openTrace(file);
  if (runsNothing) {
    await checkReportFiles(files);
    return whatIfCommand(pageSizes ? 'pages' : 'checkpoints', opened.store, json, files);
  }
  if (out !== undefined) await checkWritable(out);
  await checkReportFiles(files);
  const interrupt = listenForInterrupt(complain);
  let closed = false;
  const onClosed = (): void => {
    closed = true;
    complain(TAB_CLOSED);
  };
  const done = await (
    node
      ? inNode(opened.store, on, interrupt)
      : inBrowser(await readFile(file), on, headed, { interrupt: interrupt.first, onClosed })
  ).finally(() => interrupt.ignore());
  if (out !== undefined) await writeWhole(out, [done.trace]);
  await writeReportFiles(files, {
    html: () => replayHtml(done.report),
    svg: () => replaySvg(done.report),
    csv: () => replayCsv(done.report),
  });
  await print(json ? `${JSON.stringify(done.report, null, 2)}\n` : replayText(done.report));
  if (!interrupt.came && !closed) return Exit.done;
  complain('interrupted: the replay has the calls that were made.');
  return Exit.browserFailed;
}

interface Replay {
  readonly report: ReplayReport;
  readonly trace: Uint8Array;
}
async function inNode(store: TraceStore, config: Config, interrupt: Interrupt): Promise<Replay> {
  const { engines, environment } = nodeSurroundings();
  const { report, trace } = await replay(store, config, {
    engines,
    environment,
    interrupted: () => interrupt.heard(),
  }).catch((e: Error) => {
    throw interrupt.came ? browserFailed(e.message) : wrongUse(e.message);
  });
  return { report, trace: new Uint8Array(await trace.arrayBuffer()) };
}

function configOf(words: readonly string[]): Config {
  try {
    const { config, parameters } = readWords(words);
    const [unknown] = Object.keys(parameters);
    if (unknown !== undefined) throw new Error(`"${unknown}" isn't a setting.`);
    if (hasFaults(config as Config))
      throw new Error(
        'A fault profile is for `vfscope lab run`: a replay has no SQLite to answer.',
      );
    if (config.vfs === undefined)
      throw new Error('Choose a VFS, such as --config vfs=OPFSCoopSync.');
    return { ...DEFAULT_CONFIG, ...config };
  } catch (e) {
    throw wrongUse(e instanceof Error ? e.message : String(e));
  }
}

async function inBrowser(
  trace: Uint8Array,
  config: Config,
  headed: boolean,
  options: { readonly interrupt: Promise<void>; readonly onClosed: () => void },
): Promise<Replay> {
  const driven = await launchBrowser({ extension: EXTENSION, headed, outlivesSignals: true });
  try {
    const lab = await openLab(await driven.firstPage(), driven.extensionId);
    const { left, ...done } = await lab.replay(trace, config, {
      ...options,
      onProgress: (done, all) => complain(`${number(done)} of ${number(all)} calls`),
    });
    if (left.length) complain(`left in storage: ${left.join(', ')}`);
    return done;
  } finally {
    await driven.close();
  }
}

/** Counts side by side, as on the Lab's page. */
function replayText(report: ReplayReport): string {
  const tables = replayGroups([report]).flatMap(({ title, rows }) => [
    '',
    ...table(
      [title, 'recorded', 'replayed', 'replayed / recorded'],
      rows.map(({ name, recorded, replayed: [cell] }) => [
        plain(name),
        recorded ?? '',
        plain(cell?.text ?? UNKNOWN),
        cell?.ratio ?? '',
      ]),
    ),
  ]);
  return `${[
    `Replay of ${number(report.calls)} VFS calls: ${configText(report.config)}`,
    ...tables,
    '',
    ...replayLines(report).map((note) => `  ${plain(note)}`),
    ...factLines(replayFacts([{ heading: report.config.vfs, report }])),
  ].join('\n')}\n`;
}
