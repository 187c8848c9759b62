import type { Recursion } from '@holdfast/core/types';
import { type Field, known, show } from '../script/field.ts';
import type { Call, Result, Runner } from '../script/types.ts';
import { readAddress } from './address.ts';
import { type Arguments, hasOption, readArguments, readRoles } from './arguments.ts';
import { checkSetting, runConfig } from './git-config.ts';
import { gitParts, type Part } from './git-parts.ts';
import { applyRole, inFolder } from './roles.ts';
import { runProject } from './run-file.ts';

const tracked: Recursion = { skips: ['untracked'] };
const everything: Recursion = { skips: [] };

const globalOptions = readRoles(
  'C:folder c:text config-env:text git-dir:text work-tree:text exec-path:text namespace:text super-prefix:text list-cmds:text attr-source:text',
);

/** `git`, with its paths, revisions, remotes and settings. */
export function runGit(call: Call, runner: Runner): Result | undefined {
  const head = readArguments(call.words, globalOptions, { stops: true });
  let from = call;
  for (const { name, role, value } of head.options) {
    if (role === 'folder' && value !== undefined) from = { ...from, state: inFolder(from, value) };
    else if (name === 'c') checkSetting(value, runner);
    else if (/^(?:git-dir|work-tree|exec-path|config-env)$/.test(name) && value !== undefined) {
      runner.unclear('environment', `\`git --${name}\` may change what Git runs`);
    }
  }
  const [part, ...words] = call.words.slice(head.rest);
  if (head.unsure || (part !== undefined && !part.known))
    runner.unclear('program', 'cannot tell which subcommand of `git` runs');
  if (part === undefined || !part.known) return undefined;
  const inner: Call = { ...from, words };
  switch (part.text) {
    case 'config':
      return runConfig(inner, runner);
    case 'credential':
    case 'credential-store':
    case 'credential-cache':
      runner.facts.use('reads', known(`${runner.home ?? ''}/.git-credentials`), ['/']);
      return undefined;
    case 'bisect':
    case 'submodule':
    case 'filter-branch':
    case 'difftool':
    case 'mergetool':
      return runPrograms(part.text, inner, runner);
    default:
  }
  const found = gitParts.get(part.text);
  if (found === undefined) runner.unclear('program', `\`git ${show(part.text)}\` is unknown, or an alias`);
  else return runPart(part.text, found, { call: inner, runner });
  return undefined;
}

function runPart(
  name: string,
  part: Part,
  { call, runner }: { readonly call: Call; readonly runner: Runner },
): Result | undefined {
  const given = readArguments(call.words, readRoles(part.options ?? ''));
  for (const { role, value, name: option } of given.options) {
    if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name: option });
    else if (role === 'code') runner.unclear('code', '`git` may run a program that its configuration names');
  }
  if (given.unsure && part.operands !== 'none')
    runner.unclear('words', `cannot tell which options \`git ${name}\` gets`);
  if (part.runs === true) runProject('the hooks', call, runner);
  const { operands } = given;
  switch (part.operands) {
    case 'none':
      // `git ls-files` lists tracked files.
      return name === 'ls-files'
        ? { decides: [], output: { given: true, fetched: false, names: treesOf(given, { call, runner }) } }
        : undefined;
    case 'shown':
      if (
        hasOption(given, 'name-only name-status stat shortstat numstat quiet summary') &&
        !hasOption(given, 'p u patch')
      ) {
        return { decides: [], output: { given: true, fetched: false, names: treesOf(given, { call, runner }) } };
      }
      if (part.shows === undefined || hasOption(given, part.shows))
        readShown(operands, { call, runner, isWhole: name !== 'cat-file' });
      return undefined;
    case 'paths': {
      const [, ...rest] = operands;
      const isGrep = name === 'grep';
      const paths = isGrep && !hasOption(given, 'e f') ? rest : operands;
      const all = hasOption(given, 'no-index untracked no-exclude-standard f force');
      readPaths(paths.length === 0 && (isGrep || hasOption(given, 'A all u update')) ? [known('.')] : paths, {
        call,
        runner,
        recursion: isGrep ? (all ? everything : tracked) : all ? everything : { skips: ['ignored'] },
      });
      return undefined;
    }
    case 'message':
      if (hasOption(given, 'a all')) readPaths([known('.')], { call, runner, recursion: tracked });
      readPaths(operands, { call, runner, recursion: tracked });
      return undefined;
    case 'writes':
      writeTree(name, given, { call, runner });
      return undefined;
    case 'remote':
      useRemote(name, operands, { call, runner });
      return undefined;
    default:
      part.operands satisfies never;
      return undefined;
  }
}

