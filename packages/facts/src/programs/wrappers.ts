import { type Field, known, show, unknownWord, unknownWords } from '../script/field.ts';
import type { Call, Handler, Result, Runner } from '../script/types.ts';
import { type OptionRoles, readArguments, readRoles } from './arguments.ts';
import { plainNames } from './plain-names.ts';
import { applyRole, inFolder } from './roles.ts';

interface Wrapper {
  readonly options?: string;
  /** Number of words before the command. */
  readonly operands?: number;
  /** Accepts `NAME=value` before the command. */
  readonly variables?: true;
  readonly background?: true;
  /** Its success does not imply the command's. */
  readonly hides?: true;
}

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: { options: 'u:text C:folder S:run unset:text chdir:folder split-string:run i:flag', variables: true },
  nice: { options: 'n:text adjustment:text' },
  nohup: {},
  timeout: { options: 's:text k:text signal:text kill-after:text', operands: 1 },
  time: { options: 'f:text o:write format:text output:write' },
  stdbuf: { options: 'i:text o:text e:text input:text output:text error:text' },
  ionice: { options: 'c:text n:text p:text class:text classdata:text' },
  setsid: { background: true },
  taskset: { operands: 1 },
  exec: { options: 'a:text' },
  busybox: {},
  toybox: {},
  sudo: {
    options:
      'u:text g:text h:text p:text C:text r:text t:text T:text U:text D:folder R:text user:text group:text host:text prompt:text chdir:folder chroot:text e:code edit:code',
    variables: true,
  },
  doas: { options: 'u:text C:load' },
  chroot: { options: 'userspec:text groups:text', operands: 1 },
  unbuffer: {},
  'xvfb-run': { options: 'n:text s:text e:write f:text' },
  valgrind: { options: 'log-file:write xml-file:write suppressions:read' },
  strace: { options: 'o:write e:text p:text s:text' },
  ltrace: { options: 'o:write e:text' },
  flock: { options: 'w:text E:text c:run timeout:text command:run', operands: 1 },
  'cross-env': { variables: true },
  'cross-env-shell': { variables: true },
  dotenv: { options: 'e:read c:text v:text', variables: true },
  nyc: { options: 'exclude:text reporter:text include:text' },
  c8: { options: 'exclude:text reporter:text include:text r:text' },
  command: {},
};

function wrapperHandler(name: string, wrapper: Wrapper): Handler {
  const options = readRoles(wrapper.options ?? '');
  return (call, runner) => {
    // `command -v ls` only prints where `ls` is.
    if (name === 'command' && /^-[vV]/.test(call.words[0]?.text ?? '')) return undefined;
    return runWrapped(wrapper, options, { call, runner });
  };
}

function runWrapped(
  wrapper: Wrapper,
  options: OptionRoles,
  { call, runner }: { readonly call: Call; readonly runner: Runner },
): Result | undefined {
  const given = readArguments(call.words, options, { stops: true });
  const { words, around } = call;
  // Another process cannot change the shell.
  let state = /^(?:command|exec)$/.test(call.program) ? call.state : call.state.forProcess();
  for (const { role, value, name } of given.options) {
    // Of several folders the last one counts, and from where the shell is.
    if (role === 'folder' && value !== undefined) state = inFolder({ ...call, state: call.state.forProcess() }, value);
    else if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
  }
  let start = given.rest;
  const environment: string[] = [];
  while (wrapper.variables === true && start < words.length) {
    const word = words[start] as Field;
    const [, variable, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word.text) ?? [];
    if (variable === undefined) break;
    const field = word.known ? known(value ?? '') : unknownWord;
    runner.checkVariable(variable, field);
    state.forget([variable]);
    environment.push(variable);
    start += 1;
  }
  const inner = words.slice(start + (wrapper.operands ?? 0));
  if (given.unsure || words.slice(0, start + 1).some((word) => word.splits && !word.known && word.tree === undefined)) {
    runner.unclear('program', `cannot tell which command \`${show(call.program)}\` runs`);
  }
  if (inner.length === 0) {
    const prints = call.program === 'env' && given.options.every(({ role }) => role !== 'run');
    if (prints) runner.unclear('words', '`env` prints the environment');
    return undefined;
  }
  const background = around.background || wrapper.background === true;
  const within = { ...around, background, external: true, depth: around.depth + 1 };
  const result = runner.runWords(inner, state, within, environment);
  return wrapper.hides === true || background !== around.background ? { ...result, decides: [] } : result;
}

/** For `sh` there is no such command. */
function runBuiltin({ words, state, around }: Call, runner: Runner): Result {
  const before = state.clone();
  const { output } = runner.runWords(words, state, { ...around, external: true, depth: around.depth + 1 });
  state.join(before);
  return { decides: [], output };
}

