/**
 * The command that a user probably meant: one that is spelled almost alike, or another word for it.
 */

/** Other words for commands. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  compare: 'diff',
  view: 'open',
  show: 'open',
  report: 'summary',
  trace: 'record',
  capture: 'record',
  sql: 'query',
  explain: 'plans',
  advise: 'findings',
  advice: 'findings',
  convert: 'export',
};
/** Maximum letters that are missing, too many, or different. */
const TYPOS = 2;

/** @returns null if none is close */
export function didYouMean(word: string, commands: readonly string[]): string | null {
  const meant = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word]! : null;
  if (meant !== null && commands.includes(meant)) return meant;
  const close = commands
    .map((command) => ({ command, typos: typosBetween(word, command) }))
    .filter(({ typos }) => typos <= TYPOS)
    .sort((a, b) => a.typos - b.typos);
  return close[0]?.command ?? null;
}

/** Levenshtein distance. More than TYPOS where the lengths differ by more. */
function typosBetween(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > TYPOS) return TYPOS + 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + Number(a[i - 1] !== b[j - 1])),
      );
    row = next;
  }
  return row[b.length]!;
}
