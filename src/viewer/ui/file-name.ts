/**
 * The file name of a trace, without an extension: `app.example-2026-05-04T10-20-30`, or the opened
 * file's name. @param url of its first thread @param atMs the time in its name
 */
export function traceName(
  file: { name: string } | null,
  url: string,
  atMs: number = Date.now(),
): string {
  if (file?.name) return file.name.replace(/\.vfst$/i, '');
  const place = URL.canParse(url) ? new URL(url).host.replaceAll(':', '-') : '';
  return [place || 'trace', new Date(atMs).toISOString().slice(0, 19).replaceAll(':', '-')].join(
    '-',
  );
}
