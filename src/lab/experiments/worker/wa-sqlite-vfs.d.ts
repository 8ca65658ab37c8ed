// wa-sqlite declares no types for its example VFSs: each module exports a class of its file's name.
declare module '@journeyapps/wa-sqlite/src/examples/*VFS.js' {
  const classes: Record<string, unknown>;
  export = classes;
}
declare module 'wa-sqlite/src/examples/*VFS.js' {
  const classes: Record<string, unknown>;
  export = classes;
}
