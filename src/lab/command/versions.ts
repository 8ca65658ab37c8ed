/**
 * `vfscope lab versions`: exact counts over the releases of npm packages, and where a count
 * changed. In Node.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import {
  isPackage,
  PACKAGES,
  EXAMPLE_RELEASE,
  releaseNamed,
  type PackageName,
} from '../experiments/model/engine-names.ts';
import { hindrance, measureEach } from '../experiments/run.ts';
import { readWords, runOf } from '../experiments/plan.ts';
import { WORKLOADS, workloadOf } from '../experiments/workloads/index.ts';
import type { Config, Parameters, Workload } from '../experiments/model/types.ts';
import {
  bisect,
  compareVersions,
  countedRelease,
  inOrder,
  isPrerelease,
  isVersionGraph,
  releaseText,
  type Bisection,
  type CountedRelease,
  type VersionGraph,
} from '../results/versions.ts';
import {
  notCounted,
  stepTable,
  versionsCsv,
  versionsFacts,
  versionsHtml,
  versionsSvg,
  versionsTable,
  versionsTitle,
} from '../results/versions-report.ts';
import { exactDifference, number, ratioOf } from '../results/table.ts';
import type { Block, ReportTable } from '../../analysis/report/blocks.ts';
import { cellText } from '../../analysis/report/blocks.ts';
import { listenForInterrupt, type Interrupt } from '../../drive/interrupt.ts';
import { browserFailed, wrongUse } from '../../terminal/failure.ts';
import { cannotRead, complain, Exit } from '../../terminal/open-file.ts';
import { table } from '../../terminal/report-text.ts';
import { jsonText, print } from '../../terminal/stdout.ts';
import { checkWritable, writeWhole } from '../../terminal/write-file.ts';
import { plain } from '../../text/clean.ts';
import { countOf } from '../../text/numbers.ts';
import { cacheFolder } from './engines/cache-folder.ts';
import { releasesOf, runNpm, type Npm } from './engines/npm.ts';
import { OutsideEngines } from './engines/outside.ts';
import { nodeSurroundings } from './node.ts';
import { factLines } from './run-text.ts';
import { checkReportFiles, writeReportFiles, type ReportFiles } from './report-files.ts';

export interface VersionsOptions {
  /** Packages with all their releases; none: sql.js and sqlite.org's. */
  readonly packages: readonly string[];
  /** Releases by name, instead of all in npm's list. */
  readonly releases: readonly string[];
  /** How many of the newest releases of each package; undefined: all. */
  readonly last: number | undefined;
  /** The first and the last version. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly workload: string;
  /** Parameters of the workload. */
  readonly config: readonly string[];
  /** Where results are saved, and where a later run continues. */
  readonly out: string | undefined;
  readonly bisect: boolean;
  /** For a bisection: the step; `total` is the sum. */
  readonly step: string;
  /** For a bisection: the minimum change in percent; undefined: any. */
  readonly by: number | undefined;
  readonly cache: string | undefined;
  readonly json: boolean;
  readonly files: ReportFiles;
}

type Named = Pick<CountedRelease, 'version'> & { readonly package: PackageName };

const USUAL: readonly PackageName[] = ['sql.js', '@sqlite.org/sqlite-wasm'];

/** @param npm the user's; tests use another one @returns the exit code */
export async function versionsCommand(o: VersionsOptions, npm: Npm = runNpm): Promise<number> {
  const { workload, parameters } = workloadFor(o);
  await checkReportFiles(o.files);
  if (o.out !== undefined) await checkWritable(o.out);
  const wanted = await releasesFor(o, npm);
  const counts = new Counts(workload, parameters, o, npm);
  await counts.load();
  const interrupt = listenForInterrupt(complain);
  try {
    if (o.bisect) return await bisected(o, wanted, counts, interrupt);
    for (const release of wanted) {
      if (interrupt.came) break;
      await counts.of(release);
    }
    await reported(o, counts.graph());
    return ended(o, counts, interrupt, wanted.length);
  } finally {
    interrupt.ignore();
  }
}

