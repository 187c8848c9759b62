import { type Field, known, show } from '../script/field.ts';
import type { Call, Handler, Result, Runner } from '../script/types.ts';
import { readArguments, readRoles } from './arguments.ts';
import { common, type Manager, managers } from './managers.ts';
import { applyRole, inFolder } from './roles.ts';
import { noteWritten, runFile, runProject } from './run-file.ts';

/** Files of the workspace, and specifiers of local folders: `.`, `./x`, `.[test]`. */
const localPackage = /^(?:\.|\/|file:|link:|workspace:|.*\.(?:whl|tgz|tar\.gz)$)/;

function runManager(manager: Manager): Handler {
  const options = readRoles(manager.options ?? common);
  const has = (names: string | undefined, text: string): boolean => names?.split(' ').includes(text) === true;
  const isRunner = manager.install === undefined && manager.others === 'unknown';
  return (call, runner) => {
    const head = readArguments(call.words, options, { stops: true });
    let from: Call = call;
    for (const { role, value, name } of head.options) {
      if (role === 'folder' && value !== undefined) from = { ...from, state: inFolder(from, value) };
      else if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
    }
    if (head.unsure) runner.unclear('words', `cannot tell which options \`${show(call.program)}\` gets`);
    const [command, ...words] = call.words.slice(head.rest);
    const inner: Call = { ...from, words };
    if (isRunner) return runFetched(call.words.slice(head.rest), manager, { call: from, runner });
    if (command === undefined) {
      // `yarn` alone installs; others show help.
      if (call.program === 'yarn') runProject('scripts', from, runner);
      return undefined;
    }
    if (!command.known) {
      runner.unclear('program', `cannot tell what \`${show(call.program)}\` runs`);
      return undefined;
    }
    const { text } = command;
    if (has(manager.harmless, text)) return undefined;
    if (has(manager.exec, text)) return runInner(words, manager, { call: inner, runner });
    if (has(manager.fetches, text) && text !== '') return runFetched(words, manager, { call: inner, runner });
    if (has(manager.install, text)) return install(manager, text, { call: inner, runner });
    if (has(manager.publishes, text)) {
      runner.facts.host({ scheme: 'https', host: manager.registry, sends: true });
      return undefined;
    }
    if (has(manager.settings, text)) {
      runner.facts.use('reads', known(`${runner.home ?? ''}/.npmrc`), ['/']);
      if (words.some((word) => word.text === 'set'))
        runner.facts.use('writes', known(`${runner.home ?? ''}/.npmrc`), ['/']);
      return undefined;
    }
    if (has(manager.edits, text)) {
      if (words.length > 0 && words[0]?.text !== 'get')
        for (const file of manager.files ?? []) runner.facts.use('writes', known(file), inner.state.folders);
      return undefined;
    }
    if (manager.others === 'unknown')
      runner.unclear('program', `unknown command \`${show(call.program)} ${show(text)}\``);
    runProject('code', inner, runner);
    noteWritten(manager.files ?? [], inner, runner);
    if (/[./]/.test(text)) runFile(command, inner, runner);
    readRest(words, options, { call: inner, runner });
    return undefined;
  };
}

interface Packages {
  readonly call: Call;
  readonly runner: Runner;
}

function readRest(words: readonly Field[], options: ReturnType<typeof readRoles>, { call, runner }: Packages): void {
  const given = readArguments(words, options);
  for (const { role, value, name } of given.options) {
    if (value !== undefined && role !== 'folder') applyRole(role, value, { call, runner, recursion: undefined, name });
  }
  for (const field of given.operands) applyRole('maybe', field, { call, runner, recursion: undefined, name: '' });
}

