/**
 * The formats that the panel writes, and the running export, if any. The worker exports from the
 * store in pieces, so that messages are handled in between and a long trace's text needn't fit in
 * memory.
 */
import { arrowPieces } from '../../formats/arrow.ts';
import { chromeJson } from '../../formats/chrome-json.ts';
import { csv, type RowRef } from '../../formats/csv.ts';
import { firefoxProfile } from '../../formats/firefox-profile.ts';
import { Facts } from '../../analysis/core/graph.ts';
import { planTexts } from './queries/plans.ts';
import { htmlReport } from '../../formats/html.ts';
import { parquetEvents } from '../../formats/parquet.ts';
import { perfetto } from '../../formats/perfetto.ts';
import { sqliteSteps } from '../../formats/sqlite.ts';
import { vfstrace } from '../../formats/vfstrace.ts';
import { sanitizeStore } from '../../analysis/privacy/sanitize.ts';
import { TraceWriter } from '../../trace/file/write.ts';
import type { TraceStore } from '../../trace/store.ts';
import type { ExportFormat } from '../../protocol/export-formats.ts';
import { blobOfPieces } from './export-blob.ts';
import { wasmSource } from './queries/wasm-source.ts';
import { yieldToMessages } from '../yield.ts';

type Piece = string | Uint8Array;
interface Job {
  store: TraceStore;
  title: string;
  /** Of the recording, for a trace's header; '' = unknown. */
  origin: string;
  sanitized: boolean;
}

const WRITERS: Readonly<
  Record<ExportFormat, { type: string; write(job: Job): AsyncIterable<Piece> }>
> = {
  chrome: { type: 'application/json', write: ({ store }) => chromeJson(store) },
  perfetto: { type: 'application/octet-stream', write: ({ store }) => perfetto(store) },
  firefox: { type: 'application/json', write: ({ store }) => firefoxProfile(store) },
  csv: { type: 'text/csv', write: ({ store }) => csv(store) },
  arrow: { type: 'application/vnd.apache.arrow.file', write: ({ store }) => arrowPieces(store) },
  parquet: { type: 'application/vnd.apache.parquet', write: ({ store }) => parquetEvents(store) },
  sqlite: { type: 'application/vnd.sqlite3', write: sqlitePieces },
  vfstrace: { type: 'text/plain', write: ({ store }) => vfstrace(store) },
  html: { type: 'text/html', write: htmlPieces },
  vfst: { type: 'application/x-vfscope-trace', write: filePieces },
};

/**
 * The file is one piece, made in memory. An empty piece precedes it each time messages are handled.
 */
async function* sqlitePieces({ store }: Job): AsyncGenerator<Piece> {
  const steps = sqliteSteps(store, wasmSource.at);
  let step = await steps.next();
  for (; !step.done; step = await steps.next()) {
    await yieldToMessages();
    yield '';
  }
  yield step.value;
}

export class Exports {
  private running: AbortController | null = null;
  /** Settles when the running export is done; null = none is running. */
  done: Promise<unknown> | null = null;

  /**
   * @param title, origin name of the trace in the result, and where it was recorded; an anonymized
   * one has neither
   * @throws AbortError if it was canceled
   */
  async run(
    store: TraceStore,
    {
      format,
      sanitize,
      title,
      origin,
    }: { format: ExportFormat; sanitize: boolean; title: string; origin: string },
    onProgress: (bytes: number) => void,
  ): Promise<Blob> {
    if (!Object.hasOwn(WRITERS, format))
      throw new TypeError(`there is no export format "${String(format)}"`);
    const { type, write } = WRITERS[format];
    return this.gather(type, onProgress, () =>
      write({
        store: sanitize ? sanitizeStore(store) : store,
        sanitized: sanitize,
        title: sanitize ? 'vfscope trace' : title,
        origin: sanitize ? '' : origin,
      }),
    );
  }

  /** Some rows as CSV, in their order. @throws AbortError if it was canceled */
  runLines(
    store: TraceStore,
    lines: { thread: Uint16Array; row: Uint32Array },
    onProgress: (bytes: number) => void,
  ): Promise<Blob> {
    return this.gather('text/csv', onProgress, () => csv(store, refsOf(lines)));
  }

  /** Only one export runs at a time: this cancels the previous one. */
  private async gather(
    type: string,
    onProgress: (bytes: number) => void,
    pieces: () => AsyncIterable<Piece>,
  ): Promise<Blob> {
    this.running?.abort();
    const abort = new AbortController();
    this.running = abort;
    const blob = blobOfPieces(pieces(), { type, signal: abort.signal, onProgress });
    const done = blob.catch(() => undefined);
    this.done = done;
    try {
      return await blob;
    } finally {
      if (this.running === abort) this.running = this.done = null;
    }
  }

  cancel(): void {
    this.running?.abort();
  }
}

function* refsOf({ thread, row }: { thread: Uint16Array; row: Uint32Array }): Generator<RowRef> {
  for (let i = 0; i < row.length; i++) yield { thread: thread[i]!, row: row[i]! };
}

async function* htmlPieces({ store, title }: Job): AsyncGenerator<string> {
  const facts = new Facts(store);
  yield htmlReport(facts, title, await planTexts(facts));
}

/** Pieces as they are packed. Writing ends when the caller stops iterating. */
async function* filePieces({ store, sanitized, origin }: Job): AsyncGenerator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let stopped = false;
  let wake = (): void => {};
  const write = (bytes: Uint8Array): void => {
    if (stopped) throw new DOMException('The export was canceled.', 'AbortError');
    pieces.push(bytes);
    wake();
  };
  let end: { error?: unknown } | null = null;
  new TraceWriter(store, { write }, { sanitized: sanitized, origin })
    .finish()
    .then(
      () => (end = {}),
      (error: unknown) => (end = { error }),
    )
    .finally(() => wake());
  try {
    for (;;) {
      yield* pieces.splice(0);
      if (pieces.length) continue;
      const ended = end as { error?: unknown } | null;
      if (ended && 'error' in ended) throw ended.error;
      if (ended) return;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    stopped = true;
  }
}
