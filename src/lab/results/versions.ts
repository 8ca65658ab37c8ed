/**
 * The instructions of one workload over the releases of packages: as rows, as a picture, and by
 * bisection.
 */
import { isEnvironment, isVfs } from '../experiments/saved-result.ts';
import type { Environment } from '../experiments/model/environment-types.ts';
import type { Parameters, VfsName } from '../experiments/model/types.ts';
import type { RunResult } from '../experiments/model/result-types.ts';

/** One release. A count that failed is null, and `why` has the reason. */
export interface CountedRelease {
  readonly package: string;
  readonly version: string;
  readonly sqlite: string | null;
  readonly wasmBytes: number | null;
  readonly instructions: number | null;
  /** Instructions by step of the workload. */
  readonly steps: Readonly<Record<string, number>>;
  readonly why: string | null;
  /** Where it was counted, and with what. Absent: not counted, or saved without it. */
  readonly ran?: {
    readonly environment: Environment;
    readonly vfs: VfsName;
    /** Build of the package. */
    readonly variant: string | null;
    readonly settings: Readonly<Record<string, string>>;
  };
}
export interface VersionGraph {
  readonly kind: 'versions';
  readonly workload: string;
  /** Of the workload. */
  readonly version: number;
  readonly parameters: Parameters;
  readonly releases: readonly CountedRelease[];
}
export type ReleaseName = Pick<CountedRelease, 'package' | 'version'>;

export const releaseText = (release: ReleaseName): string =>
  `${release.package}@${release.version}`;

/** Parts of a version: numbers as numbers, and `build2` as `build` and 2. */
const partsOf = (version: string): (string | number)[] =>
  (version.match(/\d+|[a-z]+/gi) ?? []).map((part) => (/^\d/.test(part) ? Number(part) : part));
const isEarly = (part: string | number | undefined): boolean =>
  typeof part === 'string' && /^(?:alpha|beta|rc|pre\w*|dev|next|canary)$/i.test(part);

/** `-rc1`, `-dev-20241121`: not `-build1`, which is how sqlite.org numbers its releases. */
export const isPrerelease = (version: string): boolean => partsOf(version).some(isEarly);

/**
 * In version order: 1.2.9 before 1.2.10, `-rc1` before the release, `-build2` after `-build1`,
 * `-prebuild1` before both.
 */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [partsOf(a), partsOf(b)];
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const [p, q] = [x[i], y[i]];
    if (p === q) continue;
    if (p === undefined) return isEarly(q) ? 1 : -1;
    if (q === undefined) return isEarly(p) ? -1 : 1;
    if (typeof p === 'number' && typeof q === 'number') return p - q;
    if (typeof p !== typeof q) return typeof p === 'number' ? 1 : -1;
    if (isEarly(p) !== isEarly(q)) return isEarly(p) ? -1 : 1;
    return p < q ? -1 : 1;
  }
  return 0;
}

/** By package, in the order of their first appearance, then by version. */
export function inOrder<Release extends ReleaseName>(releases: readonly Release[]): Release[] {
  const packages = [...new Set(releases.map((release) => release.package))];
  return [...releases].sort(
    (a, b) =>
      packages.indexOf(a.package) - packages.indexOf(b.package) ||
      compareVersions(a.version, b.version),
  );
}

/** @param result of a counted run */
export function countedRelease(release: ReleaseName, result: RunResult | string): CountedRelease {
  const { package: name, version } = release;
  if (typeof result === 'string')
    return {
      ...{ package: name, version, sqlite: null, wasmBytes: null, instructions: null, steps: {} },
      why: result,
    };
  return {
    ...{ package: name, version },
    sqlite: result.engine?.sqlite ?? null,
    wasmBytes: result.engine?.wasmBytes ?? null,
    instructions: result.totals.instructions ?? null,
    steps: Object.fromEntries(
      result.steps.flatMap(({ id, counters }) =>
        counters.instructions === undefined ? [] : [[id, counters.instructions]],
      ),
    ),
    why: null,
    ran: {
      environment: result.environment,
      vfs: result.run.config.vfs,
      variant: result.engine?.variant ?? null,
      settings: result.settings,
    },
  };
}

