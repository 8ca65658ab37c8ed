/**
 * The first questions of a developer with a slow app, answered by the panel after Stop: five
 * questions, each answered within two steps from the Answer.
 */
import { expect } from 'vitest';
import { topTables } from '../../src/analysis/answer/top-tables.ts';
import { advisesCache, missRatios, type MissRatio } from '../../src/analysis/cache/miss-ratio.ts';
import { arrowsOf } from '../../src/analysis/contention/wait-arrows.ts';
import { sumsOf, waitText } from '../../src/analysis/contention/wait-sums.ts';
import { waitLines } from '../../src/analysis/contention/wait-lines.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { threadTitles } from '../../src/analysis/core/thread-titles.ts';
import { ioTime, PART_WORDS } from '../../src/analysis/core/time-parts.ts';
import { headline } from '../../src/analysis/answer/headline.ts';
import { statementTable } from '../../src/analysis/statements/statement-table.ts';
import { anatomies } from '../../src/analysis/transactions/transaction-anatomy.ts';
import { oneLine, UNKNOWN_SQL } from '../../src/text/clean.ts';
import { objectName } from '../../src/trace/describe.ts';
import { longestReserved } from '../../src/analysis/transactions/longest-reserved.ts';
import type { Panel } from '../../src/drive/panel.ts';
import { countOf, formatCount, formatDuration, formatShare } from '../../src/text/numbers.ts';
import type { TraceStore } from '../../src/trace/store.ts';

/** A panel in DevTools, in a window, or in an ordinary page. */
export type Asked = Pick<Panel, 'press'> & {
  frame: Pick<Panel['frame'], 'evaluate' | 'waitForSelector'>;
};

const WAIT = { timeout: 30_000, interval: 50 };

/** Waits until the panel shows these words in an element, ignoring white space. */
async function shows(panel: Asked, selector: string, ...words: string[]): Promise<void> {
  const said = (): Promise<string> =>
    panel.frame.evaluate(
      (s) => document.querySelector(s)?.textContent?.replace(/\s+/g, ' ') ?? 'nothing',
      selector,
    );
  for (const word of words) await expect.poll(said, WAIT).toContain(word);
}
const id = (testid: string): string => `[data-testid="${testid}"]`;
const click = async (panel: Asked, selector: string): Promise<void> => {
  await panel.frame.waitForSelector(selector, { visible: true });
  // its current position, because numbers that arrive move what is below them
  await panel.frame.evaluate((s) => document.querySelector<HTMLElement>(s)!.click(), selector);
};

/** What `ioTime` adds up. */
const STORAGE_PARTS = ['read', 'write', 'sync', 'idbTransaction'] as const;

/** The Cache view's text about a larger cache. */
function goalText(ratio: MissRatio): string {
  const { goal, kind, reads, avoidable } = ratio;
  if (!goal) return 'No larger cache would avoid a read.';
  if (!advisesCache(ratio))
    return `No larger cache is advised. It would avoid at most ${formatCount(avoidable)} of ${countOf(reads, 'read')}.`;
  const { pages, kib, hitRate, avoided } = goal;
  const size = kib === null ? String(pages) : `-${kib}`;
  const least = kind === 'exact' || hitRate === 1 ? '' : 'at least ';
  return `PRAGMA cache_size=${size} (${formatCount(pages)} pages) avoids ${least}${formatCount(avoided)} of ${countOf(reads, 'read')}: hit rate ${least}${formatShare(hitRate)}.`;
}

/**
 * Each step is a user's click. The displayed values must match the analyses of the saved recording.
 */
