// Whether a script begins in strict mode, compared with the engine itself.
import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { firstWords, startsStrict } from '../../src/protocol/strict-script.ts';
import { isOpen, prefixed } from '../../src/platform/worker-prefix.ts';

const PROBE = '\nfoo = (function () { return this === undefined; })()';
const truth = (text: string): unknown => {
  try {
    return new Script(text + PROBE).runInNewContext({ foo: undefined });
  } catch (e) {
    return (e as Error).name;
  }
};

test.each([
  '',
  '"use strict";',
  "'use strict'",
  "'use strict';var a = 1;",
  "'use strict'\nvar a = 1;",
  "'use strict'\n\n{ }",
  "'use strict'/* a\n */var a",
  "'use strict' // words\nvar a;",
  "// words\n/* more */ '\\x75se strict'; 0",
  "/* 'use strict' */ 0",
  "\uFEFF'use strict';",
  "'use client'; 'use strict';",
  "'use client'\n'use strict'\nvar a",
  '"use asm";\n"use strict"; 0',
  "'use client'\nvar a; 'use strict';",
  "'use strict'.length",
  "'use strict'\n.length",
  "'use strict' /* a */ + 1 /* b */;",
  `'use strict' ${'/**/'.repeat(100)}+ 1;`, // must not take forever
  "'use strict'\ninitial: ;",
  "\n--> a\n'use strict';",
  "// a\u2028'use strict';\n",
  "'use strict' + 1",
  "'use strict'\n+ 1",
  "'use strict'\nin {}",
  "'use strict', 1",
  "'use strict' == 1",
  "('use strict');",
  "0; 'use strict';",
  '`use strict`;',
  '#!/usr/bin/env node\n"use strict";',
  '<!-- words\n"use strict";',
])('%j', (text) => {
  const told = startsStrict(firstWords(text + PROBE));
  if (told !== undefined) expect(told).toBe(truth(text));
});

test.each(['var a', '"use strict";', "'use strict'\nvar a", '/* a */ "use strict" ;'])(
  'what most scripts are is known: %j',
  (text) => {
    expect(startsStrict(firstWords(text))).toBe(text !== 'var a');
  },
);

test.each(['"use st', '"use strict"', '"use strict"\n#', '/* a', '// a', '/', '#', '/* a */ #'])(
  'unknown with so much of it: %j',
  (text) => {
    expect(startsStrict(firstWords(text))).toBeUndefined();
  },
);

test.each([
  ["'use strict'; a()", `"use strict";HOOK'use strict'; a()`],
  ["'use strict' // words\na()", `"use strict";HOOK'use strict' // words\na()`],
  ['a()', 'HOOKa()'],
  ['#!x\n"use strict"; a()', '#!x\n"use strict";HOOK"use strict"; a()'],
  ['#!x\na()', '#!x\nHOOKa()'],
  ['\uFEFF#!x\na()', '\uFEFF#!x\nHOOKa()'],
  ["'use strict' /* a */ + 1", "HOOK'use strict' /* a */ + 1"],
  ["'use strict' /* a\n */ a()", `"use strict";HOOK'use strict' /* a\n */ a()`],
  ["'use strict'\ninit()", `"use strict";HOOK'use strict'\ninit()`],
])('the hook in front of %j', (script, made) => {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const parts = prefixed(new TextEncoder().encode(script), 'f', false, {} as never);
  const text = parts.map((part) => decoder.decode(part)).join('');
  expect(text.replace(/try\{\(f\).*?,e\)\}/, 'HOOK')).toBe(made);
});

test.each([
  ['', true],
  ['/* a license */\n', true],
  ['#!x', true],
  ['\uFEFF#!x', true],
  ["'use strict'", true],
  ["'use strict';", false],
  ['/* a */ a()', false],
  [`/*${' '.repeat(65536)}`, false],
])('what came first decides where the hook goes, or more is waited for: %#', (text, open) => {
  expect(isOpen(new TextEncoder().encode(text))).toBe(open);
});
