/**
 * The panel's export formats: names, file extensions, and the tools that open them.
 * viewer/session/exports.ts writes them.
 */

export const EXPORT_FORMATS = {
  chrome: {
    title: 'Chrome trace JSON',
    ending: 'json',
    help: 'Chrome DevTools, Perfetto, speedscope',
  },
  perfetto: {
    title: 'Perfetto',
    ending: 'perfetto-trace',
    help: 'ui.perfetto.dev, trace_processor: exact nanoseconds, any length',
  },
  firefox: {
    title: 'Firefox Profiler',
    ending: 'profile.json',
    help: 'profiler.firefox.com: every call a marker',
  },
  csv: { title: 'CSV', ending: 'csv', help: 'Spreadsheets: one line for each event' },
  arrow: {
    title: 'Apache Arrow',
    ending: 'arrow',
    help: 'Typed columns for pandas, Polars, DuckDB; needs memory of about its size',
  },
  parquet: {
    title: 'Apache Parquet',
    ending: 'parquet',
    help: 'Typed columns, packed, for DuckDB and data sets of many recordings',
  },
  sqlite: {
    title: 'SQLite database',
    ending: 'sqlite',
    help: "Every SQLite tool: events and the panel's tables; needs memory of about its size",
  },
  vfstrace: {
    title: 'vfstrace text',
    ending: 'txt',
    help: "VFS calls as SQLite's own vfstrace.c prints them",
  },
  html: {
    title: 'HTML report',
    ending: 'html',
    help: 'One page to read and to attach: numbers, tables, a still timeline',
  },
  vfst: { title: 'vfscope trace', ending: 'vfst', help: 'This panel and the vfscope command' },
} as const;

export type ExportFormat = keyof typeof EXPORT_FORMATS;
