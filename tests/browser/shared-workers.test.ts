/**
 * SharedWorkers in Chromium: recorded, and shared by all pages of their origin, whichever are
 * recorded.
 */
import type { Page } from 'puppeteer-core';
import { afterEach, beforeAll, beforeEach, afterAll, expect, test } from 'vitest';
import { some } from '../full.ts';
import { longTest } from './long-test.ts';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanel, type Panel } from '../../src/drive/panel.ts';
import { SHARED_WAS_RUNNING } from '../../src/protocol/messages.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { inTheLab } from '../contract/helpers/in-the-lab.ts';
import { launch, recorded, savedStore } from './extension-harness.ts';
import { PATCH_PLATFORM } from './hooks-harness.ts';
import { executedBeforeClose, labWorkload } from './lab-workload.ts';
import { marksOf } from './threads-harness.ts';

let server: AppServer;
let driven: DrivenBrowser;
/** The browser's first page, which no test uses. */
let blank: Page;
/** Origin of one test, without workers or scripts left by another test. */
let origin: string;
let labels = 0;
beforeAll(async () => {
  [server, driven] = await Promise.all([createServer(), launch()]);
  blank = await driven.firstPage();
});
afterAll(async () => {
  await driven?.close();
  await server?.close();
});
beforeEach(() => void (origin = server.origin(`shared-${++labels}`)));
afterEach(async () => {
  const pages = (await driven.browser.pages()).filter((page) => page !== blank);
  // DevTools close with their page
  for (const page of pages) if (!page.url().startsWith('devtools:')) await page.close();
  await blank.goto(`chrome-extension://${driven.extensionId}/devtools/options.html`);
  await blank.evaluate(() => chrome.storage.local.clear()); // settings that its panel stored
});

interface Said {
  id: string;
  connections: number;
  name: string;
  location: string;
  said: string;
}
/** Runs in a page: starts the worker, or uses the page's existing one, and makes it set a mark. */
const ask = (
  page: Page,
  mark: string,
  script = 'counter.js',
  options: object | number = {},
): Promise<Said> =>
  page.evaluate(
    (mark, script, options) =>
      new Promise<Said>((done, failed) => {
        // anything but an object is a name
        const given = typeof options === 'number' ? options : { name: 'counter', ...options };
        const worker = new SharedWorker(script, given as WorkerOptions);
        worker.onerror = () => failed(new Error('error event'));
        worker.port.onmessage = ({ data }) => done(data as Said);
        worker.port.postMessage(mark);
      }),
    mark,
    script,
    options,
  );
const open = async (variant = ''): Promise<Page> => {
  const page = await driven.browser.newPage();
  await goTo(page, `${origin}${variant}/hook-cases/`);
  return page;
};
async function begin(variant = '', capture = {}): Promise<{ page: Page; panel: Panel }> {
  const page = await driven.browser.newPage();
  const panel = await openPanel(page);
  await startRecording(panel, { capture });
  await goTo(page, `${origin}${variant}/hook-cases/`);
  await recorded(page);
  return { page, panel };
}
/** Scripts that pages get, as the extension reports them. */
async function registeredScripts(): Promise<string[]> {
  const ours = await driven.browser.newPage();
  await ours.goto(`chrome-extension://${driven.extensionId}/devtools/options.html`);
  const ids = await ours.evaluate(async () =>
    (await chrome.scripting.getRegisteredContentScripts()).map(({ id }) => id),
  );
  await ours.close();
  return ids;
}
/** Marks of the recording's shared workers. */
async function marks(panel: Panel): Promise<string[][]> {
  const { threads } = await savedStore(driven, panel);
  return threads
    .filter(({ info }) => info.kind === 'shared-worker')
    .map((thread) => marksOf(thread).map(({ name }) => name));
}

