/**
 * The oracle: how often a page really touched OPFS and IndexedDB, as Chromium's own tracing saw it. No script of ours runs in the page
 * while it works, so these counts judge the product's.
 *
 * Names in Chromium 156 (other versions may differ; a count of 0 everywhere means that they do):
 * - `disabled-by-default-file`, in the renderer, on the worker's thread: File::Read, File::Write, File::Flush, File::SetLength with
 *   args.size. One each per FileSystemSyncAccessHandle read, write, flush, truncate. (getSize gives File::GetLength and, inside it, File::GetInfo.)
 * - `IndexedDB`, in the renderer: IDBObjectStore::<op>RequestSetup, IDBIndex::<op>RequestSetup and IDBCursor::<op>RequestSetup with
 *   op = get getKey getAll getAllKeys getAllRecords put add delete clear count openCursor openKeyCursor, and on a cursor continue
 *   continuePrimaryKey advance update delete; IDBDatabase::transaction once per transaction() call.
 * - A complete event (phase X) shorter than the trace's clock of 1 us arrives as an instant (phase I): both are calls. Phases s and f are
 *   flow arrows of the same calls, b and e spans of a request: not counted.
 * - The browser process writes files too (its databases, OPFS through createWritable): only the page's own renderer counts. So OPFS
 *   through getFile and createWritable is invisible here.
 */
import { randomUUID } from 'node:crypto';
import type { CDPSession, Page } from 'puppeteer-core';

export interface OracleCounts {
  opfs: {
    reads: number;
    /** Bytes asked for, not bytes returned: a read past the end of the file counts whole. */
    readBytesAsked: number;
    writes: number;
    writeBytes: number;
    flushes: number;
    truncates: number;
  };
  idb: {
    /** transaction() calls. */
    transactions: number;
    /** Requests by method; `cursor.<method>` for those on a cursor. Methods that were not called are absent. */
    requests: Record<string, number>;
  };
}

interface TraceEvent {
  pid: number;
  ph: string;
  name: string;
  args: { size?: number };
}

const CATEGORIES = ['disabled-by-default-file', 'IndexedDB', 'blink.user_timing'];

/**
 * Runs `work` under Chromium's tracing and counts what the renderers of these pages did meanwhile: their workers included, other pages not.
 * One trace at a time per browser. Throws where the trace is not whole: it began late, ended early or lost events.
 */
export async function runTraced<T>(
  pages: Page | readonly Page[],
  work: () => Promise<T>,
): Promise<{ result: T; counts: OracleCounts }> {
  const all = [pages].flat() as [Page, ...Page[]];
  const session = await all[0].browser().target().createCDPSession();
  const id = randomUUID();
  try {
    const events: TraceEvent[] = [];
    session.on('Tracing.dataCollected', ({ value }) =>
      events.push(...(value as unknown as TraceEvent[])),
    );
    await session.send('Tracing.start', {
      transferMode: 'ReportEvents',
      traceConfig: {
        recordMode: 'recordAsMuchAsPossible',
        includedCategories: CATEGORIES,
        excludedCategories: ['*'],
      },
    });
    const outcome = await between(all, id, work).finally(() => endTracing(session));
    const pids = pidsOf(events, id);
    return { result: outcome, counts: count(events.filter((event) => pids.has(event.pid))) };
  } finally {
    await session.detach();
  }
}

/** Runs `work` between two marks: they name the renderers, and prove that the trace holds everything between them. */
async function between<T>(pages: readonly Page[], id: string, work: () => Promise<T>): Promise<T> {
  const markAll = (name: string): Promise<unknown> =>
    Promise.all(pages.map((page) => mark(page, `oracle-${name}-${id}`)));
  await markAll('begin');
  const result = await work();
  await markAll('end');
  return result;
}

/** A mark that leaves nothing behind for the app to find. */
async function mark(page: Page, name: string): Promise<void> {
  await page.evaluate((text) => {
    performance.mark(text);
    performance.clearMarks(text);
  }, name);
}

async function endTracing(session: CDPSession): Promise<void> {
  const complete = new Promise<boolean>((resolve) => {
    session.once('Tracing.tracingComplete', ({ dataLossOccurred }) => resolve(dataLossOccurred));
  });
  await session.send('Tracing.end');
  if (await complete)
    throw new Error('Chromium lost trace events: the counts would be too low; trace a shorter run');
}

/** The renderers that the pages lived in (a navigation to another site changes it). */
function pidsOf(events: readonly TraceEvent[], id: string): Set<number> {
  const pids = new Set<number>();
  for (const end of ['begin', 'end']) {
    const marks = events.filter((event) => event.name === `oracle-${end}-${id}`);
    if (marks.length === 0)
      throw new Error(
        `the trace holds no mark of its own ${end}: tracing did not cover the whole run`,
      );
    for (const { pid } of marks) pids.add(pid);
  }
  return pids;
}

/** Counts calls by their trace events. Pure; exported for its unit test. */
function count(events: readonly TraceEvent[]): OracleCounts {
  const opfs = { reads: 0, readBytesAsked: 0, writes: 0, writeBytes: 0, flushes: 0, truncates: 0 };
  const idb: OracleCounts['idb'] = { transactions: 0, requests: {} };
  for (const { ph, name, args } of events) {
    if (ph !== 'X' && ph !== 'I') continue;
    if (name === 'File::Read') {
      opfs.reads++;
      opfs.readBytesAsked += args.size ?? 0;
    } else if (name === 'File::Write') {
      opfs.writes++;
      opfs.writeBytes += args.size ?? 0;
    } else if (name === 'File::Flush') opfs.flushes++;
    else if (name === 'File::SetLength') opfs.truncates++;
    else if (name === 'IDBDatabase::transaction') idb.transactions++;
    else {
      const request = /^IDB(ObjectStore|Index|Cursor)::(\w+)RequestSetup$/.exec(name);
      if (!request || request[2] === 'createIndex') continue; // createIndex() is no request of the app
      // a recording has one operation for all three ways to move a cursor
      const moved = /^(?:advance|continuePrimaryKey)$/.test(request[2]!);
      const method =
        request[1] === 'Cursor' ? `cursor.${moved ? 'continue' : request[2]}` : request[2]!;
      idb.requests[method] = (idb.requests[method] ?? 0) + 1;
    }
  }
  idb.requests = Object.fromEntries(
    Object.entries(idb.requests).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return { opfs, idb };
}
