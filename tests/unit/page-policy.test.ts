// Which parts of a recorded worker's startup scripts a page's policies block.
import { expect, test } from 'vitest';
import { refusalsOf, widened } from '../../src/protocol/page-policy.ts';

const ORIGIN = 'https://app.test:8443';
const refused = (policies: string, origin = ORIGIN): string =>
  refusalsOf(policies, origin).sort().join(' ');

test.each([
  ['', ''],
  ["connect-src 'self'; img-src 'none'", ''],
  ["worker-src 'self'", 'blob'],
  ["worker-src 'none'", 'blob import'],
  ['worker-src', 'blob import'],
  ['worker-src blob:', 'import'],
  ['worker-src *', 'blob'],
  ["WORKER-SRC 'Self' BLOB:", ''],
  ["worker-src 'self' blob:; worker-src 'none'", ''],
  ["worker-src 'strict-dynamic'", ''],
  ["child-src 'self'", 'blob'],
  ["child-src blob:; worker-src 'self'", 'blob'],
  ["child-src 'self'; worker-src * blob:", ''],
  ["default-src 'self'", 'blob copy wasm'],
  ["default-src 'none'", 'blob copy import wasm'],
  ["default-src 'self' blob: 'unsafe-eval'", ''],
  ["default-src 'none'; script-src 'self' blob: 'wasm-unsafe-eval'", ''],
  ["script-src 'self'", 'blob copy wasm'],
  ["script-src 'self'; worker-src 'self' blob:", 'copy wasm'],
  ["script-src 'self' 'unsafe-eval'; worker-src 'self' blob:", 'copy'],
  ["script-src 'nonce-a' 'unsafe-eval'; worker-src blob:", 'copy import'],
  ["script-src 'sha256-abc' 'wasm-unsafe-eval'; worker-src blob:", 'copy import'],
  ["script-src 'strict-dynamic' 'nonce-a' 'unsafe-eval'", ''],
  ["script-src-elem 'self'; worker-src 'self' blob:", 'copy'],
  [
    "script-src 'self' blob: 'unsafe-eval'; script-src-elem 'nonce-a'; worker-src 'self' blob:",
    'copy import',
  ],
  ["script-src-elem 'self' blob:; script-src 'none'; worker-src 'self' blob:", 'wasm'],
  ["script-src 'strict-dynamic' 'nonce-a'", 'wasm'],
  ["require-trusted-types-for 'script'", 'types'],
  ["trusted-types 'none'", ''],
  ["worker-src 'self' blob:, worker-src 'self'", 'blob'],
  ['sandbox allow-scripts; upgrade-insecure-requests', ''],
])('%s', (policies, expected) => expect(refused(policies)).toBe(expected));

const scripts = (source: string): string => `script-src ${source} blob: 'unsafe-eval'`;
test.each([
  ['*', true],
  ['https:', true],
  ['http:', true],
  ['ws:', false],
  ['app.test:8443', true],
  ['app.test:*', true],
  ['app.test', false],
  ['*.test:8443', true],
  ['*.app.test:8443', false],
  ['https://app.test:8443', true],
  ['https://app.test:8443/', true],
  ['http://app.test:8443', true],
  ['wss://app.test:8443', false],
  ['https://app.test:8443/worker.js', false],
  ['other.test:8443', false],
])('scripts from %s', (source, allowed) =>
  expect(refused(scripts(source))).toBe(allowed ? '' : 'import'),
);

test('default ports, and pages without an origin', () => {
  expect(refused(scripts('app.test'), 'https://app.test')).toBe('');
  expect(refused(scripts('app.test:443'), 'https://app.test')).toBe('');
  expect(refused(scripts('https:'), 'http://app.test')).toBe('import');
  expect(refused(scripts('app.test'), 'null')).toBe('import');
});

const wider = (enforced: string, reported = ''): string | null => {
  const found = widened({ enforced, reported }, ORIGIN);
  return found && [found.enforced, found.reported].filter(Boolean).join(' | ');
};
const WASM = "'wasm-unsafe-eval'";
test.each([
  ["worker-src 'self'", "worker-src 'self' blob:"],
  ["child-src 'self'; img-src *", "child-src 'self'; img-src *; worker-src 'self' blob:"],
  [
    `default-src 'self' ${WASM}; style-src 'none'`,
    `default-src 'self' ${WASM}; style-src 'none'; worker-src 'self' ${WASM} blob:`,
  ],
  ["WORKER-SRC 'Self'; ; worker-src 'none'", "worker-src 'Self' blob:"],
  ["require-trusted-types-for 'script'; trusted-types a", 'trusted-types a'],
  ["require-trusted-types-for 'script'; worker-src 'self'", "worker-src 'self' blob:"],
  ["img-src 'self',worker-src 'self'", "img-src 'self', worker-src 'self' blob:"],
  [
    `script-src 'sha256-abc' 'self' ${WASM}; worker-src 'self'`,
    `script-src 'sha256-abc' 'self' ${WASM}; worker-src 'self' blob:`,
  ],
  // not needed
  ['', null],
  ["worker-src 'self' blob:", null],
  // not enough: no script of the page's origin may be imported, or no wasm may run
  ["worker-src 'none'", null],
  ["script-src 'self'", null],
  // a value for one load only
  [`script-src 'self' 'nonce-a' ${WASM}; worker-src 'self'`, null],
])('%s can be widened', (policies, expected) => {
  expect(wider(policies)).toBe(expected);
  expect(wider('', policies)).toBe(expected);
});
