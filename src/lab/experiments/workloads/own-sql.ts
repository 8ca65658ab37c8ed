/** The user's own script. */
import type { SqlStep, Workload } from '../model/types.ts';
import { defaultsTo, parameter, sql, workload } from './define.ts';
import { inOneTransaction } from './grouped.ts';

/**
 * @param script statements, separated by semicolons. A line `-- step NAME` begins a step, and a
 * line `-- setup` begins a part that runs before all steps and isn't counted
 */
export function ownSql(script: string): Workload {
  return workload({
    id: 'own-sql',
    title: 'Your own SQL',
    question:
      'What does my script do to storage, and what does a change of it, or of the settings, change?',
    parameters: {
      grouped: defaultsTo(
        0,
        [0, 1],
        'whether the statements of a step are put into one transaction',
      ),
    },
    setup: () => partsOf(script).setup,
    steps: (p) =>
      partsOf(script).steps.map((step) =>
        parameter(p, 'grouped') ? { ...step, sql: inOneTransaction(step.sql) } : step,
      ),
    watch: [
      'instructions',
      'ms',
      'statements',
      'rows',
      'vfs.xRead',
      'vfs.xReadBytes',
      'vfs.xWrite',
      'vfs.xWriteBytes',
      'vfs.xSync',
    ],
    claims: ['S3.34', 'S4.18'],
  });
}

/** The user's script on a copy of the user's database. @param script as in `ownSql` */
export function ownDatabase(script: string): Workload {
  return {
    ...ownSql(script),
    id: 'own-database',
    title: 'Your database',
    question:
      'What do my statements cost on my data, and what would another VFS, page size, cache, or journal mode change?',
    watch: [...ownSql(script).watch, 'cache.hit', 'cache.miss'],
    needs: ['database'],
  };
}

const MARKER = /^--[ \t]*(?:step[ \t]+(\S.*)|setup[ \t]*)$/gim;

/**
 * The parts of the script after each marker, and the part before the first marker unless it is
 * blank. Ids of steps are unique.
 */
function partsOf(script: string): { setup: SqlStep[]; steps: SqlStep[] } {
  const used = new Map<string, number>();
  const setup: SqlStep[] = [];
  const steps: SqlStep[] = [];
  // split with a group: [text, name, text, name, text ...]; a setup has no name
  const parts: (string | undefined)[] = script.split(MARKER);
  for (let i = 0; i < parts.length; i += 2) {
    const text = parts[i]!;
    if (!text.trim()) continue;
    if (i && parts[i - 1] === undefined) {
      setup.push(sql('setup', 'setup', text));
      continue;
    }
    const name = i ? parts[i - 1]!.trim() : 'script';
    const n = (used.get(name) ?? 0) + 1;
    used.set(name, n);
    steps.push(sql(n > 1 ? `${name} (${n})` : name, name, text));
  }
  return { setup, steps };
}
