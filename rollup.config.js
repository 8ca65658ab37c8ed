// What is built from what. One line an entry; everything else is the same for all of them.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import resolve from '@rollup/plugin-node-resolve';
import esbuild, { minify } from 'rollup-plugin-esbuild';
import svelte from 'rollup-plugin-svelte';
import { absurdSql } from './tools/build/absurd-sql.mjs';
import { insertHook } from './tools/build/hook-function.mjs';
import { carriedScript, HOOK_SCRIPT } from './tools/build/hook-script.mjs';
import { inlineConstants } from './tools/build/inline-constants.mjs';
import { emitTypes } from './tools/build/lib-types.mjs';
import { thirdParty } from './tools/build/third-party.mjs';
import svelteOptions from './svelte.config.js';

// tests build into folders of their own
const DIST = process.env.VFSCOPE_DIST ?? 'dist';
/** A folder of the extension per browser; all but the hook and the manifest is the same. */
const OUTS = { chrome: `${DIST}/chrome`, firefox: `${DIST}/firefox`, safari: `${DIST}/safari` };
const pkg = JSON.parse(readFileSync('package.json', 'utf8'));

const common = [
  // before svelte, which takes no types in .svelte.ts modules
  esbuild({ target: 'es2022', define: { VFSCOPE_VERSION: JSON.stringify(pkg.version) } }),
  absurdSql,
  svelte({ ...svelteOptions, emitCss: false }),
  resolve({ browser: true, extensions: ['.ts', '.mjs', '.js', '.svelte'] }),
  inlineConstants(),
];

/** Gives our pages and the background `browser`: loaded before the first of our scripts, in no page that is recorded. */
const POLYFILL = 'browser-polyfill.min.js';

/** A classic script: contexts that cannot load modules, or must not show a second file. */
const script = (input, file) => ({
  input,
  plugins: common,
  output: Object.values(OUTS).map((out) => ({ file: `${out}/${file}`, format: 'iife' })),
});
/** The service worker loads what pages and manifests name before its own script. */
const background = script('src/background/background.ts', 'background.js');
background.output[Object.keys(OUTS).indexOf('chrome')].banner = `importScripts('${POLYFILL}');`;
/** An ES module of one of our own pages or workers. */
const page = (input, file) => ({
  input,
  plugins: common,
  output: Object.values(OUTS).map((out) => ({
    file: `${out}/${file}`,
    format: 'es',
    inlineDynamicImports: true,
  })),
});

// The hook carries its own source into workers: `vfscopeHook.toString()` is the whole script (src/hooks/source.ts). Every page and
// worker parses it before its own first line, so it is minified, wrapper and all, and holds nothing that only another browser needs.
const hook = (files, filtered, natives = filtered) => ({
  input: 'src/hooks/hooks.ts',
  plugins: [
    esbuild({
      target: 'es2022',
      define: {
        VFSCOPE_WORKERS_FILTERED: String(filtered),
        VFSCOPE_NATIVES_HOOKED: String(natives),
      },
    }),
    inlineConstants(),
    resolve({ browser: true, extensions: ['.ts', '.js'] }),
  ],
  output: files.map((file) => ({
    ...HOOK_SCRIPT,
    file,
    plugins: [minify({ target: 'es2022' }), ...(filtered ? [workerHook(dirname(file))] : [])],
  })),
});

/** Firefox: the same script as a text for the background, which puts it before the scripts of workers. */
const workerHook = (out) => ({
  name: 'worker-hook',
  writeBundle(_options, bundle) {
    const [{ code }] = Object.values(bundle);
    // one line, so that the app's lines keep their numbers: in minified code only template literals have lines
    const text = JSON.stringify(code.slice(0, code.lastIndexOf('})(') + 2).replaceAll('\n', '\\n'));
    writeFileSync(`${out}/worker-hook.js`, `globalThis.vfscopeWorkerHook = ${text};\n`);
  },
});

/** What records messages, or counts instructions, goes before the hook where it is asked for; in Firefox's workers, too. */
const carried = (name) => ({
  ...hook([], false),
  input: `src/hooks/${name}.ts`,
  // with `vfscope/hook`, too
  output: [...Object.values(OUTS), `${DIST}/lib`].map((out) => ({
    ...carriedScript(name),
    file: `${out}/capture/${name}.js`,
    plugins: [minify({ target: 'es2022' }), ...(out === OUTS.firefox ? [workerScript(name)] : [])],
  })),
});
const workerScript = (name) => ({
  name: 'worker-script',
  writeBundle(_options, bundle) {
    const [{ code }] = Object.values(bundle);
    const text = JSON.stringify(code.trim().replaceAll('\n', '\\n')); // one line, as above
    const variable = `vfscopeWorker${name[0].toUpperCase()}${name.slice(1)}`;
    writeFileSync(`${OUTS.firefox}/worker-${name}.js`, `globalThis.${variable} = ${text};\n`);
  },
});

