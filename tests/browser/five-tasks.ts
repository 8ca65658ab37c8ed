/** What a developer wants to know first of a slow app, asked of the panel after Stop: five questions, each answered within two steps of the Answer. */
import { expect } from 'vitest';
import { topTables } from '../../src/analysis/answer/top-tables.ts';
import { sumsOf } from '../../src/analysis/contention/wait-sums.ts';
import { waitLines } from '../../src/analysis/contention/wait-lines.ts';
import { Facts } from '../../src/analysis/core/graph.ts';
import { ioTime } from '../../src/analysis/core/time-parts.ts';
import { headline } from '../../src/analysis/answer/headline.ts';
import { statementTable } from '../../src/analysis/statements/statement-table.ts';
import { anatomies } from '../../src/analysis/transactions/transaction-anatomy.ts';
import { oneLine, UNKNOWN_SQL } from '../../src/text/clean.ts';
import { objectName } from '../../src/trace/describe.ts';
import { longestReserved } from '../../src/analysis/transactions/longest-reserved.ts';
import type { Panel } from '../../src/drive/panel.ts';
import { countOf, formatCount, formatDuration } from '../../src/text/numbers.ts';
import type { TraceStore } from '../../src/trace/store.ts';

const WAIT = { timeout: 30_000, interval: 50 };

/** The panel shows these words in an element, white space aside. */
async function shows(panel: Panel, selector: string, ...words: string[]): Promise<void> {
  const said = (): Promise<string> =>
    panel.frame.evaluate(
      (s) => document.querySelector(s)?.textContent?.replace(/\s+/g, ' ') ?? 'nothing',
      selector,
    );
  for (const word of words) await expect.poll(said, WAIT).toContain(word);
}
const id = (testid: string): string => `[data-testid="${testid}"]`;
const click = async (panel: Panel, selector: string): Promise<void> => {
  const found = await panel.frame.waitForSelector(selector, { visible: true });
  await found!.click();
};

/** Each step is a click of a user's; what is shown is what the analyses find in the saved recording. */
export async function answersFiveTasks(panel: Panel, store: TraceStore): Promise<void> {
  const facts = new Facts(store);
  const answer = (): Promise<void> => panel.press('tab-answer');

  // which statement costs most storage time: SQL, by I/O
  const { rows } = facts.get(statementTable)!;
  const most = rows.reduce((a, b) => (ioTime(b.time) > ioTime(a.time) ? b : a));
  await answer();
  await panel.press('group-SQL');
  await click(panel, `${id('statements')} [data-heading="io"]`);
  await shows(
    panel,
    id('statements-row'),
    oneLine(most.text ?? UNKNOWN_SQL).slice(0, 40),
    formatDuration(ioTime(most.time)),
  );

  // the longest write lock, and what ran in it: the number in the details leads to its transaction
  const hold = facts.get(longestReserved)!;
  await answer();
  await panel.press('fold-details');
  await shows(panel, id('number-longestReserved'), formatDuration(hold.toUs - hold.fromUs));
  await click(panel, `${id('number-longestReserved')} button`);
  const all = facts.get(anatomies);
  const thread = store.threads[hold.thread]!;
  const [ran] = all.statementRows(all.transactions.placeOf(hold.thread, hold.row));
  const sql = objectName(thread, thread.events.object[ran!]!);
  await shows(panel, id('transaction-anatomy'), 'RESERVED', oneLine(sql));

  // the tables and indexes behind reads and writes: on the Answer itself
  await answer();
  const [table] = facts.get(topTables);
  await shows(
    panel,
    id('top-tables'),
    table!.name,
    countOf(table!.reads, 'page read', 'pages read'),
    `${formatCount(table!.writes)} written`,
  );

  // the share of lock waits, on the Answer itself; and whose they are
  const { lockUs, lockWaitUs } = facts.get(headline).times!;
  const waits = sumsOf(facts.get(waitLines));
  await shows(panel, id('answer-time'), `Lock calls ${formatDuration(lockUs)}`);
  if (lockWaitUs > 0)
    await shows(panel, id('answer-time'), `Lock wait ${formatDuration(lockWaitUs)}`);
  await panel.press('group-Storage');
  await click(panel, id('tab-locks'));
  await shows(panel, id('lock-count'), `of SQLite ${formatCount(waits.ofSqlite)}:`);

  // whether a larger page cache would help
  await answer();
  await click(panel, id('group-Storage'));
  await click(panel, id('tab-cache'));
  await shows(panel, id('curve-goal'), ' avoid');
}
