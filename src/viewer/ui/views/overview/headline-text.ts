/** Numbers of the Overview and of comparisons as people read them. */
import type { HeadlineNumber } from '../../../../analysis/report/headline-numbers.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatNumber,
  formatShare,
} from '../../../../text/numbers.ts';

/** `n/a` where it is not known. */
export function headlineText({ value, unit }: Pick<HeadlineNumber, 'value' | 'unit'>): string {
  if (unit === 'us') return formatDuration(value);
  if (unit === 'bytes') return formatBytes(value);
  if (unit === 'share') return formatShare(value);
  return unit === 'count' ? formatCount(value) : formatNumber(value);
}

/** Definition, and why it is not known where it is not. */
export const headlineTitle = ({
  definition,
  cause,
}: Pick<HeadlineNumber, 'definition' | 'cause'>): string =>
  cause ? `${definition}\n\nn/a: ${cause}.` : definition;

/** `Chromium 151`, `Firefox 140`; the whole text where it says neither. */
export function browserOf(userAgent: string): string {
  const found = /(Firefox|Edg|OPR|Chrom(?:e|ium))\/(\d+)/g;
  const names = [...userAgent.matchAll(found)];
  const last = names.at(-1);
  if (last)
    return `${{ Edg: 'Edge', OPR: 'Opera', Chrome: 'Chrome' }[last[1]!] ?? last[1]} ${last[2]}`;
  const safari = /Version\/([\d.]+).*Safari\//.exec(userAgent);
  return safari ? `Safari ${safari[1]}` : userAgent;
}