test.each(
  some<[variant: string, script: string, options: WorkerOptions | number]>([
    ['/coi', 'counter.js', {}],
    ['', 'counter.js', {}],
    ['', 'counter-module.js', { type: 'module' }],
    ['', 'counter.js', 5],
  ]),
)('one for two tabs of an origin, %s %s', async (variant, script, options) => {
  const { page, panel } = await begin(variant);
  const first = await ask(page, 'first', script, options);
  expect(first).toMatchObject({
    connections: 1,
    name: typeof options === 'number' ? String(options) : 'counter',
    location: `${origin}${variant}/hook-cases/${script}`,
  });
  const other = await open(variant);
  const second = await ask(other, 'second', script, options);
  expect(second).toMatchObject({ id: first.id, connections: 2 });
  await page.bringToFront();
  await stopRecording(panel);
  expect(await marks(panel)).toEqual([['first', 'second']]);

  // after Stop there is still one, also for a page that loads only then
  const third = await open(variant);
  expect(await ask(third, 'third', script, options)).toMatchObject({
    id: first.id,
    connections: 3,
  });
  expect(await ask(page, 'fourth', script, options)).toMatchObject({ id: first.id });
  // the last page that holds it closes, so the next one is the browser's own
  await other.close();
  await third.close();
  await page.goto('about:blank');
  const fresh = await open(variant);
  const native = await ask(fresh, 'native', script, options);
  expect(native).toMatchObject({ connections: 1 });
  expect(native.id).not.toBe(first.id);
});

/** Presses the panel's button, and waits until these pages have reloaded. */
async function reloadTabs(panel: Panel, ...pages: Page[]): Promise<void> {
  const loaded = pages.map((one) => one.waitForNavigation());
  await panel.frame.waitForSelector('[data-testid="reload-tabs"]');
  await panel.frame.evaluate(() =>
    document.querySelector<HTMLElement>('[data-testid="reload-tabs"]')!.click(),
  );
  await Promise.all(loaded);
}
/** A page with a native one, and a recorded page next to it. */
async function besideNative(): Promise<{ page: Page; panel: Panel; before: Page }> {
  const page = await driven.browser.newPage();
  await goTo(page, `${origin}/hook-cases/`);
  const before = await open();
  const native = await ask(before, 'native');
  const panel = await openPanel(page);
  await page.bringToFront();
  await panel.frame.waitForSelector('[data-testid="other-tabs"]');
  await startRecording(panel); // reloads the page
  await recorded(page);
  expect(await ask(page, 'joins')).toMatchObject({ id: native.id, connections: 2 });
  await panel.frame.waitForFunction(
    (text) => document.querySelector('[data-testid="notice"]')?.textContent.includes(text),
    { polling: 50 },
    SHARED_WAS_RUNNING,
  );
  return { page, panel, before };
}

test('next to a tab that was open earlier it stays native, until that tab is closed', async () => {
  const { page, panel, before } = await besideNative();
  await before.close();
  await page.reload();
  await recorded(page);
  const ours = await ask(page, 'ours');
  expect(ours.connections).toBe(1);
  await stopRecording(panel);
  expect(await marks(panel)).toEqual([['ours']]);
});

test('the panel reloads tabs that hold another one, during a recording and after it', async () => {
  const { page, panel, before } = await besideNative();
  await reloadTabs(panel, page, before);
  await recorded(page);
  const [first, second] = await Promise.all([ask(page, 'first'), ask(before, 'second')]);
  expect(first.id).toBe(second.id);
  await page.bringToFront();
  await stopRecording(panel);
  expect((await marks(panel)).map((all) => all.sort())).toEqual([['first', 'second']]);

  await reloadTabs(panel, page, before);
  const [one, other] = await Promise.all([ask(page, 'one'), ask(before, 'other')]);
  expect(one.id).toBe(other.id);
  expect(one.id).not.toBe(first.id);
  // nothing of vfscope is left then
  const later = await open();
  expect(await later.evaluate(() => String(SharedWorker))).toContain('SharedWorker');
  expect(await ask(later, 'later')).toMatchObject({ id: one.id, connections: 3 });
});

