/**
 * `vfscope/vite`: pages of the development server record themselves from their first line and send
 * the recording to that server. A build contains nothing of vfscope.
 *
 *   import vfscope from 'vfscope/vite';
 *   export default { plugins: [vfscope({ out: 'app.vfst' })] };
 */
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Plugin, ViteDevServer } from 'vite';
import { hookText, type ScriptOptions } from './hook-text.ts';
import { Receiver } from './receiver.ts';
import { answerRequest } from './requests.ts';

export interface ViteOptions extends Omit<ScriptOptions, 'to' | 'via'> {
  /**
   * The trace is written here when the server ends, and when `/__vfscope/trace.vfst` is requested.
   * Without it, only that address has the trace.
   */
  out?: string;
  /** Keep the recording in the page. Save it there with `vfscope.download()`. */
  inPage?: boolean;
}

const PATH = '/__vfscope/';
/** What Vite calls a worker's script on its way to the browser. */
const WORKER = /[?&]worker_file\b/;
const CLASSIC = /[?&]type=classic\b/;

export default function vfscope({ out, inPage = false, ...hook }: ViteOptions = {}): Plugin {
  let base = '/';
  const script = (): string => `${base.replace(/\/$/, '')}${PATH}hook.js`;
  return {
    name: 'vfscope',
    apply: 'serve',
    configResolved(config) {
      base = config.base;
    },
    configureServer(server) {
      serve(server);
    },
    transformIndexHtml: () => [
      { tag: 'script', attrs: { src: script() }, injectTo: 'head-prepend' },
    ],
    transform: {
      order: 'post',
      handler(code, id) {
        if (!WORKER.test(id)) return null;
        const first = CLASSIC.test(id)
          ? `importScripts(${JSON.stringify(script())});`
          : `import ${JSON.stringify(script())};`;
        // on the first line, so that all line numbers stay the same
        return { code: first + code, map: null };
      },
    },
  };

  function serve(server: ViteDevServer): void {
    const receiver = new Receiver((text) => server.config.logger.warn(`vfscope: ${text}`));
    const file = out === undefined ? null : resolve(server.config.root, out);
    const save = async (): Promise<void> => {
      if (file && receiver.threadCount) await writeFile(file, await receiver.bytes());
    };
    const to = `${base.replace(/\/$/, '')}${PATH}stream`;
    server.middlewares.use((request, response, next) => {
      const url = request.url ?? '';
      const at = url.indexOf(PATH);
      if (at < 0) return next();
      const name = url.slice(at + PATH.length).replace(/\?.*/, '');
      const saved = name === 'trace.vfst' ? save() : Promise.resolve();
      saved
        .then(() =>
          answerRequest(request, response, name, {
            receiver,
            hook: () => hookText(inPage ? hook : { ...hook, to }),
            // of the page's own server only
            allows: (origin) =>
              origin === undefined ||
              (URL.canParse(origin) && new URL(origin).host === request.headers.host),
          }),
        )
        .catch(next);
    });
    // Vite exits at once at Ctrl+C, and its newer versions send the signal again
    let ending: Promise<void> | null = null;
    const onInterrupt = (): void => {
      ending ??= save()
        .catch((e: unknown) => server.config.logger.error(`vfscope: ${String(e)}`))
        .then(() => process.exit(130));
    };
    if (file) process.on('SIGINT', onInterrupt);
    const { close } = server;
    server.close = async () => {
      process.off('SIGINT', onInterrupt);
      await save();
      await close.call(server);
    };
  }
}
