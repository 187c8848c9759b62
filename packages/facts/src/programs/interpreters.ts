import { type Field, known, show } from '../script/field.ts';
import { type Call, type Handler, type Result, type Runner, unclearCode } from '../script/types.ts';
import { type OptionRoles, readArguments, readRoles } from './arguments.ts';
import { applyRole } from './roles.ts';
import { runFile } from './run-file.ts';

const shellOptions = readRoles('o:text O:text c:flag rcfile:load init-file:load');

/** `sh -c TEXT`, `bash FILE`, `bash < FILE`. */
function runShell(call: Call, runner: Runner): Result | undefined {
  const { program, words, around } = call;
  const given = readArguments(words, shellOptions, { stops: true });
  const within = { ...around, depth: around.depth + 1 };
  for (const { role, value, name } of given.options) {
    if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
  }
  const first = words[given.rest];
  const has = (letter: string): boolean => given.options.some(({ name }) => name === letter);
  if (given.unsure || first?.text.startsWith('+') === true)
    runner.unclear('code', `cannot tell what \`${show(program)}\` runs`);
  // With `-x` and `-v` it prints its source.
  if (has('c')) {
    if (first === undefined) return undefined;
    if (!first.known) {
      unclearCode(runner, around.input, `cannot tell what \`${show(program)} -c\` runs`);
      return undefined;
    }
    const state = call.state.forProcess();
    state.options = { pipefail: false, errexit: has('e') };
    const result = runner.runText(first.text, state, within);
    if (has('s')) runner.unclear('code', `cannot tell what \`${show(program)} -s\` reads`);
    return result;
  }
  if (given.options.some(({ name }) => /^(?:version|help)$/.test(name))) return undefined;
  const readsInput = first === undefined || has('s') || first.text === '-' || first.text.startsWith('/dev/stdin');
  if (!readsInput) return runFile(first, call, runner, { shell: true });
  const { input } = around;
  const state = call.state.forProcess();
  if (input.text !== undefined)
    return runner.runText(input.text, state, { ...within, input: { given: true, fetched: false } });
  unclearCode(runner, input, `cannot tell what \`${show(program)}\` reads`);
  return undefined;
}

interface Interpreter {
  /** Roles of its options; `code` is program text, `load` a program file. */
  readonly options: string;
  /** The option that runs a module by name. */
  readonly module?: string;
  readonly oneDash?: true;
}

const node =
  'e:code p:code pe:code eval:code print:code r:load require:load import:load loader:load experimental-loader:load env-file:read ' +
  'env-file-if-exists:read C:text conditions:text input-type:text title:text inspect-port:text test-reporter:text test-name-pattern:text i:code interactive:code';
const interpreters: Readonly<Record<string, Interpreter>> = {
  python: { options: 'c:code m:text W:text X:text Q:text check-hash-based-pycs:text i:code', module: 'm' },
  pypy: { options: 'c:code m:text W:text X:text', module: 'm' },
  node: { options: node },
  nodejs: { options: node },
  tsx: { options: `${node} tsconfig:read` },
  'ts-node': { options: `${node} P:read project:read T:flag` },
  ruby: { options: 'e:code r:load I:text C:folder E:text n:flag' },
  perl: { options: 'e:code E:code M:code m:code I:text i:flag' },
  php: { options: 'r:code B:code R:code E:code c:load d:code f:load F:load S:text t:text' },
  lua: { options: 'e:code l:load' },
  rscript: { options: 'e:code' },
  julia: { options: 'e:code E:code eval:code L:load load:load p:text t:text project:text' },
  osascript: { options: 'e:code l:text' },
  java: { options: 'cp:text classpath:text jar:load javaagent:code agentpath:code', oneDash: true },
  groovy: { options: 'e:code cp:text' },
  scala: { options: 'e:code cp:text' },
  elixir: { options: 'e:code r:load' },
  swift: { options: 'e:code' },
  tclsh: { options: '' },
  expect: { options: 'c:code f:load' },
};

function interpreterHandler({ options, module, oneDash }: Interpreter): Handler {
  const roles: OptionRoles = readRoles(options);
  return (call, runner) => {
    const { program, words, around } = call;
    const given = readArguments(words, roles, { stops: true, ...(oneDash === true ? { oneDash } : {}) });
    if (given.unsure) runner.unclear('code', `cannot tell what \`${show(program)}\` runs`);
    let hasProgram = given.options.some(({ name }) => /^(?:version|help|v|V|h|check|test|watch)$/.test(name));
    let from = given.rest;
    for (const { role, value, name } of given.options) {
      if (role === 'code' || role === 'load')
        hasProgram ||= role === 'code' || name === 'jar' || name === 'f' || name === 'F';
      if (role === 'code' && around.input.fetched && value?.known === false)
        runner.unclear('download', 'it runs downloaded code');
      if (name === module && value !== undefined) {
        // Words after the module are its arguments.
        const at = moduleStart(words, value);
        return runModule(value, words.slice(at), { call, runner });
      }
      if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
      else if (role === 'code') runner.unclear('code', `\`${show(program)}\` runs its input`);
    }
    const script = hasProgram ? undefined : words[from];
    if (script !== undefined) from += 1;
    const readsInput = !hasProgram && (script === undefined || script.text === '-' || script.text.startsWith('/dev/'));
    if (readsInput) {
      unclearCode(runner, around.input, `cannot tell what \`${show(program)}\` reads`);
    } else if (script !== undefined) runFile(script, call, runner);
    for (const field of words.slice(from))
      applyRole('maybe', optionValue(field), { call, runner, recursion: undefined, name: '' });
    return undefined;
  };
}

/** Returns `FILE` of `--config=FILE`. */
function optionValue(field: Field): Field {
  return field.text.startsWith('-') ? { ...field, text: field.text.replace(/^-[^=]*=?/, '') || '-' } : field;
}

function moduleStart(words: readonly Field[], module: Field): number {
  const at = words.indexOf(module);
  return at === -1 ? words.findIndex(({ text }) => text.startsWith('-m')) + 1 : at + 1;
}

const harmlessModules =
  /^(?:json\.tool|venv|timeit|compileall|py_compile|calendar|platform|sysconfig|ensurepip|tabnanny|unittest)$/;

function runModule(
  module: Field,
  words: readonly Field[],
  { call, runner }: { call: Call; runner: Runner },
): Result | undefined {
  const { around, state } = call;
  if (module.known && module.text === 'json.tool') {
    for (const field of words) applyRole('read', field, { call, runner, recursion: undefined, name: '' });
    return undefined;
  }
  if (module.known && harmlessModules.test(module.text)) {
    if (module.text === 'unittest') runner.unclear('project', '`unittest` runs code of the workspace');
    return undefined;
  }
  // A module that is also a program: `python -m pytest`.
  const name = module.known && /^[\w-]+$/.test(module.text) ? module : known(`python -m ${module.text}`);
  return runner.runWords([name, ...words], state, { ...around, depth: around.depth + 1 });
}

export const interpreterPrograms: readonly (readonly [string, Handler])[] = [
  ...['sh', 'bash', 'dash', 'ash', 'ksh', 'mksh', 'zsh'].map((name) => [name, runShell] as const),
  ...Object.entries(interpreters).map(([name, interpreter]) => [name, interpreterHandler(interpreter)] as const),
];
