/**
 * Rollup plugin for the hook: `Op.xRead` becomes 2. Property names aren't minified, and every page
 * parses the hook. If every use of a number table is inlined, the table is left out.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Tables by their import name, and their files: `export const NAME = { key: number, ... } as
 * const`.
 */
const TABLES = {
  Op: 'src/event/event.ts',
  Field: 'src/event/event.ts',
  Flag: 'src/event/event.ts',
  WebLock: 'src/event/event.ts',
  Fcntl: 'src/sqlite/constants.ts',
  LockLevel: 'src/sqlite/constants.ts',
  OpenFlag: 'src/sqlite/constants.ts',
  Rc: 'src/sqlite/constants.ts',
  Header: 'src/record/ring-layout.ts',
  OP: 'src/vfs-instrumented/interpose/wasm-writer.ts',
  Block: 'src/vfs-instrumented/interpose/engine-block.ts',
  Suspended: 'src/vfs-instrumented/interpose/engine-block.ts',
  FileEntry: 'src/vfs-instrumented/interpose/engine-block.ts',
  HeadersOf: 'src/vfs-instrumented/interpose/engine-block.ts',
  Headed: 'src/vfs-instrumented/interpose/header-decode.ts',
};
/**
 * In a module with this line, `W(Header.head)` also becomes a number: this makes the recorder's
 * functions small enough for V8 to inline.
 */
const WORDS = /\bconst W = \(byte(?:: number)?\)(?:: number)? => byte >>> 2;/;
const ROOT = join(import.meta.dirname, '../..');

/**
 * @param {string} name
 * @param {string} source text of its module
 * @returns {Map<string, number>} @throws if the table isn't written as plain numbers
 */
export function tableOf(name, source) {
  const [, body] =
    new RegExp(`export const ${name} = \\{([^}]*)\\} as const;`).exec(
      source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ''),
    ) ?? [];
  const entries = (body ?? '').split(',').flatMap((entry) => (entry.trim() ? [entry.trim()] : []));
  const numbers = entries.map((entry) => /^(\w+): (0x[\da-f]+|\d+)$/i.exec(entry));
  if (numbers.length === 0 || numbers.includes(null))
    throw new Error(
      `${name} is no table of plain numbers: take it out of TABLES in tools/build/inline-constants.mjs`,
    );
  return new Map(numbers.map((match) => [String(match?.[1]), Number(match?.[2])]));
}

/**
 * @param {string} code of a module
 * @param {ReadonlyMap<string, ReadonlyMap<string, number>>} tables by name
 */
export function inlined(code, tables) {
  for (const [name, table] of tables) {
    const known = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\}|\\bconst ${name} = \\{`);
    if (!known.test(code)) continue;
    code = code.replace(new RegExp(`(?<![\\w.$])${name}\\.(\\w+)\\b`, 'g'), (all, key) =>
      String(table.get(key) ?? all),
    );
  }
  return WORDS.test(code)
    ? code.replace(/(?<![\w.$])W\((\d+)\)/g, (_, byte) => String(Number(byte) >>> 2))
    : code;
}

/** @returns {import('rollup').Plugin} */
export function inlineConstants() {
  const tables = new Map(
    Object.entries(TABLES).map(([name, file]) => [
      name,
      tableOf(name, readFileSync(join(ROOT, file), 'utf8')),
    ]),
  );
  return {
    name: 'inline-constants',
    transform: (code, id) =>
      id.includes('/src/') ? { code: inlined(code, tables), map: null } : null,
  };
}
