/**
 * Loads a trace from a web server: from this page's own, or from the address in the user's link.
 */

/**
 * @param url relative to this page; http and https only
 * @throws Error with a message for the user
 */
export async function fetchTrace(url: string): Promise<Blob> {
  const from = URL.canParse(url, location.href) ? new URL(url, location.href) : null;
  if (!from || !/^https?:$/.test(from.protocol))
    throw new Error(`"${url}" isn't a web address. Use one that begins with https://.`);
  // the server must not learn anything about this page or its user
  const answer = await fetch(from, { credentials: 'omit', referrerPolicy: 'no-referrer' }).catch(
    (e: unknown) => {
      throw new Error(
        `${from.host} can't be reached, or doesn't allow this page to read the recording (CORS). Download it and drop it here.`,
        { cause: e },
      );
    },
  );
  if (!answer.ok)
    throw new Error(
      `${from.host} answered ${answer.status} for ${from.pathname}. Check the address.`,
    );
  return answer.blob();
}

/** File name in an address, if it has one. */
export const nameIn = (url: string): string =>
  /([^/?#]+)(?:[?#].*)?$/s.exec(url)?.[1] ?? 'trace.vfst';
