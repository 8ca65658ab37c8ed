/** `vfscope lab run` when something comes between: Ctrl+C, a browser that ends, a tab that closes or crashes. The passes that were done are the result. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { some } from '../full.ts';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openLab } from '../../src/lab/drive/lab.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import type { Run } from '../../src/lab/experiments/model/types.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { EXTENSION, launch } from './extension-harness.ts';

const COMMAND = path.join(path.dirname(EXTENSION), 'cli/vfscope.mjs');
/** More than anything here waits for. */
const REPEATS = 500;

describe('the command', () => {
  let running: ChildProcess | undefined;
  afterEach(() => running?.kill('SIGKILL'));

  /** @param act done to the command once it has reported three passes or more */
  async function interrupted(act: (child: ChildProcess) => void, ...args: string[]) {
    const child = spawn(
      process.execPath,
      [COMMAND, 'lab', 'run', 'read-poll', '--repeats', String(REPEATS), ...args],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    running = child;
    let [said, printed, acted] = ['', '', false];
    child.stdout.on('data', (text) => (printed += String(text)));
    child.stderr.on('data', (text) => {
      said += String(text);
      if (acted || !(Number(/(\d+) of \d+ passes\s*$/.exec(said)?.[1]) >= 3)) return;
      acted = true;
      act(child);
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, said, printed };
  }
  const endBrowser = ({ pid }: ChildProcess): void => {
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)]).toString();
    for (const browser of children.split('\n').map(Number).filter(Boolean))
      if (isAlive(browser)) process.kill(browser, 'SIGKILL');
  };
  /** `ps` itself is a child, too. */
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it.each(
    some(
      [
        ['chromium', 'its browser ends', endBrowser, /the Lab's tab closed or crashed/],
        ['chromium', 'Ctrl+C', (child: ChildProcess) => child.kill('SIGINT'), /interrupted/],
        ['firefox', 'its browser ends', endBrowser, /the Lab's tab closed or crashed/],
      ] as const,
      1,
    ),
  )('in %s, %s: prints what was done, says why, and exits with 3', async (browser, _, act, why) => {
    const { code, said, printed } = await interrupted(
      act,
      ...['--config', 'vfs=AccessHandlePool', 'reads=50', '--browser', browser],
    );
    expect(said).toMatch(why);
    expect(said).toContain('interrupted: the result has the passes that were done.');
    expect(said).not.toMatch(/\n\s+at /);
    const [, passes] = /! Interrupted after (\d+) of 501 passes\./.exec(printed)!;
    expect(Number(passes)).toBeGreaterThanOrEqual(3);
    expect(printed).toMatch(/^ {2}Runtime +(?:Chrome|Firefox) \d/m);
    expect(code).toBe(3);
  });
});

describe('the tab', () => {
  let driven: DrivenBrowser;
  beforeAll(async () => {
    driven = await launch();
    await driven.firstPage(); // the browser goes on without the Lab's tab
  });
  afterAll(() => driven.close());

  const run = (transactions: number): Run =>
    runOf(
      workloadOf('sequential-write'),
      { config: { vfs: 'AccessHandlePool' }, parameters: { transactions, items: 2 } },
      { mode: 'time', repeats: REPEATS },
    );
  it.each(
    some(
      [
        ['closes', (page: Page) => page.close()],
        ['crashes', (page: Page) => page.goto('chrome://crash').catch(() => null)],
        ['loads another page', (page: Page) => page.goto('about:blank')],
      ] as const,
      2,
    ),
  )('that %s leaves the passes of each run', async (_, act) => {
    const page = await driven.browser.newPage();
    const lab = await openLab(page, driven.extensionId);
    let closed = 0;
    let acted: Promise<unknown> | null = null;
    const done = await lab.run([run(2), run(4)], {
      onProgress: (n) => {
        if (n >= 6) acted ??= act(page);
      },
      onClosed: () => void closed++,
    });
    await acted;
    expect(closed).toBe(1);
    for (const { result, message } of done) {
      expect(message).toBe('');
      expect(result!.totalMs!.n).toBeGreaterThanOrEqual(2);
      expect(result!.notes).toEqual([
        `Interrupted after ${result!.totalMs!.n + 1} of ${REPEATS + 1} passes.`,
      ]);
    }
    if (!page.isClosed()) await page.close();
  });

  it('is a failure where nobody listens for that', async () => {
    const page = await driven.browser.newPage();
    const lab = await openLab(page, driven.extensionId);
    let closed: Promise<void> | null = null;
    const ran = lab.run([run(2)], {
      onProgress: (n) => {
        if (n >= 2) closed ??= page.close();
      },
    });
    await expect(ran).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(/^The Lab's tab is gone: /),
    });
    await closed;
  });
});
