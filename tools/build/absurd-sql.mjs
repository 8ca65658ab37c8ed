/**
 * Turns absurd-sql and its author's sql.js into modules that the Lab's workers can load: as
 * published, except for what bundlers define.
 */
const SQL_JS = '/node_modules/@jlongster/sql.js/dist/sql-wasm.js';
const BACKEND = '/node_modules/absurd-sql/dist/indexeddb-backend.js';
/**
 * The author used it for measurements. It is missing from the package; the author's own builds also
 * leave it out.
 */
const PERF = 'perf-deets';
const NO_PERF = ['start', 'stop', 'record', 'endRecording', 'count']
  .map((name) => `export const ${name} = () => {};`)
  .join('\n');

export const absurdSql = {
  name: 'absurd-sql',
  resolveId: (id) => (id === PERF ? `\0${PERF}` : null),
  load: (id) => (id === `\0${PERF}` ? NO_PERF : null),
  transform(code, id) {
    const path = id.replaceAll('\\', '/');
    // a classic script that sets `module` and caches its first instance, so run it again for each
    if (path.endsWith(SQL_JS))
      return {
        code: `export default () => {\nlet module;\n${code}\nreturn initSqlJs;\n};`,
        map: null,
      };
    if (path.endsWith(BACKEND))
      return {
        code: code
          .replaceAll('process.env.NODE_ENV', "'production'")
          .replaceAll('process.env.PERF_BUILD', 'false'),
        map: null,
      };
    return null;
  },
};
