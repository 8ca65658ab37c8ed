/** `vfscope export FILE|FOLDER --format F --out OUT [--sanitize]`: a trace in a foreign format, or many as one Parquet data set. */
import { open, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import { arrowPieces } from '../formats/arrow.ts';
import { chromeJson } from '../formats/chrome-json.ts';
import { csv } from '../formats/csv.ts';
import { firefoxProfile } from '../formats/firefox-profile.ts';
import { htmlReport } from '../formats/html.ts';
import { parquetEvents } from '../formats/parquet.ts';
import { perfetto } from '../formats/perfetto.ts';
import { sqliteFile } from '../formats/sqlite.ts';
import { vfstrace } from '../formats/vfstrace.ts';
import { privacyReport, privacyText } from '../trace/analysis/privacy-report.ts';
import { sanitizeStore } from '../trace/analysis/sanitize.ts';
import { TraceWriter } from '../trace/file/write.ts';
import type { TraceStore } from '../trace/store.ts';
import { exportDataSet, isFolder } from './export-folder.ts';
import { Exit, complain, openTrace } from './open-file.ts';

type Piece = string | Uint8Array;
interface Job {
  store: TraceStore;
  /** What the trace is called in the result. */
  title: string;
  sanitized: boolean;
}

/** Formats by the name that `--format` takes. */
const FORMATS: Readonly<Record<string, (job: Job) => AsyncIterable<Piece>>> = {
  chrome: ({ store }) => chromeJson(store),
  perfetto: ({ store }) => perfetto(store),
  firefox: ({ store }) => firefoxProfile(store),
  csv: ({ store }) => csv(store),
  arrow: ({ store }) => arrowPieces(store),
  parquet: ({ store }) => parquetEvents(store),
  sqlite: async function* ({ store }) {
    const wasm = createRequire(import.meta.url).resolve('wa-sqlite/dist/wa-sqlite.wasm');
    yield await sqliteFile(store, await readFile(wasm));
  },
  vfstrace: ({ store }) => vfstrace(store),
  html: async function* ({ store, title }) {
    yield await Promise.resolve(htmlReport(store, title));
  },
  vfst: traceFile,
};
export const EXPORT_FORMATS: readonly string[] = Object.keys(FORMATS);

export interface ExportOptions {
  /** A trace file, or for parquet also a folder of them. */
  file: string;
  format: string;
  /** Path of the file (for a folder: the folder) to write; `-` or nothing = stdout. */
  out?: string;
  /** Take the app's words out first. */
  sanitize?: boolean;
}

/** @returns the exit code: 0, or 2 when the format is unknown, a file cannot be read, or the result cannot be written */
export async function exportCommand({ file, format, out, sanitize = false }: ExportOptions): Promise<number> {
  const write = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (!write) {
    complain(`there is no export format "${format}"; known: ${EXPORT_FORMATS.join(', ')}.`);
    return Exit.wrongUse;
  }
  if (await isFolder(file)) return exportDataSet({ folder: file, format, out, sanitize });
  if (out !== undefined && resolve(out) === resolve(file)) {
    complain(`--out ${out} is the trace itself: expected another file.`);
    return Exit.wrongUse;
  }
  const trace = await openTrace(file);
  if (!trace) return Exit.wrongUse;
  const store = sanitize ? sanitizeStore(trace.store) : trace.store;
  if (!sanitize && !trace.header.sanitised)
    complain(`the result holds ${privacyText(privacyReport(store))}. To take the app's words out: --sanitize`);
  const title = sanitize ? 'vfscope trace' : basename(file);
  return writePieces(write({ store, title, sanitized: sanitize || trace.header.sanitised }), out);
}

/** @param out a file, `-` or nothing = stdout; what was begun and failed is removed @returns the exit code @throws what the format throws */
async function writePieces(pieces: AsyncIterable<Piece>, out: string | undefined): Promise<number> {
  if (out === undefined || out === '-') {
    for await (const piece of pieces) await toStdout(piece);
    return Exit.done;
  }
  let begun = false;
  try {
    const target = await open(out, 'w');
    begun = true;
    try {
      for await (const piece of pieces) await target.writeFile(piece);
    } finally {
      await target.close();
    }
  } catch (e) {
    if (begun) await rm(out, { force: true }); // half of it would look like all of it
    if ((e as NodeJS.ErrnoException).syscall === undefined) throw e;
    complain(cannotWrite(out, e as NodeJS.ErrnoException));
    return Exit.wrongUse;
  }
  return Exit.done;
}

function cannotWrite(out: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return `${out} cannot be written: there is no folder ${dirname(out)}.`;
  if (code === 'EISDIR') return `${out} cannot be written: it is a folder.`;
  return `${out} cannot be written: ${message}.`;
}

/** A reader that has gone (`| head`) is no failure. */
async function toStdout(piece: Piece): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(piece, (error) => (error && (error as NodeJS.ErrnoException).code !== 'EPIPE' ? reject(error) : resolve()));
  });
}

/** vfscope's own format: for sanitised copies, and for what came in another format. */
async function* traceFile({ store, sanitized }: Job): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  await new TraceWriter(store, { write: (bytes) => void pieces.push(bytes) }, { sanitised: sanitized }).finish();
  yield* pieces;
}
