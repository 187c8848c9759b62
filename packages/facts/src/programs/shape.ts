import type { Recursion } from '@holdfast/core/types';
import { type Field, known, show } from '../script/field.ts';
import type { Call, Result, Runner } from '../script/types.ts';
import {
  type Arguments,
  type GivenOption,
  type OptionRoles,
  type ReadingStyle,
  type Role,
  readArguments,
  readRoles,
} from './arguments.ts';
import { type Applying, applyRole, inFolder, pathsOf } from './roles.ts';
import { runProject } from './run-file.ts';

/** A program's options, operands and effects, as data. */
export interface Shape extends ReadingStyle {
  /** Roles of option values: `'f:read file:read'`. Other options have none. */
  readonly options?: string;
  /** Roles of operands in order; `*` follows the one that repeats: `'text read*'`, `'read* write'`. */
  readonly operands?: string;
  /** Options with which the first operand has the role of the others. */
  readonly unless?: string;
  /** Options that make it recursive; `*`: always. */
  readonly tree?: string;
  readonly skips?: Recursion['skips'];
  /** `'hidden:hidden no-ignore:ignored'`: options that make it skip less. A repeated `u` lifts both. */
  readonly reveals?: string;
  /** With one of these options it goes into folders that links lead to; `*`: always. */
  readonly follows?: string;
  /** It replaces each file that it reads, except with one of these options. */
  readonly replaces?: string;
  /** It changes files in its working folder. */
  readonly changes?: true;
  /** The default operand if it is recursive. */
  readonly default?: string;
  /** Roles of operands such as `if=FILE`. */
  readonly pairs?: string;
  /** Words with which it sends data: `publish`. */
  readonly sends?: string;
  /** Words that a command follows. */
  readonly runs?: string;
  /** The text after `+` is a command of the program. */
  readonly plus?: true;
  /** It runs code of the workspace. */
  readonly project?: true;
}

const harmless: ReadonlySet<Role> = new Set(['text', 'flag', 'only', 'except']);

const optionsOfShapes = new WeakMap<Shape, OptionRoles>();

/** The options that a shape names anywhere: a beginning of their name is enough for each. */
function optionsOf(shape: Shape): OptionRoles {
  const found = optionsOfShapes.get(shape);
  if (found !== undefined) return found;
  const { options, tree, unless, follows, replaces, reveals } = shape;
  const shown = [...readRoles(reveals ?? '').keys()];
  const named = [tree, unless, follows, replaces, ...shown].flatMap((names) => names?.split(' ') ?? []);
  const made = new Map([...named.map((name) => [name, 'flag'] as const), ...readRoles(options ?? '')]);
  optionsOfShapes.set(shape, made);
  return made;
}

/** Adds the effects of a program that a shape describes. */
export function applyShape(shape: Shape, call: Call, runner: Runner): Result | undefined {
  const options = optionsOf(shape);
  const given = readArguments(call.words, options, shape);
  const isDangerous = [...options.values()].some((role) => !harmless.has(role));
  if (given.unsure && isDangerous) runner.unclear('words', `cannot tell which options \`${show(call.program)}\` gets`);
  // A word of which the beginning is not known may be any of the pairs.
  if (shape.pairs !== undefined && given.operands.some((field) => !field.known && !field.text.includes('=')))
    runner.unclear('words', `what \`${show(call.program)}\` gets is not known`);
  const recursion = recursionOf(shape, given);
  let from = call;
  for (const { role, value } of given.options) {
    if (role === 'folder' && value !== undefined) from = { ...from, state: inFolder(from, value) };
  }
  for (const { role, value, name } of given.options) {
    if (value !== undefined) applyRole(role, value, { call: from, runner, recursion: undefined, name });
  }
  if (shape.changes === true && !given.options.some(({ role }) => role === 'into'))
    applyRole('write', known('.'), { call: from, runner, recursion: { skips: [] }, name: '' });
  if (shape.project === true) runProject('code', from, runner);
  const hasVerb = (verbs: string | undefined): boolean =>
    given.operands.some(({ text }) => verbs?.split(' ').includes(text) === true);
  if (hasVerb(shape.sends)) runner.facts.host({ scheme: 'https', host: call.program, sends: true });
  if (hasVerb(shape.runs)) runner.unclear('code', `code that \`${show(call.program)}\` runs is not analyzed`);
  if (shape.plus === true && given.operands.some(({ text }) => text.startsWith('+'))) {
    runner.unclear('code', `\`${show(call.program)}\` gets a command`);
  }
  const assigned = assignRoles(shape, given);
  for (const { role, field } of assigned) applyRole(role, field, { call: from, runner, recursion, name: '' });
  const replaces = shape.replaces?.split(' ');
  if (
    replaces !== undefined &&
    !given.options.some(({ name }) => replaces.includes(name) && !/^(?:k|keep)$/.test(name))
  ) {
    const keeps = given.options.some(({ name }) => /^(?:k|keep)$/.test(name));
    for (const { field } of assigned) replaceFile(field, { call: from, runner, recursion, keeps });
  }
  writeNames(assigned, given, { call: from, runner, recursion });
  // A pattern may expand to the search text alone.
  const hasFile = assigned.some(({ role, field }) => role !== 'text' && field.matched !== true);
  if (recursion !== undefined && shape.default !== undefined && !hasFile) {
    applyRole('read', known(shape.default), { call: from, runner, recursion, name: '' });
  }
  return undefined;
}

