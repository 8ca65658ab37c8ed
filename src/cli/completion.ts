/** `vfscope completion SHELL`: what makes a shell complete commands, verbs of the Lab, options, and files. Read from the help, so that it knows all. */
import { COMMANDS } from './usage.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];
export const isShell = (name: string): name is Shell => SHELLS.some((shell) => shell === name);
export const SHELL_NAMES = SHELLS.join(', ');

/** Options by command; those of the Lab's verbs by `lab run`, ... */
export function optionsByCommand(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const part of COMMANDS.split(/\n(?= {2}vfscope )/)) {
    const [, command = '', verb = ''] = part.trim().split(/\s+/);
    const name = command === 'lab' ? `lab ${verb}` : command;
    const options = [...part.matchAll(/(?<=[[|\s])--[a-z][a-z-]*/g)].map(([option]) => option);
    found.set(name, [...new Set([...(found.get(name) ?? []), ...options])]);
  }
  return found;
}

/** @returns the script, which the shell is to read */
export function completionScript(shell: Shell): string {
  const all = optionsByCommand();
  const commands = [...new Set([...all.keys()].map((name) => name.split(' ')[0]!)), 'help'];
  const verbs = [...all.keys()].flatMap((name) => name.split(' ')[1] ?? []);
  if (shell === 'fish') return fish(all, commands, verbs);
  const cases = [...all]
    .map(([name, options]) => `    '${name}') words='${[...options, '--help'].join(' ')}' ;;`)
    .join('\n');
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_vfscope() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" words=''
  [ "$command" = lab ] && [ "$COMP_CWORD" -gt 2 ] && command="lab \${COMP_WORDS[2]}"
  if [ "$COMP_CWORD" -eq 1 ]; then words='${[...commands, '--help', '--version'].join(' ')}'
  elif [ "$command" = lab ]; then words='${verbs.join(' ')}'
  elif [[ "$current" == -* ]]; then case "$command" in
${cases}
  esac
  else COMPREPLY=($(compgen -f -- "$current")); return; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o filenames -F _vfscope vfscope
`;
}

function fish(
  all: ReadonlyMap<string, readonly string[]>,
  commands: readonly string[],
  verbs: readonly string[],
): string {
  const lines = [
    `complete -c vfscope -n '__fish_use_subcommand' -f -a '${commands.join(' ')}'`,
    `complete -c vfscope -n '__fish_seen_subcommand_from lab; and not __fish_seen_subcommand_from ${verbs.join(' ')}' -f -a '${verbs.join(' ')}'`,
  ];
  for (const [name, options] of all) {
    const seen = name
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ');
    for (const option of options)
      lines.push(`complete -c vfscope -n '${seen}' -l ${option.slice(2)}`);
  }
  return `${lines.join('\n')}\n`;
}
