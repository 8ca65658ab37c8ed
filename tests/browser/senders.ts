/**
 * Searches programs for APIs with which a browser or Node can send. A string isn't code: `fetch` in
 * one is ignored, unless the whole string is a program, such as a worker's.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parseAst } from 'rollup/parseAst';

const APIS = new Set([
  ...[
    'fetch',
    'fetchLater',
    'XMLHttpRequest',
    'WebSocket',
    'WebSocketStream',
    'EventSource',
    'sendBeacon',
  ],
  ...['WebTransport', 'RTCPeerConnection'],
]);
/** Node modules that open or accept connections, and those that drive a browser. */
const MODULES = /^(node:)?(net|http|https|http2|tls|dgram|dns)$|^(puppeteer(-core)?|ws|undici)$/;

interface Node {
  type?: string;
  name?: string;
  computed?: boolean;
  value?: unknown;
  source?: { value?: unknown } | null;
  properties?: Node[];
  [key: string]: unknown;
}

/**
 * A program without any of these words contains none of the names: most programs need no closer
 * look.
 */
export const MAY_SEND = new RegExp(`${[...APIS].join('|')}|['"](node:|puppeteer|ws|undici)`);

/**
 * Names in a program that could send, and their number of occurrences. @throws if it isn't
 * JavaScript
 */
export function sendersIn(code: string): Record<string, number> {
  const found: Record<string, number> = {};
  const add = (name: string): void => void (found[name] = (found[name] ?? 0) + 1);
  const taken = new Set<unknown>();
  const visit = (node: unknown, parent: Node | null, key: string): void => {
    if (Array.isArray(node)) return node.forEach((one) => visit(one, parent, key));
    if (typeof node !== 'object' || node === null) return;
    const one = node as Node;
    if (one.type === 'Identifier' && APIS.has(one.name!)) {
      // a key in an object or class literal doesn't refer to the platform; a key in destructuring
      // does
      const made =
        key === 'key' &&
        parent!.computed !== true &&
        /^(Property|MethodDefinition|PropertyDefinition)$/.test(parent!.type!) &&
        !taken.has(parent);
      if (!made) add(one.name!);
    }
    if (MODULES.test(String(one.source?.value))) add(String(one.source!.value));
    if (one.type === 'CallExpression' && /^(require|getBuiltinModule)$/.test(calledName(one))) {
      const [first] = one['arguments'] as Node[];
      if (MODULES.test(String(first?.value))) add(String(first!.value));
    }
    const text = textOf(one);
    if (text !== null && MAY_SEND.test(text))
      for (const [name, count] of Object.entries(sendersInText(text)))
        found[name] = (found[name] ?? 0) + count;
    if (one.type === 'ObjectPattern') one.properties!.forEach((property) => taken.add(property));
    for (const [name, child] of Object.entries(one)) visit(child, one, name);
  };
  visit(parseAst(code), null, '');
  return found;
}

/** For a call `a.b.c()`: the last name. */
function calledName({ callee }: Node): string {
  const { name, property } = callee as Node;
  return name ?? (property as Node | undefined)?.name ?? '';
}
/** A string in a program. */
function textOf({ type, value }: Node): string | null {
  if (type === 'Literal' && typeof value === 'string') return value;
  return type === 'TemplateElement' ? ((value as { cooked?: string }).cooked ?? null) : null;
}
/** A string that isn't a program has none, and neither does a name. */
function sendersInText(text: string): Record<string, number> {
  if (!/=>|;|\bfunction\b/.test(text)) return {};
  try {
    return sendersIn(text);
  } catch {
    return {};
  }
}

/** By text, because most programs are the same for all browsers. */
const known = new Map<string, Record<string, number>>();
function sendersOf(code: string): Record<string, number> {
  if (!MAY_SEND.test(code)) return {};
  const found = known.get(code) ?? sendersIn(code);
  known.set(code, found);
  return found;
}

/** The same for all programs in a folder that have any, by path below it. */
export function sendersBelow(folder: string): Record<string, Record<string, number>> {
  const programs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.m?js$/.test(name))
    .map((name) => [
      name.split(sep).join('/'),
      sendersOf(readFileSync(join(folder, name), 'utf8')),
    ]);
  return Object.fromEntries(programs.filter(([, found]) => Object.keys(found!).length)) as Record<
    string,
    Record<string, number>
  >;
}