/** Errors come last, where they are seen. */
function ended(o: VersionsOptions, counts: Counts, interrupt: Interrupt, all: number): number {
  if (interrupt.came) {
    complain(
      `interrupted: ${counts.done} of ${countOf(all, 'release')} done. ${o.out === undefined ? 'With --out FILE.json the next run continues from here.' : `Run the same command again to continue from ${o.out}.`}`,
    );
    return Exit.browserFailed; // stopped before everything was done
  }
  if (counts.graph().releases.some(({ instructions }) => instructions !== null)) return Exit.done;
  throw browserFailed('no release could be counted. The reasons are above.');
}

function workloadFor({ workload: id, config, step, bisect: asked }: VersionsOptions): {
  workload: Workload;
  parameters: Parameters;
} {
  try {
    if (id.startsWith('own-') || !WORKLOADS.some((each) => each.id === id))
      throw new Error(`there is no workload "${id}" for this; \`vfscope lab list\` names them.`);
    const { config: settings, parameters } = readWords(config);
    if (Object.keys(settings).length)
      throw new Error(`--config ${config.join(' ')}: only parameters of the workload can be set.`);
    const workload = workloadOf(id);
    const run = runOf(workload, { parameters }, { mode: 'count', repeats: 1 });
    if (step !== 'total' && !asked) throw new Error('--step is for --bisect.');
    return { workload, parameters: run.parameters };
  } catch (e) {
    throw wrongUse((e as Error).message);
  }
}

/** In their order. @throws CommandFailure where a name is invalid, or npm returns no list */
async function releasesFor(o: VersionsOptions, npm: Npm): Promise<Named[]> {
  const unknown = o.packages.find((name) => !isPackage(name));
  if (unknown !== undefined)
    throw wrongUse(`--package ${unknown}: expected one of ${PACKAGES.join(', ')}.`);
  const names = o.packages.length ? (o.packages as PackageName[]) : USUAL;
  const named = o.releases.map((name): Named => {
    try {
      const release = releaseNamed(name);
      if (release?.version) return { package: release.package, version: release.version };
    } catch (e) {
      throw wrongUse((e as Error).message);
    }
    throw wrongUse(`--releases ${name}: expected a release, as in ${EXAMPLE_RELEASE}.`);
  });
  const all = named.length ? named : await listed(names, npm);
  const between = inOrder(all).filter(
    ({ version }) =>
      (o.from === undefined || compareVersions(version, o.from) >= 0) &&
      (o.to === undefined || compareVersions(version, o.to) <= 0),
  );
  const { last } = o;
  const kept =
    last === undefined
      ? between
      : [...new Set(between.map((release) => release.package))].flatMap((name) =>
          between.filter((release) => release.package === name).slice(-last),
        );
  if (kept.length === 0) throw wrongUse('there is no such release.');
  return kept;
}

async function listed(names: readonly PackageName[], npm: Npm): Promise<Named[]> {
  const all: Named[] = [];
  for (const name of names) {
    const versions = await releasesOf(name, npm, tmpdir()).catch((e: unknown) => {
      throw browserFailed(
        `${(e as Error).message}. Without a registry, name releases that you have: --releases ${name}@VERSION.`,
      );
    });
    const released = versions.filter((version) => !isPrerelease(version));
    all.push(...released.map((version) => ({ package: name, version })));
  }
  return all;
}

/** Counts of releases: those in the file, and new ones, saved one by one. */
class Counts {
  private readonly known = new Map<string, CountedRelease>();
  /** Requested in this run. */
  private readonly asked = new Set<string>();

  constructor(
    private readonly workload: Workload,
    private readonly parameters: Parameters,
    private readonly o: VersionsOptions,
    private readonly npm: Npm,
  ) {}

  get done(): number {
    return this.asked.size;
  }

  graph(): VersionGraph {
    return {
      kind: 'versions',
      workload: this.workload.id,
      version: this.workload.version,
      parameters: this.parameters,
      releases: inOrder([...this.known.values()]),
    };
  }

