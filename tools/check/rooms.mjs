/**
 * The rooms of src/ and what each may import: other rooms, and npm packages by name. A new arrow is a change to this table.
 * A file belongs to the longest name that its path begins with. A name in `imports` allows that room and the rooms inside it.
 * Imports of types count like all others; from the rooms in `types` a room may import nothing but types (`import type`).
 */
const subject = (...imports) => ({ imports: ['event', 'sqlite', 'trace', ...imports], npm: [] });

export const ROOMS = {
  sqlite: { imports: [], npm: [] },
  event: { imports: ['sqlite'], npm: [] },
  record: { imports: ['event'], npm: [] },
  trace: { imports: ['event', 'sqlite'], npm: [] },

  analysis: subject('analysis'),
  'analysis/core': subject(),
  'analysis/rules': subject('analysis'),
  'analysis/time': subject('analysis'),
  'analysis/transactions': subject('analysis'),
  'analysis/files': subject('analysis'),
  'analysis/pages': subject('analysis'),
  'analysis/locks': subject('analysis/core', 'analysis/rules', 'analysis/files'),
  'analysis/wal': subject('analysis'),
  'analysis/cache': subject('analysis'),
  'analysis/idb': subject('analysis'),
  'analysis/statements': subject('analysis'),
  'analysis/errors': subject('analysis/core', 'analysis/rules', 'analysis/files'),
  'analysis/findings': subject('analysis'),
  'analysis/report': subject('analysis'),
  'analysis/privacy': subject(),
  timeline: subject('analysis'),

  formats: {
    imports: ['event', 'sqlite', 'trace', 'analysis'],
    npm: ['@uwdata/flechette', 'hyparquet-writer', 'wa-sqlite'],
  },
  protocol: { imports: ['event', 'trace', 'analysis', 'timeline'], npm: [] },
  probes: { imports: ['event', 'record'], npm: [] },
  platform: { imports: ['protocol'], npm: ['webextension-polyfill'] },
  'vfs-instrumented/interpose': { imports: ['event', 'record', 'sqlite'], npm: [] },
  'vfs-instrumented/block-idb': { imports: ['event', 'record'], npm: ['wa-sqlite'] },
  'vfs-instrumented/library': {
    imports: ['event', 'record', 'trace', 'analysis/report', 'vfs-instrumented'],
    npm: ['wa-sqlite'],
  },
  engines: { imports: ['event', 'record', 'sqlite', 'vfs-instrumented/interpose'], npm: [] },
  'viewer/ui': {
    imports: ['event', 'sqlite', 'trace', 'analysis', 'protocol', 'viewer'],
    types: ['viewer/session'],
    npm: ['svelte', '@codemirror', '@lezer/highlight'],
  },
  'viewer/session': {
    imports: ['event', 'sqlite', 'trace', 'analysis', 'timeline', 'formats', 'protocol', 'viewer'],
    npm: ['wa-sqlite'],
  },
  viewer: { imports: [], npm: [] },
  hooks: {
    imports: ['event', 'record', 'protocol', 'vfs-instrumented/interpose', 'probes', 'engines'],
    npm: [],
  },
  content: { imports: ['protocol', 'platform'], npm: [] },
  handover: { imports: ['protocol', 'platform'], npm: [] },
  background: { imports: ['protocol', 'platform'], npm: [] },
  devtools: { imports: ['viewer', 'protocol', 'platform', 'event'], npm: ['svelte'] },

  'lab/meter': { imports: ['vfs-instrumented/interpose'], npm: [] },
  'lab/experiments/model': { imports: [], npm: [] },
  'lab/experiments/workloads': { imports: ['lab/experiments/model'], npm: [] },
  'lab/experiments/documents': { imports: ['lab/experiments/model'], npm: [] },
  'lab/experiments/engine': {
    imports: ['event', 'sqlite', 'lab/meter', 'lab/experiments/model'],
    npm: ['wa-sqlite', '@journeyapps/wa-sqlite'],
  },
  'lab/experiments/replay': {
    imports: [
      'event',
      'sqlite',
      'record',
      'trace',
      'analysis',
      'vfs-instrumented/library',
      'lab/experiments/engine',
      'lab/experiments/model',
    ],
    npm: [],
  },
  'lab/experiments/worker': {
    imports: [
      'event',
      'sqlite',
      'record',
      'probes',
      'vfs-instrumented/block-idb',
      'lab/experiments/engine',
      'lab/experiments/model',
    ],
    npm: ['wa-sqlite', '@journeyapps/wa-sqlite'],
  },
  'lab/experiments': {
    imports: ['record', 'trace', 'probes', 'engines', 'lab/experiments'],
    npm: [],
  },
  'lab/results': { imports: ['analysis', 'lab/experiments'], npm: [] },
  'lab/page': {
    imports: [
      'event',
      'record',
      'trace',
      'analysis',
      'lab/experiments',
      'lab/results',
      'viewer',
      'protocol',
      'platform',
    ],
    npm: ['svelte'],
  },
  terminal: { imports: ['trace', 'analysis/report'], npm: [], node: true },
  drive: {
    imports: ['event', 'trace', 'analysis/report', 'protocol', 'terminal'],
    npm: ['puppeteer-core'],
    node: true,
  },
  'lab/drive': {
    imports: ['drive', 'terminal', 'lab/experiments'],
    npm: ['puppeteer-core'],
    node: true,
  },
  'lab/command': {
    imports: [
      'trace',
      'analysis',
      'terminal',
      'drive',
      'lab/drive',
      'lab/experiments',
      'lab/results',
    ],
    npm: [],
    node: true,
  },
  cli: {
    imports: [
      'event',
      'trace',
      'analysis',
      'formats',
      'terminal',
      'drive',
      'lab/command',
      'lab/experiments',
    ],
    npm: [],
    node: true,
  },
};
