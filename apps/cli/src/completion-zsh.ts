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

/** A script that completes `holdfast` in zsh. */
export function toZshScript({ options, commands }: CommandTree): string {
  const list = commands.map(({ name, description }) => quote(`${name}:${escapeColons(description)}`)).join(' ');
  return `#compdef holdfast
# Completion of holdfast for zsh, made by \`holdfast completion zsh\`. In ~/.zshrc, after compinit:
#   source <(holdfast completion zsh)

_holdfast_commands() {
  local -a commands=(${list})
  _describe -t commands command commands
}

_holdfast_tools() {
  local -a names=(\${(f)"$(holdfast list --json \${opt_args[--tools]:+--tools} \${opt_args[--tools]} \${(k)opt_args[--subfolders]} 2>/dev/null | ${listNames})"})
  _describe -t tools tool names
}

_holdfast_lockable() {
  local -a names=(\${(f)"$(holdfast lock --check --json \${opt_args[--tools]:+--tools} \${opt_args[--tools]} \${(k)opt_args[--subfolders]} 2>/dev/null | ${listLockable})"})
  _describe -t tools tool names
}

_holdfast_sessions() {
  local -a ids=(.holdfast/sessions/*.jsonl(N:t:r))
  _describe -t sessions session ids
}

_holdfast_calls() {
  _holdfast_sessions
  local -a calls=(\${(f)"$(holdfast show --json 2>/dev/null | ${listCalls})"})
  _describe -t calls call calls
}

_holdfast_waiting() {
  local -a waiting=(\${(f)"$(holdfast pending --json 2>/dev/null | ${listWaiting})"})
  _describe -t calls 'session or call' waiting
}

_holdfast_overrides() {
  _alternative 'actions:action:(${overridesActions.join(' ')})' 'modules:module:_files'
}

_holdfast_pack() {
  _alternative 'actions:action:(${packActions.join(' ')})' 'packs:pack:_files'
}

_holdfast_policy() {
  _alternative 'actions:action:(${policyActions.join(' ')})' 'sessions:session:_holdfast_sessions'
}

_holdfast_plan() {
  _alternative 'actions:action:(${planActions.join(' ')})' 'plans:plan:_files'
}

_holdfast() {
  local state line
  local -A opt_args
  _arguments -C ${options.map(toSpecification).join(' ')} '1: :_holdfast_commands' '*:: :->rest'
  [[ $state == rest ]] || return
  case $line[1] in
${commands
  .map(({ name, argument, options: own }) => {
    const rest =
      argument === undefined
        ? []
        : [quote(`${argument.repeats ? '*' : '1'}:${argument.name}:${toAction(argument.kind)}`)];
    return `    ${name}) _arguments ${[...own.map(toSpecification), ...rest].join(' ')} ;;`;
  })
  .join('\n')}
  esac
}

if [[ $funcstack[1] == _holdfast ]]; then
  _holdfast "$@"
else
  compdef _holdfast holdfast
fi
`;
}

function toSpecification({ short, long, description, value, repeats }: DescribedOption): string {
  const text = `[${description.replaceAll(/[[\]\\]/g, '\\$&')}]`;
  const argument = value === undefined ? '' : `:${value.name}:${toAction(value.kind)}`;
  const names = short === undefined ? [long] : [short, long];
  return names.map((name) => quote(`${repeats ? '*' : ''}${name}${escapeColons(text)}${argument}`)).join(' ');
}

function toAction(kind: ValueKind): string {
  switch (kind) {
    case 'folder':
      return '_files -/';
    case 'tool':
      return '_holdfast_tools';
    case 'lockable':
      return '_holdfast_lockable';
    case 'session':
      return '_holdfast_sessions';
    case 'call':
      return '_holdfast_calls';
    case 'waiting':
      return '_holdfast_waiting';
    case 'model':
      return `(${modelWords.map(escapeColons).join(' ')})`;
    case 'shell':
      return `(${shellWords.join(' ')})`;
    case 'command':
      return '_holdfast_commands';
    case 'overrides':
      return '_holdfast_overrides';
    case 'pack':
      return '_holdfast_pack';
    case 'policy':
      return '_holdfast_policy';
    case 'plan':
      return '_holdfast_plan';
    case 'named-model':
      return `(${namedModelWords.join(' ')})`;
    case 'file':
      return '_files';
    case 'new':
      return `(${newKinds.join(' ')})`;
    case 'isolation':
      return `(${isolationTiers.join(' ')})`;
    case 'other':
      return ' ';
    default:
      return kind satisfies never;
  }
}

function escapeColons(text: string): string {
  return text.replaceAll(':', '\\:');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
