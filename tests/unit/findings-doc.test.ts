/** docs/findings.md is what the rules say of themselves. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ABOUT_RULES } from '../../src/analysis/findings/about.ts';
import { findingsOf, RULES } from '../../src/analysis/findings/index.ts';
import { readTrace } from '../../src/trace/file/read.ts';
import { findingsDoc } from '../../tools/docs/findings.ts';
import { SCENARIOS } from '../traces/golden/scenarios.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');

it('is up to date (to fix it: npm run docs)', () => {
  expect(readFileSync(path.join(ROOT, 'docs', 'findings.md'), 'utf8')).toBe(findingsDoc());
});

it('every rule has its words, and no other', () => {
  expect(Object.keys(ABOUT_RULES)).toEqual(RULES.map(({ id }) => id));
  for (const { shows, silent, counts, link } of Object.values(ABOUT_RULES)) {
    for (const words of [shows, silent]) expect(words).toMatch(/^[A-Za-z].*\.$/);
    expect(counts).toMatch(/\w/);
    expect(link).toMatch(/^https:\/\//);
  }
});

it('a finding links to the page that its rule names, but where a variant has one of its own', async () => {
  let seen = 0;
  for (const { name } of SCENARIOS) {
    const { store } = await readTrace(
      readFileSync(path.join(ROOT, 'tests', 'traces', 'golden', `${name}.vfst`)),
    );
    for (const f of findingsOf(store)) {
      expect([f.rule, f.link]).toEqual([f.rule, ABOUT_RULES[f.rule]!.link]);
      seen++;
    }
  }
  expect(seen).toBeGreaterThan(30);
});
