/** The exact VFS calls of known SQL (tests/oracle/own-sql-goldens.ts), through the real extension, panel and file. */
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, type Panel } from '../../src/drive/panel.ts';
import { FULL } from '../full.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { Op } from '../../src/event/event.ts';
import { opName } from '../../src/event/operations.ts';
import type { ThreadStore } from '../../src/trace/store.ts';
import { openApp, prepareApp, runApp } from '../oracle/baseline.ts';
import { OWN_SQL_GOLDENS, countsOnly, ownSqlCounts } from '../oracle/own-sql-goldens.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { launch, openNothing, savedStore } from './extension-harness.ts';

let server: AppServer;
let driven: DrivenBrowser;
let page: Page;
let panel: Panel;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
  page = await driven.firstPage();
  panel = await openPanel(page);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});

/** Calls and bytes by `method kind` between the end of the CREATE and the end of the last INSERT or COMMIT. */
function tally(thread: ThreadStore): Record<string, { calls: number; bytes: number }> {
  const { events, definitions } = thread;
  let from = Infinity;
  let to = 0;
  for (let i = 0; i < events.count; i++) {
    if (events.op[i] !== Op.sqlStep) continue;
    const text = definitions.get(events.object[i]!);
    if (text?.kind !== 'sql') continue;
    if (text.text.startsWith('CREATE TABLE t(')) from = events.endSeq[i]!;
    if (/^(INSERT INTO t|COMMIT)/.test(text.text)) to = Math.max(to, events.endSeq[i]!);
  }
  const found: Record<string, { calls: number; bytes: number }> = {};
  for (let i = 0; i < events.count; i++) {
    if (events.op[i]! >= 64 || events.seq[i]! <= from || events.seq[i]! >= to) continue;
    const file = definitions.get(events.object[i]!);
    const sum = (found[
      `${opName(events.op[i]!)} ${file?.kind === 'file' ? file.fileKind : '?'}`
    ] ??= { calls: 0, bytes: 0 });
    sum.calls++;
    sum.bytes += events.length[i]!;
  }
  return found;
}

const APP = '/journeyapps-wa-sqlite/?vfs=Memory&build=sync';
const asPage = async (): Promise<Page> => {
  await openApp(page, server.origin('own-sql') + APP);
  return page;
};
const asFrame = async (): Promise<Page> => {
  await goTo(page, server.origin('own-sql'));
  const element = await page.evaluateHandle((src) => {
    const frame = Object.assign(document.createElement('iframe'), { src });
    return document.body.appendChild(frame);
  }, APP);
  const frame = (await element.contentFrame()) as unknown as Page; // waits and evaluates like one
  await openApp(frame, APP, () => Promise.resolve());
  return frame;
};
/** One rollback journal, with and without an open file, one log, and a frame represent all. */
const IN_SHORT = ['delete', 'delete + exclusive', 'wal + exclusive', 'delete, in a frame'];
const CASES = [
  ...OWN_SQL_GOLDENS.map((golden) => ({ ...golden, open: asPage })),
  { ...OWN_SQL_GOLDENS[0]!, name: `${OWN_SQL_GOLDENS[0]!.name}, in a frame`, open: asFrame },
].filter(({ name }) => FULL || IN_SHORT.includes(name));

test.each(CASES)('$name', async (golden) => {
  await openNothing(page, server.origin('own-sql'));
  await startRecording(panel);
  const app = await golden.open();
  await prepareApp(app);
  const pragmas = (golden.pragmas ?? '')
    .split(';')
    .flatMap((p) => (p ? [p.replace('PRAGMA ', '')] : []));
  const { integrity } = await runApp(app, 'own-sql', {
    n: 1000,
    pragmas,
    oneTransaction: golden.oneTransaction ?? false,
  });
  expect(integrity).toBe('ok');
  await stopRecording(panel);
  const store = await savedStore(driven, panel);
  expect(store.dropped).toBe(0);
  const thread = store.threads.find((t) => t.info.kind === 'worker')!;
  expect(ownSqlCounts(tally(thread))).toEqual(countsOnly(golden));
});
