// The README's tables that are made from the code: each stands between <!-- NAME: npm run docs --> and <!-- /NAME -->.
import { readFileSync, writeFileSync } from 'node:fs';

const README = 'README.md';

/** Splits the README around a table: what is before it, the table, what is after it. */
function around(name: string, readme: string): [string, string, string] {
  const begin = `<!-- ${name}: npm run docs -->`;
  const from = readme.indexOf(begin) + begin.length;
  const to = readme.indexOf(`<!-- /${name} -->`);
  if (!readme.includes(begin) || to < from) throw new Error(`${README} has no ${begin} ...`);
  return [readme.slice(0, from), readme.slice(from, to).trim(), readme.slice(to)];
}

/** A table as the README has it. */
export const readmeTable = (name: string): string => around(name, readFileSync(README, 'utf8'))[1];

/** Puts a table into the README. */
export function writeTable(name: string, table: string): void {
  const [before, , after] = around(name, readFileSync(README, 'utf8'));
  writeFileSync(README, `${before}\n${table}\n${after}`);
}

/** A table as Markdown. @param rows the head first */
export const markdown = ([head, ...rows]: readonly (readonly string[])[]): string =>
  [head!, head!.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
