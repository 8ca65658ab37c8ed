/**
 * The oracle: how often a page really accessed OPFS and IndexedDB, according to Chromium's own
 * tracing. No script of ours runs in the page meanwhile, so the product's counts are judged by
 * these.
 *
 * src/drive/below-storage.ts maps events to calls. OPFS through getFile and createWritable is
 * invisible here: the browser process reads and writes those files, and only the page's own
 * renderer is counted.
 */
import { randomUUID } from 'node:crypto';
import type { Page } from 'puppeteer-core';
import { pageCall, STORAGE_CATEGORIES } from '../../src/drive/below-storage.ts';
import { BrowserTrace, type BrowserEvent } from '../../src/drive/browser-trace.ts';
import { Op } from '../../src/event/event.ts';
import { opName } from '../../src/event/operations.ts';

export interface OracleCounts {
  opfs: {
    reads: number;
    /** Bytes requested, not bytes returned: a read past the end of the file counts completely. */
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

const CATEGORIES = [...STORAGE_CATEGORIES, 'blink.user_timing'];

/**
 * Runs `work` under Chromium's tracing and counts what the renderers of these pages did meanwhile,
 * including their workers, excluding other pages. One trace at a time per browser. Throws if the
 * trace is incomplete: it started late, ended early, or lost events.
 */
export async function runTraced<T>(
  pages: Page | readonly Page[],
  work: () => Promise<T>,
): Promise<{ result: T; counts: OracleCounts }> {
  const all = [pages].flat() as [Page, ...Page[]];
  const id = randomUUID();
  const trace = await BrowserTrace.begin(all[0].browser(), CATEGORIES, () => true);
  const outcome = await between(all, id, work).catch(async (error: unknown) => {
    await trace.end();
    throw error;
  });
  const { events, isWhole } = await trace.end();
  if (!isWhole)
    throw new Error('Chromium lost trace events: the counts would be too low; trace a shorter run');
  const pids = pidsOf(events, id);
  return { result: outcome, counts: count(events.filter((event) => pids.has(event.pid))) };
}

/**
 * Runs `work` between two marks, which identify the renderers and prove that the trace has
 * everything between them.
 */
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

/** The renderers of the pages (a navigation to another site changes it). */
function pidsOf(events: readonly BrowserEvent[], id: string): Set<number> {
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

/** `getAll`, `cursor.continue`: the name of this operation's requests in the counts. */
export const requestName = (op: number): string =>
  opName(op)
    .replace('idb.', '')
    .replace(/^cursor(\w+)$/, (_, method: string) => `cursor.${method.toLowerCase()}`);

function count(events: readonly BrowserEvent[]): OracleCounts {
  const opfs = { reads: 0, readBytesAsked: 0, writes: 0, writeBytes: 0, flushes: 0, truncates: 0 };
  const idb: OracleCounts['idb'] = { transactions: 0, requests: {} };
  for (const event of events) {
    const op = pageCall(event);
    if (op === null) continue;
    const { size = 0 } = event.args as { size?: number };
    if (op === Op.opfsRead) {
      opfs.reads++;
      opfs.readBytesAsked += size;
    } else if (op === Op.opfsWrite) {
      opfs.writes++;
      opfs.writeBytes += size;
    } else if (op === Op.opfsFlush) opfs.flushes++;
    else if (op === Op.opfsTruncate) opfs.truncates++;
    else if (op === Op.idbTransaction) idb.transactions++;
    else idb.requests[requestName(op)] = (idb.requests[requestName(op)] ?? 0) + 1;
  }
  idb.requests = Object.fromEntries(
    Object.entries(idb.requests).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return { opfs, idb };
}
