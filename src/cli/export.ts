/**
 * `vfscope export FILE|FOLDER --format F --out OUT [--sanitize]`: a trace in another format, or
 * many traces as one Parquet data set.
 */
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { arrowPieces } from '../formats/arrow.ts';
import { chromeJson } from '../formats/chrome-json.ts';
import { csv } from '../formats/csv.ts';
import { firefoxProfile } from '../formats/firefox-profile.ts';
import { htmlReport } from '../formats/html.ts';
import { otlp } from '../formats/otlp.ts';
import { parquetEvents } from '../formats/parquet.ts';
import { perfetto } from '../formats/perfetto.ts';
import { sqliteFile } from '../formats/sqlite.ts';
import { vfstrace } from '../formats/vfstrace.ts';
import { Facts } from '../analysis/core/graph.ts';
import { privacyReport, privacyText } from '../analysis/privacy/privacy-report.ts';
import { sanitizeStore } from '../analysis/privacy/sanitize.ts';
import { TraceWriter } from '../trace/file/write.ts';
import type { TraceStore } from '../trace/store.ts';
import { textsOf } from '../plan/plan-words.ts';
import { inputsOf, isTrace } from '../fleet/inputs.ts';
import { fleetAdd } from './fleet.ts';
import { plansOfFindings, readWasm } from './plan-wasm.ts';
import { Exit, complain, openTrace } from '../terminal/open-file.ts';
import { wrongUse } from '../terminal/failure.ts';
import { jsonText, print } from '../terminal/stdout.ts';
import { writeWhole } from '../terminal/write-file.ts';

type Piece = string | Uint8Array;
interface Job {
  store: TraceStore;
  /** Name of the trace in the result. */
  title: string;
  sanitized: boolean;
}

/** Formats by their name in `--format`. */
export const FORMATS: Readonly<Record<string, (job: Job) => AsyncIterable<Piece>>> = {
  chrome: ({ store }) => chromeJson(store),
  perfetto: ({ store }) => perfetto(store),
  firefox: ({ store }) => firefoxProfile(store),
  csv: ({ store }) => csv(store),
  arrow: ({ store }) => arrowPieces(store),
  parquet: ({ store }) => parquetEvents(store),
  otlp: ({ store }) => otlp(store),
  sqlite: async function* ({ store }) {
    yield await sqliteFile(store, await readWasm());
  },
  vfstrace: ({ store }) => vfstrace(store),
  html: async function* ({ store, title }) {
    const facts = new Facts(store);
    yield htmlReport(facts, title, textsOf(await plansOfFindings(facts)));
  },
  vfst: traceFile,
};
export const EXPORT_FORMATS: readonly string[] = Object.keys(FORMATS);

interface ExportOptions {
  /** A trace file, or for parquet also a folder of them. */
  file: string;
  format: string;
  /** Path of the file to write (or of the folder); `-` or undefined = stdout. */
  out?: string;
  /** Anonymize it first. */
  sanitize?: boolean;
  /** Print what was written, as one JSON object. */
  json?: boolean;
}

/**
 * @returns the exit code: 0, or 2 if the format is unknown or a file can't be read
 * @throws CommandFailure (exit code 2) if the result can't be written
 */
export async function exportCommand({
  file,
  format,
  out,
  sanitize = false,
  json = false,
}: ExportOptions): Promise<number> {
  const write = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (!write) {
    complain(`There is no export format "${format}": expected ${EXPORT_FORMATS.join(', ')}.`);
    return Exit.wrongUse;
  }
  if (await isFolder(file)) {
    if (format === 'parquet' && out !== undefined && out !== '-') {
      const traces = inputsOf([file]).filter(isTrace);
      if (traces.length) return fleetAdd({ paths: traces, out, sanitize, json });
      complain(`${file} has no .vfst files.`);
      return Exit.wrongUse;
    }
    complain(`${file} is a folder: only --format parquet takes one, with --out FOLDER.`);
    return Exit.wrongUse;
  }
  const toStdout = out === undefined || out === '-';
  if (json && toStdout)
    throw wrongUse('--json needs --out FILE. Without it, the export itself goes to stdout.');
  if (out !== undefined && resolve(out) === resolve(file)) {
    complain(`--out ${out} is the recording itself: expected another file.`);
    return Exit.wrongUse;
  }
  const trace = await openTrace(file);
  const store = sanitize ? sanitizeStore(trace.store) : trace.store;
  if (!sanitize && !trace.header.sanitized)
    complain(`The file contains ${privacyText(privacyReport(store))}. To anonymize it: --sanitize`);
  const title = sanitize ? 'vfscope trace' : basename(file);
  const sanitized = sanitize || trace.header.sanitized;
  const pieces = write({ store, title, sanitized });
  if (toStdout) {
    for await (const piece of pieces) if (!(await print(piece))) break;
    return Exit.done;
  }
  await writeWhole(out, pieces);
  if (json) {
    const { size } = await stat(out);
    await print(jsonText({ file: out, format, bytes: size, sanitized }));
  }
  return Exit.done;
}

/** @throws the error of node:fs if the path exists and can't be read */
async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (e) {
    // opening it as a file reports the error
    if ((e as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw e;
  }
}

/** vfscope's own format: for anonymized copies, and for traces in another format. */
async function* traceFile({ store, sanitized }: Job): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  await new TraceWriter(
    store,
    { write: (bytes) => void pieces.push(bytes) },
    { sanitized: sanitized },
  ).finish();
  yield* pieces;
}
