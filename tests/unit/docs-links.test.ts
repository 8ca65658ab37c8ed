/** Links between documentation pages lead to an existing file, and to an existing heading. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { wrappedPages } from '../../tools/docs/wrap.ts';

const PAGES = [...wrappedPages(), 'SKILL.md', 'llms.txt'];
const withoutCode = (path: string): string =>
  readFileSync(path, 'utf8').replace(/^\s*```[^]*?^\s*```/gm, '');

/** Anchors as GitHub makes them of headings. */
const anchorsOf = (path: string): string[] =>
  [...withoutCode(path).matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );

/** @returns a page's broken links */
function brokenIn(path: string, text = withoutCode(path)): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => {
    if (/^[a-z]+:/.test(link!)) return [];
    const [file, anchor] = link!.split('#');
    const target = file ? join(dirname(path), file) : path;
    const leads =
      existsSync(target) &&
      (anchor === undefined || !target.endsWith('.md') || anchorsOf(target).includes(anchor));
    return leads ? [] : [link!];
  });
}

test.each(PAGES)('%s', (path) => expect(brokenIn(path)).toEqual([]));

test('broken links would be found', () => {
  const text = '[a](panel.md#keys) [b](panel.md#no-such-heading) [c](none.md) [d](https://x.test/)';
  expect(brokenIn('docs/x.md', text)).toEqual(['panel.md#no-such-heading', 'none.md']);
});
