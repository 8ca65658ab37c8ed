/**
 * People also read the documentation in terminals and reviews, so its lines are at most 120
 * characters wide.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { wrapped, wrappedPages } from '../../tools/docs/wrap.ts';

test.each(wrappedPages())('%s is wrapped', (path) => {
  const page = readFileSync(path, 'utf8');
  expect(page, 'to fix it: npm run docs').toBe(wrapped(page));
});

test('paragraphs and items are wrapped; tables, code, headings, and pictures are not', () => {
  const long = 'word '.repeat(30).trim();
  const [head, tail] = ['word '.repeat(24).trim(), 'word '.repeat(6).trim()];
  expect(wrapped(long)).toBe(`${head}\n${tail}`);
  expect(wrapped('one\ntwo')).toBe('one two');
  expect(wrapped(`- ${long}\n  more`)).toBe(
    `- ${'word '.repeat(23).trim()}\n  ${'word '.repeat(7).trim()} more`,
  );
  for (const kept of [`| ${long} |`, `# ${long}`, `![${long}](x.png)`, `\`\`\`sh\n${long}\n\`\`\``])
    expect(wrapped(kept)).toBe(kept);
});

test('no wrapped line begins like a list item', () => {
  const text = `${'word '.repeat(24)}- ${'word '.repeat(3)}`.trim();
  expect(wrapped(text).split('\n')[1]).toBe('word - word word word');
});