/** A step whose count changed. */
export interface StepChange {
  readonly step: string;
  readonly from: number;
  readonly to: number;
}
/** Steps that changed, the largest change first. */
export const stepChanges = (a: CountedRelease, b: CountedRelease): StepChange[] =>
  Object.entries(b.steps)
    .flatMap(([step, to]) => {
      const from = a.steps[step];
      return from === undefined || from === to ? [] : [{ step, from, to }];
    })
    .sort(
      (p, q) => Math.abs(q.to - q.from) - Math.abs(p.to - p.from) || (p.step < q.step ? -1 : 1),
    );

/** Each counted release beside the previous one of the same package. */
export function besidePrevious(
  counted: readonly CountedRelease[],
): { readonly release: CountedRelease; readonly before: CountedRelease | null }[] {
  const last = new Map<string, CountedRelease>();
  return inOrder(counted).map((release) => {
    const before = last.get(release.package) ?? null;
    last.set(release.package, release);
    return { release, before };
  });
}

/** A bisection's test of a release: null where it isn't known. */
type Differs = (index: number) => Promise<boolean | null>;
export interface Bisection {
  /** The first release that differs; null: the last one doesn't differ. */
  readonly first: number | null;
  /** The last one before it that doesn't differ. */
  readonly before: number;
  /** Releases in between that couldn't be counted: each of them may be the first. */
  readonly unknown: readonly number[];
}

/**
 * Finds by halving where releases begin to differ from the first one. It assumes that all later
 * releases differ, too. The result is valid without this assumption: one of two neighbors differs
 * and the other doesn't.
 * @param count of releases; the first and the last can be counted
 */
export async function bisect(count: number, differs: Differs): Promise<Bisection> {
  let [before, first] = [0, count - 1];
  if (!(await differs(first))) return { first: null, before, unknown: [] };
  const unknown = new Set<number>();
  for (;;) {
    const open = Array.from({ length: first - before - 1 }, (_, i) => before + 1 + i).filter(
      (i) => !unknown.has(i),
    );
    if (open.length === 0) break;
    const middle = open[open.length >> 1]!;
    const answer = await differs(middle);
    if (answer === null) unknown.add(middle);
    else if (answer) first = middle;
    else before = middle;
  }
  return {
    first,
    before,
    unknown: [...unknown].filter((i) => i > before && i < first).sort((a, b) => a - b),
  };
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isCountOrNull = (value: unknown): boolean => value === null || isCount(value);
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const holdsCounts = (value: unknown): boolean =>
  isFields(value) && Object.values(value).every(isCount);

const isRan = (value: unknown): boolean =>
  isFields(value) &&
  isEnvironment(value.environment) &&
  isVfs(value.vfs) &&
  isTextOrNull(value.variant) &&
  isFields(value.settings) &&
  Object.values(value.settings).every(isText);
const isRelease = (value: unknown): boolean =>
  isFields(value) &&
  isText(value.package) &&
  isText(value.version) &&
  isTextOrNull(value.sqlite) &&
  isCountOrNull(value.wasmBytes) &&
  isCountOrNull(value.instructions) &&
  holdsCounts(value.steps) &&
  isTextOrNull(value.why) &&
  (value.ran === undefined || isRan(value.ran));

/** Whether a value that was read from a file has the form of a graph. */
export const isVersionGraph = (value: unknown): value is VersionGraph =>
  isFields(value) &&
  value.kind === 'versions' &&
  isText(value.workload) &&
  isCount(value.version) &&
  holdsCounts(value.parameters) &&
  Array.isArray(value.releases) &&
  value.releases.every(isRelease);
