// The questions that the Lab's page opens with: one click each to an answer with a chart; the crash test in a worker; everything else behind a tab.
import { describe, expect, it } from 'vitest';
import { crashCommand } from '../../src/lab/command/crash.ts';
import { FULL } from '../full.ts';
import { serious } from './lab-axe.ts';
import { lab, page, polling, press, texts, useLabPage, wordsOf } from './lab-harness.ts';

useLabPage();

const ANSWER_MS = 280_000;
/** Resolves when the question is answered, or can't be. */
const answered = (): Promise<unknown> =>
  page.waitForSelector('[data-testid="ask-again"]', { timeout: ANSWER_MS });
const bars = (chart: string): Promise<string[]> => wordsOf(`[data-testid="chart-${chart}"] li`);

/** Checks widths from 400 to 1400 px. */
async function cutsNothingOff(): Promise<void> {
  for (const width of [400, 800, 1400]) {
    await page.setViewport({ width, height: 900 });
    await page.waitForFunction(
      (w) =>
        innerWidth === w &&
        document.documentElement.scrollWidth <= w &&
        [...document.querySelectorAll('main :is(section, p, ul, button)')].every(
          (e) => e.getBoundingClientRect().right <= w + 1,
        ),
      { polling, timeout: 30_000 },
      width,
    );
  }
}

it('opens with four questions, each with the time that it takes, and has experiments behind a tab', async () => {
  expect(await wordsOf('.card b')).toEqual([
    'Which VFS suits my app?',
    'What does a commit cost?',
    'Is WAL worth it?',
    'Will I lose data?',
  ]);
  for (const takes of await wordsOf('.card small'))
    expect(takes).toMatch(/^Expect (?:a few seconds|up to \d+ (?:s|min))\.$/);
  const hidden = (): Promise<boolean> =>
    page.$eval('.offers', (nav) => !(nav as HTMLElement).checkVisibility());
  expect(await hidden()).toBe(true);
  await press('place-experiments');
  expect(await hidden()).toBe(false);
  await press('place-questions');
  expect(await hidden()).toBe(true);
});

it('a question runs with one click, is canceled and resumed, and links to all of its numbers, without a serious fault', async () => {
  await press('question-wal-worth');
  await page.waitForFunction(
    () =>
      /^[1-9]\d* of 72 passes$/.test(
        document.querySelector('[data-testid="question-progress"]')?.textContent ?? '',
      ),
    { polling },
  );
  expect(await page.$$eval('.card:disabled', (all) => all.length)).toBe(3);
  await press('question-cancel');
  await press('question-resume');
  await answered();
  expect((await texts('answer'))[0]).toMatch(/^On AccessHandlePool, .+: .+ against .+ [mµ]?s\./);
  expect(await bars('writes')).toHaveLength(6);
  expect((await bars('writes'))[0]).toMatch(
    /^AccessHandlePool \(OPFS\), rollback journal [\d.]+ m?s$/,
  );
  expect(await wordsOf('[data-testid="answer-table"] tbody tr')).toHaveLength(6);
  expect(await lab.storage()).toEqual([]);
  expect(await serious(page)).toEqual([]);
  await cutsNothingOff();
  await press('all-numbers');
  await page.waitForSelector('[data-testid="verdicts"]');
  expect(
    await page.$$eval('[data-testid="verdicts"] .broken', (all) => all.map((e) => e.textContent)),
  ).toEqual([]);
  // back: the answer is shown, and isn't computed again
  await press('place-questions');
  expect(await wordsOf('[data-testid="question-wal-worth"] small')).toEqual(['Answered']);
  expect(await texts('answer')).toHaveLength(1);
});

it.runIf(FULL)(
  'names the fastest VFS of nine',
  async () => {
    await press('question-which-vfs');
    await page.waitForSelector('[data-testid="question-progress"]');
    await answered();
    expect((await texts('answer'))[0]).toMatch(
      /commits fastest: [\d.]+ (?:µs|ms) per transaction\./,
    );
    expect(await texts('question-failures')).toEqual([]);
    expect(await bars('writes')).toHaveLength(9);
  },
  300_000,
);

it("Will I lose data? The crash test runs in a worker, with Node's guarantees, and continues where a closed tab stopped", async () => {
  const until = (done: RegExp): Promise<unknown> =>
    page.waitForFunction(
      (source) =>
        new RegExp(source).test(
          document.querySelector('[data-testid="crash-progress"]')?.textContent ?? '',
        ),
      { polling, timeout: ANSWER_MS },
      done.source,
    );
  await press('question-crash');
  await until(/^[1-9]\d* of \d+ configurations/);
  await page.reload();
  await page.waitForSelector('[data-testid="unfinished"]');
  expect((await texts('unfinished'))[0]).toMatch(
    /^Your last crash test ended after [1-9]\d* of \d+ configurations: its tab closed\./,
  );
  await press('unfinished-show');
  await press('crash-resume');
  await until(/^(?:[2-9]|\d\d) of \d+ configurations/);
  await press('crash-cancel');
  await press('crash-resume');
  await answered();
  const rows = await page.$$eval('[data-testid="answer-table"] tbody tr', (all) =>
    all.map((row) => [...row.children].map((cell) => (cell as HTMLElement).innerText.trim())),
  );
  const ran = rows.filter((cells) => cells[5] !== 'n/a');
  expect(ran.length).toBeGreaterThan(9);
  expect(await bars('kept')).toHaveLength(ran.length);
  // the same as in Node
  let out = '';
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = ((text: string, done?: unknown) => {
    out += text;
    if (typeof done === 'function') (done as () => void)();
    return true;
  }) as typeof process.stdout.write;
  try {
    await crashCommand({
      config: ['vfs=OPFSCoopSync,IDBBatchAtomic', 'journalMode=delete', 'synchronous=full'],
      json: false,
      require: undefined,
    });
  } finally {
    process.stdout.write = write;
  }
  for (const [vfs, journal, sync, , death, power] of ran)
    if (['OPFSCoopSync', 'IDBBatchAtomic'].includes(vfs!) && journal === 'delete')
      expect(out.replace(/ +/g, ' ')).toContain(
        ` ${vfs!} ${journal!} ${sync!} ${death!} ${power!}`,
      );
  expect(await wordsOf('[data-testid="breaches"]')).toEqual([
    expect.stringContaining('truncate t.db-journal to 0 bytes'),
  ]);
  expect((await wordsOf('[data-testid="assumptions"] li')).length).toBeGreaterThan(8);
  expect((await texts('environment'))[0]).toMatch(/SQLite\s+3\.\d+.*Runtime\s+Chrome \d+/s);
  expect(await texts('save-html')).toEqual(['Save as HTML report']);
}, 300_000);

describe.runIf(FULL).each(['light', 'dark'])('what a commit costs, %s', (theme) => {
  it('no serious fault, and nothing is cut off, before and after an answer', async () => {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
    expect(await serious(page)).toEqual([]);
    await page.$eval('[data-testid="question-commit-cost"]', (e) => (e as HTMLElement).focus());
    await page.keyboard.press('Enter');
    await answered();
    expect((await texts('answer'))[0]).toMatch(/^A commit takes [\d.]+ (?:µs|m?s) on \w+, /);
    expect(await bars('transactions')).toHaveLength(8);
    expect(await serious(page)).toEqual([]);
    await cutsNothingOff();
  });
});
