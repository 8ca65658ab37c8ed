/** The user's own script. */
import type { Workload } from '../model/types.ts';
import { sql, workload } from './define.ts';

/** @param script statements, separated by semicolons; a line `-- step NAME` begins a step */
export function ownSql(script: string): Workload {
  return workload({
    id: 'own-sql',
    title: 'Your own SQL',
    question:
      'What does my script do to storage, and what does a change of it, or of the settings, change?',
    steps: () => stepsOf(script),
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

/** The user's own script on a copy of the user's own database. @param script as in `ownSql` */
export function ownDatabase(script: string): Workload {
  return {
    ...ownSql(script),
    id: 'own-database',
    title: 'Your database',
    question:
      'What do my statements cost on my data, and what would another VFS, page size, cache or journal mode change?',
    watch: [...ownSql(script).watch, 'cache.hit', 'cache.miss'],
    needs: ['database'],
  };
}

/** Each part of the script that a marker names, and what stands before the first, unless that is blank. Ids are unique. */
function* stepsOf(script: string): Generator<ReturnType<typeof sql>> {
  const used = new Map<string, number>();
  // split with a group: [text, name, text, name, text ...]
  const parts = script.split(/^--[ \t]*step[ \t]+(\S.*)$/gim);
  for (let i = 0; i < parts.length; i += 2) {
    const name = i ? parts[i - 1]!.trim() : 'script';
    const text = parts[i]!;
    if (!text.trim()) continue;
    const n = (used.get(name) ?? 0) + 1;
    used.set(name, n);
    yield sql(n > 1 ? `${name} (${n})` : name, name, text);
  }
}