/** A package that no lock file names is unreviewed code. */
function install(manager: Manager, verb: string, { call, runner }: Packages): undefined {
  const given = readArguments(call.words, readRoles(manager.options ?? common));
  for (const { role, value, name } of given.options) {
    if (value !== undefined && role !== 'folder') applyRole(role, value, { call, runner, recursion: undefined, name });
    if (/^(?:e|editable)$/.test(name) && value !== undefined && !localPackage.test(value.text)) report(value);
  }
  runner.facts.host({ scheme: 'https', host: manager.registry, sends: false });
  runProject('scripts', call, runner);
  function report(field: Field): void {
    runner.unclear('program', `\`${show(call.program)} ${verb}\` installs \`${show(field.text)}\``);
  }
  const verbs =
    /^(?:install|add|sync|list|show|update|remove|uninstall|compile|freeze|check|tree|target|component|toolchain)$/;
  const isListing =
    given.operands[0] !== undefined && /^(?:list|show|freeze|check|tree|compile)$/.test(given.operands[0].text);
  // These install from the lock file.
  if (isListing || /^(?:sync|lock|ci|clean-install|install-clean)$/.test(verb)) return;
  for (const field of given.operands)
    if (!verbs.test(field.text) && !(field.known && localPackage.test(field.text))) report(field);
}

/** `npm exec NAME`, `uv run NAME`: a program of the workspace. */
function runInner(words: readonly Field[], manager: Manager, { call, runner }: Packages): Result | undefined {
  const given = readArguments(words, readRoles(manager.options ?? common), { stops: true });
  for (const { role, value, name } of given.options) {
    if (value !== undefined && role !== 'folder') applyRole(role, value, { call, runner, recursion: undefined, name });
  }
  const inner = words.slice(given.rest);
  const [first] = inner;
  if (first === undefined) return undefined;
  runProject('a program', call, runner);
  if (first.known && /\.(?:py|[cm]?[jt]s)$/.test(first.text)) {
    runFile(first, call, runner);
    for (const field of inner.slice(1)) applyRole('maybe', field, { call, runner, recursion: undefined, name: '' });
    return undefined;
  }
  return runner.runWords(inner, call.state, { ...call.around, depth: call.around.depth + 1 });
}

/** `npx NAME`: downloads and runs a package that is not installed in the workspace. */
function runFetched(words: readonly Field[], manager: Manager, { call, runner }: Packages): Result | undefined {
  const given = readArguments(words, readRoles(manager.options ?? common), { stops: true });
  const inner = words.slice(given.rest);
  const [first] = inner;
  if (first === undefined) return undefined;
  const { workspace } = runner.facts.view;
  const isHere =
    first.known &&
    /^[\w.-]+$/.test(first.text) &&
    runner.places.type(`${workspace}/node_modules/.bin/${first.text}`) !== 'missing';
  if (isHere && manager.registry === 'registry.npmjs.org') return runInner(inner, manager, { call, runner });
  runner.facts.host({ scheme: 'https', host: manager.registry, sends: false });
  runner.unclear('program', `\`${show(call.program)}\` downloads and runs \`${show(first.text)}\``);
  for (const field of inner.slice(1)) applyRole('maybe', field, { call, runner, recursion: undefined, name: '' });
  return undefined;
}

const makeOptions = readRoles(
  'f:load file:load makefile:load C:folder directory:folder I:text j:flag jobs:flag o:text W:text eval:code E:code include-dir:text',
);

function runMake(call: Call, runner: Runner): undefined {
  const given = readArguments(call.words, makeOptions);
  let from: Call = call;
  for (const { role, value } of given.options)
    if (role === 'folder' && value !== undefined) from = { ...from, state: inFolder(from, value) };
  for (const { role, value, name } of given.options)
    if (value !== undefined) applyRole(role, value, { call: from, runner, recursion: undefined, name });
  if (given.unsure) runner.unclear('words', 'cannot tell which options `make` gets');
  runProject('code', from, runner);
  noteWritten(['Makefile', 'makefile', 'GNUmakefile'], from, runner);
  for (const field of given.operands) {
    const [, name = '', value = ''] = /^([^=:?+!]+)[:?+!]*=(.*)$/s.exec(field.text) ?? [];
    const runs =
      /^(?:SHELL|MAKE|MAKEFLAGS|\.SHELLFLAGS)$/.test(name) ||
      /[`$;|&<>(){}\n]/.test(value) ||
      (name !== '' && !field.known);
    if (runs) runner.unclear('code', `\`make ${show(name)}=\` may run a program`);
    else if (name === '' && !field.known) runner.unclear('words', 'cannot tell what `make` builds');
  }
}

export const packagePrograms: readonly (readonly [string, Handler])[] = [
  ...Object.entries(managers).map(([name, manager]) => [name, runManager(manager)] as const),
  ...['make', 'gmake', 'bmake'].map((name) => [name, runMake] as const),
];
