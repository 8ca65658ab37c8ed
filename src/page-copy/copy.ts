/**
 * Lists the databases that the inspected page stores, and copies one of them to the Lab or the
 * panel. Everything stays in this browser.
 */
import { runInPage } from '../platform/in-page.ts';
import {
  COPY_PIECE_BYTES,
  isCopyBegun,
  isCopyPiece,
  isCopyRefused,
  isPageDatabases,
  MAX_COPY_BYTES,
  MOST_DATABASES,
  type PageDatabase,
  type PageDatabases,
} from '../protocol/page-copy.ts';
import { MOST_FILES } from '../protocol/page-storage.ts';
import { beginCopy } from './begin.ts';
import { listDatabases } from './list.ts';
import { checkCopy, pieceOf } from './pieces.ts';

/** If the app writes occasionally, a later attempt fits between two writes. */
const TRIES = 5;
const CHANGED =
  'It changed while it was copied: the app is writing to it. Try again when the app is idle.';

interface Copied {
  main: Blob;
  wal: Blob | null;
}

/** @throws Error with a message for the user */
export async function databasesOf(tabId: number): Promise<PageDatabases> {
  const answer = await runInPage(tabId, listDatabases, [
    MOST_DATABASES,
    MAX_COPY_BYTES,
    MOST_FILES,
  ]);
  if (!isPageDatabases(answer))
    throw new Error("The page's answer isn't a list of databases. Reload it and try again.");
  return answer;
}

/** @throws Error with a message for the user: refused, changed, or no access to the page */
export async function copyFrom(tabId: number, { store, at, name }: PageDatabase): Promise<Copied> {
  for (let tries = 1; ; tries++) {
    const begun = await runInPage(tabId, beginCopy, [store, at, name, MAX_COPY_BYTES]);
    if (isCopyRefused(begun)) throw new Error(`${name} was not copied. ${begun.refused}`);
    let copied: Copied | null;
    let same = false;
    try {
      copied = await partsOf(tabId, begun);
    } finally {
      // always let the page release what it holds
      const last = (await runInPage(tabId, checkCopy, [])) as { same?: unknown };
      same = last.same === true;
    }
    if (copied && same) return copied;
    if (tries === TRIES) throw new Error(`${name} was not copied. ${CHANGED}`);
  }
}

/** @param begun the page's answer @returns null if it changed meanwhile */
async function partsOf(tabId: number, begun: unknown): Promise<Copied | null> {
  if (!isCopyBegun(begun))
    throw new Error("The page's answer isn't a copy. Reload it and try again.");
  const main = await partOf(tabId, 'main', begun.main);
  if (!main || begun.wal === null) return main && { main, wal: null };
  const wal = await partOf(tabId, 'wal', begun.wal);
  return wal && { main, wal };
}

/** @returns null if it changed meanwhile */
async function partOf(tabId: number, part: 'main' | 'wal', size: number): Promise<Blob | null> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let from = 0; from < size; from += COPY_PIECE_BYTES) {
    const to = Math.min(size, from + COPY_PIECE_BYTES);
    const piece = await runInPage(tabId, pieceOf, [part, from, to]);
    if (isCopyRefused(piece)) return null;
    if (!isCopyPiece(piece))
      throw new Error("The page's answer isn't a piece of a file. Reload it and try again.");
    const bytes = Uint8Array.from(atob(piece), (c) => c.charCodeAt(0));
    if (bytes.length !== to - from)
      throw new Error(`The page answered ${bytes.length} bytes instead of ${to - from}.`);
    pieces.push(bytes);
  }
  return new Blob(pieces);
}
