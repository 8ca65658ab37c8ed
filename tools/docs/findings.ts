// The lines **Judged** of docs/findings.md: how each rule does on all recordings (tests/oracle/findings.json). The rest is written by hand.
import { readFileSync, writeFileSync } from 'node:fs';

const PAGE = 'docs/findings.md';
const LINE = /^(## (F\d\d) (?:(?!^## )[^])*?^- \*\*Judged\*\*: ).*$/gm;

interface Judged {
  verdicts: Record<string, string>;
  golden: Record<string, string[]>;
  rows: Record<string, string[]>;
}

/** The page as it should be. @param page as it is */
export function findingsDoc(page: string): string {
  const judged = JSON.parse(readFileSync('tests/oracle/findings.json', 'utf8')) as Judged;
  const rows = Object.values(judged.rows);
  return page.replace(LINE, (_, before: string, id: string) => {
    const verdict = judged.verdicts[id];
    if (!verdict) return `${before}Not seen in any stored recording.`;
    const goldens = Object.entries(judged.golden).flatMap(([name, rules]) =>
      rules.includes(id) ? [`\`${name}\``] : [],
    );
    const seen = rows.filter((rules) => rules.includes(id)).length;
    const where = `${goldens.length > 1 ? 'traces' : 'trace'} ${goldens.join(', ')}`;
    return `${before}${verdict} Seen in ${seen} of ${rows.length} engine apps${goldens.length ? ` and in the golden ${where}` : ''}.`;
  });
}

/** Writes the page. */
export const write = (): void => writeFileSync(PAGE, findingsDoc(readFileSync(PAGE, 'utf8')));
