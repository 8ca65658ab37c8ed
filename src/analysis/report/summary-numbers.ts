/**
 * Every number of a summary by a path, and paths that select them:
 *
 *   commits   web.opfs.flushes   files[kind=main-db].vfs.xWrite   files[path=/app.db,kind=wal].vfs.xWriteBytes   threads[kind=worker].events
 *
 * A list needs a selector. If several items match, they are added up.
 */
import type { Summary } from './summary.ts';

/** The fields that identify an item of a list in two traces. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  files: ['kind', 'path'],
  threads: ['kind', 'name', 'url'],
};
/** Fields that aren't about the run. */
const NOT_COUNTED = new Set(['format', 'environment', 'engines']);

/** Path -> number, or null if it can't be known. Matching items of lists are added up. */
export function numbersOf(summary: Summary): Map<string, number | null> {
  const found = new Map<string, number | null>();
  const add = (path: string, value: number | null): void => {
    const before = found.get(path);
    found.set(
      path,
      before === undefined ? value : before === null || value === null ? null : before + value,
    );
  };
  const walk = (path: string, key: string, value: unknown): void => {
    if (typeof value === 'number' || value === null) add(path, value);
    else if (Array.isArray(value)) {
      const keys = KEYS[key];
      if (!keys) return;
      for (const item of value as Record<string, unknown>[]) {
        const selector = keys
          .flatMap((k) => (item[k] === '' ? [] : [`${k}=${String(item[k])}`]))
          .join(',');
        fields(`${path}[${selector}]`, item);
      }
    } else if (typeof value === 'object') fields(path, value as Record<string, unknown>);
  };
  const fields = (path: string, object: Record<string, unknown>): void => {
    for (const [key, value] of Object.entries(object)) {
      if (path === '' && NOT_COUNTED.has(key)) continue;
      if (key === 'note' || typeof value === 'string' || typeof value === 'boolean') continue;
      walk(path === '' ? key : `${path}.${key}`, key, value);
    }
  };
  fields('', summary as unknown as Record<string, unknown>);
  return found;
}

/** A path's result: the number, or why there is none. `unknownPath` = the path itself is wrong. */
type Selected =
  { value: number; cause: null } | { value: null; cause: string; unknownPath: boolean };

interface Step {
  name: string;
  selector: [key: string, value: string][] | null;
}

/** @returns null and the fault if the path can't be parsed */
function parsePath(path: string): Step[] | string {
  const steps: Step[] = [];
  let at = 0;
  while (at < path.length) {
    const name = /^[A-Za-z][A-Za-z0-9]*/.exec(path.slice(at))?.[0];
    if (!name) return `expected a name at "${path.slice(at)}"`;
    at += name.length;
    let selector: Step['selector'] = null;
    if (path[at] === '[') {
      const end = path.indexOf(']', at);
      if (end < 0) return 'a "[" is not closed';
      selector = [];
      for (const part of path.slice(at + 1, end).split(',')) {
        const equals = part.indexOf('=');
        if (equals < 1) return `expected key=value in "[${path.slice(at + 1, end)}]"`;
        selector.push([part.slice(0, equals).trim(), part.slice(equals + 1).trim()]);
      }
      at = end + 1;
    }
    steps.push({ name, selector });
    if (at === path.length) break;
    if (path[at] !== '.' || at + 1 === path.length)
      return `expected "." and a name at "${path.slice(at)}"`;
    at++;
  }
  return steps.length ? steps : 'it is empty';
}

export function selectNumber(summary: Summary, path: string): Selected {
  const steps = parsePath(path);
  const missing = (cause: string, unknownPath: boolean): Selected => ({
    value: null,
    cause,
    unknownPath,
  });
  if (typeof steps === 'string') return missing(`the path cannot be read: ${steps}`, true);
  let values: unknown[] = [summary];
  let walked = '';
  for (const { name, selector } of steps) {
    const next: unknown[] = [];
    for (const value of values) {
      if (
        typeof value !== 'object' ||
        value === null ||
        Array.isArray(value) ||
        !Object.hasOwn(value, name)
      ) {
        const known =
          typeof value === 'object' && value !== null && !Array.isArray(value)
            ? Object.keys(value).join(', ')
            : 'nothing';
        return missing(
          `there is no "${name}" in ${walked || 'the summary'}; known: ${known}`,
          true,
        );
      }
      next.push((value as Record<string, unknown>)[name]);
    }
    walked = walked ? `${walked}.${name}` : name;
    values = next;
    if (values.some(Array.isArray) !== (selector !== null))
      return missing(
        selector
          ? `"${walked}" isn't a list`
          : `"${walked}" is a list: name the entry, as in ${walked}[kind=...]`,
        true,
      );
    if (!selector) continue;
    const items = values.flat() as Record<string, unknown>[];
    const strange = selector.find(
      ([key]) => items.length > 0 && !items.some((item) => Object.hasOwn(item, key)),
    );
    if (strange) return missing(`items of "${walked}" have no "${strange[0]}"`, true);
    values = items.filter((item) => selector.every(([key, value]) => String(item[key]) === value));
    const said = selector.map((s) => s.join('=')).join(',');
    if (values.length === 0) return missing(`the recording has no ${walked}[${said}]`, false);
    walked += `[${said}]`;
  }
  if (values.some((v) => v !== null && typeof v !== 'number'))
    return missing(`"${walked}" isn't a number`, true);
  if (values.some((v) => v === null)) return missing("the recording can't show it (n/a)", false);
  return { value: (values as number[]).reduce((a, b) => a + b, 0), cause: null };
}
