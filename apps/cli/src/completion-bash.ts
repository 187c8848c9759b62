import {
  type CommandTree,
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

/** A script that completes `holdfast` in bash, from 3.2 on. */
export function toBashScript({ options, commands }: CommandTree): string {
  const names = commands.map(({ name }) => name);
  const toFlags = (list: CommandTree['options']): string =>
    list.flatMap(({ short, long }) => (short === undefined ? [long] : [short, long])).join(' ');
  const values = commands.flatMap((command) =>
    command.options.flatMap(({ long, value }) =>
      value === undefined ? [] : [`    ${command.name}:${long}) ${complete(value.kind, names)} return ;;`],
    ),
  );
  return `# Completion of holdfast for bash, made by \`holdfast completion bash\`. In ~/.bashrc:
#   source <(holdfast completion bash)

_holdfast_words() {
  COMPREPLY=($(compgen -W "$1" -- "$current"))
}

_holdfast_folders() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -d -- "$current"))
}

# What was typed of the tools folder, for a command that lists what is in it.
_holdfast_folder() {
  local index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case \${COMP_WORDS[index]} in
    --tools) folder+=(--tools "\${COMP_WORDS[index + 1]}") ;;
    --subfolders) folder+=(--subfolders) ;;
    esac
  done
}

_holdfast_tools() {
  local folder=()
  _holdfast_folder
  _holdfast_words "$(holdfast list --json \${folder[@]+"\${folder[@]}"} 2>/dev/null | ${listNames})"
}

_holdfast_lockable() {
  local folder=()
  _holdfast_folder
  _holdfast_words "$(holdfast lock --check --json \${folder[@]+"\${folder[@]}"} 2>/dev/null | ${listLockable})"
}

_holdfast_sessions() {
  local log ids=
  for log in .holdfast/sessions/*.jsonl; do
    log=\${log##*/} log=\${log%.jsonl}
    # What other names hold, compgen would run.
    case $log in *[!a-z0-9-]*) ;; *) ids+=" $log" ;; esac
  done
  _holdfast_words "$ids"
}

_holdfast_calls() {
  _holdfast_sessions
  COMPREPLY+=($(compgen -W "$(holdfast show --json 2>/dev/null | ${listCalls})" -- "$current"))
}

_holdfast_waiting() {
  _holdfast_words "$(holdfast pending --json 2>/dev/null | ${listWaiting})"
}

_holdfast_overrides() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -W $'${overridesActions.join('\\n')}' -- "$current") $(compgen -f -- "$current"))
}

_holdfast_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$current"))
}

_holdfast() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command= index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case \${COMP_WORDS[index]} in
    ${names.join('|')}) command=\${COMP_WORDS[index]}; break ;;
    esac
  done
  COMPREPLY=()
  case $command:$previous in
${values.join('\n')}
  esac
  case $command:$current in
    :-*) _holdfast_words '${toFlags(options)}' ;;
${commands.map((command) => `    ${command.name}:-*) _holdfast_words '${toFlags(command.options)}' ;;`).join('\n')}
    :*) _holdfast_words '${names.join(' ')}' ;;
${commands
  .map(({ name, argument }) => `    ${name}:*) ${argument === undefined ? ':' : complete(argument.kind, names)} ;;`)
  .join('\n')}
  esac
}

complete -F _holdfast holdfast
`;
}

/** Takes the names of the tools out of \`holdfast list --json\`: a name has no character that JSON or a shell would quote. */
export const listNames: string = `sed -n 's/^    "name": "\\([A-Za-z0-9_-]*\\)",$/\\1/p'`;

/** Takes the names of the tools out of \`holdfast lock --check --json\`, but not what differs in them. */
export const listLockable: string = `sed -n 's/^      "name": "\\([A-Za-z0-9_-]*\\)",$/\\1/p'`;

/** Takes the ids of calls out of \`holdfast show --json\`, but for those that a shell would have to quote. */
export const listCalls: string = `sed -n 's/.*"type":"tool-call-end","callId":"\\([A-Za-z0-9_./-]*\\)".*/\\1/p'`;

/** Takes sessions and calls out of \`holdfast pending --json\`, but for ids that a shell would have to quote. */
export const listWaiting: string = `sed -n 's/^ *"\\(session\\|callId\\)": "\\([A-Za-z0-9_./][A-Za-z0-9_./-]*\\)",*$/\\2/p'`;

function complete(kind: ValueKind, commands: readonly string[]): string {
  switch (kind) {
    case 'folder':
      return '_holdfast_folders;';
    case 'tool':
      return '_holdfast_tools;';
    case 'lockable':
      return '_holdfast_lockable;';
    case 'session':
      return '_holdfast_sessions;';
    case 'call':
      return '_holdfast_calls;';
    case 'waiting':
      return '_holdfast_waiting;';
    case 'model':
      // After `openai:` comes the model's name, without a blank between.
      return `compopt -o nospace 2>/dev/null; _holdfast_words '${modelWords.join(' ')}';`;
    case 'shell':
      return `_holdfast_words '${shellWords.join(' ')}';`;
    case 'command':
      return `_holdfast_words '${commands.join(' ')}';`;
    case 'overrides':
      return '_holdfast_overrides;';
    case 'pack':
      return `_holdfast_files; COMPREPLY+=($(compgen -W '${packActions.join(' ')}' -- "$current"));`;
    case 'policy':
      return `_holdfast_sessions; COMPREPLY+=($(compgen -W '${policyActions.join(' ')}' -- "$current"));`;
    case 'plan':
      return `_holdfast_files; COMPREPLY+=($(compgen -W '${planActions.join(' ')}' -- "$current"));`;
    case 'named-model':
      return `_holdfast_words '${namedModelWords.join(' ')}';`;
    case 'file':
      return '_holdfast_files;';
    case 'new':
      return `_holdfast_words '${newKinds.join(' ')}';`;
    case 'isolation':
      return `_holdfast_words '${isolationTiers.join(' ')}';`;
    case 'other':
      return ':;';
    default:
      return kind satisfies never;
  }
}
