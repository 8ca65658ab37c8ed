/**
 * The GitHub Action: records the same page of two checkouts, and writes what changed as a comment.
 *   node compare.mjs BASE HEAD OUT     writes OUT/base.vfst, OUT/head.vfst, OUT/comment.md
 * Environment variables: SERVE, PAGE, RECORD, BUDGET, BASELINE, VFSCOPE (action.yml). Exit code 1:
 * a limit is broken; 3: a checkout can't be recorded.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const [base, head, out] = process.argv.slice(2).map((path) => resolve(path));
const {
  SERVE = '',
  PAGE = '',
  RECORD = '',
  BUDGET = '',
  BASELINE = '',
  VFSCOPE = 'npx --yes vfscope',
} = process.env;
const SERVED_WITHIN_MS = 600_000; // it may install and build
/** GitHub's limit for a comment is 65,536 characters. */
const MOST = 65_000;

/** @returns exit code and stdout of a shell command; its stderr goes to ours */
function run(line, cwd) {
  return new Promise((done) => {
    const child = spawn('bash', ['-c', line], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece) => (text += piece));
    child.once('close', (code) => done({ code: code ?? 3, text }));
  });
}
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Serve a checkout, record its page, and end the server and all its child processes. */
async function record(folder, file) {
  const server = spawn('bash', ['-c', SERVE], {
    ...{ cwd: folder, detached: true },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  let ended = null;
  server.once('close', (code) => (ended = code));
  try {
    for (const end = Date.now() + SERVED_WITHIN_MS; ; await delay(200)) {
      const answer = await fetch(PAGE).catch(() => null);
      if (answer?.ok) break;
      if (ended !== null) throw new Error(`The server in ${folder} ended with ${ended}.`);
      if (Date.now() > end) throw new Error(`${PAGE} did not answer in time.`);
    }
    const { code } = await run(
      `${VFSCOPE} record ${quoted(PAGE)} --out ${quoted(file)} ${RECORD} >&2`,
      folder,
    );
    if (code !== 0) throw new Error(`vfscope record ended with ${code} in ${folder}.`);
  } finally {
    if (ended === null) {
      const closed = new Promise((done) => server.once('close', done));
      process.kill(-server.pid, 'SIGTERM');
      await closed; // frees its port for the next one
    }
  }
}

mkdirSync(out, { recursive: true });
const [before, after] = [`${out}/base.vfst`, `${out}/head.vfst`];
try {
  await record(base, before);
  await record(head, after);
} catch (e) {
  console.error(e.message);
  process.exit(3);
}
// in the checkout, whose packages may include the command
const diff = await run(`${VFSCOPE} diff ${quoted(before)} ${quoted(after)} --markdown`, head);
const limits = [
  ...(BASELINE === 'true' ? ['--baseline', quoted(before)] : []),
  ...(BUDGET ? ['--budget', quoted(BUDGET)] : []),
];
const check = limits.length
  ? await run(`${VFSCOPE} check ${quoted(after)} ${limits.join(' ')}`, head)
  : { code: 0, text: '' };
const parts = [
  '<!-- vfscope -->',
  '## What SQLite does to storage: base (A) and this pull request (B)',
  ...(check.text
    ? ['### Limits', `\`\`\`\n${check.text.replaceAll('`', "'").trimEnd()}\n\`\`\``]
    : []),
  diff.text.replaceAll(`${out}/`, ''), // the comment names files, but not the machine
];
const comment = parts.join('\n\n');
const end = comment.lastIndexOf('\n', MOST);
writeFileSync(
  `${out}/comment.md`,
  comment.length <= MOST ? comment : `${comment.slice(0, end)}\n\n... cut: run \`vfscope diff\``,
);
process.exit(diff.code || check.code);