  /** Results of an earlier run. @throws CommandFailure where the file belongs to something else */
  async load(): Promise<void> {
    const { out } = this.o;
    if (out === undefined || !existsSync(out)) return;
    const text = await readFile(out, 'utf8').catch((e: unknown) => {
      throw wrongUse(cannotRead(out, e, 'a version graph'));
    });
    let saved: unknown;
    try {
      saved = JSON.parse(text);
    } catch (e) {
      throw wrongUse(`${out} isn't JSON: ${(e as Error).message}. Choose another --out.`);
    }
    if (!isVersionGraph(saved))
      throw wrongUse(`${out} isn't a version graph. Choose another --out.`);
    const own = this.graph();
    const key = (graph: VersionGraph): string =>
      JSON.stringify([graph.workload, graph.version, Object.entries(graph.parameters).sort()]);
    if (key(saved) !== key(own))
      throw wrongUse(
        `${out} holds another workload, version, or parameters (${versionTextOf(saved)}). Choose another --out.`,
      );
    for (const release of saved.releases) this.known.set(releaseText(release), release);
  }

  /** A release that an earlier run couldn't count is tried again. */
  async of(release: Named): Promise<CountedRelease> {
    const name = releaseText(release);
    const before = this.known.get(name);
    const again = this.asked.has(name);
    this.asked.add(name);
    if (before && (before.why === null || again)) return before;
    const counted = await this.count(release);
    this.known.set(name, counted);
    complain(
      counted.why === null
        ? `${name}, SQLite ${counted.sqlite}: ${number(counted.instructions)} instructions`
        : `${name}: n/a, ${counted.why}`,
    );
    const { out } = this.o;
    if (out !== undefined) await writeWhole(out, [jsonText(this.graph())]);
    return counted;
  }

  /** In separate engines, so that nothing of an earlier release stays in memory. */
  private async count(release: Named): Promise<CountedRelease> {
    const outside = new OutsideEngines({
      cache: this.o.cache ?? cacheFolder(),
      npm: this.npm,
      say: complain,
    });
    const engine = `${release.package}@${release.version}` as const;
    const config: Partial<Config> = { engine };
    const run = runOf(
      this.workload,
      { config, parameters: this.parameters },
      { mode: 'count', repeats: 1 },
    );
    await outside.prepare([run.config]);
    const around = nodeSurroundings(undefined, outside);
    const why = hindrance(run, around);
    if (why !== null) return countedRelease(release, why);
    const [done] = await measureEach([run], around);
    return countedRelease(release, done instanceof Error ? done.message : done!);
  }
}

const versionTextOf = ({ workload, version, parameters }: VersionGraph): string =>
  [
    `${workload} version ${version}`,
    ...Object.entries(parameters).map(([name, n]) => `${name}=${n}`),
  ].join(', ');

const textTable = ({ head, rows, texts }: ReportTable): string[] =>
  table(
    head,
    rows.map((row) => row.map((cell) => plain(cellText(cell).replaceAll('−', '-')))),
    texts,
  );

/** @param found the result of a bisection, shown above the releases */
const filesWritten = (
  o: VersionsOptions,
  graph: VersionGraph,
  found: readonly Block[] = [],
): Promise<void> =>
  writeReportFiles(o.files, {
    html: () => versionsHtml(graph, found),
    svg: () => versionsSvg(graph),
    csv: () => versionsCsv(graph),
  });
async function reported(o: VersionsOptions, graph: VersionGraph): Promise<void> {
  await filesWritten(o, graph);
  const missing = notCounted(graph);
  await print(
    o.json
      ? jsonText(graph)
      : `${[
          versionsTitle(graph),
          '',
          ...textTable(versionsTable(graph)),
          ...(missing.length ? ['', ...missing.map((line) => `  ${plain(line)}`)] : []),
          ...factLines(versionsFacts(graph)),
        ].join('\n')}\n`,
  );
}