interface Reading {
  readonly call: Call;
  readonly runner: Runner;
}

/** Revisions and paths: `HEAD:.env`, `HEAD -- .env`, `.env`. Without a path: all tracked files. */
function readShown(
  operands: readonly Field[],
  { call, runner, isWhole }: Reading & { readonly isWhole: boolean },
): void {
  let hasPath = false;
  for (const field of operands) {
    const { text } = field;
    if (!field.known) {
      applyRole('read', field, { call, runner, recursion: tracked, name: '' });
      continue;
    }
    const [, path] = /^[^:]*:(?:\d:)?(.+)$/.exec(text) ?? [];
    const isRange = /\.\.|^[@^~\w./-]*[\^~@]/.test(text) && !text.includes('/');
    if (path !== undefined && !text.startsWith(':(')) {
      hasPath = true;
      // From the top of the tree; from the folder with `./`.
      const folders =
        path.startsWith('.') && path.includes('/')
          ? call.state.folders
          : [runner.facts.view.workspace, ...(call.state.folders ?? [])];
      runner.facts.use('reads', { ...field, text: path }, folders, tracked);
    } else if (!isRange) {
      const plain = text.replace(/^:(?:\([^)]*\)|[/!^])*/, '');
      if (/[*?[]/.test(plain))
        runner.facts.use('reads', known('.'), call.state.folders, {
          ...tracked,
          only: [plain.split('/').at(-1) ?? plain],
        });
      else applyRole('read', { ...field, text: plain }, { call, runner, recursion: tracked, name: '' });
      hasPath ||= isThere(plain, { call, runner });
    }
  }
  if (!hasPath && isWhole) runner.facts.use('reads', known('.'), call.state.folders, tracked);
}

function isThere(path: string, { call, runner }: Reading): boolean {
  return (call.state.folders ?? []).some(
    (folder) => runner.places.type(path.startsWith('/') ? path : `${folder}/${path}`) !== 'missing',
  );
}

function readPaths(
  paths: readonly Field[],
  { call, runner, recursion }: Reading & { readonly recursion: Recursion },
): void {
  for (const field of paths) {
    const plain = field.known ? { ...field, text: field.text.replace(/^:(?:\([^)]*\)|[/!^])*/, '') || '.' } : field;
    if (field.known && /[*?[]/.test(plain.text)) {
      runner.facts.use('reads', known('.'), call.state.folders, {
        ...recursion,
        only: [plain.text.split('/').at(-1) ?? plain.text],
      });
    } else applyRole('read', plain, { call, runner, recursion, name: '' });
  }
}

function treesOf(given: Arguments, { call, runner }: Reading): readonly Field[] {
  const recursion = { ...(hasOption(given, 'o others i ignored') ? everything : tracked), follows: 'files' as const };
  return (call.state.folders ?? []).flatMap((folder): readonly Field[] => {
    const place = runner.places.place(folder, recursion);
    return place === undefined ? [] : [{ text: '', known: false, splits: true, tree: place }];
  });
}

