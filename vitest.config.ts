import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Browsers on a busy machine: `expect.poll` waits for what comes, as long as a test may take. */
const BROWSER = { expect: { poll: { timeout: 30_000 } }, fileParallelism: false };

const VIEWS = 'tests/browser/view*.test.ts';
/** They run some of their cases in `browser` and all in `long` (tests/full.ts). */
const PARTLY = [
  'apps,cache-advice,closed-workers,demo,demo-numbers,engine-suites,engines,extension,extension-record,file-size',
  'field,firefox,firefox-engines,firefox-recording,flight,hooks-engines,hooks-workers',
  'lab-contention,lab-interrupted,lab-page-copy,lab-questions,lab-vfs,lab-whatif,load,own-sql,permissions,privacy,record-interrupted,real-apps,record-marks,record-workers',
  'sealed,shared-workers,update',
].map((names) => `tests/browser/{${names}}.test.ts`);
/** In `long` alone: others of the same subject stand for them. */
const LONG_ONLY = [
  'firefox-flight,firefox-harmless,firefox-lab-page,firefox-other-tabs,firefox-panel,firefox-update,firefox-window',
  'lab-keyboard,lab-own-database,lab-private,lab-results,lab-storage,tuned-apps',
  'view-b-trees,view-cancel,view-followed,view-large-file,view-locks,view-matrix,view-plans,view-rows,view-statement-runs',
].map((names) => `tests/browser/{${names}}.test.ts`);
/** The same as PARTLY for tests in Node: fewer random cases, smaller made-up traces, and one of several builds. */
const PARTLY_IN_NODE = [
  'unit/{analysis-diff,analysis-fuzz,analysis-locks,analysis-transactions,analysis-wal,background-sharing-races,formats-text,interpose,meter-random}',
  'unit/{sanitize,time-partition-shares,trace-file,trace-ring}',
  'contract/{b-trees,checkpoint-choices,miss-ratio}',
].map((names) => `tests/${names}.test.ts`);
/** Files that can share the cores: plain pages with the hook, the Lab, and what waits more than it works. Each has its own browser. */
const PAGES = [
  'action,apps,closed-workers,demo,demo-numbers,doctor,engines,engine-suites,examples,first-contact',
  'hooks-engines,hooks-faults,hooks-harmless,hooks-loading,hooks-observe,hooks-probes',
  'hooks-rejections,hooks-workers',
  'http-reads,keyboard,opened-documents,other-tabs,real-apps,shared-workers,third-party',
  'field,firefox-engines,firefox-keyboard,firefox-lab,firefox-welcome,lab-advice,lab-contention,lab-engine,lab-from-panel,lab-interrupted',
  'lab-page,lab-page-copy,lab-questions,lab-replay,lab-try,lab-vfs,lab-whatif,memory64,network-code,own-sql,page-policies',
  'open,package-files,panel-keys,permissions,privacy,process-death,record-connect,record-interrupted,record-marks,record-workers',
  'safari-build,turso-wal',
].map((names) => `tests/browser/{${names}}.test.ts`);
/** As many files at once as there are cores. By default, Vitest leaves one core idle. */
const ALL_CORES = { maxWorkers: '100%', sequence: { groupOrder: 1 } };

/** The files that take longest. They start first: a long file that starts last leaves a core idle. */
const LONGEST = [
  'view-pictures,lab-vfs,lab-questions,view-filters,view-accessibility,viewer-recording,view-layout',
  'webkit/workers,webkit/demo,webkit/real-apps,webkit/engines,contract/b-trees,lab-workloads',
  'cli-exit-codes,unit/golden,unit/doors,analysis-fuzz',
].flatMap((names) => names.split(',').map((name) => `${name}.test.ts`));
/** The rest is in Vitest's order: by the durations of the last run, or by file size where there was none, as in CI. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      const long = LONGEST.flatMap((name) => own.filter(({ moduleId }) => moduleId.endsWith(name)));
      return [...new Set([...long, ...own])];
    });
  }
}

// Three speeds: pure rooms, every engine in Node, real browsers. Those with DevTools, Firefox or several browsers take the cores for
// themselves: one file at a time.
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['tests/unit/**/*.test.ts', 'tests/repo.test.ts'],
          setupFiles: ['tests/property-seed.ts'],
          testTimeout: 90_000,
          ...ALL_CORES,
        },
      },
      {
        test: {
          name: 'contract',
          include: ['tests/contract/**/*.test.ts'],
          testTimeout: 60_000,
          ...ALL_CORES,
        },
      },
      {
        test: {
          name: 'webkit',
          include: ['tests/webkit/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: BROWSER.expect,
          ...ALL_CORES,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          exclude: [VIEWS, ...PAGES, ...LONG_ONLY],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          ...BROWSER,
        },
      },
      {
        test: {
          name: 'pages',
          include: PAGES,
          exclude: LONG_ONLY,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: BROWSER.expect,
          ...ALL_CORES,
        },
      },
      // The panel as an ordinary page
      {
        test: {
          name: 'views',
          include: [VIEWS],
          exclude: LONG_ONLY,
          globalSetup: ['tests/browser/built-panel.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: BROWSER.expect,
          ...ALL_CORES,
        },
      },
      // Full matrices, of which `browser` runs one representative each: npm run test:long
      {
        test: {
          name: 'long',
          include: ['tests/long/**/*.test.ts', ...PARTLY, ...PARTLY_IN_NODE, ...LONG_ONLY],
          setupFiles: ['tests/property-seed.ts'],
          globalSetup: ['tests/browser/built-panel.ts'],
          env: { FULL: '1' },
          testTimeout: 1_800_000,
          hookTimeout: 120_000,
          ...BROWSER,
        },
      },
      {
        test: {
          name: 'long-webkit',
          include: ['tests/webkit/workers.test.ts'],
          env: { FULL: '1' },
          testTimeout: 120_000,
          hookTimeout: 60_000,
          ...BROWSER,
        },
      },
    ],
  },
});
