/** What a browser's question for access covers, as text: every port of a host is one site to it. */
export function siteName(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  return `${protocol}//${hostname}${port ? ' (any port)' : ''}`;
}
