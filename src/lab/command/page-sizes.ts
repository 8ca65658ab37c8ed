/** `vfscope lab replay FILE --page-sizes`: a recording's reads and writes at other page sizes, estimated; nothing is run. */
import {
  PAGE_SIZES_NOTE,
  pageSizesOf,
  type Between,
  type PageSizes,
} from '../../analysis/pages/page-sizes.ts';
import type { TraceStore } from '../../trace/store.ts';
import { wrongUse } from '../../drive/failure.ts';
import { Exit } from '../../cli/open-file.ts';
import { print } from '../../cli/stdout.ts';
import { table } from '../../cli/summary-text.ts';
import { plain } from '../../analysis/report/report-words.ts';

/** @returns the exit code @throws CommandFailure where no page was seen */
export async function pageSizesCommand(store: TraceStore, json: boolean): Promise<number> {
  const databases = pageSizesOf(store);
  if (databases.length === 0)
    throw wrongUse(
      'The recording has no read or write of a database page whose size is known: record the VFS calls of an app that uses one.',
    );
  await print(
    json
      ? `${JSON.stringify({ note: PAGE_SIZES_NOTE, databases }, null, 2)}\n`
      : pageSizesText(databases),
  );
  return Exit.done;
}

/** A table a database, the smallest page first. */
export function pageSizesText(databases: readonly PageSizes[]): string {
  const number = (n: number): string => n.toLocaleString('en-US');
  const text = ({ least, most }: Between): string =>
    least === most ? number(least) : `${number(least)} to ${number(most)}`;
  const tables = databases.flatMap(({ path, pageSize, sizes }) => [
    `${plain(path)}: pages of ${number(pageSize.bytes ?? 0)} bytes were recorded`,
    ...table(
      ['page size', 'reads', 'bytes read', 'writes', 'bytes written'],
      sizes.map((s) => [
        `${number(s.pageSize)}${s.recorded ? ' recorded' : ''}`,
        ...[s.reads, s.readBytes, s.writes, s.writeBytes].map(text),
      ]),
    ),
    '',
  ]);
  return `${[...tables, PAGE_SIZES_NOTE].join('\n')}\n`;
}