/** The count to bisect. */
const countOfStep = (release: CountedRelease, step: string): number | null =>
  step === 'total' ? release.instructions : (release.steps[step] ?? null);

/** Ended by Ctrl+C. */
class Interrupted extends Error {}

async function bisected(
  o: VersionsOptions,
  wanted: readonly Named[],
  counts: Counts,
  interrupt: Interrupt,
): Promise<number> {
  if (new Set(wanted.map((release) => release.package)).size > 1)
    throw wrongUse('--bisect is for one package: add --package NAME.');
  const count = async (i: number): Promise<number | null> => {
    if (interrupt.came) throw new Interrupted();
    const release = await counts.of(wanted[i]!);
    if (release.instructions !== null && countOfStep(release, o.step) === null)
      throw wrongUse(`--step ${o.step}: expected total, ${Object.keys(release.steps).join(', ')}.`);
    return countOfStep(release, o.step);
  };
  try {
    // releases that can't be counted can't be the ends
    let [start, end] = [0, wanted.length - 1];
    while (start < end && (await count(start)) === null) start++;
    while (end > start && (await count(end)) === null) end--;
    if (start >= end)
      throw browserFailed('fewer than two releases could be counted: nothing to bisect.');
    const base = (await count(start))!;
    const found = await bisect(end - start + 1, async (i) => {
      const value = await count(start + i);
      if (value === null) return null;
      if (o.by === undefined) return value !== base;
      return (Math.abs(value - base) / base) * 100 >= o.by;
    });
    await bisectReported(o, wanted.slice(start, end + 1), counts, found);
    return Exit.done;
  } catch (e) {
    if (!(e instanceof Interrupted)) throw e;
    await reported(o, counts.graph());
    return ended(o, counts, interrupt, wanted.length);
  }
}

async function bisectReported(
  o: VersionsOptions,
  range: readonly Named[],
  counts: Counts,
  { first, before, unknown }: Bisection,
): Promise<void> {
  const of = (i: number): Promise<CountedRelease> => counts.of(range[i]!);
  const [a, b] = [await of(before), first === null ? null : await of(first)];
  const skipped = unknown.map((i) => releaseText(range[i]!));
  const place = o.step === 'total' ? 'instructions' : `instructions in step ${o.step}`;
  const line = (release: CountedRelease): string =>
    `${releaseText(release)} (SQLite ${release.sqlite}): ${number(countOfStep(release, o.step))} ${place}`;
  const last = await of(range.length - 1);
  const change = o.by === undefined ? 'No change' : `No change of ${o.by} %`;
  const lines = b
    ? [
        `First release that differs: ${line(b)}`,
        `The one before it: ${line(a)}`,
        `Change: ${ratioOf(countOfStep(b, o.step)!, countOfStep(a, o.step)!)} (${exactDifference(countOfStep(a, o.step)!, countOfStep(b, o.step)!)})`,
        ...(skipped.length
          ? [`Could not be counted, and may be the first: ${skipped.join(', ')}`]
          : []),
      ]
    : [`${change} between the first and the last:`, line(a), line(last)];
  const steps = b && stepTable(a, b);
  const done = `${counts.done} of ${countOf(range.length, 'release')} counted.`;
  const graph = counts.graph();
  await filesWritten(o, graph, [
    { heading: 'Bisection', lines: [...lines, done] },
    ...(steps ? [{ heading: 'Steps that changed', table: steps }] : []),
  ]);
  const { workload, version, parameters } = graph;
  await print(
    o.json
      ? jsonText({
          ...{ workload, version, parameters },
          step: o.step,
          before: a,
          first: b,
          unknown: skipped,
          counted: counts.done,
          of: range.length,
        })
      : `${[
          versionsTitle(graph),
          ...lines.map((text) => plain(text.replaceAll('−', '-'))),
          ...(steps ? ['', ...textTable(steps)] : []),
          ...['', done],
          ...factLines(versionsFacts(graph)),
        ].join('\n')}\n`,
  );
}
