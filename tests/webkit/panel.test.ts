/**
 * The panel of Safari's build in WebKit: it records over ports that carry JSON, and opens a stored
 * trace.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { PartReader, toParts } from '../../src/protocol/json-wire.ts';
import type { BackgroundMessage, PanelMessage, RelayMessage } from '../../src/protocol/messages.ts';
import { RelayEnd } from '../../src/protocol/relay.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { SyntheticThread } from '../panel/synthetic-app.ts';
import { newStore, ThreadBuilder } from '../traces/builder.ts';
import { launchWebKit, type DrivenWebKit } from './minibrowser.ts';
import { openPanelPage, servePanelBuild } from './panel-page.ts';

let driven: DrivenWebKit;
let server: Awaited<ReturnType<typeof servePanelBuild>>;
beforeAll(async () => {
  [driven, server] = await Promise.all([launchWebKit(), servePanelBuild()]);
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});
beforeEach(() => openPanelPage(driven.page, server.url));

/** The background's end of the connection: what the panel sends, message by message. */
async function heard(reader: PartReader): Promise<(PanelMessage & { transport?: string })[]> {
  const parts = await driven.page.evaluate(() => window.vfscopeMock.posted.splice(0));
  return parts.flatMap((part) => (reader.take(part)?.message ?? []) as PanelMessage[]);
}
/**
 * Sends a message, in several texts if it is long, because the inspector accepts no long commands.
 */
async function say(message: BackgroundMessage | { k: 'greeting' }): Promise<void> {
  for (const part of toParts(message, 50_000))
    await driven.page.evaluate((text: unknown) => window.vfscopeMock.say(text), part);
}

const titleOf = (id: string): Promise<string> =>
  driven.page.evaluate(
    (name: string) =>
      document.querySelector<HTMLElement>(`[data-testid="${name}"]`)?.parentElement?.title ?? '',
    id,
  );
const click = (id: string): Promise<void> =>
  driven.page.evaluate(
    (name: string) => document.querySelector<HTMLElement>(`[data-testid="${name}"]`)!.click(),
    id,
  );
const failures = (): Promise<string[]> => driven.page.evaluate(() => window.vfscopeMock.failures);

const WAIT = { timeout: 30_000, interval: 20 };

test('a recording over ports that carry JSON: every event arrives and is acknowledged', async () => {
  const reader = new PartReader();
  await say({ k: 'greeting' });
  await say({ k: 'access', access: { origin: '', granted: 'all', frames: [] } });
  await say({ k: 'state', recording: null });
  await click('record');
  const said: PanelMessage[] = [];
  await expect
    .poll(async () => said.push(...(await heard(reader))) && said.map(({ k }) => k), WAIT)
    .toContain('start');
  const start = said.find(({ k }) => k === 'start');
  expect(start).toMatchObject({ scope: 'tab', reload: true, transport: 'runtime' });
  const { capture } = start as Extract<PanelMessage, { k: 'start' }>;
  await say({
    k: 'state',
    recording: {
      tabId: 1,
      scope: 'tab',
      origin: 'https://app.example',
      since: 1,
      tabs: [1],
      capture,
    },
  });

  // the page's side: a thread behind a content script's relay
  const toPanel: RelayMessage[] = [];
  const end = new RelayEnd('page', (message) => void toPanel.push(message));
  const thread = new SyntheticThread('a1', 'main', () => undefined);
  end.carry(thread.port);
  for (let i = 0; i < 200; i++) thread.insert();
  thread.flush();
  const acknowledged = async (): Promise<number> => {
    for (const message of toPanel.splice(0)) await say(message);
    for (const message of await heard(reader)) if (message.k === 'relay') end.receive(message);
    return thread.acknowledged;
  };
  await expect.poll(acknowledged, WAIT).toBe(thread.done.events);
  // the number itself is for the last second
  const inAll = `Calls recorded: ${thread.done.events.toLocaleString('en')} so far`;
  await expect.poll(() => titleOf('live-events'), WAIT).toContain(inAll);
  end.close();
  thread.port.close();
  expect(await failures()).toEqual([]);
});

test('a stored trace: its numbers and its timeline', async () => {
  const store = newStore();
  const builder = new ThreadBuilder(store, { name: 'writer' });
  const db = builder.file('/app.db');
  for (let i = 0; i < 300; i++) {
    builder.call('xWrite', { object: db, offset: i * 4096, length: 4096, dur: 10 });
    builder.idle(100);
  }
  builder.send();
  const bytes = Buffer.from(await (await saveTrace(store)).arrayBuffer()).toString('base64');
  await say({ k: 'greeting' });
  await driven.page.evaluate((text: string) => {
    const chosen = new DataTransfer();
    chosen.items.add(
      new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], 'stored.vfst'),
    );
    const input = document.querySelector<HTMLInputElement>('[data-testid="open-input"]')!;
    input.files = chosen.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
  }, bytes);
  await driven.page.waitForFunction(() =>
    document.querySelector('[data-testid="answer"]')?.textContent?.includes('SQLite kept'),
  );
  await driven.page.evaluate(() =>
    document.querySelector<HTMLElement>('[data-testid="tab-timeline"]')!.click(),
  );
  await driven.page.waitForFunction(
    () => document.querySelector('[data-testid="timeline"][data-frame]') !== null,
  );
  const shown = (await driven.page.evaluate(() => document.body.innerText)).replace(/\s+/g, ' ');
  expect(shown).toContain('stored.vfst');
  expect(shown).toMatch(/reads 0 writes 300 syncs 0 events 300/);
  expect(await failures()).toEqual([]);
});
