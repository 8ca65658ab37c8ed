// The **Judged** lines of docs/findings.md: each rule's results on all recordings
// (tests/oracle/findings.json); and the **Twin** lines: what it predicted for its pair of
// recordings (tests/oracle/twins.json). The rest is written by hand, including why a rule has no
// pair.
import { readFileSync, writeFileSync } from 'node:fs';
import { PAIRS } from '../../tests/twins/pairs.ts';
import { storedOutcomes } from '../../tests/twins/stored.ts';
import { twinText } from '../../tests/twins/text.ts';
import { wrapped } from './wrap.ts';

const PAGE = 'docs/findings.md';
const LINE = /^(## (F\d\d) (?:(?!^## )[^])*?^- \*\*Judged\*\*: ).*$/gm;

const TWIN = /^(## (F\d\d) (?:(?!^## )[^])*?^- \*\*Twin\*\*: ).*$/gm;

interface Judged {
  verdicts: Record<string, string>;
  golden: Record<string, string[]>;
  rows: Record<string, string[]>;
}

/** The page with its lines updated. @param page its current text */
export function findingsDoc(page: string): string {
  const judged = JSON.parse(readFileSync('tests/oracle/findings.json', 'utf8')) as Judged;
  const rows = Object.values(judged.rows);
  const inLines = wrapped(page, Infinity).replace(TWIN, twinLine);
  const judgedLines = inLines.replace(LINE, (_, before: string, id: string) => {
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
  const pair = PAIRS.find(({ rule }) => rule === id);
  const outcome = storedOutcomes()[id];
  return pair && outcome ? before + twinText(pair, outcome) : line;
}

/** Writes the page. */
export const write = (): void => writeFileSync(PAGE, findingsDoc(readFileSync(PAGE, 'utf8')));
