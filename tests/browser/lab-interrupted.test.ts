/**
 * Interruptions of `vfscope lab run` and `lab replay`: Ctrl+C, a browser that exits, a tab that
 * closes or crashes. The result has the completed passes and calls.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { some } from '../full.ts';
import type { DrivenBrowser } from '../../src/drive/browser.ts';
import { openLab } from '../../src/lab/drive/lab.ts';
import { runOf } from '../../src/lab/experiments/plan.ts';
import { DEFAULT_CONFIG, type Run } from '../../src/lab/experiments/model/types.ts';
import { vfsCallsOf } from '../../src/lab/experiments/replay/calls.ts';
import { workloadOf } from '../../src/lab/experiments/workloads/index.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { EXTENSION, launch } from './extension-harness.ts';

const COMMAND = path.join(path.dirname(EXTENSION), 'cli/vfscope.mjs');
const GOLDEN = path.join(import.meta.dirname, '..', 'traces', 'golden', 'memory-delete.vfst');
/** More than any test waits for. */
const REPEATS = 500;

describe('the command', () => {
  let running: ChildProcess | undefined;
  afterEach(() => running?.kill('SIGKILL'));

  /** @param act what happens to the command once it has reported `done` */
  async function interrupted(act: (child: ChildProcess) => void, done: RegExp, ...args: string[]) {
    const child = spawn(process.execPath, [COMMAND, 'lab', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running = child;
    let [said, printed, acted] = ['', '', false];
    child.stdout.on('data', (text) => (printed += String(text)));
    child.stderr.on('data', (text) => {
      said += String(text);
      if (acted || !done.test(said)) return;
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
  /** `ps` itself is also a child. */
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
      /\b[3-9] of \d+ passes/,
      ...['run', 'read-poll', '--repeats', String(REPEATS), '--browser', browser],
      ...['--config', 'vfs=AccessHandlePool', 'reads=50'],
    );
    expect(said).toMatch(why);
    expect(said).toContain('interrupted: the result has the passes that were done.');
    expect(said).not.toMatch(/\n\s+at /);
    const [, passes] = /! Interrupted after (\d+) of 501 passes\./.exec(printed)!;
    expect(Number(passes)).toBeGreaterThanOrEqual(3);
    expect(printed).toMatch(/^ {2}Runtime +(?:Chrome|Firefox) \d/m);
    expect(code).toBe(3);
  });

  it('a replay whose browser exits: prints and saves what was replayed, reports why, and exits with 3', async () => {
    const out = path.join(mkdtempSync(path.join(tmpdir(), 'vfscope-replay-')), 'replayed.vfst');
    const { code, said, printed } = await interrupted(
      endBrowser,
      /\d of [\d,]+ calls/,
      ...['replay', GOLDEN, '--config', 'vfs=IDBBatchAtomic', '--out', out],
    );
    expect(said).toMatch(/the Lab's tab closed or crashed/);
    expect(said).toContain('interrupted: the replay has the calls that were made.');
    expect(said).not.toMatch(/\n\s+at /);
    expect(printed).toMatch(/Interrupted after [\d,]+ of [\d,]+ calls\./);
    expect((await readTrace(readFileSync(out))).store.eventCount).toBeGreaterThan(100);
    expect(code).toBe(3);
  });
});

describe('the tab', () => {
  let driven: DrivenBrowser;
  beforeAll(async () => {
    driven = await launch();
    await driven.firstPage(); // the browser continues without the Lab's tab
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

  it.each(
    some(
      [
        ['closes', (page: Page) => page.close()],
        ['crashes', (page: Page) => page.goto('chrome://crash').catch(() => null)],
      ] as const,
      2,
    ),
  )('that %s leaves the calls of a replay', async (_, act) => {
    const page = await driven.browser.newPage();
    const lab = await openLab(page, driven.extensionId);
    let closed = 0;
    let acted: Promise<unknown> | null = null;
    const { report, trace } = await lab.replay(
      readFileSync(GOLDEN),
      { ...DEFAULT_CONFIG, vfs: 'IDBBatchAtomic' },
      { onClosed: () => void closed++, onProgress: () => (acted ??= act(page)) },
    );
    await acted;
    expect(closed).toBe(1);
    expect(report.calls).toBeGreaterThan(0);
    expect(report.calls).toBeLessThan(report.callsInAll);
    expect(report.replayed.vfs).toEqual(report.recorded.vfs);
    const { store, warnings } = await readTrace(trace);
    expect(warnings).toEqual([]);
    expect(vfsCallsOf(store.threads[0]!)).toBe(report.calls);
    if (!page.isClosed()) await page.close();
  });

  it('that closes before a replay has made a call is a failure', async () => {
    const page = await driven.browser.newPage();
    const lab = await openLab(page, driven.extensionId);
    let closed = 0;
    const replayed = lab.replay(readFileSync(GOLDEN), DEFAULT_CONFIG, {
      onClosed: () => void closed++,
    });
    await page.close();
    await expect(replayed).rejects.toMatchObject({
      exitCode: 3,
      message: 'The replay had made no call yet.',
    });
    expect(closed).toBe(1);
  });

  it('is a failure if there is no listener for it', async () => {
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
