/**
 * The load app recorded by the real panel: rates, drops, and the memory of page, panel, and store
 * worker. For the load test and benchmark.
 */
import type { Page } from 'puppeteer-core';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { goTo, openPanelTab, type Panel } from '../../src/drive/panel.ts';
import { startRecording, stopRecording } from '../../src/drive/session.ts';
import type { TraceStore } from '../../src/trace/store.ts';
import { savedStore } from './extension-harness.ts';
import { heapOf, heapOfPage } from './heap.ts';

export type LoadKind = 'scan' | 'storage' | 'notify' | 'commits';
interface LoadResult {
  /** Calls that the app counted itself. */
  calls: number;
  ms: number;
  /** xRead calls that its VFS has counted since it was opened. */
  reads?: number;
}
/** Bytes of heap and of array buffers. */
export interface Memory {
  page: number;
  panel: number;
  store: number;
}
interface Counts {
  seen: number;
  kept: number;
  dropped: number;
}

const polling = 100;

export class LoadDriver {
  private constructor(
    readonly driven: DrivenBrowser,
    readonly page: Page,
    readonly panel: Panel,
  ) {}

  /**
   * @param url of the load app; the panel is in a separate tab, so that its memory can be measured
   */
  static async open(driven: DrivenBrowser, url: string): Promise<LoadDriver> {
    const page = await driven.firstPage();
    await goTo(page, url);
    const worker = await driven.serviceWorker();
    const tab = await worker.evaluate(
      async (address) => (await chrome.tabs.query({})).find((t) => t.url === address)?.id,
      url,
    );
    if (tab === undefined) throw new Error(`no tab shows ${url}`);
    const panel = await openPanelTab(await driven.browser.newPage(), driven.extensionId, tab);
    return new LoadDriver(driven, page, panel);
  }

  /** Record; the page reloads and waits for work. @param keepSeconds use a flight recorder */
  async start(keepSeconds?: number): Promise<void> {
    const { panel, page } = this;
    if (keepSeconds !== undefined) {
      await panel.frame.select('[data-testid="keep-kind"]', 'seconds');
      await panel.frame.$eval(
        '[data-testid="keep-amount"]',
        (element, value) => {
          (element as HTMLInputElement).value = value;
          element.dispatchEvent(new Event('input', { bubbles: true }));
        },
        String(keepSeconds),
      );
    }
    await startRecording(panel);
    await page.waitForFunction(
      () =>
        document.body?.dataset['state'] === 'ready' && Symbol.for('vfscope.thread') in globalThis,
      {
        polling,
      },
    );
  }

  run(kind: LoadKind, options: { rate?: number; seconds: number }): Promise<LoadResult> {
    return this.page.evaluate(
      (k, o) =>
        (
          window as unknown as { load: (kind: string, options: object) => Promise<LoadResult> }
        ).load(k, o),
      kind,
      options,
    );
  }

  async stop(): Promise<void> {
    await stopRecording(this.panel);
  }

  /** Exact numbers, from the live strip's tooltips. */
  counts(): Promise<Counts> {
    return this.panel.frame.evaluate(() => {
      const title = (id: string): string =>
        document
          .querySelector(`[data-testid="live-${id}"]`)
          ?.parentElement?.getAttribute('title') ?? '';
      const number = (id: string, pattern: RegExp): number | null => {
        const found = pattern.exec(title(id))?.[1];
        return found === undefined ? null : Number(found.replaceAll(',', ''));
      };
      const kept = number('events', /Calls recorded: ([\d,]+)/) ?? 0;
      return {
        kept,
        seen: number('seen', /beginning: ([\d,]+)/) ?? kept,
        dropped: number('dropped', /way here: ([\d,]+)/) ?? 0,
      };
    });
  }

  /** After a garbage collection. */
  async memory(): Promise<Memory> {
    const { page, panel } = this;
    const panelPage = panel.frame.page();
    const store = panelPage.workers().find((w) => w.url().includes('store-worker'));
    if (!store) throw new Error('the panel has no store worker');
    return {
      page: await heapOfPage(page, page.workers()),
      panel: await heapOfPage(panelPage),
      store: await heapOf(store.client),
    };
  }

  /** The file that the panel saves. */
  saved(): Promise<TraceStore> {
    return savedStore(this.driven, this.panel);
  }
}
