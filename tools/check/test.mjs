// `npm test`: runs all checks and tests, suite by suite, with the time of each. Ends with "N
// passed, N failed".
// `npm test -- NAME ...`: only these suites. `npm test -- quick`: check, and the unit tests that
// import what you changed. `npm run check -- STEP ...`: only these steps of check.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');
const dist = process.env.VFSCOPE_DIST ?? 'dist';
const bin = (name) => join(root, 'node_modules', '.bin', name);
const reports = mkdtempSync(join(tmpdir(), 'vfscope-test-'));

const build = ['build', bin('rollup'), ['-c', '--silent']];
/**
 * The steps of check: name, command, arguments, and how to fix a failure. The first list checks the
 * build, the second reads sources, so both run at the same time.
 */
const STEPS = [
  [
    build,
    ['compat', 'node', ['tools/check/compat-gate.mjs', dist]],
    ['package', 'node', ['tools/build/package.mjs']],
    [
      'lint of the Firefox package',
      bin('web-ext'),
      ['lint', '--warnings-as-errors', '--source-dir', join(dist, 'firefox')],
    ],
    ['layout', bin('prettier'), ['--check', '--log-level', 'warn', '.'], 'npm run format'],
  ],
  [
    ['rooms', 'node', ['tools/check/check-rooms.mjs']],
    ['types', bin('tsc'), ['--noEmit']],
    [
      'svelte',
      bin('svelte-check'),
      // the configuration is named, because otherwise each example's is loaded, whose plugin may
      // not be built yet
      [
        ...['--fail-on-warnings', '--output', 'human', '--tsconfig', './tsconfig.json'],
        ...['--config', './svelte.config.js'],
      ],
    ],
    ['eslint', bin('eslint'), ['.', '--max-warnings', '0']],
    ['unused', bin('knip'), []],
  ],
];

/**
 * What a suite runs. A plain step counts as one test; vitest projects report their tests. `budget`
 * in minutes.
 * `again`: real browsers on a shared machine; a failing file runs a second time, and is listed.
 */
const SUITES = {
  check: { budget: 4, steps: STEPS },
  unit: { budget: 5, project: 'unit' },
  contract: { budget: 5, project: 'contract' },
  webkit: { budget: 3, project: 'webkit', webkit: true, again: true },
  views: { budget: 7, project: 'views', browser: true, again: true },
  pages: { budget: 8, project: 'pages', browser: true, again: true },
  browser: { budget: 18, project: 'browser', browser: true, again: true },
};
/** Run only when named. */
const ON_REQUEST = {
  /** Complete matrices. */
  long: { budget: 120, project: 'long', browser: true },
  'long-webkit': { budget: 5, project: 'long-webkit', webkit: true },
  /**
   * Unit tests that import a file that differs from main. This doesn't find tests that read files
   * as text; CI runs all tests.
   */
  changed: { budget: 3, project: 'unit', args: ['--changed', 'origin/main'] },
};
const QUICK = ['check', 'changed'];

const ENV = { ...process.env, NO_COLOR: '1' };

function run(command, args) {
  const { status, error } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: ENV,
  });
  if (error) console.error(`${command}: ${error.message}`);
  return status === 0;
}

const total = { passed: 0, failed: 0, skipped: 0 };
const times = [];
/**
 * Failed first and passed when run again. Each is a defect of the product or the test, and needs a
 * fix.
 */
const unstable = [];
/** Final failures by name. Printed again at the end, where people look first in a long log. */
const failures = [];
/** More than this many at once can't be explained by a busy machine. */
const MOST_FILES_AGAIN = 8;

/**
 * Runs lists of steps at the same time, each list in order. The output of a step is printed as one
 * block.
 */
const runSteps = (lists) =>
  Promise.all(
    lists.map(async (steps) => {
      for (const [name, command, args, fix] of steps) {
        const ok = await new Promise((done) => {
          const child = spawn(command, args, { cwd: root, env: ENV });
          const printed = [];
          for (const from of [child.stdout, child.stderr])
            from.on('data', (data) => printed.push(data));
          child.on('error', (e) => done(void printed.push(Buffer.from(`${e.message}\n`))));
          child.on('close', (status) => {
            process.stdout.write(Buffer.concat(printed));
            done(status === 0);
          });
        });
        total[ok ? 'passed' : 'failed']++;
        if (!ok) failures.push({ name: `check > ${name}`, text: fix ?? '' });
        if (!ok) console.error(`check "${name}" failed${fix ? `; to fix it: ${fix}` : ''}`);
      }
    }),
  );

