// The traced page's text can't control or flood a terminal, and becomes neither markup nor a
// formula, in any output about its trace.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { checkCommand } from '../../src/cli/check.ts';
import { diffCommand } from '../../src/cli/diff.ts';
import { exportCommand } from '../../src/cli/export.ts';
import { findingsCommand } from '../../src/cli/findings.ts';
import { complain } from '../../src/terminal/open-file.ts';
import { summaryCommand } from '../../src/cli/summary.ts';
import { saveTrace } from '../../src/trace/file/write.ts';
import { COMMANDS, HOSTILE, hostileStore } from '../traces/hostile.ts';

const folder = mkdtempSync(join(tmpdir(), 'vfscope-hostile-'));
const file = join(folder, 'hostile.vfst');
const harmless = 'tests/traces/v1-sample.vfst';
beforeAll(async () =>
  writeFileSync(file, new Uint8Array(await (await saveTrace(hostileStore())).arrayBuffer())),
);
afterAll(() => rmSync(folder, { recursive: true }));

let said = '';
beforeEach(() => {
  said = '';
  const write = ((text: unknown, done?: unknown) => {
    said += String(text);
    if (typeof done === 'function') (done as () => void)();
    return true;
  }) as typeof process.stdout.write;
  vi.spyOn(process.stdout, 'write').mockImplementation(write);
  vi.spyOn(process.stderr, 'write').mockImplementation(write);
});
afterEach(() => vi.restoreAllMocks());

/** Characters that a page of text for people may have. The trace has names of 65,536 characters. */
const A_PAGE = 100_000;
const budget = join(folder, 'budget.json');

describe('in a terminal', () => {
  test.each<[string, () => Promise<number>, number]>([
    ['summary', () => summaryCommand({ file }), A_PAGE],
    ['summary --markdown', () => summaryCommand({ file, markdown: true }), A_PAGE],
    ['summary --privacy', () => summaryCommand({ file, privacy: true }), A_PAGE],
    ['summary --json', () => summaryCommand({ file, json: true }), Infinity],
    ['findings', () => findingsCommand({ file, json: false }), A_PAGE],
    ['findings --json', () => findingsCommand({ file, json: true }), Infinity],
    ['diff', () => diffCommand({ a: file, b: harmless, json: false }), A_PAGE],
    ['diff --json', () => diffCommand({ a: harmless, b: file, json: true }), Infinity],
    ['check', () => checkCommand({ file, budget }), A_PAGE],
  ])('%s', async (name, run, most) => {
    writeFileSync(budget, '{"commits": {"max": 1e6}}');
    expect(await run()).toBe(0);
    expect(said).not.toMatch(COMMANDS);
    expect(said.length).toBeGreaterThan(20);
    expect(said.length).toBeLessThan(most);
    if (name.endsWith('json')) expect(() => JSON.parse(said) as unknown).not.toThrow();
  });

  test('--json loses nothing', async () => {
    await summaryCommand({ file, json: true });
    const { threads } = JSON.parse(said) as { threads: { name: string }[] };
    expect(threads[0]!.name).toBe(HOSTILE);
  });

  test('an error message that quotes the page keeps its lines and adds none', () => {
    complain(`${HOSTILE}\nsecond line`);
    expect(said).not.toMatch(COMMANDS);
    expect(said).toMatch(/^vfscope: =cmd.*end\nsecond line\n$/s);
  });
});

describe('in a file', () => {
  const written = async (format: string): Promise<string> => {
    const out = join(folder, `out.${format}`);
    expect(await exportCommand({ file, format, out })).toBe(0);
    return readFileSync(out, 'utf8');
  };

  test('html: text, cut if it is endless, and no text-direction override that outlives its cell', async () => {
    const html = await written('html');
    expect(html).toContain('&lt;img src=x');
    expect(html).not.toMatch(/<img|<script|<!--/i);
    expect(html.replaceAll('\r', '')).not.toMatch(COMMANDS);
    expect(html.length).toBeLessThan(1e6);
  });

  test('vfstrace: a line for each VFS call', async () => {
    const text = await written('vfstrace');
    expect(text).not.toMatch(COMMANDS);
    expect(text.trimEnd().split('\n').length).toBe(2 * 60 * 8);
  });

  test('csv: no cell begins like a formula, none controls a terminal, and everything else is present', async () => {
    const text = await written('csv');
    const harmlessText = HOSTILE.replace('\r\n', '\n').replace(new RegExp(COMMANDS, 'g'), '\ufffd');
    expect(text).toContain(`"'${harmlessText.replaceAll('"', '""')}"`);
    expect(text).not.toMatch(COMMANDS);
    expect(text).not.toMatch(/(?:^|,)"?[=+@]/m);
  });
});
