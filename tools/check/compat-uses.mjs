// What a built script uses of the extension API (through `chrome`, `browser`, and the name in
// src/platform/extension-api.ts) and of the static members of built-in objects.
import { parseAst } from 'rollup/parseAst';

const isFunction = ({ type }) =>
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(type);
const isNode = (v) => v !== null && typeof v === 'object' && typeof v.type === 'string';
/** Direct child nodes. */
const children = (node) =>
  Object.values(node).flatMap((v) => (Array.isArray(v) ? v.filter(isNode) : isNode(v) ? [v] : []));

/** `x = globalThis.browser ?? chrome` */
const isDoor = (node) =>
  node.type === 'VariableDeclarator' &&
  node.init?.type === 'LogicalExpression' &&
  node.init.right.type === 'Identifier' &&
  node.init.right.name === 'chrome';

function* namesIn(pattern) {
  if (!pattern) return;
  if (pattern.type === 'Identifier') yield pattern.name;
  else if (pattern.type === 'Property') yield* namesIn(pattern.value);
  else if (pattern.type === 'AssignmentPattern') yield* namesIn(pattern.left);
  else if (/Pattern$|RestElement/.test(pattern.type))
    for (const child of children(pattern)) yield* namesIn(child);
}

/** Names that a function or a module declares, excluding those of functions inside it. */
function* ownNames(node, top = true) {
  if (top) for (const param of node.params ?? []) yield* namesIn(param);
  for (const child of children(node)) {
    if (child.type === 'VariableDeclarator' && !isDoor(child)) yield* namesIn(child.id);
    if (child.type === 'FunctionDeclaration') yield child.id.name;
    if (child.type === 'CatchClause') yield* namesIn(child.param);
    if (!isFunction(child)) yield* ownNames(child, false);
  }
}

/**
 * @param {string} source of a script or module
 * @returns {{ kind: 'extension' | 'static' | 'unreadable', keys: string[], line: number }[]}
 * `tabs.get` as ['tabs', 'get']
 */
export function usesIn(source) {
  const found = [];
  const lines = [0];
  for (let i = source.indexOf('\n'); i >= 0; i = source.indexOf('\n', i + 1)) lines.push(i);
  const lineOf = (at) => {
    let low = 0;
    for (let high = lines.length; low + 1 < high;) {
      const middle = (low + high) >> 1;
      if (lines[middle] <= at) low = middle;
      else high = middle;
    }
    return low + 1;
  };
  const doors = new Set(['chrome', 'browser']);
  const findDoors = (node) => {
    if (isDoor(node)) doors.add(node.id.name);
    children(node).forEach(findDoors);
  };
  const program = parseAst(source, { allowReturnOutsideFunction: true });
  findDoors(program);

  /** @param parents nearest last */
  const walk = (node, parents, shadowed) => {
    if (isDoor(node)) return;
    let hidden = shadowed;
    if (isFunction(node)) {
      const own = new Set(ownNames(node));
      if ([...doors].some((name) => own.has(name))) hidden = new Set([...shadowed, ...own]);
    }
    const add = (kind, keys) => found.push({ kind, keys, line: lineOf(node.start) });
    const parent = parents.at(-1);
    const named =
      node.type === 'Identifier' &&
      !(parent?.type === 'MemberExpression' && parent.property === node && !parent.computed);
    const isKey = parent?.type === 'Property' && parent.key === node && parent.value !== node;
    const isWindow =
      node.type === 'MemberExpression' &&
      node.object.name === 'globalThis' &&
      !node.computed &&
      doors.has(node.property.name);
    if (isWindow || (named && !isKey && doors.has(node.name) && !hidden.has(node.name))) {
      const keys = chain(node, parents);
      if (keys === null) add('unreadable', [isWindow ? node.property.name : node.name]);
      else if (keys.length) add('extension', keys);
    }
    if (
      node.type === 'MemberExpression' &&
      !node.computed &&
      node.object.type === 'Identifier' &&
      /^[A-Z]/.test(node.object.name)
    )
      add('static', [node.object.name, node.property.name]);
    for (const child of children(node)) walk(child, [...parents, node], hidden);
  };
  walk(program, [], new Set(ownNames(program)));
  return found;
}

/**
 * Members after a name: [] if it is only tested (`typeof chrome`, `chrome?.`); null if all of it is
 * passed elsewhere.
 */
function chain(node, parents) {
  const keys = [];
  let current = node;
  for (const parent of [...parents].reverse()) {
    if (parent.type === 'ChainExpression') {
      current = parent;
      continue;
    }
    if (parent.type === 'MemberExpression' && parent.object === current) {
      if (parent.computed) return keys.length ? keys : null;
      keys.push(parent.property.name);
      current = parent;
      continue;
    }
    const takenApart =
      parent.type === 'VariableDeclarator' &&
      parent.init === current &&
      parent.id.type === 'ObjectPattern';
    if (takenApart) return null;
    return keys.length || parent.type === 'UnaryExpression' ? keys : null;
  }
  return keys;
}
