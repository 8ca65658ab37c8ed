/**
 * docs/findings.md has a section for each rule, with the page that its findings link to, and
 * docs/rules-tested.md has one with its tests.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { RULES } from '../../src/analysis/findings/index.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { findingsDoc, rulesTestedDoc } from '../../tools/docs/findings.ts';
import { wrapped } from '../../tools/docs/wrap.ts';
import { SCENARIOS } from '../traces/golden/scenarios.ts';
import { findingsOf } from '../traces/analyses.ts';

const page = readFileSync('docs/findings.md', 'utf8');
const records = readFileSync('docs/rules-tested.md', 'utf8');
const SECTION =
  /^## (F\d\d) (.+)\n\n\*\*What to do\*\*: [A-Z].+\.\n\n(?:```sql\n[^`]+\n```\n\n)?(?:[A-Za-z].+\.\n\n)+- \*\*Not reported\*\*: [a-z].+\.\n- \*\*Seen\*\* counts .+\.\n- \*\*Tested\*\*: .+\.\n- \*\*Read\*\*: <(https:.+)>$/gm;
const RECORD = /^## (F\d\d) (.+)\n\n- \*\*Judged\*\*: .+\.\n- \*\*Twin\*\*: .+\.$/gm;
const inLines = wrapped(page, Infinity);
const sections = [...inLines.matchAll(SECTION)];
const titles = RULES.map(({ id, title }) => `${id} ${title}`);

it('has the advice of the rules, and their test results (to fix it: npm run docs)', async () => {
  expect(await findingsDoc(page)).toBe(page);
  expect(rulesTestedDoc(records)).toBe(records);
});

it('every rule has its section and its record, and there are no others', () => {
  expect(sections.map(([, id, title]) => `${id} ${title}`)).toEqual(titles);
  expect(inLines).toContain(`There are ${RULES.length} rules.`);
  const recorded = wrapped(records, Infinity).matchAll(RECORD);
  expect([...recorded].map(([, id, title]) => `${id} ${title}`)).toEqual(titles);
});

it('a finding links to the page that its section names, unless a variant has its own', async () => {
  const links = new Map(sections.map(([, id, , link]) => [id!, link!]));
  let seen = 0;
  for (const { name } of SCENARIOS) {
    const { store } = await readTrace(readFileSync(`tests/traces/golden/${name}.vfst`));
    for (const f of findingsOf(store)) {
      expect([f.rule, f.link]).toEqual([f.rule, links.get(f.rule)]);
      seen++;
    }
  }
  expect(seen).toBeGreaterThan(30);
});