export async function answersFiveTasks(panel: Asked, store: TraceStore): Promise<void> {
  const facts = new Facts(store);
  const answer = (): Promise<void> => panel.press('tab-answer');

  /** Its numbers; they stay open. */
  const details = async (): Promise<void> => {
    await answer();
    const fold = id('fold-details');
    await panel.frame.waitForSelector(fold);
    const isOpen = (): Promise<boolean> =>
      panel.frame.evaluate((s) => document.querySelector(s)!.closest('details')!.open, fold);
    if (!(await isOpen())) await panel.press('fold-details');
  };

  // which statement costs most storage time, and why: the I/O share leads to statements by their I/O, with its parts in their bars
  const { rows } = facts.get(statementTable)!;
  const most = rows.reduce((a, b) => (ioTime(b.time) > ioTime(a.time) ? b : a));
  await details();
  await click(panel, `${id('number-ioShare')} button`);
  await shows(
    panel,
    id('statements-row'),
    oneLine(most.sql ?? UNKNOWN_SQL).slice(0, 40),
    formatDuration(ioTime(most.time)),
  );
  const [part] = [...STORAGE_PARTS].sort((a, b) => most.time[`${b}Us`] - most.time[`${a}Us`]);
  const why = `${PART_WORDS[part!].title} ${formatDuration(most.time[`${part!}Us`])}`;
  const said = await panel.frame.evaluate(
    (s) => document.querySelector(s)?.getAttribute('aria-label') ?? null,
    `${id('statements-row')} [data-column="dur"] [role="img"]`,
  );
  if (said !== null) expect(said).toContain(why);
  else {
    // a narrow panel has no room for bars
    await click(panel, id('statements-row'));
    await shows(panel, id('statement-details'), why);
  }

  // the longest write lock, and what ran in it: the number in the details leads to its transaction
  const hold = facts.get(longestReserved)!;
  await details();
  await shows(panel, id('number-longestReserved'), formatDuration(hold.toUs - hold.fromUs));
  await click(panel, `${id('number-longestReserved')} button`);
  const all = facts.get(anatomies);
  const thread = store.threads[hold.thread]!;
  const [ran] = all.statementRows(all.transactions.placeOf(hold.thread, hold.row));
  const sql = objectName(thread, thread.events.object[ran!]!);
  await shows(panel, id('transaction-anatomy'), 'RESERVED', oneLine(sql));

  // the tables and indexes behind reads and writes: on the Answer itself
  await answer();
  const tables = facts.get(topTables);
  for (const [i, { name, reads, writes }] of tables.entries())
    await shows(
      panel,
      `${id('top-tables')} li:nth-child(${i + 1})`,
      `${name} ${countOf(reads, 'page read', 'pages read')}, ${formatCount(writes)} written`,
    );

  // the share of lock waits, on the Answer itself; and who held the locks, in Locks
  const { lockUs, lockWaitUs } = facts.get(headline).times!;
  const waits = facts.get(waitLines);
  if (lockUs > 0) await shows(panel, id('answer-time'), `Lock calls ${formatDuration(lockUs)}`);
  if (lockWaitUs > 0)
    await shows(panel, id('answer-time'), `Lock wait ${formatDuration(lockWaitUs)}`);
  await panel.press('group-Storage');
  await click(panel, id('tab-locks'));
  await shows(panel, id('lock-count'), waitText(sumsOf(waits)));
  const titles = threadTitles(store);
  const arrows = arrowsOf(waits);
  for (const { waiter, holder, waitedUs, waits: count } of arrows.slice(0, 3)) {
    const cell = `${id('wait-arrow')}[data-key="${waiter}:${holder ?? ''}"]`;
    await shows(panel, cell, `${formatDuration(waitedUs)} ${formatCount(count)} ×`);
    const said = await panel.frame.evaluate(
      (s) => document.querySelector(s)!.getAttribute('title'),
      cell,
    );
    expect(said).toContain(
      `${titles[waiter]} waited for ${holder === null ? 'Holder not recorded' : titles[holder]}: `,
    );
  }
  if (!arrows.length) await shows(panel, '#lock-table', 'No waits: ');

  // whether a larger page cache would help: the whole sentence
  await answer();
  await click(panel, id('group-Storage'));
  await click(panel, id('tab-cache'));
  const [ratio] = facts.get(missRatios);
  if (ratio) await shows(panel, id('curve-goal'), goalText(ratio));
  else await panel.frame.waitForSelector(`${id('cache-view')}:not(:has(${id('curve-goal')}))`);
}
