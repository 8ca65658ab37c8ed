/**
 * A page observes the same with and without a recording, except for the differences in
 * docs/limits.md. Each visible difference has an id there, and each id there that a test can see is
 * seen here.
 */
import { readFile } from 'node:fs/promises';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openPanel, type Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { eventsSaid, launch, moreEvents, recorded } from './extension-harness.ts';
import { saved } from './threads-harness.ts';

declare function observe(): Promise<Record<string, string>>;

let server: AppServer;
let plain: DrivenBrowser;
let driven: DrivenBrowser;
beforeAll(async () => {
  [server, plain, driven] = await Promise.all([
    createServer(),
    launch({ extension: null }),
    launch(),
  ]);
});
afterAll(async () => {
  await Promise.all([plain?.close(), driven?.close(), server?.close()]);
});

/** Ids of the table's rows that this test should observe. */
async function knownDifferences(): Promise<string[]> {
  const text = await readFile(new URL('../../docs/limits.md', import.meta.url), 'utf8');
  const ids = [...text.matchAll(/^\| `([a-z-]+)` \|.*\| seen \|$/gm)].map(([, id]) => id!);
  if (ids.length === 0)
    throw new Error(
      'docs/limits.md lists no difference that a test sees: is its table still `| `id` | ... | seen |`?',
    );
  return ids.sort();
}

/** A policy that lets our blob: workers start also allows the app's, so these can't be compared. */
const WIDENED = 'policy-widened';
const OF_BLOBS = /\/(?:throws in a )?blob$|^worker\/error\/syntax$/;

/** Presses *Record these workers*, which reloads the page. */
async function widen(page: Page, panel: Panel): Promise<void> {
  await page.evaluate(() => void new Worker('self.js')); // stays native, and is noted
  await panel.frame.waitForSelector('[data-testid="widen-policy"]');
  const loaded = page.waitForNavigation();
  await panel.frame.evaluate(() =>
    document.querySelector<HTMLElement>('[data-testid="widen-policy"]')!.click(),
  );
  await loaded;
  await recorded(page);
  await panel.frame.waitForSelector('[data-testid="policy-open"]');
}

describe.each([
  ['', ''],
  ['/coi', ''],
  ['/csp-inline', 'with its policy widened'],
])('a page %s %s', (variant, widened) => {
  test('observes the same except for what the document lists', async () => {
    const url = `${server.origin(`observe${variant.slice(1)}`)}${variant}/hook-cases/observe/`;
    const bare = await plain.browser.newPage();
    await bare.goto(url);
    const without = await bare.evaluate(() => observe());
    expect(Object.keys(without).length).toBeGreaterThan(200);

    const page = await driven.browser.newPage();
    const panel = await openPanel(page);
    await startRecording(panel);
    const none = await eventsSaid(panel);
    await page.goto(url);
    await recorded(page);
    await moreEvents(panel, none);
    if (widened) await widen(page, panel);
    const during = await page.evaluate(() => observe());
    // a tab of another origin meanwhile has no differences
    const other = await driven.browser.newPage();
    await other.goto(url.replace('observe', 'another'));
    expect(await other.evaluate(() => observe())).toEqual(without);
    await other.close();
    await stopRecording(panel);
    const { store, summary } = await saved(driven, panel);
    // what the platform also refuses is the app's error, not a fault of vfscope
    expect(
      store.threads
        .flatMap(({ notes }) => notes.filter(({ topic }) => topic === 'tracer-error'))
        .map(({ text }) => text),
    ).toEqual([]);
    expect(summary.faults).toBe(0);
    expect(summary.events).toBeGreaterThan(100);

    const differ = [...new Set([...Object.keys(without), ...Object.keys(during)])].filter(
      (name) => without[name] !== during[name],
    );
    if (process.env['SHOW'])
      for (const name of differ) console.log(`${name}\n  - ${without[name]}\n  + ${during[name]}`);
    const known = (await knownDifferences()).filter((id) => widened || id !== WIDENED);
    const groupOf = (name: string): string =>
      widened && OF_BLOBS.test(name) ? WIDENED : name.slice(0, name.indexOf('/'));
    const unknown = differ.filter((name) => !known.includes(groupOf(name)));
    expect(
      Object.fromEntries(unknown.map((name) => [name, [without[name], during[name]]])),
    ).toEqual({});
    expect(
      [...new Set(differ.map(groupOf))].sort(),
      'a difference that is gone leaves docs/limits.md',
    ).toEqual(known);
    await Promise.all([page.close(), bare.close()]);
  });
});
