// An engine's own tests, as its package ships them, under /suites/<package>/: the package's files,
// with imports mapped to installed packages, as its own test runner does. Workers have no import
// map, so the map is applied to the text.
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** Import specifier in the tests -> its URL on the server. */
const IMPORTS = [
  [/(['"])comlink\1/g, '"/node_modules/comlink/dist/esm/comlink.mjs"'],
  [/(['"])\.\.\/\.yarn\/unplugged\/sinon[^'"]*\1/g, '"/node_modules/sinon/pkg/sinon-esm.js"'],
  [/(['"])@journeyapps\/wa-sqlite\//g, '$1/suites/@journeyapps/wa-sqlite/'],
];

/**
 * @param {string} packages folder of the installed packages
 * @param {string} rest URL path that begins with /suites/
 * @returns {string | null} its file, or null if the path leaves that folder
 */
export function suiteFile(packages, rest) {
  const file = path.join(packages, rest.slice('/suites/'.length));
  return file.startsWith(packages + path.sep) ? file : null;
}

/** @param {string} file a script of a package @returns {Promise<string>} its text with the imports mapped */
export async function mappedScript(file) {
  let text = await readFile(file, 'utf8');
  for (const [from, to] of IMPORTS) text = text.replace(from, to);
  return text;
}
