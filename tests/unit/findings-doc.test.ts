/** docs/findings.md has a section for each rule, with the page that its findings link to. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { RULES } from '../../src/analysis/findings/index.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { findingsDoc } from '../../tools/docs/findings.ts';
import { wrapped } from '../../tools/docs/wrap.ts';
import { SCENARIOS } from '../traces/golden/scenarios.ts';
import { findingsOf } from '../traces/analyses.ts';

const page = readFileSync('docs/findings.md', 'utf8');
const SECTION =
  /^## (F\d\d) (.+)\n\n(?:[A-Za-z].+\.\n\n)+- \*\*Silent\*\*: [A-Za-z].+\.\n- \*\*Counts\*\*: .+\.\n- \*\*Judged\*\*: .+\.\n- \*\*Twin\*\*: .+\.\n- \*\*Read\*\*: <(https:.+)>$/gm;
const inLines = wrapped(page, Infinity);
const sections = [...inLines.matchAll(SECTION)];

it('says how the rules do on the recordings of today (to fix it: npm run docs)', () => {
  expect(findingsDoc(page)).toBe(page);
});

it('every rule has its section, and no other', () => {
  expect(sections.map(([, id, title]) => `${id} ${title}`)).toEqual(
    RULES.map(({ id, title }) => `${id} ${title}`),
  );
  expect(inLines).toContain(`There are ${RULES.length} rules.`);
});

it('a finding links to the page that its section names, but where a variant has one of its own', async () => {
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