/** The SQLite builds that the Lab runs. */
const LAB_WASM = [
  ...['wa-sqlite', 'wa-sqlite-async', 'wa-sqlite-jspi'].map(
    (name) => `@journeyapps/wa-sqlite/dist/${name}.wasm`,
  ),
  ...['wa-sqlite', 'wa-sqlite-async'].map((name) => `wa-sqlite/dist/${name}.wasm`),
  '@sqlite.org/sqlite-wasm/dist/sqlite3.wasm',
  '@jlongster/sql.js/dist/sql-wasm.wasm',
];
/** Beside the store's worker: the first answers the SQL page, both make plans (src/plan/load-sqlite.ts). */
const PANEL_WASM = [
  ['node_modules/wa-sqlite/dist/wa-sqlite.wasm', 'wa-sqlite.wasm'],
  ['node_modules/@journeyapps/wa-sqlite/dist/wa-sqlite.wasm', 'journeyapps-wa-sqlite.wasm'],
];
const copies = [
  [`node_modules/webextension-polyfill/dist/${POLYFILL}`, POLYFILL],
  ['src/handover/frame.html', 'handover/frame.html'],
  ['src/devtools/devtools.html', 'devtools/devtools.html'],
  ['src/devtools/panel.html', 'devtools/panel.html'],
  ['src/devtools/example.vfst', 'devtools/example.vfst'],
  ['src/devtools/popup.html', 'devtools/popup.html'],
  ['src/devtools/access.html', 'devtools/access.html'],
  ['src/devtools/popup.css', 'devtools/popup.css'],
  ['src/devtools/welcome.html', 'devtools/welcome.html'],
  ['src/devtools/options.html', 'devtools/options.html'],
  ['src/devtools/pages.css', 'devtools/pages.css'],
  ['docs/images/panel-answer.png', 'devtools/panel-light.png'],
  ['docs/images/panel-answer-dark.png', 'devtools/panel-dark.png'],
  ['src/lab/page/lab.html', 'lab/lab.html'],
  ...PANEL_WASM.map(([from, to]) => [from, `devtools/${to}`]),
  // beside the Lab's worker: sqlite.org's VFSs "opfs" and "opfs-wl" start it
  [
    'node_modules/@sqlite.org/sqlite-wasm/dist/sqlite3-opfs-async-proxy.js',
    'lab/sqlite3-opfs-async-proxy.js',
  ],
  ...LAB_WASM.map((path) => [
    `node_modules/${path}`,
    `lab/wasm/${path.replace(/^@/, '').replaceAll('/', '-')}`,
  ]),
  ...['icon', 'recording'].flatMap((name) =>
    [16, 32, 48, 128].map((size) => [
      `store-assets/icons/${name}-${size}.png`,
      `icons/${name}-${size}.png`,
    ]),
  ),
];

/** `vfscope demo`: the app and what its visitor does. */
const DEMO = [
  ['tests/apps/demo', 'demo'],
  ['tools/dev/demo-steps.mjs', 'demo-steps.mjs'],
];

const extensions = Object.values(OUTS);
const licenses = thirdParty(
  [...extensions, `${DIST}/lib`, `${DIST}/cli`],
  Object.fromEntries(extensions.map((out) => [out, copies.map(([from]) => from)])),
);

/** One line each, in front of the hook, for options that are not the default: src/protocol/capture.ts names them. */
const CAPTURE_SCRIPTS = {
  ...Object.fromEntries([0, 2, 3].map((level) => [`level-${level}`, `.capture = ${level}`])),
  ...Object.fromEntries(
    ['sql', 'vfs', 'web', 'query'].map((layer) => [
      `no-${layer}`,
      `.without = [...(o.without ?? []), '${layer}']`,
    ]),
  ),
  ...Object.fromEntries([256, 512, 2048, 4096].map((kib) => [`buffer-${kib}`, `.buffer = ${kib}`])),
  stacks: '.stacks = true',
  wait: '.wait = true',
  shared: '.shared = true',
};
/** In a document that was announced: before the hook or behind it. */
const NOW_SCRIPT = `{ const [sign, key] = ['thread', 'capture'].map((name) => Symbol.for('vfscope.' + name));
if (sign in globalThis) dispatchEvent(new Event('vfscope.now')); else (globalThis[key] ??= {}).now = true; }
`;
/** In the content script's world of a document whose headers refuse this: src/protocol/page-policy.ts names them. */
const POLICY_SCRIPTS = ['types', 'blob', 'import', 'copy', 'wasm', 'lifted', 'shared'];
function writeCaptureScripts(out) {
  mkdirSync(`${out}/capture`, { recursive: true });
  for (const [name, set] of Object.entries(CAPTURE_SCRIPTS))
    writeFileSync(
      `${out}/capture/${name}.js`,
      `{ const o = (globalThis[Symbol.for('vfscope.capture')] ??= {}); o${set}; }\n`,
    );
  writeFileSync(`${out}/capture/now.js`, NOW_SCRIPT);
  mkdirSync(`${out}/policy`, { recursive: true });
  for (const name of POLICY_SCRIPTS)
    writeFileSync(
      `${out}/policy/${name}.js`,
      `(globalThis.vfscopeRefused ??= []).push('${name}');\n`,
    );
}

