/** The version graph as a table, a picture, a page, and numbers, for the command. */
import type { Block, ReportTable } from '../../analysis/report/blocks.ts';
import { csvCell } from '../../formats/csv.ts';
import { blockHtml, chartsHtml, htmlPage } from '../../formats/html-page.ts';
import { chartsFile, type Chart } from '../../formats/svg-bars.ts';
import { releaseChart, type ReleaseAxis } from '../../formats/svg-releases.ts';
import {
  countOf,
  formatBytes,
  formatCount,
  formatShortCount,
  UNKNOWN,
} from '../../text/numbers.ts';
import { factPairs, releaseFacts, type EnvironmentFact } from '../experiments/model/environment.ts';
import { workloadOf } from '../experiments/workloads/index.ts';
import { exactDifference, number, ratioOf } from './table.ts';
import {
  besidePrevious,
  compareVersions,
  inOrder,
  releaseText,
  stepChanges,
  type CountedRelease,
  type StepChange,
  type VersionGraph,
} from './versions.ts';

export const versionsTitle = ({ workload, parameters }: VersionGraph): string =>
  [
    workloadOf(workload).title,
    ...Object.entries(parameters).map(([name, n]) => `${name} ${n}`),
    'over releases of SQLite',
  ].join(', ');

/** What ran those that were counted; [] where none was, or they were saved without it. */
export function versionsFacts(graph: VersionGraph): EnvironmentFact[] {
  const { releases, workload, version, parameters } = graph;
  const ran = inOrder(releases).flatMap((release) =>
    release.ran ? [{ name: releaseText(release), result: release.ran }] : [],
  );
  return ran.length ? releaseFacts({ workload, version, parameters }, ran) : [];
}

const changeText = (value: number | null, before: number | null | undefined): string =>
  value === null || before === null || before === undefined ? '' : ratioOf(value, before);
const stepText = ({ step, from, to }: StepChange): string =>
  `${step}: ${ratioOf(to, from)} (${exactDifference(from, to)})`;

/** One row per counted release; changes are relative to the release above of the same package. */
export function versionsTable({ releases }: VersionGraph): ReportTable {
  const counted = releases.filter(({ instructions }) => instructions !== null);
  return {
    head: [
      'release',
      'SQLite',
      'instructions',
      'change',
      'most changed step',
      'wasm bytes',
      'change of size',
    ],
    rows: besidePrevious(counted).map(({ release, before }) => {
      const [most] = before ? stepChanges(before, release) : [];
      return [
        releaseText(release),
        release.sqlite ?? UNKNOWN,
        number(release.instructions),
        changeText(release.instructions, before?.instructions),
        most ? stepText(most) : '',
        number(release.wasmBytes) || UNKNOWN,
        changeText(release.wasmBytes, before?.wasmBytes),
      ];
    }),
    texts: [0, 1, 4],
  };
}

/** Releases that couldn't be counted, each with its cause, grouped by package and cause. */
export function notCounted({ releases }: VersionGraph): string[] {
  const causes = new Map<string, CountedRelease[]>();
  for (const release of inOrder(releases))
    if (release.why !== null) {
      // the cause may contain the release's name
      const cause = release.why.replaceAll(release.version, 'this release');
      const key = `${release.package} ${cause}`;
      causes.set(key, [...(causes.get(key) ?? []), release]);
    }
  return [...causes.values()].map((all) => {
    const names = all.map(({ version }) => version).join(', ');
    return `${all[0]!.package} ${names}: ${UNKNOWN}, ${all[0]!.why}`;
  });
}

/** Changed steps of two releases, the largest first. */
export const stepTable = (a: CountedRelease, b: CountedRelease): ReportTable => ({
  head: ['step', releaseText(a), releaseText(b), 'difference', 'change'],
  rows: stepChanges(a, b).map(({ step, from, to }) => [
    step,
    number(from),
    number(to),
    exactDifference(from, to),
    ratioOf(to, from),
  ]),
  texts: [0],
});

/** One axis for all packages: by SQLite's version, then by release. */
function axisOf(counted: readonly CountedRelease[]): {
  axis: ReleaseAxis;
  slots: readonly CountedRelease[];
} {
  const slots = inOrder(counted).sort((a, b) => compareVersions(a.sqlite!, b.sqlite!));
  const ticks = slots.flatMap(({ sqlite }, slot) =>
    slot > 0 && slots[slot - 1]!.sqlite === sqlite ? [] : [{ slot, label: sqlite! }],
  );
  return { axis: { slots: slots.length, ticks }, slots };
}

function chartsOf({ releases }: VersionGraph): Chart[] {
  const counted = releases.filter(
    ({ instructions, sqlite }) => instructions !== null && sqlite !== null,
  );
  if (counted.length === 0) return [];
  const { axis, slots } = axisOf(counted);
  const packages = [...new Set(inOrder(counted).map((release) => release.package))];
  const lines = (of: (release: CountedRelease) => number | null, unit: string) =>
    packages.map((label) => ({
      label,
      points: slots.flatMap((release, slot) => {
        const value = release.package === label ? of(release) : null;
        if (value === null) return [];
        const text = `${releaseText(release)}, SQLite ${release.sqlite}: ${number(value)} ${unit}`;
        return [{ slot, value, text }];
      }),
    }));
  return [
    releaseChart(
      'Instructions',
      axis,
      lines((release) => release.instructions, 'instructions'),
      formatShortCount,
    ),
    releaseChart(
      'Size of the wasm file',
      axis,
      lines((release) => release.wasmBytes, 'bytes'),
      formatBytes,
      true,
    ),
  ].flatMap((chart) => chart ?? []);
}

function noteOf({ releases }: VersionGraph): string {
  const counted = releases.filter(({ instructions }) => instructions !== null).length;
  const of = counted < releases.length ? `${formatCount(counted)} of ` : '';
  return `Counted by vfscope, ${of}${countOf(releases.length, 'release')}. The same on every machine.`;
}

/**
 * One self-contained file.
 * @param first blocks above the charts, such as the result of a bisection
 */
export function versionsHtml(graph: VersionGraph, first: readonly Block[] = []): string {
  const missing = notCounted(graph);
  const facts = factPairs(versionsFacts(graph));
  return htmlPage({
    title: versionsTitle(graph),
    note: noteOf(graph),
    body: [
      ...first.map(blockHtml),
      ...chartsHtml('Over SQLite versions', chartsOf(graph)),
      blockHtml({ heading: 'Releases', table: versionsTable(graph) }),
      ...(missing.length ? [blockHtml({ heading: 'Not counted', lines: missing })] : []),
      ...(facts.length ? [blockHtml({ heading: 'Environment', facts })] : []),
    ],
  });
}

/** Only the picture. */
export const versionsSvg = (graph: VersionGraph): string =>
  chartsFile(versionsTitle(graph), noteOf(graph), chartsOf(graph));

/** One line per release and step, and one for its total. Unknown values are empty. */
export function versionsCsv({ releases }: VersionGraph): string {
  const lines = ['package,version,sqlite,wasm_bytes,step,instructions'];
  for (const { package: name, version, sqlite, wasmBytes, steps, instructions } of inOrder(
    releases,
  ))
    for (const [step, count] of [...Object.entries(steps), ['total', instructions] as const])
      lines.push([name, version, sqlite, wasmBytes, step, count].map(csvCell).join(','));
  return `${lines.join('\n')}\n`;
}
