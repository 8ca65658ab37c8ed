// The library's type declarations: one .d.ts for each source file that the entry reaches, below
// `out`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

/**
 * @param {string} entry a source file @param {string} out folder @param {string} name of the
 * library's types file, next to that folder
 */
export function emitTypes(entry, out, name) {
  const options = {
    ...{
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      moduleResolution: ts.ModuleResolutionKind.Bundler,
    },
    ...{
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      types: [],
      strict: true,
      skipLibCheck: true,
      noCheck: true,
    },
    ...{
      allowImportingTsExtensions: true,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: 'src',
      outDir: out,
    },
  };
  const program = ts.createProgram([entry], options);
  const { diagnostics } = program.emit(undefined, (file, text) => {
    mkdirSync(dirname(file), { recursive: true });
    // a declaration may not import a .ts file that is not there
    writeFileSync(file, text.replace(/(from '\.[^']*|import\('\.[^']*)\.ts'/g, "$1.js'"));
  });
  if (diagnostics.length)
    throw new Error(
      ts.formatDiagnostics(diagnostics, {
        ...ts.sys,
        getCanonicalFileName: (f) => f,
        getNewLine: () => '\n',
      }),
    );
  const types = relative('src', entry).replace(/\.ts$/, '.js');
  const from = `'./${relative(join(out, '..'), out)}/${types}'`;
  const hasDefault = /^export default /m.test(readFileSync(entry, 'utf8'));
  writeFileSync(
    join(out, '..', `${name}.d.ts`),
    `export * from ${from};\n${hasDefault ? `export { default } from ${from};\n` : ''}`,
  );
}
