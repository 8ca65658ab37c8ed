// The viewer in an ordinary tab: a fake page recorded over real ports, and a large file while it is
// read.
import { describe, expect, it } from 'vitest';
import { saveTrace } from '../../src/trace/file/write.ts';
import { formatShortCount } from '../../src/text/numbers.ts';
import { syntheticStore } from '../traces/synthetic.ts';
import { id, ViewerPage } from './viewer-page.ts';

const large = syntheticStore({ events: 400_000, clockStepUs: 5 });
const viewer = new ViewerPage(async () => ({
  'large.vfst': new Uint8Array(await (await saveTrace(large)).arrayBuffer()),
}));
const open = viewer.open.bind(viewer);
const text = viewer.text.bind(viewer);
const waitText = viewer.waitText.bind(viewer);
const shot = viewer.shot.bind(viewer);

describe('a recording', () => {
  const live = (key: string): Promise<void> => open(`live&key=${key}`);
  const start = async (): Promise<void> => {
    await viewer.page.click(id('record'));
    await viewer.page.waitForSelector(`${id('stop')}:not(:disabled)`);
  };
  const stop = async (): Promise<void> => {
    await viewer.page.click(id('stop'));
    await viewer.page.waitForSelector(`${id('record')}:not(:disabled)`);
  };
  const count = (n: number): string => n.toLocaleString('en-US');

  it('begins at a panel that reports what the page stores, and offers to begin with a page load or now', async () => {
    await live('stores');
    await waitText(
      id('page-stores'),
      'This page stores 1 database in IndexedDB (56 KiB): fieldnotes.db.',
    );
    await viewer.page.evaluate(() => {
      window.panel.app.stores = { ...window.panel.app.stores, databases: [] };
      window.panel.app.navigate('all');
    });
    await waitText(id('page-stores'), 'This page stores no database and no file yet.');
    await viewer.page.evaluate(() => window.panel.app.navigate('none'));
    await viewer.page.waitForSelector(id('access-needed'));
    expect(await viewer.page.$(id('page-stores'))).toBe(null);
    await viewer.page.evaluate(() => window.panel.app.navigate('all'));
    await viewer.page.click(id('record-now'));
    await viewer.page.waitForSelector(`${id('stop')}:not(:disabled)`);
    expect(await viewer.page.$eval(id('reload'), (e) => (e as HTMLInputElement).checked)).toBe(
      false,
    );
    expect(await text(id('empty-state'))).not.toContain('Reloading');
  });

  it('has a name in the header, and a warning once the tab shows another page', async () => {
    await live('named');
    await start();
    await viewer.page.evaluate(() => window.panel.app.work(25));
    await stop();
    expect(await text(id('recording-name'))).toMatch(/^app\.example, .*\d+:\d+.*, [\d.]+ m?s$/);
    expect(await viewer.page.$(id('other-page'))).toBe(null);
    await viewer.page.evaluate(() => window.panel.app.navigate('all', 'https://elsewhere.example'));
    await waitText(
      id('other-page'),
      'You recorded this on app.example. This tab now shows elsewhere.example.',
    );
  });

  it.each([
    [554, 850],
    [1300, 272],
  ])(
    'has notices of all kinds in one line, the weightiest, which opens to all: %d by %d',
    async (width, height) => {
      await open('live&key=one-line', width, height);
      await start();
      await viewer.page.evaluate(() => {
        const { port1, port2 } = new MessageChannel();
        window.panel.app.handOver(port2);
        port1.postMessage('nonsense');
        window.panel.app.work(25);
      });
      await viewer.page.waitForSelector(id('notice'));
      await stop();
      await viewer.page.evaluate(() => {
        window.panel.app.holdTabs(2);
        window.panel.app.navigate('all', 'https://elsewhere.example');
      });
      await waitText(id('open-notices'), '2 more');
      const seen = (): Promise<string[]> =>
        viewer.page.$$eval('.notices p', (all) =>
          all.filter((e) => e.clientHeight > 0).map((e) => (e as HTMLElement).dataset['testid']!),
        );
      const tall = (): Promise<number> =>
        viewer.page.$eval('.notices', (e) => e.getBoundingClientRect().height);
      expect(await seen()).toEqual(['reload-tabs-offer']);
      expect(await tall()).toBeLessThan(26);
      // its offer is visible, however long it is
      const offer = await viewer.page.$eval(id('reload-tabs'), (e) => {
        const { right, width } = e.getBoundingClientRect();
        return right <= innerWidth && width > 40;
      });
      expect(offer).toBe(true);
      await viewer.page.click(id('open-notices'));
      await waitText(id('open-notices'), 'Show less');
      expect(await seen()).toEqual(['reload-tabs-offer', 'other-page', 'notice']);
      await viewer.page.click(id('open-notices'));
      await waitText(id('open-notices'), '2 more');
      expect(await tall()).toBeLessThan(26);
    },
  );

  it("shows the page's activity live, and exact numbers once it is stopped", async () => {
    await live('live');
    expect(await text(id('live-events'))).toBe('n/a');
    await start();
    expect(await text(id('empty-state'))).toContain('Reloading the page');
    await viewer.page.evaluate(() => window.panel.app.work(25));
    await viewer.page.waitForSelector(`${id('timeline')}[data-frame]`);
    await viewer.page.evaluate(() => window.panel.app.work(25));
    await stop();
    const done = await viewer.page.evaluate(() => window.panel.app.done);
    await waitText(id('live-events'), count(done.events));
    for (const metric of ['reads', 'writes', 'syncs', 'commits'] as const)
      await waitText(id(`live-${metric}`), count(done[metric]));
    // those about the recorder belong to its run
    expect(await viewer.page.$(id('live-dropped'))).toBeNull();
    expect(await viewer.page.$(id('live-cost'))).toBeNull();
    const acknowledged = await viewer.page.evaluate(() =>
      window.panel.app.threads.reduce((n, t) => n + t.acknowledged, 0),
    );
    expect(acknowledged).toBe(done.events);
    await shot('recorded');
    await viewer.page.click(id('clear'));
    await waitText(id('live-events'), 'n/a');
  });

  it('Events follows the newest until it is scrolled back, and again once it is at the end', async () => {
    await live('followed');
    await start();
    await viewer.page.evaluate(() => window.panel.app.work(20));
    await viewer.page.$eval(id('tab-events'), (e) => (e as HTMLElement).click());
    const list = '.events [role=grid]';
    const atEnd = (): Promise<unknown> =>
      viewer.page.waitForFunction(
        (s: string) => {
          const {
            scrollTop = 0,
            scrollHeight = 0,
            clientHeight = 0,
          } = document.querySelector(s) ?? {}; // the list appears with its first rows
          return scrollTop > 0 && scrollTop + clientHeight > scrollHeight - 2;
        },
        {},
        list,
      );
    const pressed = (wanted: boolean): Promise<unknown> =>
      viewer.page.waitForSelector(`${id('follow')}[aria-pressed=${wanted}]`);
    const rows = (): Promise<number> =>
      viewer.page.$eval(list, (e) => Number(e.getAttribute('aria-rowcount')));
    const more = async (than: number): Promise<void> => {
      await viewer.page.evaluate(() => window.panel.app.work(20));
      await viewer.page.waitForFunction(
        (s: string, n: number) => Number(document.querySelector(s)!.ariaRowCount) > n,
        {},
        list,
        than,
      );
    };
    await atEnd();
    await more(await rows());
    await atEnd();
    await pressed(true);
    await viewer.page.$eval(list, (e) => (e.scrollTop = 40));
    await pressed(false);
    await more(await rows());
    expect(await viewer.page.$eval(list, (e) => e.scrollTop)).toBe(40);
    await viewer.page.$eval(list, (e) => (e.scrollTop = e.scrollHeight));
    await pressed(true);
    await more(await rows());
    await atEnd();
    await stop();
  });

  it("isn't disturbed by ports that lie", async () => {
    await live('liar');
    await start();
    await viewer.page.evaluate(() => {
      const { port1, port2 } = new MessageChannel();
      window.panel.app.handOver(port2);
      port1.postMessage('nonsense');
      port1.postMessage({ k: 'batch', batch: { thread: 'x' } });
      window.panel.app.work(5);
    });
    await viewer.page.waitForFunction(
      (s: string) => document.querySelector(s)?.textContent?.includes('2 malformed messages'),
      {},
      id('notice'),
    );
    await stop();
    const done = await viewer.page.evaluate(() => window.panel.app.done);
    await waitText(id('live-events'), count(done.events));
  });

  it("grows without changing the user's selections in a view", async () => {
    await live('chosen');
    await start();
    await viewer.page.evaluate(() => window.panel.app.work(5));
    await viewer.page.$eval(id('tab-files'), (e) => (e as HTMLElement).click());
    const row = `${id('pages')} [data-key]`;
    await (await viewer.page.waitForSelector(id('list-pages')))!.click();
    await viewer.page.waitForSelector(row);
    await viewer.page.click(row);
    const chosen = await viewer.page.waitForSelector(id('places-chosen'));
    const reads = (): Promise<string> =>
      text(`${id('file-row')}[aria-selected=true] [data-column=reads]`);
    const before = await reads();
    await viewer.page.evaluate(() => window.panel.app.work(25));
    await viewer.page.waitForFunction(
      (s: string, n: string) => document.querySelector(s)!.textContent !== n,
      {},
      `${id('file-row')}[aria-selected=true] [data-column=reads]`,
      before,
    );
    expect(await chosen!.evaluate((bar) => bar.isConnected)).toBe(true);
    await stop();
    await viewer.page.click(id('clear'));
  });

  it('is offered again after the panel was closed during it, but not while another panel uses it', async () => {
    await live('crash');
    await start();
    await viewer.page.evaluate(() => window.panel.app.work(30));
    await stop();
    const { events } = await viewer.page.evaluate(() => window.panel.app.done);
    const first = viewer.page;
    await live('second');
    expect(await viewer.page.$(id('recovered-offer'))).toBeNull();
    await viewer.page.close();
    await first.close();
    await live('third');
    await viewer.page.waitForSelector(id('recovered-offer'));
    expect(await text(id('recovered-offer'))).toContain(
      'A recording of https://app.example was not saved',
    );
    await viewer.page.click(id('recover'));
    await waitText(id('live-events'), count(events));
    await viewer.page.waitForSelector(id('recovered-offer'), { hidden: true });
    await viewer.page.click(id('clear'));
    await waitText(id('live-events'), 'n/a');
    await viewer.page.close();
    await live('fourth');
    expect(await viewer.page.$(id('recovered-offer'))).toBeNull();
  });

  it('is complete after a crash, with what threads sent while the store was busy', async () => {
    const bytesIn = (folder: string): Promise<number> =>
      viewer.page.evaluate(async (name) => {
        const directory = await (
          await navigator.storage.getDirectory()
        ).getDirectoryHandle(name, { create: true });
        let bytes = 0;
        for await (const handle of directory.values())
          bytes += (await (handle as FileSystemFileHandle).getFile()).size;
        return bytes;
      }, folder);
    await live('busy');
    await start();
    await viewer.page.evaluate(() => window.panel.app.work(30));
    await expect.poll(() => bytesIn('spool'), { timeout: 15_000 }).toBeGreaterThan(1000);
    const store = viewer.page.workers().find((worker) => worker.url().includes('store-worker'))!;
    await store.client.send('Debugger.enable');
    await store.client.send('Debugger.pause'); // a computation without an end
    const before = await bytesIn('journal'); // the store doesn't empty its files any more
    const said = await viewer.page.evaluate(() => {
      const { app } = window.panel;
      const { events } = app.done;
      app.work(30);
      app.work(30);
      return { events: app.done.events, bytes: (app.done.events - events) * 64 };
    });
    await expect
      .poll(() => bytesIn('journal'), { timeout: 15_000 })
      .toBeGreaterThan(before + said.bytes);
    await viewer.page.close();
    await live('after-busy');
    await viewer.page.waitForSelector(id('recovered-offer'));
    await viewer.page.click(id('recover'));
    await waitText(id('live-events'), count(said.events));
    expect(await viewer.page.$(id('live-dropped'))).toBeNull();
    await viewer.page.click(id('clear'));
    await waitText(id('live-events'), 'n/a');
    expect(await bytesIn('journal')).toBe(0);
  });

  it("that was saved stays in the list, and isn't offered", async () => {
    await live('saved');
    await start();
    await viewer.page.evaluate(() => window.panel.app.work(10));
    await stop();
    const { events } = await viewer.page.evaluate(() => window.panel.app.done);
    await viewer.page.click(id('save'));
    await viewer.page.waitForSelector(id('toast'));
    await viewer.page.close();

    await live('reopened&theme=dark');
    await viewer.page.waitForSelector(id('recent-recordings'));
    expect(await text(id('recording-row'))).toContain('saved as a file');
    expect(await viewer.page.$(id('recovered-offer'))).toBeNull();
    await shot('saved-copy-dark');
    await viewer.page.click(id('recording-open'));
    await waitText(id('live-events'), count(events));
  });

  it('stays on disk when the next one begins, and one click shows it again, unchanged', async () => {
    const record = async (steps: number): Promise<string> => {
      await start();
      await viewer.page.evaluate((n) => window.panel.app.work(n), steps);
      await stop();
      const events = count((await viewer.page.evaluate(() => window.panel.app.done)).events);
      await waitText(id('live-events'), events);
      return events;
    };
    const tab = (name: string): Promise<void> =>
      viewer.page.$eval(id(`tab-${name}`), (e) => (e as HTMLElement).click());
    const rows = async (wanted: number): Promise<string[]> => {
      if (!(await viewer.page.$(id('recordings-menu')))) await viewer.page.click(id('recordings'));
      await viewer.page.waitForFunction(
        (s: string, n: number) => document.querySelectorAll(s).length === n,
        {},
        id('recording-row'),
        wanted,
      );
      return viewer.page.$$eval(id('recording-row'), (all) => all.map((row) => row.textContent));
    };
    /** @param at its place, where the newest is 0 */
    const choose = async (at: number, wanted: number): Promise<void> => {
      await rows(wanted);
      await (await viewer.page.$$(id('recording-open')))[at]!.click();
    };
    await live('history');
    const first = await record(25);
    const name = await text(id('recording-name'));
    await tab('events');
    await viewer.page.waitForSelector('.events [data-key]');
    await viewer.page.click('.events [data-key]');
    await viewer.page.waitForSelector(id('details'));
    await viewer.page.type(id('filter'), 'xRead');
    await tab('timeline');
    await viewer.page.waitForSelector(`${id('timeline')}[data-frame]`);
    await viewer.page.focus(id('timeline'));
    await viewer.page.keyboard.press('b');
    await viewer.page.waitForSelector(id('note-here'));
    await viewer.page.type(id('note-here'), 'slow here');
    await viewer.page.keyboard.press('Enter');
    await tab('events');

    const second = await record(10);
    expect(second).not.toBe(first);
    expect(await viewer.page.$(id('recovered-offer'))).toBeNull(); // the menu has it
    expect(await viewer.page.$(id('details'))).toBeNull();
    const listed = await rows(2);
    expect(listed[0]).toContain(`shown${second} events`);
    expect(listed[1]).toContain(`${first} events`);
    await shot('history');
    await viewer.page.keyboard.press('Escape');

    await tab('events');
    await choose(1, 2);
    await waitText(id('live-events'), first);
    await waitText(id('recording-name'), name);
    await viewer.page.waitForSelector(id('details'));
    expect(await viewer.page.$eval(id('filter'), (e) => (e as HTMLInputElement).value)).toBe(
      'xRead',
    );
    expect(await viewer.page.$eval(id('tab-events'), (e) => e.ariaSelected)).toBe('true');
    await tab('timeline');
    await viewer.page.click(id('notes-menu'));
    await viewer.page.waitForSelector(id('note-text'));
    expect(await viewer.page.$eval(id('note-text'), (e) => (e as HTMLInputElement).value)).toMatch(
      /slow here$/,
    );
    await viewer.page.keyboard.press('Escape');

    await choose(0, 2);
    await waitText(id('live-events'), second);
    await tab('events');
    expect(await viewer.page.$eval(id('filter'), (e) => (e as HTMLInputElement).value)).toBe('');

    // another panel sees those that aren't shown, and only deletes those
    const one = viewer.page;
    await live('history-2');
    await viewer.page.waitForSelector(id('recent-recordings'));
    expect(
      await viewer.page.$$eval(id('recording-row'), (all) => all.map((e) => e.textContent)),
    ).toEqual([expect.stringContaining(`${first} events`)]);
    await viewer.page.click(id('recording-delete'));
    await viewer.page.waitForSelector(id('recordings'), { hidden: true });
    viewer.page = one;
    await one.bringToFront();
    expect(await rows(1)).toEqual([expect.stringContaining(`shown${second} events`)]);
    await one.keyboard.press('Escape');
    const third = await record(5);
    await rows(2);
    await one.click(id('recordings-delete-all'));
    await shot('history-delete');
    await one.click(id('recordings-delete-sure'));
    await one.waitForSelector(id('recordings'), { hidden: true });
    await waitText(id('live-events'), 'n/a');
    expect(third).not.toBe(second);
  });

  it("that can't start leaves the previous state: its numbers, its copy on disk", async () => {
    await live('refused');
    await start();
    await viewer.page.evaluate(() => window.panel.app.work(20));
    await stop();
    const { events } = await viewer.page.evaluate(() => window.panel.app.done);
    await waitText(id('live-events'), count(events));
    await viewer.page.evaluate(() => {
      window.panel.app.recorder.start = () =>
        Promise.reject(new Error('This tab is recorded by another panel: stop that one first.'));
    });
    await viewer.page.click(id('record'));
    await viewer.page.waitForFunction(
      (s: string) => document.querySelector(s)?.textContent?.includes('another panel'),
      {},
      id('toast'),
    );
    await viewer.page.waitForSelector(`${id('record')}:not(:disabled)`);
    await waitText(id('live-events'), count(events));
    await viewer.page.waitForSelector(id('answer'));
    await viewer.page.close();
    await live('after');
    await viewer.page.waitForSelector(id('recovered-offer'));
  });

  it("that begins while a file is opened isn't named after the file", async () => {
    await live('instead');
    await viewer.page.evaluate(async () => {
      const blob = await (await fetch('/traces/large.vfst')).blob();
      void window.panel.viewer.open(blob, 'large.vfst');
      while (!document.querySelector('[data-testid=cancel-open]'))
        await new Promise(requestAnimationFrame);
    });
    await start();
    await viewer.page.evaluate(() => window.panel.app.work(5));
    await stop();
    const { events } = await viewer.page.evaluate(() => window.panel.app.done);
    await waitText(id('live-events'), count(events));
    expect(await viewer.page.$(id('file-name'))).toBeNull();
    expect(await viewer.page.$$eval(id('notice'), (all) => all.map((e) => e.textContent))).toEqual(
      [],
    );
  });

  it('ends by key, also in a narrow dark panel', async () => {
    await open('live&key=keys&theme=dark', 400, 560);
    await viewer.page.keyboard.down('Control');
    await viewer.page.keyboard.press('e');
    await viewer.page.waitForSelector(`${id('stop')}:not(:disabled)`);
    await viewer.page.evaluate(() => window.panel.app.work(10));
    await viewer.page.waitForSelector(`${id('timeline')}[data-frame]`);
    await viewer.page.keyboard.press('e');
    await viewer.page.keyboard.up('Control');
    await viewer.page.waitForSelector(`${id('record')}:not(:disabled)`);
    const wide = await viewer.page.evaluate(() => document.querySelector('.vfscope')!.scrollWidth);
    expect(wide).toBe(400);
    expect(await viewer.page.$eval('.vfscope', (e) => getComputedStyle(e).backgroundColor)).toBe(
      'rgb(40, 40, 40)',
    );
    await shot('narrow-dark');
    await viewer.page.click(id('clear'));
    await waitText(id('live-events'), 'n/a');
  });
});

