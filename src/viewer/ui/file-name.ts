/** What a trace is called on disk, without an ending: `app.example-2026-05-04T10-20-30`, or the opened file's own name. @param url of its first thread @param atMs the moment in its name */
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
