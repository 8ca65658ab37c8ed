/**
 * `vfscope completion SHELL`: a script that makes a shell complete commands, verbs, options, and
 * files. It is generated from the help texts.
 */
import { COMMANDS } from './usage.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];
export const isShell = (name: string): name is Shell => SHELLS.some((shell) => shell === name);
export const SHELL_NAMES = SHELLS.join(', ');

/** Commands whose verbs each have their own options. */
const WITH_VERBS = ['lab', 'fleet'];

/** Options by command; those of verbs under `lab run`, `fleet add`, ... */
export function optionsByCommand(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const part of COMMANDS.split(/\n(?= {2}vfscope )/)) {
    const [, command = '', verb = ''] = part.trim().split(/\s+/);
    const name = WITH_VERBS.includes(command) ? `${command} ${verb}` : command;
    const options = [...part.matchAll(/(?<=[[|\s])--[a-z][a-z-]*/g)].map(([option]) => option);
    found.set(name, [...new Set([...(found.get(name) ?? []), ...options])]);
  }
  return found;
}

/** All commands, without their verbs. */
export const commandNames = (): string[] => [
  ...new Set([...optionsByCommand().keys()].map((name) => name.split(' ')[0]!)),
  'help',
];

/** An unconfigured zsh has neither completions nor bash's completion functions. */
const ZSH = `(( $+functions[compdef] )) || { autoload -U compinit && compinit; }
autoload -U +X bashcompinit && bashcompinit
`;

/** @returns the script for the shell to source */
export function completionScript(shell: Shell): string {
  const all = optionsByCommand();
  const commands = commandNames();
  const verbs = WITH_VERBS.map((command): [string, string[]] => [
    command,
    [...all.keys()].flatMap((name) => (name.startsWith(`${command} `) ? name.split(' ')[1]! : [])),
  ]);
  if (shell === 'fish') return fish(all, commands, verbs);
  const cases = [...all]
    .map(([name, options]) => `    '${name}') words='${[...options, '--help'].join(' ')}' ;;`)
    .join('\n');
  return `${shell === 'zsh' ? ZSH : ''}_vfscope() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" words=''
  case "$command" in ${WITH_VERBS.join('|')}) [ "$COMP_CWORD" -gt 2 ] && command="$command \${COMP_WORDS[2]}" ;; esac
  if [ "$COMP_CWORD" -eq 1 ]; then words='${[...commands, '--help', '--version'].join(' ')}'
${verbs.map(([command, own]) => `  elif [ "$command" = ${command} ]; then words='${own.join(' ')}'\n`).join('')}  elif [ "$command" = help ]; then words='${commands.join(' ')}'
  elif [[ "$current" == -* ]]; then case "$command" in
${cases}
  esac
  else COMPREPLY=(); return; fi # files, by the shell's own rules
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _vfscope vfscope
`;
}

function fish(
  all: ReadonlyMap<string, readonly string[]>,
  commands: readonly string[],
  verbs: readonly (readonly [command: string, verbs: readonly string[]])[],
): string {
  const lines = [
    `complete -c vfscope -n '__fish_use_subcommand' -f -a '${commands.join(' ')}'`,
    `complete -c vfscope -n '__fish_use_subcommand' -l version`,
    `complete -c vfscope -n '__fish_seen_subcommand_from help' -f -a '${commands.join(' ')}'`,
    `complete -c vfscope -l help`,
    ...verbs.map(([command, own]) => {
      const list = own.join(' ');
      return `complete -c vfscope -n '__fish_seen_subcommand_from ${command}; and not __fish_seen_subcommand_from ${list}' -f -a '${list}'`;
    }),
  ];
  for (const [name, options] of all) {
    const [command, verb] = name.split(' ');
    // `diff` is both a command and a verb of another command
    const rest =
      verb === undefined
        ? `; and not __fish_seen_subcommand_from ${WITH_VERBS.join(' ')}`
        : `; and __fish_seen_subcommand_from ${verb}`;
    const seen = `__fish_seen_subcommand_from ${command}${rest}`;
    for (const option of options)
      lines.push(`complete -c vfscope -n '${seen}' -l ${option.slice(2)}`);
  }
  return `${lines.join('\n')}\n`;
}
