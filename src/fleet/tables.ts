/**
 * The tables of a fleet's data set: those of the catalog with a trace column in each row, and
 * tables that only a fleet has.
 */
import { eventTable } from '../analysis/events/table.ts';
import { col, type Columns } from '../analysis/core/table.ts';
import { TABLES } from '../analysis/tables.ts';
import { fileColumns, type FileColumn } from '../formats/tables.ts';
import { histogramColumns } from './histograms.ts';
import { labelColumns, lifeColumns, VFS_CLASS, type Labels } from './lives.ts';

/** Columns that only this data set has, after the catalog's columns. */
export interface TraceExtras {
  labels: Labels;
  name: string | null;
  vfsClass: string | null;
  weight: number;
}
export const traceExtraColumns = {
  name: col(
    'text',
    'Name',
    "The file's name without .vfst; null where it was anonymized",
    (t) => t.name,
  ),
  vfs_class: col('text', 'VFS class', VFS_CLASS, (t) => t.vfsClass),
  ...labelColumns,
  weight: col(
    'number',
    'Weight',
    'Number of page lives that it represents; 0: its report is in reports, too',
    (t) => t.weight,
  ),
} satisfies Columns<TraceExtras>;

const TRACE: FileColumn<never> = {
  name: 'trace',
  type: 'text',
  help: 'Id of the trace or report: the first 16 hex digits of the SHA-256 of its file; of a report, of its JSON',
  value: () => null,
};

/** A table as stored in files. */
export interface FleetTable {
  readonly name: string;
  readonly help: string;
  /** The first one is `trace`. */
  readonly columns: readonly FileColumn<never>[];
}
const inFleet = (
  name: string,
  help: string,
  ...columns: readonly Columns<never>[]
): FleetTable => ({
  name,
  help,
  columns: [TRACE, ...columns.flatMap((some) => fileColumns(some as Columns<unknown>))],
});

/** By name, in the order of docs/fleet.md. */
export const FLEET_TABLES: ReadonlyMap<string, FleetTable> = new Map(
  [
    inFleet(
      'reports',
      'Page lives: a row for each field report and for each trace',
      lifeColumns as Columns<never>,
    ),
    ...[eventTable, ...TABLES].map(({ name, help, columns }) =>
      name === 'traces'
        ? inFleet(name, help, columns, traceExtraColumns as Columns<never>)
        : inFleet(name, help, columns),
    ),
    inFleet(
      'histograms',
      'Durations by bucket, four buckets an octave: those of many traces and reports add up',
      histogramColumns as Columns<never>,
    ),
  ].map((table) => [table.name, table]),
);
