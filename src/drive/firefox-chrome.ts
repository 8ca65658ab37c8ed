/**
 * Firefox's internals, with full privileges: scripts in its window and in the pages of the
 * extension. The connection depends on puppeteer's internals, the toolbox on Firefox's. If they
 * change, this file and firefox-panel.ts break.
 */
import type { Browser } from 'puppeteer-core';
import { browserFailed } from '../terminal/failure.ts';

type Answer =
  | { type: 'success'; result: { value?: string } }
  | { type: 'exception'; exceptionDetails?: { text?: string } };
interface Connection {
  send(method: string, params: object): Promise<{ result?: unknown }>;
}
/**
 * Which page of the extension. `tab`: the page in a separate tab, which may use no API and isn't a
 * view for Firefox.
 */
export type View = 'devtools_panel' | 'panel_window' | 'background' | 'tab';

/** Maximum time for a page of the extension to appear, ms, and for a script in it to wait. */
const VIEW_MS = 30_000;

export class FirefoxChrome {
  private constructor(
    private readonly connection: Connection,
    private readonly window: string,
    readonly extensionId: string,
  ) {}

  /** @throws CommandFailure where the browser was started without `--remote-allow-system-access` */
  static async of(browser: Browser, extensionId: string): Promise<FirefoxChrome> {
    const { connection } = browser as unknown as { connection: Connection };
    const tree = await connection.send('browsingContext.getTree', { 'moz:scope': 'chrome' });
    const { contexts } = (tree.result ?? tree) as { contexts: { url: string; context: string }[] };
    const window = contexts.find(({ url }) => url.endsWith('/browser.xhtml'))?.context;
    if (!window) throw browserFailed('Firefox shows no window to drive.');
    return new FirefoxChrome(connection, window, extensionId);
  }

  /** A raw command of WebDriver BiDi. */
  async send(method: string, params: object): Promise<unknown> {
    const answer = await this.connection.send(method, params);
    return answer.result ?? answer;
  }

  /**
   * Runs the body of an asynchronous function in the browser's window; arguments and result travel
   * as JSON.
   * @param body sees `args`, and `extension` (the WebExtension's policy)
   */
  async run(body: string, ...args: unknown[]): Promise<unknown> {
    const expression = `(async () => {
      const extension = WebExtensionPolicy.getByID(${JSON.stringify(this.extensionId)});
      const args = ${JSON.stringify(args)};
      try { return JSON.stringify({ value: await (async () => { ${body} })() }); }
      catch (e) { return JSON.stringify({ error: String(e) + ' ' + (e?.stack ?? '') }); }
    })()`;
    const answer = (await this.send('script.evaluate', {
      expression,
      target: { context: this.window },
      awaitPromise: true,
    })) as Answer;
    if (answer.type !== 'success')
      throw new Error(
        `Firefox: ${answer.exceptionDetails?.text ?? 'a script of the driver failed'}`,
      );
    const { value, error } = JSON.parse(answer.result.value ?? '{}') as {
      value?: unknown;
      error?: string;
    };
    if (error !== undefined) throw new Error(`Firefox: ${error}`);
    return value;
  }

  /**
   * Runs the body of an asynchronous function in a page of the extension, in its own content
   * process.
   * @param body sees the page's globals (`content` is its window, with privileges `utils` =
   * windowUtils), and `args`
   */
  inView(view: View, body: string, ...args: unknown[]): Promise<unknown> {
    // in the page's realm, so that its own objects are plain ones; waives Xrays
    const inner = `(async () => { const args = ${JSON.stringify(args)}; return JSON.stringify({ value: await (async () => { ${body} })() }); })()`;
    return this.frameScript(
      view,
      `const box = new Cu.Sandbox(content, { sandboxPrototype: content, wantXrays: false });
       return JSON.parse(await Cu.evalInSandbox(${JSON.stringify(inner)}, box)).value;`,
    );
  }

  /**
   * Runs the body of an asynchronous function with privileges beside a page of the extension:
   * `content` is its window.
   */
  frameScript(view: View, body: string, ...args: unknown[]): Promise<unknown> {
    return this.run(
      `const [view, source, ms] = args;
       let element;
       for (const end = Date.now() + ms; !element && Date.now() < end; ) {
         element = view === 'tab'
           ? gBrowser.tabs.find((t) => t.linkedBrowser.currentURI.spec.startsWith(extension.getURL('')) && !t.hasAttribute('busy'))?.linkedBrowser
           : [...extension.extension.views].find((v) => view === 'panel_window'
               ? v.viewType === 'tab' && v.uri.spec.startsWith(extension.getURL('devtools/panel.html'))
               : v.viewType === view)?.xulBrowser;
         if (!element) await new Promise((done) => setTimeout(done, 25));
       }
       if (!element) throw new Error('the extension shows no ' + view);
       const { messageManager } = element;
       const tag = 'vfscope:' + Math.random();
       return new Promise((done, failed) => {
         const timer = setTimeout(() => failed(new Error('no answer from ' + view)), 2 * ms);
         messageManager.addMessageListener(tag, function got({ data }) {
           clearTimeout(timer);
           messageManager.removeMessageListener(tag, got);
           if (data.error !== undefined) failed(new Error(data.error)); else done(data.json === undefined ? undefined : JSON.parse(data.json));
         });
         const script = '(async () => { try {' +
           'sendAsyncMessage(' + JSON.stringify(tag) + ', { json: JSON.stringify(await (async () => {' + source + '})()) });' +
           '} catch (e) { sendAsyncMessage(' + JSON.stringify(tag) + ', { error: String(e) }); } })()';
         messageManager.loadFrameScript('data:application/javascript;charset=utf-8,' + encodeURIComponent(script), false);
       });`,
      view,
      `const args = ${JSON.stringify(args)}; ${body}`,
      VIEW_MS,
    );
  }
}
