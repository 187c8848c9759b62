import {
  type CommandTree,
  type DescribedOption,
  isolationTiers,
  modelWords,
  namedModelWords,
  newKinds,
  overridesActions,
  packActions,
  planActions,
  policyActions,
  shellWords,
  type ValueKind,
} from './command-tree.ts';
import { listCalls, listLockable, listNames, listWaiting } from './completion-bash.ts';

/** A script that completes `holdfast` in fish. */
export function toFishScript({ options, commands }: CommandTree): string {
  const names = commands.map(({ name }) => name);
  const lines = [
    ...options.map((option) => `${start} -n __fish_use_subcommand ${toFlags(option)}`),
    ...commands.map(({ name, description }) => `${start} -n __fish_use_subcommand -a ${name} -d ${quote(description)}`),
    ...commands.flatMap(({ name, argument, options: own }) => {
      const condition = quote(`__fish_seen_subcommand_from ${name}`);
      const words = argument === undefined ? undefined : toWords(argument.kind, names);
      return [
        ...own.map((option) => {
          const values = option.value === undefined ? undefined : toWords(option.value.kind, names);
          const value = option.value === undefined ? '' : ` -x${values === undefined ? '' : ` -a ${quote(values)}`}`;
          return `${start} -n ${condition} ${toFlags(option)}${value}`;
        }),
        ...(words === undefined ? [] : [`${start} -n ${condition} -a ${quote(words)}`]),
      ];
    }),
  ];
  return `# Completion of holdfast for fish, made by \`holdfast completion fish\`. Once:
#   holdfast completion fish > ~/.config/fish/completions/holdfast.fish

function __holdfast_tools
    holdfast list --json 2>/dev/null | ${listNames}
end

function __holdfast_lockable
    holdfast lock --check --json 2>/dev/null | ${listLockable}
end

function __holdfast_sessions
    for log in .holdfast/sessions/*.jsonl
        string replace -r '^.*/(.*)\\.jsonl$' '$1' -- $log
    end
end

function __holdfast_calls
    __holdfast_sessions
    holdfast show --json 2>/dev/null | ${listCalls}
end

function __holdfast_waiting
    holdfast pending --json 2>/dev/null | ${listWaiting}
end

${lines.join('\n')}
`;
}

const start = 'complete -c holdfast -f';

function toFlags({ short, long, description }: DescribedOption): string {
  const letter = short === undefined ? '' : `-s ${short.replace(/^-/, '')} `;
  return `${letter}-l ${long.replace(/^--/, '')} -d ${quote(description)}`;
}

function toWords(kind: ValueKind, commands: readonly string[]): string | undefined {
  switch (kind) {
    case 'folder':
      return '(__fish_complete_directories (commandline -ct))';
    case 'tool':
      return '(__holdfast_tools)';
    case 'lockable':
      return '(__holdfast_lockable)';
    case 'session':
      return '(__holdfast_sessions)';
    case 'call':
      return '(__holdfast_calls)';
    case 'waiting':
      return '(__holdfast_waiting)';
    case 'model':
      return modelWords.join(' ');
    case 'shell':
      return shellWords.join(' ');
    case 'command':
      return commands.join(' ');
    case 'overrides':
      return `${overridesActions.join(' ')} (__fish_complete_path (commandline -ct))`;
    case 'pack':
      return `${packActions.join(' ')} (__fish_complete_path (commandline -ct))`;
    case 'policy':
      return `${policyActions.join(' ')} (__holdfast_sessions)`;
    case 'plan':
      return `${planActions.join(' ')} (__fish_complete_path (commandline -ct))`;
    case 'named-model':
      return namedModelWords.join(' ');
    case 'file':
      return '(__fish_complete_path (commandline -ct))';
    case 'new':
      return newKinds.join(' ');
    case 'isolation':
      return isolationTiers.join(' ');
    case 'other':
      return undefined;
    default:
      return kind satisfies never;
  }
}

function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