/** Runs a vitest project, or some of its files. @returns its report, null if it left none */
function runVitest(project, more = []) {
  const report = join(reports, `${project}.json`);
  rmSync(report, { force: true });
  const ok = run(bin('vitest'), [
    'run',
    '--project',
    project,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...more,
  ]);
  return existsSync(report) ? { ok, ...JSON.parse(readFileSync(report, 'utf8')) } : null;
}

const failedFiles = ({ testResults }) =>
  testResults.filter(({ status }) => status === 'failed').map(({ name }) => relative(root, name));
/** By name, with the first line of the error. */
const failedTests = ({ testResults }) =>
  testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults
      .filter((test) => test.status === 'failed')
      .map(({ fullName, failureMessages: [text] }) => ({
        name: `${file} > ${fullName}`,
        text: firstLine(text),
      }));
    return failed.length || status !== 'failed'
      ? failed
      : [{ name: file, text: firstLine(message) }];
  });
const firstLine = (text = '') => text.split('\n', 1)[0];

function runProject(project, { again, args = [] }) {
  const first = runVitest(project, args);
  if (!first) {
    total.failed++;
    failures.push({ name: project, text: 'no report' });
    console.error(`suite "${project}" left no report: it did not run to its end`);
    return;
  }
  total.passed += first.numPassedTests;
  total.skipped += first.numPendingTests;
  const files = failedFiles(first);
  let last = first;
  // first failures are listed at the end, regardless of the second run
  if (again && files.length > 0 && files.length <= MOST_FILES_AGAIN) {
    console.log(`\nfailed, run again on their own: ${files.join(', ')}`);
    last = runVitest(project, files) ?? first;
    const still = failedTests(last).map(({ name }) => name);
    unstable.push(...failedTests(first).filter(({ name }) => !still.includes(name)));
    total.passed += Math.max(0, first.numFailedTests - last.numFailedTests);
  }
  total.failed += last.numFailedTests;
  failures.push(...failedTests(last));
  // a file that couldn't be loaded, or an error outside any test
  if (!last.ok && last.numFailedTests === 0) total.failed++;
  if (first.numTotalTests === 0 && args.length === 0) total.failed++;
}

const steps = STEPS.flat().map(([name]) => name);
const isStep = (name) => steps.includes(name);
const onlySteps = process.argv.slice(2).filter(isStep);
const chosen = process.argv.slice(2).flatMap((name) => (name === 'quick' ? QUICK : [name]));
const named = chosen.filter((name) => !isStep(name));
if (onlySteps.length && !named.length) named.push('check');
const suites = named.length ? named : Object.keys(SUITES);
for (const name of suites) {
  const suite = SUITES[name] ?? ON_REQUEST[name];
  if (!suite) {
    const names = [...Object.keys(SUITES), ...Object.keys(ON_REQUEST), 'quick'];
    console.error(`"${name}" isn't one of ${names.join(', ')}, or of ${steps.join(', ')}`);
    process.exit(2);
  }
  const start = Date.now();
  console.log(`\n== ${name}`);
  if (suite.browser) {
    const { ensureChromium, ensureFirefox } = await import('../dev/ensure-browser.mjs');
    await ensureChromium();
    await ensureFirefox();
    if (chosen.length) await runSteps([[build]]);
  }
  if (suite.webkit) {
    const { ensureWebKit } = await import('../dev/ensure-browser.mjs');
    if (!(await ensureWebKit())) {
      console.error(
        `suite "${name}" is SKIPPED: it needs WebKitGTK, which runs on Linux only. Safari's engine is not tested here.`,
      );
      total.skipped++;
      continue;
    }
    if (chosen.length) await runSteps([[build]]);
  }
  if (suite.steps)
    await runSteps(
      suite.steps.map((list) =>
        onlySteps.length ? list.filter(([step]) => onlySteps.includes(step)) : list,
      ),
    );
  if (suite.project) runProject(suite.project, suite);
  times.push([name, (Date.now() - start) / 60000, suite.budget]);
}
rmSync(reports, { recursive: true, force: true });

console.log('');
for (const [name, minutes, budget] of times)
  console.log(
    `${name.padEnd(10)} ${minutes.toFixed(1).padStart(5)} min of ${budget}${minutes > budget ? '  OVER BUDGET' : ''}`,
  );
for (const [title, tests] of [
  ['UNSTABLE, passed only in the second run', unstable],
  ['FAILED', failures],
])
  if (tests.length)
    console.log(`\n${title}:\n${tests.map(({ name, text }) => `  ${name}: ${text}`).join('\n')}\n`);
console.log(
  `${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`,
);
process.exit(total.failed ? 1 : 0);