test('pages write one database, whichever began its worker: before, during, and after the recording', async () => {
  const tabs: Page[] = [];
  const openList = async (): Promise<Page> => {
    const tab = await driven.browser.newPage();
    await goTo(tab, `${origin}/powersync/`);
    tabs.push(tab);
    return tab;
  };
  const rows: string[] = [];
  /** Each tab adds a row, all at the same time. Then each has all of them. */
  const allWrite = async (when: string): Promise<void> => {
    const shown = (count: number): Promise<unknown> =>
      Promise.all(
        tabs.map((tab) =>
          tab.waitForFunction(
            (wanted) => document.querySelectorAll('li').length === wanted,
            { polling: 50 },
            count,
          ),
        ),
      );
    await shown(rows.length);
    const names = tabs.map((_, i) => `${when} ${i}`);
    await Promise.all(
      tabs.map((tab, i) =>
        tab.evaluate((name) => {
          (document.getElementById('name') as HTMLInputElement).value = name;
          document.getElementById('add')!.click();
        }, names[i]!),
      ),
    );
    rows.push(...names);
    await shown(rows.length);
    for (const tab of tabs) {
      const seen = await tab.$$eval('li', (items) => items.map((li) => li.textContent.trim()));
      expect(seen.sort()).toEqual(rows.toSorted());
    }
  };
  const page = await openList();
  const other = await openList();
  await allWrite('before');
  const panel = await openPanel(page);
  await page.bringToFront();
  await panel.frame.waitForSelector('[data-testid="other-tabs"]');
  await startRecording(panel); // this tab reloads, and its worker is the other tab's
  await recorded(page);
  await allWrite('beside');
  await reloadTabs(panel, page, other);
  await recorded(page);
  await allWrite('recorded');
  await page.bringToFront();
  await stopRecording(panel);
  const { threads } = await savedStore(driven, panel);
  expect(threads.filter(({ info }) => info.kind === 'shared-worker')).toHaveLength(1);
  await openList();
  await allWrite('stopped');
  await reloadTabs(panel, ...tabs);
  await allWrite('after');
});

longTest('a second recording without a reload leaves open pages what they hold', async () => {
  const { page, panel } = await begin();
  const first = await ask(page, 'first');
  const other = await open();
  expect(await ask(other, 'second')).toMatchObject({ id: first.id });
  await page.bringToFront();
  await stopRecording(panel);
  await panel.frame.evaluate(() =>
    document.querySelector<HTMLInputElement>('[data-testid="reload"]')!.click(),
  );
  await startRecording(panel, { scope: 'origin' }); // our scripts run in both pages again
  await Promise.all([recorded(page), recorded(other)]);
  const third = await open();
  expect(await ask(third, 'third')).toMatchObject({ id: first.id, connections: 3 });
});

longTest('all tabs of an origin are recorded on request, from their next load on', async () => {
  const page = await driven.browser.newPage();
  await goTo(page, `${origin}/hook-cases/`);
  const other = await open();
  await ask(other, 'native');
  const panel = await openPanel(page);
  await page.bringToFront();
  const loaded = Promise.all([page, other].map((one) => one.waitForNavigation()));
  await panel.frame.waitForSelector('[data-testid="record-all-tabs"]');
  await panel.frame.evaluate(() =>
    document.querySelector<HTMLElement>('[data-testid="record-all-tabs"]')!.click(),
  );
  await loaded;
  await Promise.all([recorded(page), recorded(other)]);
  const [first, second] = await Promise.all([ask(page, 'first'), ask(other, 'second')]);
  expect(first.id).toBe(second.id);
  await page.bringToFront();
  await stopRecording(panel);
  expect((await marks(panel)).map((all) => all.sort())).toEqual([['first', 'second']]);
});

