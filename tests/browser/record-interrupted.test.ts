/**
 * Interruptions of `vfscope record`: Ctrl+C, a CI's SIGTERM, a browser or page that closes, a
 * missing output folder. Nothing recorded is lost.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { some } from '../full.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { createServer, type AppServer } from '../server/server.mjs';
import { EXTENSION } from './extension-harness.ts';
import { longTest } from './long-test.ts';

const COMMAND = path.join(path.dirname(EXTENSION), 'cli/vfscope.mjs');
let server: AppServer;
let folder: string;
let url: string;

beforeAll(async () => {
  server = await createServer();
  folder = await mkdtemp(path.join(tmpdir(), 'vfscope-'));
  url = `${server.origin('interrupted')}/journeyapps-wa-sqlite/?vfs=OPFSCoopSync&run=own-sql&n=200`;
});
afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

let running: ChildProcess | undefined;
afterEach(() => running?.kill('SIGKILL'));

/** Runs the command. @param at the output at which `act` is called with it */
async function record(
  out: string,
  args: readonly string[],
  at = '',
  act: (child: ChildProcess) => void = () => {},
) {
  const child = spawn(process.execPath, [COMMAND, 'record', url, '--out', out, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running = child;
  let [said, printed, acted] = ['', '', false];
  child.stdout.on('data', (text) => (printed += String(text)));
  child.stderr.on('data', (text) => {
    said += String(text);
    if (acted || at === '' || !said.includes(at)) return;
    acted = true;
    act(child);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  expect(said).not.toMatch(/\n\s+at /);
  return { code, said, printed };
}
const events = async (file: string): Promise<number> =>
  (await readTrace(await readFile(file))).store.eventCount;
/** Steps that run these lines after the app has run, and never end. */
async function steps(name: string, lines: string): Promise<string[]> {
  const file = path.join(folder, name);
  await writeFile(
    file,
    `import { rm } from 'node:fs/promises';
    export default async (page) => {
      await page.waitForFunction(() => document.body.dataset.state === 'done', { polling: 50 });
      ${lines}
      await new Promise(() => {});
    };`,
  );
  return ['--script', file];
}

describe('the recording is saved', () => {
  test.each(
    some<[string, NodeJS.Signals[]]>([
      ['Ctrl+C that npm hands on', ['SIGINT', 'SIGINT']],
      ['Ctrl+C', ['SIGINT']],
      ['SIGTERM', ['SIGTERM']],
    ]),
  )('at %s, whatever it waits for', async (name, signals) => {
    const out = path.join(folder, `${name}.vfst`);
    const waits = await steps('waits.mjs', `console.error('app has run');`);
    const { code, said } = await record(out, waits, 'app has run', (child) =>
      signals.forEach((signal) => child.kill(signal)),
    );
    expect([code, said]).toEqual([
      3,
      expect.stringMatching(/vfscope: Interrupted; the recording up to then is saved\.\n$/),
    ]);
    expect(await events(out)).toBeGreaterThan(1000);
  });

  test('if the page crashes', async () => {
    const out = path.join(folder, 'crashed.vfst');
    const { code, said } = await record(
      out,
      await steps('crash.mjs', `void page.goto('chrome://crash').catch(() => {});`),
    );
    expect([code, said]).toEqual([
      3,
      expect.stringMatching(/The page crashed .*; the recording up to then is saved\.\n$/),
    ]);
    expect(await events(out)).toBeGreaterThan(1000);
  });

  test('elsewhere if its folder is gone', async () => {
    const gone = path.join(folder, 'gone');
    await mkdir(gone);
    const removes = await steps(
      'removes.mjs',
      `await rm(${JSON.stringify(gone)}, { recursive: true }); return;`,
    );
    const { code, said, printed } = await record(path.join(gone, 'x.vfst'), removes);
    const kept =
      /x\.vfst can't be written: there is no folder .* The recording is in (.*\.vfst)\n$/.exec(
        said,
      )?.[1];
    expect([code, printed, typeof kept], said).toEqual([2, '', 'string']);
    expect(await events(kept!)).toBeGreaterThan(1000);
    await rm(path.dirname(kept!), { recursive: true });
  });
});

describe('a failed save is reported', () => {
  test('Ctrl+C before there is a recording', async () => {
    const out = path.join(folder, 'early.vfst');
    const { code, said } = await record(out, [], 'opening the panel', (child) =>
      child.kill('SIGINT'),
    );
    expect([code, said]).toEqual([
      3,
      expect.stringMatching(
        /Interrupted before the recording began: there is nothing to save\.\n$/,
      ),
    ]);
    expect(existsSync(out)).toBe(false);
  });

  longTest('a browser that ends', async () => {
    const out = path.join(folder, 'lost.vfst');
    const { code, said } = await record(
      out,
      await steps('kill.mjs', `page.browser().process().kill('SIGKILL');`),
    );
    expect([code, said]).toEqual([
      3,
      expect.stringMatching(/The browser ended before the recording was saved\.\n$/),
    ]);
    expect(existsSync(out)).toBe(false);
  });
});
