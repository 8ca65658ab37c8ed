// `npm run new -- finding SUBJECT NAME`: creates a rule to fill in: its file in
// src/analysis/SUBJECT, its place among the rules, a trace that triggers it and one that doesn't,
// its section in docs/findings.md, and its record in docs/rules-tested.md.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const rule = (id: string, name: string): string => `/**
 * TODO: what goes wrong, and why that costs time.
 *
 *   ${id}   xTruncate, xTruncate ...  ->  one xTruncate
 */
import { Op } from '../../event/event.ts';
import { Evidence } from '../rules/context.ts';
import { Saving } from '../rules/saving.ts';
import type { Rule } from '../rules/types.ts';
import { countOf } from '../../text/numbers.ts';

const FEW = 100;

export const ${name}: Rule = {
  id: '${id}',
  title: 'TODO',
  run(ctx) {
    const evidence = new Evidence();
    ctx.each(Op.xTruncate, (thread, row) => evidence.add(thread, row));
    if (evidence.count < FEW) return [];
    return {
      title: \`\${countOf(evidence.count, 'TODO')}\`,
      evidence: evidence.result(ctx),
      ...new Saving(ctx).avoid(evidence.count - 1, Op.xTruncate, 'truncates').result(),
      confidence: 'possible',
      reason: 'TODO: why no more, or no less, sure',
      advice: 'TODO',
      link: 'https://www.sqlite.org/TODO.html',
    };
  },
};
`;
const story = (id: string): string => `
  {
    rule: '${id}',
    name: 'TODO',
    wrong: ({ thread }) => {
      const b = thread();
      times(100, () => b.call('xTruncate', { object: b.file('/app.db') }));
    },
    right: ({ thread }) => void thread().call('xTruncate'),
    says: /^100 TODO/,
  },`;
const section = (id: string): string => `## ${id} TODO

**What to do**: TODO.

TODO.

- **Not reported**: TODO.
- **Seen** counts TODO.
- **Tested**: TODO.
- **Read**: <https://www.sqlite.org/TODO.html>
`;
const record = (id: string): string => `## ${id} TODO

- **Judged**: Not seen in any stored recording.
- **Twin**: None: TODO.

`;

/**
 * @param root of the repository
 * @param subject a folder of src/analysis
 * @param name of the rule, as a constant
 * @returns the files that were written, relative to root
 * @throws if there is no such subject, or the file exists
 */
export function scaffold(root: string, subject: string, name: string): string[] {
  if (!/^[a-z]\w*$/.test(name)) throw new Error(`"${name}" isn't the name of a constant`);
  const file = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const path = `src/analysis/${subject}/${file}.ts`;
  if (!existsSync(join(root, 'src/analysis', subject)))
    throw new Error(`src/analysis/${subject} doesn't exist`);
  if (existsSync(join(root, path))) throw new Error(`${path} exists`);
  const edits = new Map<string, string>();
  /** Inserts text before the first occurrence of `before` after `after`. */
  const insert = (target: string, after: string, before: string, text: string): void => {
    const old = edits.get(target) ?? readFileSync(join(root, target), 'utf8');
    const at = old.indexOf(before, old.indexOf(after));
    if (at < 0 || !old.includes(after))
      throw new Error(`${target} has no "${after} ... ${before}"`);
    edits.set(target, old.slice(0, at) + text + old.slice(at));
  };
  const page = readFileSync(join(root, 'docs/findings.md'), 'utf8');
  const ids = [...page.matchAll(/^## F(\d\d)/gm)].map(([, id]) => Number(id));
  const id = `F${Math.max(...ids) + 1}`;
  edits.set(path, rule(id, name));
  const index = 'src/analysis/findings/index.ts';
  insert(index, '*/', 'import ', `import { ${name} } from '../${subject}/${file}.ts';\n`);
  insert(index, 'export const RULES', '\n];', `\n  ${name},`);
  insert('tests/traces/findings/storage.ts', 'export const STORAGE', '\n];', story(id));
  edits.set(
    'docs/findings.md',
    `${page.replace(/There are \d+ rules/, `There are ${ids.length + 1} rules`)}\n${section(id)}`,
  );
  insert('docs/rules-tested.md', `## F${Math.max(...ids)}`, '## False alarms', record(id));
  for (const [target, text] of edits) writeFileSync(join(root, target), text);
  return [...edits.keys()];
}

/** The remaining manual steps. */
export const next = (): string => `
  1. write the rule and replace each TODO
  2. npx vitest run --project unit tests/unit/findings
     and a pair of recordings: tests/twins/pairs.ts, or the reason why not in docs/rules-tested.md
  3. if it fires on stored recordings: judge whether it's right, and add it to tests/oracle/findings.json; npm run docs`;
