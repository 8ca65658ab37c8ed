// docs/findings.md: what each rule advises on stored recordings (**What to do**), and how close its
// estimate came (**Tested**). docs/rules-tested.md: each rule's results on all recordings
// (**Judged**, from tests/oracle/findings.json) and on its pair of recordings (**Twin**, from
// tests/oracle/twins.json). The rest is written by hand, including why a rule has no pair, and the
// advice of rules that only an engine's recording shows (tests/unit/findings-engine.test.ts checks
// it).
import { readFileSync, writeFileSync } from 'node:fs';
import { storedAdvice, type Advice } from '../../tests/traces/findings/advice.ts';
import type { Outcome } from '../../tests/twins/measure.ts';
import { PAIRS, type Pair } from '../../tests/twins/pairs.ts';
import { storedOutcomes } from '../../tests/twins/stored.ts';
import { testedText, twinText } from '../../tests/twins/text.ts';
import { wrapped } from './wrap.ts';

const PAGE = 'docs/findings.md';
const RECORDS = 'docs/rules-tested.md';
const ADVICE = /^(## (F\d\d) .*\n\n)(\*\*What to do\*\*: .*\n(?:\n```sql\n[^]*?\n```\n)?)/gm;
/** @param name of a line of a section */
const lineOf = (name: string): RegExp =>
  new RegExp(`^(## (F\\d\\d) (?:(?!^## )[^])*?^- \\*\\*${name}\\*\\*: ).*$`, 'gm');
const [TESTED, JUDGED, TWIN] = ['Tested', 'Judged', 'Twin'].map(lineOf) as [RegExp, RegExp, RegExp];

interface Judged {
  verdicts: Record<string, string>;
  golden: Record<string, string[]>;
  rows: Record<string, string[]>;
}

/** When a rule gives its second advice. */
const OTHER_CASES: Readonly<Record<string, string>> = {
  F01: 'If your app already begins these transactions with BEGIN',
  F07: "On a VFS that can't store a WAL",
  F09: 'In WAL mode',
  F33: 'With nolock=1',
  F42: 'If the storage is nearly full',
};

/**
 * What findings of a rule advise, and the SQL that does it.
 * @param list with different advice
 * @throws if nothing describes when the second one is given
 */
export function adviceText([first, ...others]: readonly [Advice, ...Advice[]]): string {
  // advice that begins with the same word is about the same case
  const verb = ({ advice }: Advice): string => advice.split(' ', 1)[0]!;
  const other = others.find((it) => verb(it) !== verb(first));
  const when = OTHER_CASES[first.rule];
  if (other && when === undefined)
    throw new Error(`${first.rule} has a second advice: add its case to OTHER_CASES`);
  const text = `**What to do**: ${first.advice}${other ? ` ${when}: ${other.advice}` : ''}\n`;
  return text + (first.sql === undefined ? '' : `\n\`\`\`sql\n${first.sql}\n\`\`\`\n`);
}

/** docs/findings.md, updated. @param page its current text */
export async function findingsDoc(page: string): Promise<string> {
  const stored = await storedAdvice();
  const inLines = wrapped(page, Infinity)
    .replace(ADVICE, (_, before: string, id: string, old: string) => {
      const [first, ...others] = stored.get(id) ?? [];
      return before + (first ? adviceText([first, ...others]) : old);
    })
    .replace(TESTED, (_, before: string, id: string) => before + testedText(...pairOf(id)));
  return wrapped(inLines);
}

/** docs/rules-tested.md, updated. @param page its current text */
export function rulesTestedDoc(page: string): string {
  const judged = JSON.parse(readFileSync('tests/oracle/findings.json', 'utf8')) as Judged;
  const rows = Object.values(judged.rows);
  const inLines = wrapped(page, Infinity).replace(TWIN, twinLine);
  const judgedLines = inLines.replace(JUDGED, (_, before: string, id: string) => {
    const verdict = judged.verdicts[id];
    if (!verdict) return `${before}Not seen in the recordings of this repository.`;
    const goldens = Object.entries(judged.golden).flatMap(([name, rules]) =>
      rules.includes(id) ? [`\`${name}\``] : [],
    );
    const seen = rows.filter((rules) => rules.includes(id)).length;
    const where = `${goldens.length > 1 ? 'traces' : 'trace'} ${goldens.join(', ')}`;
    return `${before}${verdict} Seen in ${seen} of ${rows.length} engine apps${goldens.length ? ` and in the golden ${where}` : ''}.`;
  });
  return wrapped(judgedLines);
}

function twinLine(line: string, before: string, id: string): string {
  const [pair, outcome] = pairOf(id);
  return pair && outcome ? before + twinText(pair, outcome) : line;
}

const pairOf = (id: string): [Pair | undefined, Outcome | undefined] => [
  PAIRS.find(({ rule }) => rule === id),
  storedOutcomes()[id],
];

/** Writes both pages. */
export async function write(): Promise<void> {
  writeFileSync(PAGE, await findingsDoc(readFileSync(PAGE, 'utf8')));
  writeFileSync(RECORDS, rulesTestedDoc(readFileSync(RECORDS, 'utf8')));
}