describe('a large file', () => {
  /**
   * Opens it.
   * @returns what was on screen whenever the timeline had a new picture
   * @param cancel at the first one
   */
  const opened = (
    cancel: boolean,
  ): Promise<{
    pictures: { from: string; to: string; lanes: number; events: string }[];
  }> =>
    viewer.page.evaluate(async (giveUp: boolean) => {
      const { viewer: model } = window.panel;
      const blob = await (await fetch('/traces/large.vfst')).blob();
      const pictures: { from: string; to: string; lanes: number; events: string }[] = [];
      const look = (): void => {
        const canvas = document.querySelector<HTMLCanvasElement>('[data-testid=timeline]')!;
        pictures.push({
          from: canvas.dataset.from!,
          to: canvas.dataset.to!,
          lanes: document.querySelectorAll('.lane-box').length,
          events: document.querySelector('[data-testid=live-events]')?.textContent?.trim() ?? '',
        });
        if (giveUp && pictures.length === 1)
          document.querySelector<HTMLElement>('[data-testid=cancel-open]')!.click();
      };
      // each picture when it is drawn, because on a busy machine the events arrive before the next
      // frame
      const drawn = new Promise<void>((resolve) => {
        new MutationObserver(() => {
          look();
          resolve();
        }).observe(document, { subtree: true, attributeFilter: ['data-frame'] });
      });
      await model.open(blob, 'large.vfst');
      await drawn;
      return { pictures };
    }, cancel);

  const numbersKnown = (): Promise<unknown> =>
    viewer.page.waitForFunction(
      (s: string) => !document.querySelector(s)!.classList.contains('unknown'),
      {},
      id('live-commits'),
    );

  it('is on screen before its events arrive, and stays in place when they do', async () => {
    await open('');
    const { pictures } = await opened(false);
    await waitText(id('live-events'), formatShortCount(large.eventCount));
    expect(pictures[0]!.events).not.toBe(formatShortCount(large.eventCount));
    // four threads: time, SQL, transactions, VFS, lock, bytes read and written, WAL
    expect(pictures.map(({ lanes }) => lanes)).toEqual(pictures.map(() => 4 * 8));
    await numbersKnown();
    // also once the transactions are known
    expect(await viewer.page.$$eval('.lane-box', (boxes) => boxes.length)).toBe(4 * 8);
    const [first, view] = [pictures[0]!, await viewer.view()];
    expect(view).toEqual({ from: Number(first.from), to: Number(first.to) });
    await shot('large');
  });

  it('requests little outside the view while it zooms, and the rest once it stops', async () => {
    await open('open=/traces/large.vfst');
    await viewer.page.$eval(id('tab-timeline'), (e) => (e as HTMLElement).click());
    await viewer.page.waitForSelector(`${id('timeline')}[data-frame]`);
    await numbersKnown(); // the timeline is redrawn then
    const canvas = await viewer.page.$eval(id('timeline'), (e) => (e as HTMLCanvasElement).width);
    await viewer.page.evaluate(() => {
      const { postMessage } = Worker.prototype;
      const widths: number[] = [];
      Object.assign(window, { widths });
      Worker.prototype.postMessage = function (
        this: Worker,
        message: { method?: string; args?: { width: number; lanes: unknown }[] },
      ) {
        if (message.method === 'timeline' && message.args![0]!.lanes)
          widths.push(message.args![0]!.width);
        postMessage.call(this, message);
      } as typeof postMessage;
    });
    await viewer.page.keyboard.press('w');
    const asked = await viewer.page.waitForFunction(
      (wide: number) => {
        const { widths } = window as unknown as { widths: number[] };
        // the same again if the trace's own numbers arrive meanwhile
        return widths.at(-1) === wide && widths.filter((one, i) => one !== widths[i - 1]);
      },
      {},
      2 * canvas,
    );
    expect(await asked.jsonValue()).toEqual([canvas + 2 * Math.round(canvas / 8), 2 * canvas]);
  });

  it('canceled, is shown as far as it was read, with a notice', async () => {
    await open('');
    // on a busy machine all of it may be read before its first picture, at which it is canceled
    let said = '';
    const count = (): number => Number(/is shown: (\d+) events/.exec(said)?.[1] ?? Infinity);
    for (let tries = 0; tries < 9 && count() >= large.eventCount; tries++) {
      await opened(true);
      said = (await viewer.page.$(id('notice'))) ? await text(id('notice')) : '';
    }
    expect(said).toContain('Opening the file was canceled. What was read by then is shown');
    const shown = count();
    expect(shown).toBeLessThan(large.eventCount);
    await waitText(id('live-events'), formatShortCount(shown));
  });
});