const CHROMIUM_ONLY = ['declarativeNetRequestWithHostAccess', 'webNavigation'];
/** manifest.json is the one source for all browsers; what a browser does not know is left out. */
const MANIFESTS = {
  chrome(manifest) {
    delete manifest.browser_specific_settings;
    delete manifest.background.scripts;
    manifest.permissions = manifest.permissions.filter((name) => !/^webRequest./.test(name));
  },
  firefox(manifest) {
    delete manifest.minimum_chrome_version;
    delete manifest.message_serialization; // it clones anyway
    delete manifest.browser_specific_settings.safari;
    delete manifest.cross_origin_embedder_policy; // no page of an extension is ever isolated there
    delete manifest.cross_origin_opener_policy;
    delete manifest.background.service_worker;
    manifest.web_accessible_resources[0].resources = ['handover/frame.html']; // addresses there are random anyway
    manifest.permissions = manifest.permissions.filter((name) => !CHROMIUM_ONLY.includes(name));
  },
  safari(manifest) {
    delete manifest.minimum_chrome_version;
    delete manifest.message_serialization;
    delete manifest.cross_origin_embedder_policy;
    delete manifest.cross_origin_opener_policy;
    delete manifest.web_accessible_resources; // nothing is handed over: pages need none of our files
    manifest.host_permissions = manifest.optional_host_permissions; // Safari grants none of them at install and asks for each site itself
    delete manifest.optional_host_permissions;
    manifest.background = { scripts: [POLYFILL, 'background.js'] }; // an event page: service workers of extensions have crashed on waking
    manifest.browser_specific_settings = { safari: manifest.browser_specific_settings.safari };
    manifest.permissions = manifest.permissions.filter(
      (name) => !CHROMIUM_ONLY.includes(name) && !name.startsWith('webRequest'),
    );
  },
};
function writeManifest(browser) {
  const manifest = JSON.parse(readFileSync('manifest.json', 'utf8'));
  manifest.version = pkg.version;
  MANIFESTS[browser](manifest);
  writeFileSync(`${OUTS[browser]}/manifest.json`, JSON.stringify(manifest, null, 2));
}

const assets = {
  name: 'assets',
  buildStart() {
    for (const out of Object.values(OUTS)) {
      rmSync(out, { recursive: true, force: true });
      mkdirSync(out, { recursive: true });
    }
  },
  writeBundle() {
    for (const [browser, out] of Object.entries(OUTS)) {
      for (const [from, to] of copies) cpSync(from, `${out}/${to}`);
      writeCaptureScripts(out);
      writeManifest(browser);
    }
    for (const [from, to] of DEMO) cpSync(from, `${DIST}/cli/${to}`, { recursive: true });
  },
};

/** An entry of the package for projects, with its types. @param file below `lib`, without its ending */
const types = (input, file) => ({
  name: 'types',
  writeBundle: () => emitTypes(input, `${DIST}/lib/types`, file),
});
/** For test runners and development servers of the user's. */
const entry = (input, file) => ({
  input,
  plugins: [
    resolve({ exportConditions: ['node'] }),
    esbuild({ target: 'node20', define: { VFSCOPE_VERSION: JSON.stringify(pkg.version) } }),
    types(input, file),
  ],
  external: [/^node:/, 'vite', '@playwright/test', /^vitest/, 'vfscope/hook'],
  output: { file: `${DIST}/lib/${file}.js`, format: 'es', inlineDynamicImports: true },
});
/** `vfscope/hook`, which carries the hook that the command drives. */
const embedded = (input, file, format, more = []) => ({
  input,
  plugins: [...common, ...more],
  output: {
    file: `${DIST}/lib/${file}.js`,
    format,
    plugins: [
      minify({ target: 'es2022' }),
      insertHook(() => readFileSync(`${DIST}/cli/driven-hooks.js`, 'utf8')),
    ],
  },
});

/** The library `vfscope/vfs`, with its types. */
const library = {
  input: 'src/vfs-instrumented/library/index.ts',
  plugins: [...common, types('src/vfs-instrumented/library/index.ts', 'vfs')],
  output: { file: `${DIST}/lib/vfs.js`, format: 'es' },
};

