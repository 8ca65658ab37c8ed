// speedscope's own importer, extracted from the npm package's app: the bundle runs until it needs a
// page, and the importer is kept.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createContext, runInContext } from 'node:vm';

interface SpeedscopeProfile {
  getName(): string;
  getTotalWeight(): number;
  forEachCall(
    open: (node: { frame: { name: string } }, at: number) => void,
    close: (node: { frame: { name: string } }, at: number) => void,
  ): void;
}

/** An object whose properties and calls all return the object itself. */
const anything = (): unknown =>
  new Proxy(() => undefined, {
    get: (_, key) =>
      key === Symbol.toPrimitive ? () => '' : key === 'then' ? undefined : anything(),
    apply: anything,
    construct: anything as () => object,
    set: () => true,
  });

/**
 * @returns the profiles that speedscope reads from a file, one per thread; [] if it doesn't know
 * the format
 */
export async function speedscopeImport(name: string, text: string): Promise<SpeedscopeProfile[]> {
  const folder = join(
    dirname(createRequire(import.meta.url).resolve('speedscope/package.json')),
    'dist/release',
  );
  const source = readFileSync(
    join(
      folder,
      readdirSync(folder).find((f) => /^speedscope-.*\.js$/.test(f))!,
    ),
    'utf8',
  );
  const importer = /loadFileFromBase64:\(\w+,\w+\)=>\{this\.loadProfile\(\(\)=>(\w+)\(/.exec(
    source,
  )?.[1];
  const at = importer ? source.search(new RegExp(`async function ${importer}\\(`)) : -1;
  if (at < 0)
    throw new Error('speedscope is not built as it was: look for what loadFileFromBase64 calls');
  const quiet = { log: () => undefined, warn: () => undefined, error: () => undefined };
  const page = {
    location: { hash: '', href: 'file:///', protocol: 'file:' },
    document: anything(),
    navigator: { userAgent: '' },
  };
  const functions = {
    addEventListener: () => undefined,
    requestAnimationFrame: () => 0,
    matchMedia: anything,
    localStorage: anything(),
  };
  const context: Record<string, unknown> = {
    ...page,
    ...functions,
    console: quiet,
    setTimeout,
    TextDecoder,
    TextEncoder,
    atob,
    btoa,
    URL,
    performance,
  };
  context.window = context.self = context;
  try {
    runInContext(
      `${source.slice(0, at)}globalThis.importFile=${importer};${source.slice(at)}`,
      createContext(context),
    );
  } catch (e) {
    if (!context.importFile) throw e; // expected once the app tries to draw
  }
  const load = context.importFile as (
    name: string,
    base64: string,
  ) => Promise<{ profiles: SpeedscopeProfile[] } | null>;
  return (await load(name, Buffer.from(text).toString('base64')))?.profiles ?? [];
}
