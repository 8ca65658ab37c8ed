/**
 * Process death on a browser's own storage: a worker runs commits and ends after the n-th storage
 * call, then the same VFS opens what remains.
 */
import type { Page } from 'puppeteer-core';
import { expect } from 'vitest';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import type { CrashConfig } from '../../src/lab/crash/model.ts';
import type { AppServer } from '../server/server.mjs';
import { state } from './extension-harness.ts';

export const COMMITS = 3;

/** The call after which the process died, what was acknowledged by then, and what remained. */
export interface Death {
  readonly stopAfter: number;
  readonly acknowledged: number;
  /** Commits found; null if the database is damaged. */
  readonly commits: number | null;
  readonly fault: string | null;
}
export interface App {
  commitUntil(work: {
    config: CrashConfig;
    commits: number;
    stopAfter?: number;
    end?: boolean;
  }): Promise<{ acknowledged: number; calls: number; died: boolean }>;
  lookAfter(work: {
    config: CrashConfig;
  }): Promise<{ commits: number | null; fault: string | null }>;
}
export const configOf = (
  vfs: CrashConfig['vfs'],
  journalMode: CrashConfig['journalMode'] = 'delete',
): CrashConfig => ({
  ...{ vfs, journalMode, synchronous: 'full' },
  durability: vfs === 'BlockIDB' ? 'strict' : null,
});

/** Number of concurrent deaths: ending a blocked worker takes two seconds. */
const AT_ONCE = 6;
let origins = 0;

/** Each death runs on a separate origin. @param deaths spread over all calls */
export async function deathsOf(
  driven: DrivenBrowser,
  server: AppServer,
  config: CrashConfig,
  deaths: number,
): Promise<{ calls: number; deaths: Death[] }> {
  const fresh = (): string => `${server.origin(`death-${++origins}`)}/process-death/`;
  const on = async <T>(url: string, work: (page: Page) => Promise<T>): Promise<T> => {
    const page = await driven.browser.newPage();
    try {
      await page.goto(url);
      await state(page, 'ready');
      return await work(page);
    } finally {
      await page.close();
    }
  };
  const { calls, acknowledged } = await on(fresh(), (page) =>
    page.evaluate(
      (c, commits) => (window as unknown as App).commitUntil({ config: c, commits }),
      config,
      COMMITS,
    ),
  );
  expect(acknowledged).toBe(COMMITS);
  const points = Array.from({ length: deaths }, (_, i) =>
    Math.max(1, Math.floor(((i + 1) * calls) / (deaths + 1))),
  );
  const found: Death[] = [];
  for (let i = 0; i < points.length; i += AT_ONCE)
    found.push(
      ...(await Promise.all(
        points.slice(i, i + AT_ONCE).map(async (stopAfter): Promise<Death> => {
          const url = fresh();
          const before = await on(url, (page) =>
            page.evaluate((work) => (window as unknown as App).commitUntil(work), {
              config,
              commits: COMMITS,
              stopAfter,
            }),
          );
          expect(before).toMatchObject({ calls: stopAfter, died: true });
          // another page, because a Web Lock that a worker waited for may stay taken while its page
          // lives
          const left = await on(url, (page) =>
            page.evaluate((work) => (window as unknown as App).lookAfter(work), { config }),
          );
          return { stopAfter, acknowledged: before.acknowledged, ...left };
        }),
      )),
    );
  return { calls, deaths: found };
}

/**
 * Deaths with a wrong result. Acknowledged commits must be there; the one in progress may be.
 * @param mayLose acknowledged commits that this VFS is known to lose
 */
export const broken = (deaths: readonly Death[], mayLose: readonly number[] = []): Death[] =>
  deaths.filter(({ acknowledged, commits, fault }) => {
    if (commits === null || fault !== null || commits > acknowledged + 1) return true;
    return Array.from({ length: acknowledged }, (_, i) => i + 1).some(
      (n) => n > commits && !mayLose.includes(n),
    );
  });
