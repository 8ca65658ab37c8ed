/**
 * Whether runs with the same input stored the same. A difference is a bug of a VFS or a build,
 * never noise.
 */
import type { RunResult, Verdict } from './model/result-types.ts';
import { workloadOf } from './workloads/index.ts';

interface Named {
  /** The variant's name in its verdict. */
  readonly name: string;
  readonly result: RunResult;
}
const MOST_TABLES = 3;

/**
 * @returns a verdict for each workload that several results share, with the same version,
 * parameters, script, and database file; none where there is nothing to compare. Actors write in
 * random order, so their data isn't compared; `rows.lost` counts what they lost.
 */
export function storedVerdicts(results: readonly Named[]): Verdict[] {
  const groups = new Map<string, Named[]>();
  for (const named of results) {
    const { run, version } = named.result;
    if (workloadOf(run.workload, run.sql).actors) continue;
    const key = JSON.stringify([
      run.workload,
      version,
      run.parameters,
      run.sql,
      run.database?.name,
    ]);
    groups.set(key, [...(groups.get(key) ?? []), named]);
  }
  const several = [...groups.values()].filter((group) => group.length > 1);
  const workloads = several.map(([first]) => first!.result.run.workload);
  return several.map((group, i) =>
    verdictOf(
      group,
      workloads.some((id, j) => j !== i && id === workloads[i]),
    ),
  );
}

/** @param told whether to state the parameters, because another group has the same workload */
function verdictOf(group: readonly Named[], told: boolean): Verdict {
  const { workload, parameters, sql } = group[0]!.result.run;
  const words = Object.entries(parameters).map(([name, value]) => `${name}=${value}`);
  const what = [workload, ...(told ? words : [])].join(' ');
  const verdict = {
    text: `${what}: what is stored at the end is the same in all ${group.length}`,
    left: null,
    right: null,
  };
  const read = group.filter(({ result }) => result.stored);
  const [first] = read;
  const different = read.filter(
    ({ result }) => result.stored!.digest !== first!.result.stored!.digest,
  );
  if (first && different.length) {
    const chance = sql === undefined ? '' : '; random() and the time of day are never the same';
    return {
      ...verdict,
      holds: false,
      why: `${different.map((named) => differenceOf(first, named)).join('; ')}${chance}`,
    };
  }
  const unread = group.filter(({ result }) => !result.stored).map(({ name }) => name);
  return unread.length
    ? { ...verdict, holds: null, why: `not read back: ${unread.join(', ')}` }
    : { ...verdict, holds: true };
}

function differenceOf(first: Named, other: Named): string {
  const [a, b] = [first.result.stored!.tables, other.result.stored!.tables];
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
    (name) => a[name] !== b[name],
  );
  const shown = names
    .slice(0, MOST_TABLES)
    .map((name) => `${name} (${rowsOf(a[name])} and ${rowsOf(b[name])})`);
  const more = names.length > MOST_TABLES ? ` and ${names.length - MOST_TABLES} more` : '';
  return `${other.name} differs from ${first.name} in ${shown.join(', ')}${more}`;
}
/** `3 rows, digest 1a2b3c4d`, of a digest's text. */
function rowsOf(digest: string | undefined): string {
  const [hash, rows] = digest?.split('/') ?? [];
  return hash === undefined ? 'not there' : `${rows} rows, digest ${hash}`;
}
