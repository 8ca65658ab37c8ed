// A clean `npm ci` works on every platform only when the lock file holds every optional package that a locked one names.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Locked {
  optionalDependencies?: Record<string, string>;
}

test('the lock file holds every optional dependency', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`],
    ),
  );
  expect(missing, 'to mend it: pin a version of which every platform package is published').toEqual(
    [],
  );
});

test("the lock file doesn't contain where packages came from", () => {
  expect(readFileSync('package-lock.json', 'utf8')).not.toContain('"resolved"');
});
