import { defineConfig } from 'vitest/config';

/** Browsers on a busy machine: `expect.poll` waits for what comes, as long as a test may take. */
const BROWSER = { expect: { poll: { timeout: 30_000 } }, fileParallelism: false };

const VIEWS = 'tests/browser/view*.test.ts';
/** They run some of their cases in `browser` and all in `long` (tests/full.ts). */
const PARTLY = [
  'apps,cache-advice,closed-workers,demo,demo-numbers,engine-suites,engines,extension,extension-record,file-size',
  'firefox,firefox-engines,firefox-flight,firefox-lab-page,firefox-recording,firefox-update,flight,hooks-engines',
  'lab-contention,lab-page-copy,lab-private,lab-whatif,load,permissions,record-interrupted,record-marks,record-workers',
  'shared-workers,update,view-matrix',
].map((names) => `tests/browser/{${names}}.test.ts`);
/** As many files at once as there are cores; Vitest leaves one of them idle unless told. */
const ALL_CORES = { maxWorkers: '100%', sequence: { groupOrder: 1 } };

// Three speeds: pure rooms, every engine in Node, real browsers. Those with an extension, DevTools or several browsers take the cores for
// themselves: one file at a time.
export default defineConfig({
  test: {
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
          ...BROWSER,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          exclude: [VIEWS],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          ...BROWSER,
        },
      },
      // The panel as an ordinary page
      {
        test: {
          name: 'views',
          include: [VIEWS],
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
          include: ['tests/long/**/*.test.ts', ...PARTLY],
          globalSetup: ['tests/browser/built-panel.ts'],
          env: { FULL: '1' },
          testTimeout: 1_800_000,
          hookTimeout: 120_000,
          ...BROWSER,
        },
      },
    ],
  },
});
