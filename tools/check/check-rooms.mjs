// Checks that tools/check/rooms.mjs allows every import in src/, and that neither files nor folders
// import each other in a circle. Prints each fault and exits with 1 if there are any.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOMS } from './rooms.mjs';

// static import and export-from, import(), side-effect imports and JSDoc type imports
const IMPORT = /(?:(?<!['"])\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(['"])([^'"\n]+)\1/g;

/**
 * @param {string} path of a file or folder, below root
 * @returns the longest name of a room that it begins with
 */
const roomOf = (path) =>
  Object.keys(ROOMS)
    .filter((room) => path === room || path.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0];

/**
 * @param {string} root
 * @param {string} file
 * @param {string} [target] what it imports
 * @returns {string | undefined} the room of the file, or of the target
 */
const roomAt = (root, file, target = '') =>
  roomOf(
    relative(root, target ? resolve(dirname(file), target) : file)
      .split(sep)
      .join('/'),
  );

/** @param {string} source @returns {string[]} what a module imports, types included */
const importsIn = (source) =>
  Array.from(
    source
      .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, (comment) =>
        /@import|import\(/.test(comment) ? comment : '',
      )
      .matchAll(IMPORT),
    ([, , target]) => target,
  );

/**
 * @param {string} room
 * @param {string} allowed name in a row's imports: that room, or one inside it
 */
const allows = (room, allowed) => room === allowed || room.startsWith(`${allowed}/`);

/**
 * @param {string} root folder that holds the rooms
 * @param {(path: string) => string} read
 * @param {string[]} files paths below root
 * @returns {string[]} one line for each fault
 */
export function faultsOf(root, files, read) {
  const faults = [];
  const targetsOf = new Map(files.map((file) => [file, new Set()]));
  for (const file of files) {
    const room = roomAt(root, file);
    if (!room) {
      faults.push(`${file}: no room holds it. Rooms are listed in tools/check/rooms.mjs.`);
      continue;
    }
    const rule = ROOMS[room];
    for (const target of importsIn(read(file))) {
      if (target.startsWith('.')) {
        targetsOf.get(file).add(join(dirname(file), target));
        const to = roomAt(root, file, target);
        if (to !== room && !(to && rule.imports.some((allowed) => allows(to, allowed))))
          faults.push(
            `${file} imports ${target}: ${room} may import ${rule.imports.join(', ') || 'no other room'}. To allow it, change tools/check/rooms.mjs.`,
          );
      } else if (target.startsWith('node:')) {
        if (!rule.node) faults.push(`${file} imports ${target}: ${room} does not run in Node.`);
      } else if (!rule.npm.some((name) => target === name || target.startsWith(`${name}/`)))
        faults.push(
          `${file} imports "${target}": ${room} may use ${rule.npm.join(', ') || 'no npm package'}. To allow it, change tools/check/rooms.mjs.`,
        );
    }
  }
  for (const cycle of cyclesOf(targetsOf))
    faults.push(
      `${cycle.join(', ')}: these files import each other in a circle. Move what they share into a file that imports none of them.`,
    );
  for (const [file, back] of bothWays(targetsOf))
    faults.push(
      `${file} and ${back}: their folders import each other. Move what is shared into one of them, or into a folder that imports neither.`,
    );
  return faults;
}

/**
 * Arrows of the table that aren't used by any import.
 * @param {string} root folder that holds the rooms
 * @param {string[]} files all paths below root
 * @param {(path: string) => string} read
 * @returns {string[]} one line for each fault
 */
export function unusedArrows(root, files, read) {
  const used = new Map(Object.keys(ROOMS).map((room) => [room, new Set()]));
  for (const file of files)
    for (const target of importsIn(read(file)))
      used
        .get(roomAt(root, file))
        ?.add(target.startsWith('.') ? roomAt(root, file, target) : target);
  return Object.entries(ROOMS).flatMap(([room, { imports, npm }]) =>
    [...imports, ...npm]
      .filter((arrow) => ![...used.get(room)].some((to) => to && to !== room && allows(to, arrow)))
      .map((arrow) => `tools/check/rooms.mjs: no file of ${room} imports ${arrow}. Remove it.`),
  );
}

/**
 * For every two folders that import each other: one importing file of each.
 * @param {Map<string, Set<string>>} targetsOf what each file imports, types included
 * @returns {string[][]}
 */
function bothWays(targetsOf) {
  const importers = new Map();
  const found = [];
  for (const [file, targets] of targetsOf)
    for (const target of targets) {
      const [from, to] = [dirname(file), dirname(target)];
      if (from === to) continue;
      const arrow = `${from} ${to}`;
      if (importers.has(arrow)) continue;
      importers.set(arrow, file);
      const back = importers.get(`${to} ${from}`);
      if (back) found.push([back, file]);
    }
  return found;
}

/**
 * Files that import each other in a circle: strongly connected components of two files or more, by
 * Tarjan's algorithm.
 * @param {Map<string, Set<string>>} targetsOf what each file imports, types included
 * @returns {string[][]}
 */
function cyclesOf(targetsOf) {
  const cycles = [];
  const path = [];
  /** Index at which a file was visited; Infinity once its component is known. */
  const metAt = new Map();
  /** @returns {number} the first index on the path that the file leads back to */
  const visit = (file) => {
    const place = metAt.size;
    metAt.set(file, place);
    path.push(file);
    let first = place;
    for (const target of targetsOf.get(file))
      if (targetsOf.has(target)) first = Math.min(first, metAt.get(target) ?? visit(target));
    if (first < place) return first;
    const component = path.splice(path.indexOf(file));
    for (const member of component) metAt.set(member, Infinity);
    if (component.length > 1) cycles.push(component.sort());
    return Infinity;
  };
  for (const file of targetsOf.keys()) if (!metAt.has(file)) visit(file);
  return cycles;
}

/** @param {string} root @returns {string[]} every source file below it */
export function listSources(root) {
  return readdirSync(root, { recursive: true })
    .map((name) => join(root, String(name)))
    .filter((name) => /\.(ts|svelte|js|mjs)$/.test(name));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const files = listSources('src');
  const read = (file) => readFileSync(file, 'utf8');
  const faults = [...faultsOf('src', files, read), ...unusedArrows('src', files, read)];
  for (const fault of faults) console.error(fault);
  console.log(
    `${files.length} files in ${Object.keys(ROOMS).length} rooms, ${faults.length} faults`,
  );
  process.exitCode = faults.length ? 1 : 0;
}
