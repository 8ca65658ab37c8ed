/** The tools of `vfscope mcp`: what an agent may ask, and which command answers. */
import { resolve } from 'node:path';
import { HINTS } from './query.ts';
import { recordingName } from './record.ts';

/** A call has invalid arguments. The message says what is valid. */
export class WrongArguments extends Error {}

export interface Call {
  /** Arguments of the command. */
  args: string[];
  /** What to do with the answer. It may depend on the answer. */
  next: string | ((out: string) => string);
  /** The command runs until the server ends, and its first line is the answer. */
  stays?: boolean;
  /** Words in the command's output that name its options, and what an agent does instead. */
  instead?: Readonly<Record<string, string>>;
}

interface Tool {
  name: string;
  description: string;
  inputSchema: object;
  annotations: { readOnlyHint: boolean };
  /** @throws WrongArguments */
  call(args: Record<string, unknown>): Call;
}

type Kind = 'string' | 'number';
interface Property {
  type: Kind;
  description: string;
  optional?: true;
}
type Given = Readonly<Record<string, string | undefined>>;

/**
 * @param properties all strings or numbers @param call gets each as text that can't be taken for an
 * option of the command
 */
function tool(
  name: string,
  description: string,
  properties: Readonly<Record<string, Property>>,
  call: (given: Given) => Call,
  readOnlyHint = true,
): Tool {
  const needed = Object.keys(properties).filter((key) => !properties[key]!.optional);
  return {
    ...{ name, description, annotations: { readOnlyHint } },
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, { type, description }]) => [
          key,
          { type, description },
        ]),
      ),
      required: needed,
      additionalProperties: false,
    },
    call(args) {
      const unknown = Object.keys(args).find((key) => !(key in properties));
      if (unknown !== undefined)
        throw new WrongArguments(
          `${name} has no argument "${unknown}": expected ${Object.keys(properties).join(', ')}.`,
        );
      const given: Record<string, string> = {};
      for (const [key, { type, optional }] of Object.entries(properties)) {
        const value = args[key];
        if (value === undefined && optional) continue;
        if (typeof value !== type || value === '' || String(value).startsWith('-'))
          throw new WrongArguments(
            `${name} needs ${key}, a ${type}: ${properties[key]!.description}.`,
          );
        given[key] = String(value);
      }
      return call(given);
    },
  };
}

const option = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`--${name}`, value];
const TRACE: Property = { type: 'string', description: 'Path of a .vfst file' };

/** Only six tools, because each costs tokens in every conversation. */
export const TOOLS: readonly Tool[] = [
  tool(
    'record',
    'Record a page in a browser. Returns what took the time and what to do. Saves a .vfst file.',
    {
      url: { type: 'string', description: 'Web address of the page' },
      until: {
        type: 'string',
        description: 'JavaScript expression in the page; the recording ends when it is truthy',
        optional: true,
      },
      seconds: {
        type: 'number',
        description: 'Length after the page has loaded (default 5); with until, the limit',
        optional: true,
      },
      script: {
        type: 'string',
        description: 'Path of a module that drives the page: export default async (page) => {}',
        optional: true,
      },
      out: { type: 'string', description: 'Path of the .vfst file to write', optional: true },
    },
    ({ url = '', until, seconds, script, out }) => {
      const file = resolve(out ?? recordingName(url, new Date()));
      return {
        args: [
          'record',
          url,
          ...['--out', file],
          ...option('until', until),
          ...option('seconds', seconds),
          ...option('script', script),
        ],
        next: `findings(trace: ${JSON.stringify(file)})`,
      };
    },
    false,
  ),
  tool(
    'findings',
    'What to change, from a recording: a list, or, with a rule, all about it.',
    {
      trace: TRACE,
      rule: { type: 'string', description: 'Id of a rule, such as F01', optional: true },
    },
    ({ trace = '', rule }) => ({
      args: ['findings', trace, '--short', ...option('rule', rule)],
      next(out) {
        if (rule !== undefined)
          return `change the code, record again, then diff(a: ${JSON.stringify(trace)}, b: ...)`;
        const [, first] = /^1\. \[(F\d+)\]/m.exec(out) ?? [];
        return first === undefined
          ? `query(trace: ${JSON.stringify(trace)}) for anything else in it`
          : `findings(trace: ${JSON.stringify(trace)}, rule: "${first}") for all about the first`;
      },
    }),
  ),
  tool(
    'query',
    'SQL (SQLite) over a recording. Without sql: the tables and their columns. Times are microseconds.',
    {
      trace: TRACE,
      sql: {
        type: 'string',
        description: 'One SELECT; at most 100 rows come back',
        optional: true,
      },
    },
    ({ trace = '', sql }) => ({
      args: ['query', trace, ...(sql === undefined ? ['--tables', '--short'] : [sql])],
      next:
        sql === undefined
          ? `query(trace: ${JSON.stringify(trace)}, sql: "SELECT ...")`
          : `findings(trace: ${JSON.stringify(trace)}), or another query`,
      instead: {
        [HINTS.tables]: 'For tables and columns: query without sql',
        [HINTS.rows]: 'there are more: add LIMIT and OFFSET',
      },
    }),
  ),
  tool(
    'diff',
    'What changed between two recordings of the same work: exact counts, times with their noise, findings solved and new.',
    {
      a: { ...TRACE, description: 'Recording before the change' },
      b: { ...TRACE, description: 'Recording after it' },
    },
    ({ a = '', b = '' }) => ({
      args: ['diff', a, b],
      next: `findings(trace: ${JSON.stringify(b)}) for what is left`,
    }),
  ),
  tool(
    'lab',
    'Run an experiment on SQLite settings in Node, with exact counts. Without name: list the experiments.',
    {
      name: { type: 'string', description: 'Experiment or workload', optional: true },
      config: {
        type: 'string',
        description: 'Settings as "journalMode=wal pageSize=8192"',
        optional: true,
      },
      compare: {
        type: 'string',
        description: 'The same again with these settings, side by side',
        optional: true,
      },
    },
    ({ name, config, compare }) => ({
      args:
        name === undefined
          ? ['lab', 'list']
          : [
              ...['lab', 'run', name, '--node', '--count'],
              ...settings('config', config),
              ...settings('compare', compare),
            ],
      next:
        name === undefined
          ? 'lab(name: "...")'
          : 'apply the setting that wins, record again, then diff(a, b)',
    }),
  ),
  tool(
    'open',
    'Show a recording to the user in their browser. Returns at once; it is served until this server ends.',
    { trace: TRACE },
    ({ trace = '' }) => ({
      args: ['open', trace],
      next: 'tell the user what to look at',
      stays: true,
    }),
    false,
  ),
];

/** `a=1 b=2` in the form that the command takes. @throws WrongArguments */
function settings(option: string, text: string | undefined): string[] {
  const words = text?.split(/\s+/).filter(Boolean) ?? [];
  if (words.some((word) => !/^\w+=\S+$/.test(word)))
    throw new WrongArguments(`${option}: expected name=value, separated by spaces.`);
  return words.length ? [`--${option}`, ...words] : [];
}