test.each(['recorded as the others are', 'native from before the recording'])(
  'one whose page has left, %s, does not come back from the cache beside another one',
  async (which) => {
    const isNative = which.startsWith('native');
    const before = await open();
    if (isNative) await ask(before, 'native');
    const { page, panel } = await begin();
    if (!isNative) {
      await before.reload(); // with our script, although its tab isn't recorded
      await ask(before, 'ours');
    }
    await before.evaluate(() =>
      addEventListener('pageshow', ({ persisted }) => (document.title = `cached ${persisted}`)),
    );
    await goTo(before, isNative ? 'about:blank' : `${origin}/hook-cases/?next`);
    if (!isNative) await ask(before, 'next');
    await page.reload();
    await recorded(page);
    const one = await ask(page, 'one');
    await before.bringToFront();
    await before.goBack();
    expect(await before.title()).not.toBe('cached true');
    expect((await ask(before, 'back')).id).toBe(one.id);
    await page.bringToFront();
    await stopRecording(panel);
  },
);

test("what can't run with our script runs natively, and errors are the app's", async () => {
  const { page, panel } = await begin();
  await expect(ask(page, 'missing', 'no-such-script.js')).rejects.toThrow('error event');
  await expect(ask(page, 'wrong', 'picture.svg')).rejects.toThrow('error event');
  const long = 'x'.repeat(70_000);
  expect(await ask(page, 'long', 'counter.js', { name: long })).toMatchObject({ name: long });
  await stopRecording(panel);
});

test.each(['closes itself', 'whose page leaves at its reply'])(
  'all that a worker did before its last message is recorded: one that %s',
  async (how) => {
    const { page, panel } = await begin();
    await ask(page, 'warm', 'busy.js');
    const closes = how.startsWith('closes');
    const left = closes ? null : page.waitForNavigation();
    await page.evaluate((closes) => {
      const { port } = new SharedWorker('busy.js', { name: 'counter' });
      port.onmessage = () => {
        if (closes) document.title = 'replied';
        else location.href = 'about:blank';
      };
      port.postMessage(closes ? 'close' : 'reply');
    }, closes);
    if (left) await left;
    else await page.waitForFunction(() => document.title === 'replied');
    await page.bringToFront();
    await stopRecording(panel);
    const [marked] = await marks(panel);
    const after = Array.from({ length: closes ? 11 : 0 }, () => 'closed');
    expect(marked).toEqual(['warm', ...Array.from({ length: 200 }, (_, i) => String(i)), ...after]);
  },
);

longTest(
  'it has the functions of the platform after Stop, also where messages were recorded',
  async () => {
    const { page, panel } = await begin('', { messages: true });
    const natives = (): Promise<string[]> =>
      page.evaluate(
        () =>
          new Promise<string[]>((done) => {
            const { port } = new SharedWorker('shared-natives.js');
            port.onmessage = ({ data }) => done(data as string[]);
            port.postMessage('which');
          }),
      );
    const native = ['close', 'postMessage', 'postMessage'].map(
      (name) => `function ${name}() { [native code] }`,
    );
    expect(await natives()).not.toEqual(native);
    await stopRecording(panel);
    await expect.poll(natives, { timeout: 20_000 }).toEqual(native);
  },
);

test('nothing is lost when the page that relays its records reloads', async () => {
  const { page, panel } = await begin();
  await stopRecording(panel);
  await startRecording(panel, { scope: 'origin' });
  await recorded(page);
  const other = await open();
  await recorded(other);
  await ask(page, 'first'); // this page relays
  await ask(other, 'second');
  const working = other.evaluate(
    () =>
      new Promise<string[]>((done) => {
        const { port } = new SharedWorker('counter.js', { name: 'counter' });
        const said: string[] = [];
        port.onmessage = ({ data }) => {
          said.push((data as { said: string }).said);
          if (document.title === 'enough') done(said);
          // a thread stores 4,096 names of marks
          else port.postMessage(`mark ${said.length % 1000}`);
        };
        port.postMessage('mark 0');
      }),
  );
  for (let i = 0; i < 3; i++) {
    await page.reload();
    await recorded(page);
  }
  await other.evaluate(() => (document.title = 'enough'));
  const said = await working;
  await page.bringToFront();
  await stopRecording(panel);
  const { threads } = await savedStore(driven, panel);
  const shared = threads.filter(({ info }) => info.kind === 'shared-worker');
  expect(shared.map(({ missing, dropped }) => [missing, dropped])).toEqual([[0, 0]]);
  expect(marksOf(shared[0]!).map(({ name }) => name)).toEqual(['first', 'second', ...said]);
});

