// Wraps documentation: paragraphs and list items are at most 120 characters wide. Tables, code,
// headings, pictures, and HTML stay unchanged.
// `npm run docs -- wrap` wraps all pages.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const WIDTH = 120;
const AS_IT_IS = /^\s*(?:\||<|#|!\[|---|>|$)/;
const ITEM = /^(\s*)((?:[-*+]|\d+\.)\s+)(.*)$/;
/**
 * At the start of a line, these words would start a list item, a heading, a quotation, or a table.
 */
const BEGINS = /^(?:[-*+>|]|#+|\d+\.)$/;

/** Paths of all documentation pages. */
export const wrappedPages = (): string[] => [
  ...['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];

/** Markdown with its paragraphs wrapped at this width; Infinity: one line each. */
export function wrapped(markdown: string, width = WIDTH): string {
  const lines: string[] = [];
  let words: string[] = [];
  let [first, indent] = ['', ''];
  let isCode = false;
  const end = (): void => {
    if (words.length) lines.push(...paragraph(words, first, indent, width));
    words = [];
  };
  for (const line of markdown.split('\n')) {
    const isFence = /^\s*```/.test(line);
    if (isFence) isCode = !isCode;
    const item = ITEM.exec(line);
    if (isFence || isCode || AS_IT_IS.test(line)) {
      end();
      lines.push(line);
    } else {
      if (item) {
        end();
        first = item[1]! + item[2]!;
        indent = ' '.repeat(first.length);
      } else if (!words.length) first = indent = /^\s*/.exec(line)![0];
      words.push(...(item ? item[3]! : line).trim().split(/\s+/));
    }
  }
  end();
  return lines.join('\n');
}

function paragraph(
  words: readonly string[],
  first: string,
  indent: string,
  width: number,
): string[] {
  const lines: string[][] = [[]];
  let length = first.length;
  for (const word of words) {
    const line = lines.at(-1)!;
    if (line.length && length + 1 + word.length > width) {
      const next = BEGINS.test(word) && line.length > 1 ? [line.pop()!, word] : [word];
      lines.push(next);
      length = indent.length + next.join(' ').length;
    } else {
      length += word.length + (line.length ? 1 : 0);
      line.push(word);
    }
  }
  return lines.map((line, i) => (i ? indent : first) + line.join(' '));
}

/** Wraps all pages. */
export function write(): void {
  for (const path of wrappedPages()) {
    const page = readFileSync(path, 'utf8');
    const next = wrapped(page);
    if (next !== page) writeFileSync(path, next);
  }
}
