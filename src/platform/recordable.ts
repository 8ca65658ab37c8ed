/** Which pages an extension can access, and what to tell the user about the others. */

/**
 * @param url of the tab's page; undefined where the browser hides it
 * @returns null where the page can be recorded, else why not and what to do, for the user
 */
export function whyNotRecordable(url: string | undefined): string | null {
  if (!url)
    return 'This page is hidden from extensions. Open a web page (http or https) and try again.';
  const { protocol, hostname, pathname } = new URL(url);
  if (protocol === 'http:' || protocol === 'https:') {
    const store =
      hostname === 'chromewebstore.google.com' ||
      (hostname === 'chrome.google.com' && pathname.startsWith('/webstore'));
    return store
      ? "Extensions can't access the browser's web store. Open your app's page and try again."
      : null;
  }
  if (protocol === 'file:')
    return 'Pages from files have no storage that vfscope can record. Serve the folder over http://localhost and try again.';
  return `Extensions can't access ${protocol}// pages. Open a web page (http or https) and try again.`;
}

/** Origin of a web page; '' for all other pages. */
export function webOrigin(url: string | undefined): string {
  return url && /^https?:/.test(url) ? new URL(url).origin : '';
}