/** `vfscope/field`, which apps ship to their users, and what makes a trace of what it has. */
const shipped = (input, file) => ({
  input,
  plugins: [...common, types(input, file)],
  output: { file: `${DIST}/lib/${file}.js`, format: 'es', plugins: [minify({ target: 'es2022' })] },
});

const builds = [
  library,
  shipped('src/field/index.ts', 'field'),
  shipped('src/field/trace.ts', 'field-trace'),
  { ...background, plugins: [...common, assets] },
  script('src/content/content.ts', 'content.js'),
  hook([`${OUTS.chrome}/hooks.js`, `${OUTS.safari}/hooks.js`], false),
  hook([`${OUTS.firefox}/hooks.js`], true),
  carried('messages'),
  carried('instructions'),
  // for the Chromium that the command drives: src/drive/native-workers.ts
  hook([`${DIST}/cli/driven-hooks.js`], false, true),
  embedded('src/embed/index.ts', 'hook', 'es', [types('src/embed/index.ts', 'hook')]),
  embedded('src/embed/script.ts', 'hook-script', 'iife'),
  entry('src/listen/vite.ts', 'vite'),
  entry('src/fixtures/playwright.ts', 'playwright'),
  entry('src/fixtures/vitest.ts', 'vitest'),
  {
    input: 'src/content/over-cdp.ts',
    plugins: common,
    output: { file: `${DIST}/cli/connect-content.js`, format: 'iife' },
  },
  script('src/handover/frame.ts', 'handover/frame.js'),
  script('src/handover/hub.ts', 'handover/hub.js'),
  script('src/devtools/devtools.ts', 'devtools/devtools.js'),
  page('src/devtools/panel.ts', 'devtools/panel.js'),
  page('src/devtools/popup.ts', 'devtools/popup.js'),
  page('src/devtools/welcome.ts', 'devtools/welcome.js'),
  page('src/devtools/options.ts', 'devtools/options.js'),
  page('src/devtools/access.ts', 'devtools/access.js'),
  page('src/viewer/session/store-worker.ts', 'devtools/store-worker.js'),
  page('src/lab/page/lab.ts', 'lab/lab.js'),
  page('src/lab/page/lab-worker.ts', 'lab/lab-worker.js'),
  page('src/lab/page/keeper-worker.ts', 'lab/keeper-worker.js'),
  page('src/lab/experiments/worker/absurd-helper.ts', 'lab/absurd-helper.js'),
  script('src/lab/experiments/worker/faulty-opfs-proxy.ts', 'lab/faulty-opfs-proxy.js'),
  {
    input: 'src/cli/vfscope.ts',
    plugins: [
      resolve({ exportConditions: ['node'] }),
      esbuild({ target: 'node20', define: { VFSCOPE_VERSION: JSON.stringify(pkg.version) } }),
    ],
    external: [
      /^node:/,
      'puppeteer-core',
      '@uwdata/flechette',
      'hyparquet',
      'hyparquet-writer',
      /^(@journeyapps\/)?wa-sqlite/,
    ],
    output: {
      file: `${DIST}/cli/vfscope.mjs`,
      format: 'es',
      inlineDynamicImports: true,
      banner: '#!/usr/bin/env node',
    },
  },
];

/** The viewer as a folder that any web server can host, and that `vfscope open` serves; `npm run build:viewer` makes it alone. */
const SITE = `${DIST}/viewer`;
const siteFiles = [
  ['src/site/viewer.html', 'index.html'],
  ['src/devtools/example.vfst', 'example.vfst'],
  ...PANEL_WASM,
  ['store-assets/icons/icon-32.png', 'icon-32.png'],
];
const siteLicenses = thirdParty([SITE], { [SITE]: siteFiles.map(([from]) => from) });
const site = (input, file, more = []) => ({
  input,
  plugins: [...common, ...more, siteLicenses],
  output: { file: `${SITE}/${file}`, format: 'es', inlineDynamicImports: true },
});
const viewer = [
  site('src/site/viewer.ts', 'viewer.js', [
    {
      name: 'files of the site',
      buildStart: () => rmSync(SITE, { recursive: true, force: true }),
      writeBundle() {
        for (const [from, to] of siteFiles) cpSync(from, `${SITE}/${to}`);
      },
    },
  ]),
  site('src/viewer/session/store-worker.ts', 'store-worker.js'),
  site('src/site/offline.ts', 'offline.js'),
];

export default ({ configViewer }) =>
  configViewer
    ? viewer
    : [...builds.map((build) => ({ ...build, plugins: [...build.plugins, licenses] })), ...viewer];