longTest('functions of the platform that the app replaces are not called by us', async () => {
  const { page, panel } = await begin();
  await page.evaluate(`${PATCH_PLATFORM};patchPlatform()`);
  for (let i = 0; i < 20; i++) await ask(page, `mark ${i}`, 'patched.js');
  const { calls } = (await ask(page, 'last', 'patched.js')) as unknown as { calls: string[] };
  await stopRecording(panel);
  const here = await page.evaluate(() => (window as unknown as { calls: string[] }).calls);
  expect([here, calls]).toEqual([[], []]);
  expect((await marks(panel))[0]).toHaveLength(21);
});

longTest("the app's options are read once, in the order of the platform", async () => {
  const reads = (page: Page): Promise<string[]> =>
    page.evaluate(() => {
      const read: string[] = [];
      const options = {};
      const values = {
        extendedLifetime: 0,
        name: 'read',
        sameSiteCookies: undefined,
        type: 'classic',
      };
      for (const [name, value] of Object.entries(values))
        Object.defineProperty(options, name, { get: () => (read.push(name), value) });
      new SharedWorker('counter.js', options);
      return read;
    });
  const native = await reads(await open());
  expect(native).toContain('extendedLifetime');
  const { page, panel } = await begin();
  expect((await reads(page)).filter((name) => native.includes(name))).toEqual(native);
  await stopRecording(panel);
});

longTest(
  'a page that came back is recorded for longer than the worker waits for one',
  { timeout: 240_000 },
  async () => {
    const { page, panel } = await begin();
    const holds = await open(); // unrecorded, so that the worker outlives the page
    await ask(holds, 'held');
    await ask(page, 'first');
    await page.reload();
    await recorded(page);
    await ask(page, 'second');
    // the page is in the background, where no frame is drawn
    await page.waitForFunction(() => performance.now() > 65_000, {
      polling: 1000,
      timeout: 90_000,
    });
    await ask(page, 'third');
    await page.bringToFront();
    await stopRecording(panel);
    expect(await marks(panel)).toEqual([['held', 'first', 'second', 'third']]);
  },
);

longTest('nothing is lost when its only page leaves at its last reply', async () => {
  const { page, panel } = await begin();
  const gone = page.waitForNavigation();
  await page.evaluate(() => {
    const { port } = new SharedWorker('counter.js', { name: 'counter' });
    let replies = 0;
    port.onmessage = () => void (++replies === 500 && location.replace('/'));
    for (let i = 0; i < 500; i++) port.postMessage(`mark ${i}`);
  });
  await gone;
  await stopRecording(panel);
  const [said] = await marks(panel);
  expect(said).toEqual(Array.from({ length: 500 }, (_, i) => `mark ${i}`));
});