function writeTree(name: string, given: Arguments, { call, runner }: Reading): void {
  const { facts } = runner;
  const folders = call.state.folders;
  const operands = given.operands;
  if (name === 'clean' || name === 'rm') {
    const paths = operands.length === 0 ? [known('.')] : operands;
    if (!hasOption(given, 'n dry-run cached'))
      for (const field of paths) facts.use('deletes', field, folders, everything);
    return;
  }
  if (hasOption(given, 'unsafe-paths'))
    runner.unclear('words', 'cannot tell which files `git apply --unsafe-paths` writes');
  if (name === 'bundle') {
    const [verb, file] = operands;
    if (file !== undefined) facts.use(verb?.text === 'create' ? 'writes' : 'reads', file, folders);
    return;
  }
  if (name === 'apply' || name === 'am') readPaths(operands, { call, runner, recursion: tracked });
  if (name === 'mv') for (const field of operands) facts.use('deletes', field, folders);
  // `git stash -a` includes ignored files.
  if (name === 'stash' && hasOption(given, 'a all u include-untracked'))
    facts.use('reads', known('.'), folders, everything);
  if (name === 'stash' && hasOption(given, 'p patch')) readShown([], { call, runner, isWhole: true });
  if (name === 'stash' && operands[0]?.text === 'show') readShown([], { call, runner, isWhole: true });
  if (name === 'stash' && operands[0]?.text === 'list') return;
  facts.use('writes', known('.'), folders, tracked);
  if (name === 'worktree' || name === 'init')
    for (const field of operands) applyRole('maybe', field, { call, runner, recursion: undefined, name });
}

function useRemote(name: string, operands: readonly Field[], { call, runner }: Reading): void {
  const [first] = operands;
  if (name === 'remote' && !/^(?:update|prune|show)$/.test(first?.text ?? '')) {
    if (/^(?:add|set-url|rename|remove|rm)$/.test(first?.text ?? ''))
      runner.facts.use('writes', known('.git/config'), [runner.facts.view.workspace]);
    return;
  }
  const target = name === 'remote' ? operands[1] : first;
  const sends = name === 'push';
  if (target !== undefined && !target.known) {
    runner.unclear('words', 'cannot tell which remote `git` uses');
    return;
  }
  const text = target?.text ?? 'origin';
  if (/^ext::|^-|\bfd::/.test(text)) runner.unclear('code', 'the address of a remote runs a program');
  const address = readAddress(text);
  if (address?.scheme === 'file' || /^[./~]/.test(text)) {
    applyRole('read', { ...known(text.replace(/^file:\/\//, '')) }, { call, runner, recursion: everything, name });
  } else runner.facts.host({ ...(address ?? { scheme: 'git', host: text }), sends });
  if (sends) readShown([], { call, runner, isWhole: true });
  if (name === 'clone') {
    const folder =
      operands[1] ??
      known(
        text
          .replace(/\/+$/, '')
          .split(/[/:]/)
          .at(-1)
          ?.replace(/\.git$/, '') ?? '.',
      );
    runner.facts.use('writes', folder, call.state.folders, everything);
  }
  if (name === 'pull') runner.facts.use('writes', known('.'), call.state.folders, tracked);
}

function runPrograms(part: string, call: Call, runner: Runner): Result | undefined {
  const [first, ...others] = call.words.filter(({ text }) => !/^(?:--recursive|--quiet|-q)$/.test(text));
  const runs = (part === 'bisect' && first?.text === 'run') || (part === 'submodule' && first?.text === 'foreach');
  if (runs) {
    const text = others.map((field) => field.text).join(' ');
    if (others.every((field) => field.known))
      runner.runText(text, call.state.forProcess(), { ...call.around, depth: call.around.depth + 1 });
    runner.unclear('code', `\`git ${part}\` runs \`${show(text)}\` in other states of the tree`);
  } else if (part === 'submodule' && first?.text === 'add') {
    useRemote('clone', others, { call, runner });
  } else if (part === 'submodule') {
    if (/^(?:update|add|sync)$/.test(first?.text ?? '')) useRemote('fetch', [], { call, runner });
  } else if (part !== 'bisect') runner.unclear('code', `\`git ${part}\` runs programs`);
  return undefined;
}
