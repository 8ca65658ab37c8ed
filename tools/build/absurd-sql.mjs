/** Makes absurd-sql and the sql.js of its author modules that the Lab's workers can load: as published, but for what bundlers define. */
const SQL_JS = '/node_modules/@jlongster/sql.js/dist/sql-wasm.js';
const BACKEND = '/node_modules/absurd-sql/dist/indexeddb-backend.js';
/** What its author measured with. Absent from its package; its own builds leave it out like this. */
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
    // a classic script, which sets `module`, and keeps its first instance: run again for each
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
