/**
 * What a browser's access prompt covers, as text. For browsers, all ports of a host are one site.
 */
export function siteName(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  return `${protocol}//${hostname}${port ? ' (any port)' : ''}`;
}
