/**
 * A statement's tokens as a tree, where parentheses make groups. Spaces and comments are removed.
 */
import { tokens } from '../../sqlite/sql-text.ts';

export interface Leaf {
  readonly kind: 'word' | 'quoted' | 'value' | 'parameter' | 'sign';
  /** As it was written. */
  readonly text: string;
  /** A word or a quoted name in lower case, without quotes; else the text. */
  readonly name: string;
  /** Its position in the statement, characters. */
  readonly at: number;
}
export interface Group {
  readonly kind: 'group';
  readonly nodes: readonly SqlNode[];
}
export type SqlNode = Leaf | Group;

const LONG_SIGN = /^(?:<=|>=|<>|!=|==|\|\||->|<<|>>)$/;
const LEAF_KINDS = {
  word: 'word',
  quoted: 'quoted',
  string: 'value',
  blob: 'value',
  number: 'value',
  parameter: 'parameter',
  other: 'sign',
} as const;

/** @throws Error where parentheses don't match */
export function sqlTree(sql: string): SqlNode[] {
  const open: SqlNode[][] = [[]];
  let at = 0;
  for (const { kind, text } of tokens(sql)) {
    const here = open.at(-1)!;
    if (text === '(' && kind === 'other') open.push([]);
    else if (text === ')' && kind === 'other') {
      const nodes = open.pop()!;
      if (open.length === 0) throw new Error('a parenthesis is closed that was not opened');
      open.at(-1)!.push({ kind: 'group', nodes });
    } else if (kind !== 'space' && kind !== 'comment') {
      const last = here.at(-1);
      const joined = last?.kind === 'sign' && last.at + last.text.length === at && last.text + text;
      if (joined && kind === 'other' && LONG_SIGN.test(joined))
        here[here.length - 1] = { kind: 'sign', text: joined, name: joined, at: last.at };
      else here.push({ kind: LEAF_KINDS[kind], text, name: nameOf(kind, text), at });
    }
    at += text.length;
  }
  if (open.length !== 1) throw new Error('a parenthesis is not closed');
  return open[0]!;
}

const QUOTES: Readonly<Record<string, string>> = { '"': '""', '`': '``' };
function nameOf(kind: string, text: string): string {
  if (kind === 'word') return text.toLowerCase();
  if (kind !== 'quoted') return text;
  const quote = text[0]!;
  const inside = text.slice(1, -1);
  return (QUOTES[quote] ? inside.replaceAll(QUOTES[quote], quote) : inside).toLowerCase();
}

export const isLeaf = (node: SqlNode | undefined): node is Leaf =>
  node !== undefined && node.kind !== 'group';
/** Whether a node is one of these keywords. */
export const isWord = (node: SqlNode | undefined, ...words: readonly string[]): boolean =>
  node?.kind === 'word' && words.includes(node.name);
export const isSign = (node: SqlNode | undefined, sign: string): boolean =>
  node?.kind === 'sign' && node.text === sign;

/** The parts between separator nodes. */
export function splitAt(
  nodes: readonly SqlNode[],
  separates: (node: SqlNode, i: number) => boolean,
): SqlNode[][] {
  const parts: SqlNode[][] = [[]];
  nodes.forEach((node, i) => {
    if (separates(node, i)) parts.push([]);
    else parts.at(-1)!.push(node);
  });
  return parts;
}
/** The parts between commas. */
export const listOf = (nodes: readonly SqlNode[]): SqlNode[][] =>
  splitAt(nodes, (node) => isSign(node, ','));

/** All leaves in order, including those in groups. */
export function* leavesOf(nodes: readonly SqlNode[]): Generator<Leaf> {
  for (const node of nodes)
    if (node.kind === 'group') yield* leavesOf(node.nodes);
    else yield node;
}

/** A name as SQL text, quoted only where necessary. */
export const quotedName = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/i.test(name) && !RESERVED.has(name.toLowerCase())
    ? name
    : `"${name.replaceAll('"', '""')}"`;
const RESERVED = new Set(
  'add all alter and as autoincrement between by case check collate commit constraint create cross current current_date current_time current_timestamp default deferrable delete desc distinct drop else end escape except exists false foreign from full group having if in index inner insert intersect into is isnull join left limit natural no not notnull null of on or order outer over primary references right rollback row rowid select set table then to transaction true union unique update using values view when where window with without'.split(
    ' ',
  ),
);
