/** How Svelte's files are compiled: by the build, by the panel's development server, and where svelte-check checks them. */
export default { compilerOptions: { fragments: 'tree', css: 'injected', dev: false } };
