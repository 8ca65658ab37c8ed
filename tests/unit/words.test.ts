/**
 * vfscope's words: phrases that documentation and strings avoid because they must be read twice.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listSources } from '../../tools/check/check-rooms.mjs';
import { wrapped, wrappedPages } from '../../tools/docs/wrap.ts';

/** Each with what to write instead. */
const NOT: readonly (readonly [RegExp, string])[] = [
  [/\banew\b|\bonce more\b/i, 'again'],
  [/\bmend(?:ed|s)?\b/i, 'fix, fixed'],
  [/\bbeneath\b/i, 'under, below'],
  [/\bstretches\b|\ba stretch\b/i, 'a time range'],
  [/\b(?:nobody|whoever|somebody)\b/i, 'name the actor, or use the passive'],
  [/\bat hand\b|\bunless told\b/i, 'available, by default'],
  [/\bfinds? no room\b|\b(?:has|have) no room\b/i, "doesn't fit"],
  [/\btold by\b/i, 'is detected from, comes from; Source'],
  [/\bleft behind\b/i, 'not released'],
  [/\bdeadlock-like\b/i, 'possible deadlocks'],
  [/\bwith sql in flight\b|\bwhole life\b/i, 'while SQL runs, entire recording'],
  [/\bto mind\b/i, 'caveats'],
  [/\bthey are no sum\b/i, "don't add them up"],
  [
    /(?<!\bthere )\b(?:is|are|was|were) no (?!(?:longer|more|less|better|worse)\b)[a-z]/i,
    "isn't a",
  ],
  [/\b(?:SQL|Query) page\b/, 'Query view'],
  [/\btold apart\b/i, 'distinguish'],
  [/\bhears? of\b|\btells? of\b/i, 'sees, shows, reports'],
  [/\bstands? (?:beside|behind|above|below|under)\b/i, 'is'],
  [/\b(?:all the same|likewise|as where)\b/i, 'still, too, as when'],
  [/\bring of records\b/i, 'event buffer'],
  [/\bthe app's words\b/i, "your app's names; anonymized"],
  [/\bopen a trace\b|\bsave the trace\b/i, 'recording'],
  [/\bmade again\b/i, 'repeated'],
  [/\bknows? no\b/i, "doesn't have, doesn't know"],
  [/\bmeanwhile\b(?!\.)|\bmeanwhile\.(?!ts)/i, 'in the meantime, during ..., in that time'],
  [/\bin no (?:median|total|sum)\b/i, 'medians leave it out'],
  [/\bin the midst\b/i, 'in the middle'],
  [/\bat rest\b/i, 'idle'],
  [/\bdoes(?:n't| not) go with --/i, "can't be combined with"],
  [/\bdatabases? (?:is|was|were) (?:not )?whole\b/i, 'intact, damaged'],
  [/\bor no JavaScript\b/i, "isn't JavaScript"],
  [/[\u2018\u2019]/, 'a straight apostrophe'],
];
const faultsAmong = (list: typeof NOT, text: string): string[] =>
  list.flatMap(([not, instead]) => {
    const found = not.exec(text);
    return found
      ? [`${text.slice(Math.max(0, found.index - 30), found.index + 50)} => ${instead}`]
      : [];
  });
const faultsIn = (text: string): string[] => faultsAmong(NOT, text);

/** One word for one thing, in what users read: these pages are about vfscope's own code and file. */
const OF_CODE = ['ARCHITECTURE.md', 'docs/benchmarks.md', 'docs/trace-format.md'];

test.each(wrappedPages().filter((path) => !OF_CODE.includes(path)))('%s: tracks', (path) => {
  expect(readFileSync(path, 'utf8').match(/.*\blanes?\b.*/gi) ?? []).toEqual([]);
});

test.each(wrappedPages())('%s', (path) => {
  const page = readFileSync(path, 'utf8').replace(/`[^`\n]*`/g, ''); // names keep their spelling
  const lines = wrapped(page, Infinity).split('\n');
  expect(lines.flatMap(faultsIn)).toEqual([]);
});

/** Texts between quotes, and of markup; no comments. */
function stringsOf(path: string): string[] {
  const source = readFileSync(path, 'utf8')
    .replace(/<!--[^]*?-->|\/\*[^]*?\*\//g, '')
    .replace(/(^|[\s;{}(),])\/\/.*$/gm, '$1');
  const quoted = [...source.matchAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g)];
  const markup = /\.(?:svelte|html)$/.test(path)
    ? source.replace(/<(script|style)[^]*?<\/\1>/g, '')
    : '';
  return [...quoted.map(([text]) => text), ...markup.split('\n')];
}

test('strings in src', () => {
  const strings = listSources('src').map((path) => [path, stringsOf(path)] as const);
  expect(strings.flatMap(([, texts]) => texts).length).toBeGreaterThan(10_000);
  const faults = strings.flatMap(([path, texts]) =>
    texts.flatMap(faultsIn).map((fault) => `${path}: ${fault}`),
  );
  expect(faults).toEqual([]);
});

/** The ones that also apply to comments. */
const NOT_IN_COMMENTS = NOT.filter(([, instead]) =>
  [
    "isn't a",
    'again',
    'fix, fixed',
    'is detected from, comes from; Source',
    'distinguish',
  ].includes(instead),
);
const COMMENT = /\/\*[^]*?\*\/|<!--[^]*?-->|(?<=^|[\s;{}(),])\/\/.*$/gm;

test('comments in src', () => {
  const faults = listSources('src').flatMap((path) =>
    (readFileSync(path, 'utf8').match(COMMENT) ?? []).flatMap((comment) =>
      faultsAmong(NOT_IN_COMMENTS, comment.replace(/\s*\n\s*\*?\s*/g, ' ')).map(
        (fault) => `${path}: ${fault}`,
      ),
    ),
  );
  expect(faults).toEqual([]);
});

test('each of them would be found', () => {
  for (const text of [
    'runs anew',
    'nobody waits',
    'Told by',
    'it’s',
    'a log is no file',
    'is lost meanwhile',
  ])
    expect(faultsIn(`"${text}"`)).toHaveLength(1);
  expect(faultsIn('another one, and amended; there is no lock, and it is no longer held')).toEqual(
    [],
  );
});
