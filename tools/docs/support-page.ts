// The generated tables of docs/support.md: each is between <!-- NAME: npm run docs --> and <!--
// /NAME -->.
import { readFileSync, writeFileSync } from 'node:fs';

const PAGE = 'docs/support.md';

/** Splits the page around a table: the text before it, the table, the text after it. */
function around(name: string, page: string): [string, string, string] {
  const begin = `<!-- ${name}: npm run docs -->`;
  const from = page.indexOf(begin) + begin.length;
  const to = page.indexOf(`<!-- /${name} -->`);
  if (!page.includes(begin) || to < from) throw new Error(`${PAGE} has no ${begin} ...`);
  return [page.slice(0, from), page.slice(from, to).trim(), page.slice(to)];
}

/** A table in the page's format. */
export const storedTable = (name: string): string => around(name, readFileSync(PAGE, 'utf8'))[1];

/** Inserts a table into the page. */
export function writeTable(name: string, table: string): void {
  const [before, , after] = around(name, readFileSync(PAGE, 'utf8'));
  writeFileSync(PAGE, `${before}\n${table}\n${after}`);
}

/** A table as Markdown. @param rows starting with the head */
export const markdown = ([head, ...rows]: readonly (readonly string[])[]): string =>
  [head!, head!.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
