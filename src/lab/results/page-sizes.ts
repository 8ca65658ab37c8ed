/**
 * A recording's estimated reads and writes at other page sizes: one table per database, the
 * smallest page first.
 */
import type { Between, PageSizes } from '../../analysis/pages/page-sizes.ts';
import { number, type ResultTable } from './table.ts';

/** @param databases of one recording */
export function pageSizeTables(databases: readonly PageSizes[]): ResultTable[] {
  const between = ({ least, most }: Between): string =>
    least === most ? number(least) : `${number(least)} to ${number(most)}`;
  return databases.map(({ path, pageSize, sizes }, i) => ({
    id: `page-sizes-${i}`,
    title: `${path}: pages of ${number(pageSize.bytes ?? 0)} bytes were recorded`,
    help: '',
    head: ['page size', 'reads', 'bytes read', 'writes', 'bytes written'],
    rows: sizes.map(({ pageSize: bytes, recorded, reads, readBytes, writes, writeBytes }) => [
      `${number(bytes)}${recorded ? ' recorded' : ''}`,
      ...[reads, readBytes, writes, writeBytes].map(between),
    ]),
    more: 0,
  }));
}
