/**
 * Looks into a copy of the page's database with the Query view's SQLite. Nothing of it is stored.
 */
import {
  readObjects,
  readRows,
  type CopiedRows,
  type CopiedSchema,
} from '../../../plan/read-rows.ts';
import type { CopyRequest } from '../../../protocol/answers/copies.ts';
import { wasmSource } from './wasm-source.ts';
import type { QueryContext } from './context.ts';

export const copyQueries = {
  copyObjects: (_: QueryContext, copy: CopyRequest): Promise<CopiedSchema> =>
    readObjects(wasmSource.at, copy),
  copyRows: (
    _: QueryContext,
    { table, ...copy }: CopyRequest & { table: string },
  ): Promise<CopiedRows> => readRows(wasmSource.at, copy, table),
};
