// The rooms of src/ and what each may import: other rooms, and npm packages by name. A new arrow is a change to this table.
export const ROOMS = {
  trace: { imports: [], npm: [] },
  formats: { imports: ['trace'], npm: ['@uwdata/flechette', 'hyparquet-writer', 'wa-sqlite'] },
  protocol: { imports: ['trace'], npm: [] },
  probes: { imports: ['trace'], npm: [] },
  platform: { imports: ['protocol'], npm: ['webextension-polyfill', 'devtools-protocol'] },
  'vfs-instrumented': { imports: ['trace'], npm: ['wa-sqlite'] },
  engines: { imports: ['trace', 'vfs-instrumented'], npm: ['wa-sqlite'] },
  experiments: {
    imports: ['trace', 'vfs-instrumented', 'probes', 'engines'],
    npm: ['wa-sqlite', '@journeyapps/wa-sqlite'],
  },
  viewer: {
    imports: ['trace', 'formats', 'protocol'],
    npm: ['svelte', 'uplot', '@codemirror', '@lezer/highlight', 'wa-sqlite'],
  },
  hooks: { imports: ['trace', 'protocol', 'vfs-instrumented', 'probes', 'engines'], npm: [] },
  content: { imports: ['protocol', 'platform'], npm: [] },
  handover: { imports: ['protocol', 'platform'], npm: [] },
  background: { imports: ['protocol', 'platform'], npm: [] },
  devtools: { imports: ['viewer', 'protocol', 'platform', 'trace'], npm: ['svelte'] },
  lab: { imports: ['viewer', 'experiments', 'protocol', 'platform', 'trace'], npm: ['svelte'] },
  cli: {
    imports: ['trace', 'formats', 'protocol', 'experiments'],
    npm: ['puppeteer-core'],
    node: true,
  },
};