function runXargs(call: Call, runner: Runner): Result | undefined {
  const options = readRoles(
    'a:list arg-file:list d:text delimiter:text E:text I:text L:text n:text P:text s:text max-args:text max-procs:text max-chars:text max-lines:text replace:flag',
  );
  const given = readArguments(call.words, options, { stops: true });
  for (const { role, value, name } of given.options) {
    if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
  }
  if (given.unsure) runner.unclear('program', 'cannot tell which command `xargs` runs');
  const { input } = call.around;
  const items: readonly Field[] = plainNames(input, runner) ?? [unknownWords];
  const hole = given.options.find(({ name }) => name === 'I' || name === 'replace');
  const inner = call.words.slice(given.rest);
  const words = inner.length === 0 ? [known('echo')] : inner;
  const replaced =
    hole === undefined
      ? [...words, ...items]
      : words.flatMap((word) => fillHole(word, hole.value?.text ?? '{}', items));
  const around = {
    ...call.around,
    depth: call.around.depth + 1,
    external: true,
    input: { given: true, fetched: input.fetched },
  };
  // It runs nothing on empty input, and may continue after a failure.
  const result = runner.facts.readRounds(() => runner.runWords(replaced, call.state.forProcess(), around));
  return { ...result, decides: [] };
}

/** A word with a placeholder for file names. */
export function fillHole(word: Field, hole: string, items: readonly Field[]): readonly Field[] {
  const at = word.text.indexOf(hole);
  if (at === -1 || hole === '') return [word];
  if (word.text === hole) return items;
  return items.map((item) => {
    if (item.known) return { ...word, text: word.text.replaceAll(hole, item.text) };
    return {
      text: word.text.slice(0, at),
      known: false,
      splits: false,
      ends: word.text.slice(word.text.lastIndexOf(hole) + hole.length),
    };
  });
}

function runWatch(call: Call, runner: Runner): Result | undefined {
  const given = readArguments(call.words, readRoles('n:text interval:text q:text'), { stops: true });
  const inner = call.words.slice(given.rest);
  if (inner.every((field) => field.known)) {
    const text = inner.map((field) => field.text).join(' ');
    const around = { ...call.around, depth: call.around.depth + 1 };
    return runner.facts.readRounds(() => runner.runText(text, call.state.forProcess(), around));
  }
  runner.unclear('code', `cannot tell what \`${show(call.program)}\` runs`);
  return undefined;
}

/** `parallel COMMAND ::: ITEM ...`: passes each line to a shell. */
function runParallel(call: Call, runner: Runner): undefined {
  const options = readRoles(
    'j:text jobs:text a:list arg-file:list I:text n:text N:text colsep:text joblog:write results:write S:host sshlogin:host',
  );
  const given = readArguments(call.words, options, { stops: true });
  for (const { role, value, name } of given.options)
    if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
  const inner = call.words.slice(given.rest);
  const end = inner.findIndex(({ text }) => /^:::/.test(text));
  const [command, items] = end === -1 ? [inner, []] : [inner.slice(0, end), inner.slice(end + 1)];
  if (
    given.unsure ||
    items.length === 0 ||
    items.length > 16 ||
    inner.some((field) => !field.known || /^:::./.test(field.text))
  ) {
    runner.unclear('code', 'cannot tell what `parallel` runs');
    return;
  }
  const text = command.map((field) => field.text).join(' ');
  const around = { ...call.around, depth: call.around.depth + 1 };
  runner.facts.readRounds(() => {
    for (const item of items) {
      const line = text.includes('{') ? text.replaceAll('{}', item.text) : `${text} ${item.text}`;
      runner.runText(line, call.state.forProcess(), around);
    }
  });
}

/** `holdfast guard run -- COMMAND` runs the command and reports how it went. */
function runReported(call: Call, runner: Runner): Result | undefined {
  const inner = call.words.slice(3);
  const [group, verb, dashes] = call.words.map(({ text }) => text);
  if (group !== 'guard' || verb !== 'run' || dashes !== '--' || inner.length === 0) {
    runner.unclear('program', '`holdfast` acts for a person');
    return undefined;
  }
  const around = { ...call.around, external: true, depth: call.around.depth + 1 };
  return runner.runWords(inner, call.state.forProcess(), around);
}

export const wrapperPrograms: readonly (readonly [string, Handler])[] = [
  ...Object.entries(wrappers).map(([name, wrapper]) => [name, wrapperHandler(name, wrapper)] as const),
  ['builtin', runBuiltin],
  ['xargs', runXargs],
  ['watch', runWatch],
  ['parallel', runParallel],
  ['holdfast', runReported],
];