/** `gzip a.txt` makes `a.txt.gz`, `gunzip` reverses that. */
function replaceFile(
  field: Field,
  { call, runner, recursion, keeps }: Omit<Applying, 'name'> & { readonly keeps: boolean },
): void {
  if (!keeps) applyRole('delete', field, { call, runner, recursion, name: '' });
  const end = field.text.lastIndexOf('/') + 1;
  const [stem = ''] = field.text.slice(end).split('.');
  const only = field.known && stem !== '' ? [`${stem}*`] : ['*'];
  runner.facts.use('writes', known(field.text.slice(0, end) || '.'), call.state.folders, { skips: [], only });
}

function isTarget({ name, role }: GivenOption): boolean {
  return role === 'write' && (name === 't' || name === 'target-directory');
}

/** The files that `cp a b FOLDER` creates in the folder. */
function writeNames(
  assigned: readonly Assigned[],
  { options }: Arguments,
  { call, runner, recursion }: Omit<Applying, 'name'>,
): void {
  const last = assigned.at(-1);
  const option = options.find(isTarget);
  const target = option !== undefined ? option.value : last?.role === 'write' ? last.field : undefined;
  const sources = assigned.filter(({ role, field }) => (role === 'read' || role === 'move') && field !== target);
  if (target === undefined || !target.known || sources.length === 0) return;
  const isFolder =
    target.text.endsWith('/') ||
    pathsOf(target, call.state.folders).some((path) => runner.places.type(path) === 'folder');
  if (!isFolder && sources.length === 1 && option === undefined) return;
  for (const { field } of sources) {
    const name = field.text.replace(/\/+$/, '').replace(/^.*\//, '');
    const made = {
      ...field,
      text: `${target.text}/${field.known ? name : ''}`,
      ends: field.known ? '' : (field.ends ?? ''),
    };
    const { tree: _tree, ...plain } = made;
    applyRole('write', plain, { call, runner, recursion, name: '' });
  }
}

function recursionOf(
  { tree, skips = [], reveals = '', follows = '' }: Shape,
  { options }: Arguments,
): Recursion | undefined {
  const names = tree?.split(' ') ?? [];
  if (!names.includes('*') && !options.some(({ name }) => names.includes(name))) return undefined;
  const patterns = (role: Role) =>
    options.flatMap((option) => (option.role === role && option.value ? [option.value] : []));
  const only = patterns('only');
  // An unknown pattern excludes nothing.
  const except = patterns('except').filter((field) => field.known);
  const shown: ReadonlyMap<string, string> = readRoles(reveals);
  const revealed = options.map(({ name }) => shown.get(name));
  if (options.filter(({ name }) => name === 'u' || name === 'unrestricted').length > 1) revealed.push('hidden');
  return {
    skips: skips.filter((skip) => !revealed.includes(skip)),
    ...(follows === '*' || options.some(({ name }) => follows.split(' ').includes(name))
      ? { follows: 'all' as const }
      : {}),
    ...(only.length > 0 && only.every((field) => field.known) ? { only: only.map(({ text }) => text) } : {}),
    ...(except.length > 0 ? { except: except.map(({ text }) => text) } : {}),
  };
}

interface Operands {
  readonly lead: readonly Role[];
  /** The role of the repeated operand. */
  readonly middle: Role;
  readonly tail: readonly Role[];
}

const operandsOf = new Map<string, Operands>();

function readOperands(text: string): Operands {
  const found = operandsOf.get(text);
  if (found !== undefined) return found;
  const names = text.split(' ');
  const repeated = names.findIndex((name) => name.endsWith('*'));
  const roles = names.map((name) => name.replace('*', '') as Role);
  const made: Operands = {
    lead: repeated === -1 ? roles : roles.slice(0, repeated),
    middle: roles[repeated] ?? 'maybe',
    tail: repeated === -1 ? [] : roles.slice(repeated + 1),
  };
  operandsOf.set(text, made);
  return made;
}

interface Assigned {
  readonly role: Role;
  readonly field: Field;
}

function assignRoles(shape: Shape, { operands, options }: Arguments): readonly Assigned[] {
  const { lead: all, middle, tail: last } = readOperands(shape.operands ?? 'text*');
  // With `-t FOLDER` all operands go there.
  const tail = options.some(isTarget) ? [] : last;
  const isSkipped = shape.unless !== undefined && options.some(({ name }) => shape.unless?.split(' ').includes(name));
  const lead = isSkipped ? all.slice(1) : all;
  let isShifted = false;
  const takesFiles = [...lead, ...tail].some((role) => role === 'read' || role === 'write');
  const shifted =
    middle !== 'text' && middle !== 'maybe' ? middle : takesFiles ? 'read' : lead.length > 0 ? 'maybe' : middle;
  return operands.map((field, index) => {
    const pair =
      shape.pairs === undefined || !field.text.includes('=')
        ? undefined
        : readRoles(shape.pairs).get(field.text.split('=', 1)[0] ?? '');
    if (pair !== undefined)
      return { role: pair, field: { ...field, text: field.text.slice(field.text.indexOf('=') + 1) } };
    // After a word that may expand to several words or none, positions are unknown.
    isShifted ||= field.matched === true || (field.splits && !field.known && field.tree === undefined);
    const fromEnd = operands.length - index;
    if (fromEnd <= tail.length && operands.length > lead.length)
      return { role: tail[tail.length - fromEnd] ?? middle, field };
    if (index < lead.length && !isShifted) return { role: lead[index] ?? middle, field };
    return { role: isShifted ? shifted : middle, field };
  });
}