longTest('another page relays its records when the one that did has crashed', async () => {
  const { page, panel } = await begin();
  await stopRecording(panel);
  await startRecording(panel, { scope: 'origin' });
  await recorded(page);
  const other = await open();
  await recorded(other);
  const { id } = await ask(page, 'first');
  await ask(other, 'second');
  await page.reload(); // the other one relays from now on
  await recorded(page);
  await ask(page, 'third');
  const crashed = await other.createCDPSession();
  crashed.send('Page.crash').catch(() => {}); // never answered
  expect(await ask(page, 'fourth')).toMatchObject({ id });
  await ask(page, 'fifth');
  // the pages' other events arrive before the worker misses its page
  const events = async (): Promise<number> => Number(await panel.textOf('live-events'));
  let [before, same] = [-1, 0];
  await expect
    .poll(
      async () => {
        const now = await events();
        same = now === before ? same + 1 : 0;
        before = now;
        return same;
      },
      { timeout: 30_000, interval: 50 },
    )
    .toBe(16);
  await expect.poll(events, { timeout: 30_000 }).toBeGreaterThan(before + 1);
  await page.bringToFront();
  await stopRecording(panel);
  expect(await marks(panel)).toEqual([['first', 'second', 'third', 'fourth', 'fifth']]);
});

test('the next page has nothing of vfscope once the last page that held one is closed after Stop', async () => {
  const { page, panel } = await begin();
  await ask(page, 'first');
  await stopRecording(panel);
  await page.close(); // closes its DevTools as well
  const own = async (): Promise<boolean> => {
    const next = await open();
    const has = await next.evaluate(() => Object.hasOwn(new SharedWorker('counter.js'), 'port'));
    await next.close();
    return has;
  };
  await expect
    .poll(
      () =>
        driven.browser
          .targets()
          .filter((target) => target.type() === 'shared_worker')
          .map((target) => target.url()),
      { timeout: 20_000 },
    )
    .toEqual([]);
  await expect.poll(async () => (await registeredScripts()).length, { timeout: 20_000 }).toBe(0);
  expect(await own()).toBe(false);
});

longTest('its onerror hears each error once, at the place where it was set last', async () => {
  const { page, panel } = await begin();
  const heard = await page.evaluate(
    () =>
      new Promise<string[]>((done) => {
        const said: string[] = [];
        const worker = new SharedWorker('no-such-script.js');
        const handler = (): void => void said.push('handler');
        worker.onerror = handler;
        worker.addEventListener('error', () => said.push('listener'));
        worker.onerror = null;
        worker.onerror = handler;
        worker.addEventListener('error', () => setTimeout(() => done(said)));
      }),
  );
  expect(heard).toEqual(['listener', 'handler']);
  await stopRecording(panel);
});

test('a script that throws runs once, and its page gets the error', async () => {
  const { page, panel } = await begin();
  const seen = await page.evaluate(
    () =>
      new Promise<{ error: string; file: string; runs: number }>((done) => {
        const runs = new BroadcastChannel('runs');
        let count = 0;
        runs.onmessage = () => count++;
        const worker = new SharedWorker('throws-shared.js');
        let error: ErrorEvent | null = null;
        worker.onerror = (event) => (error = event as unknown as ErrorEvent);
        worker.port.onmessage = () =>
          done({ error: error?.message ?? '', file: error?.filename ?? '', runs: count });
        worker.port.postMessage('hello');
      }),
  );
  expect(seen).toEqual({
    error: 'Uncaught Error: on purpose',
    file: `${origin}/hook-cases/throws-shared.js`,
    runs: 1,
  });
  await stopRecording(panel);
  expect(await marks(panel)).toEqual([['ran']]);
});

longTest("instructions of SQLite in one are the Lab's own count", async () => {
  const [atClose] = await inTheLab({ vfs: 'MemoryVFS' }, 'total');
  const { page, panel } = await begin('', { instructions: true });
  await page.evaluate(labWorkload('in a SharedWorker'));
  await stopRecording(panel);
  const { threads } = await savedStore(driven, panel);
  const counted = threads.filter((thread) => executedBeforeClose(thread).length);
  expect(counted.map(({ info }) => info.kind)).toEqual(['shared-worker']);
  expect(counted.flatMap(executedBeforeClose)).toEqual([atClose]);
  expect(threads.map(({ faults, missing }) => faults + missing)).toEqual(threads.map(() => 0));
});
