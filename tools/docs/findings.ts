// docs/findings.md, from the rules and their words; checked by tests/unit/findings-doc.test.ts.
import { readFileSync, writeFileSync } from 'node:fs';
import { ABOUT_RULES } from '../../src/analysis/findings/about.ts';
import { RULES } from '../../src/analysis/findings/index.ts';

interface Judged {
  verdicts: Record<string, string>;
  golden: Record<string, string[]>;
  rows: Record<string, string[]>;
  falseAlarms: { rule: string; row: string; was: string; now: string }[];
}

/** The whole page. */
export function findingsDoc(): string {
  const judged = JSON.parse(readFileSync('tests/oracle/findings.json', 'utf8')) as Judged;
  const where = (id: string): string => {
    const goldens = Object.entries(judged.golden).flatMap(([name, rules]) =>
      rules.includes(id) ? [`\`${name}\``] : [],
    );
    const rows = Object.values(judged.rows).filter((rules) => rules.includes(id)).length;
    const verdict = judged.verdicts[id];
    if (!verdict) return 'Seen in none of the recordings kept here.';
    return `${verdict} Seen in ${rows} of ${Object.keys(judged.rows).length} engine apps${goldens.length ? ` and in the golden ${goldens.length > 1 ? 'traces' : 'trace'} ${goldens.join(', ')}` : ''}.`;
  };
  const rules = RULES.map(({ id, title }) => {
    const about = ABOUT_RULES[id];
    if (!about) throw new Error(`${id} has no words in src/analysis/findings/about.ts`);
    return [
      `## ${id} ${title}`,
      about.shows,
      `- **Silent**: ${about.silent}`,
      `- **Counts**: ${about.counts}.`,
      `- **Judged**: ${where(id)}`,
      `- **Read**: <${about.link}>`,
    ]
      .join('\n\n')
      .replaceAll('\n\n- ', '\n- ')
      .replace('\n- ', '\n\n- ');
  });
  return `${[
    '# Findings',
    '<!-- written by `npm run docs`; edit src/analysis/findings/about.ts and tests/oracle/findings.json -->',
    'What vfscope finds in a trace by itself. The panel shows the findings in its Overview, the largest saving first; `vfscope findings FILE` prints them, ' +
      '`vfscope diff A B` says which a change has solved. Each gives a sentence with the numbers, the calls that prove it, an estimated saving, how sure it ' +
      'is and why, what to do, and a page to read.',
    'The saving is calls avoided x what such a call took in *this* trace, n/a where that cannot be known. Savings of several findings overlap: they are no sum.',
    `There are ${RULES.length} rules. Below, **silent** is when a rule says nothing although one might expect it to; **counts** is what its number counts, beside bytes, ` +
      'share of time, and the first calls to jump to; **judged** is how it did on the recordings of all engine apps and golden traces of this repository. ' +
      'Every rule is also tested on a trace made for it, and on the same work done right. F31 (memory that grows while an asynchronous xRead runs) is no ' +
      'rule: no event shows it.',
    ...rules,
    '## False alarms that are gone',
    'Found by judging every finding on recordings of all engine apps (tests/oracle/findings.json).',
    [
      '| rule | where | was | now |',
      '| --- | --- | --- | --- |',
      ...judged.falseAlarms.map((f) => `| ${f.rule} | ${f.row} | ${f.was} | ${f.now} |`),
    ].join('\n'),
  ].join('\n\n')}\n`;
}

/** Writes the page. */
export const write = (): void => writeFileSync('docs/findings.md', findingsDoc());
