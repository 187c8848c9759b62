import type { CallFacts, PlaceView } from '@holdfast/core';
import type { Assignment, Command, CommandArgument, Function as FunctionNode, ParsedScript, Redirection } from 'unbash';
import type { GlobLimits } from '../places/glob.ts';
import type { Places } from '../places/places.ts';
import { mayExpandBraces } from '../script/braces.ts';
import { type Braces, expandValue, expandWord, visitNode } from '../script/expand.ts';
import { FactsBuilder } from '../script/facts-builder.ts';
import { type Field, known, show, unknownWord } from '../script/field.ts';
import { ShellState } from '../script/state.ts';
import { opensFile } from '../script/syntax.ts';
import { type Input, noInput, nothing, type Result, type Surroundings } from '../script/types.ts';
import { findUnclear } from '../script/unclear-syntax.ts';
import { changesPrograms } from '../script/variables.ts';
import { walkNode, walkText } from '../script/walk.ts';
import type { WalkHost } from '../script/walk-host.ts';
import { findProgram, runCommand } from './command.ts';

const maxSteps = 3_000;
const maxWords = 32_768;
const outermost: Surroundings = { depth: 0, after: [], background: false, tested: false, input: noInput };

/** What a shell would do with a text, or what a program would do that is started with words. Never throws. */
export function readShell(command: string | readonly string[], view: PlaceView): CallFacts {
  const reader = new ShellReader(view);
  const state = new ShellState([view.folder]);
  return reader.facts.build(reader.read(command, state));
}

/** Reads one script with all that it runs. */
class ShellReader implements WalkHost {
  readonly facts: FactsBuilder;
  readonly places: Places;
  readonly home: string | undefined;
  readonly limits: GlobLimits = { names: 3_000 };
  readonly beside: (() => void)[] = [];
  readonly functions: Map<string, FunctionNode['body'][]> = new Map();
  #steps = 0;
  #around: Surroundings = outermost;

  constructor(view: PlaceView) {
    this.facts = new FactsBuilder(view);
    this.places = this.facts.places;
    this.home = view.home;
  }

  read(command: string | readonly string[], state: ShellState): readonly number[] {
    if (typeof command === 'string') {
      const { decides } = this.runText(command, state, outermost);
      // More may be added meanwhile, which is what was there before.
      for (const read of [...this.beside]) this.facts.repeat(read);
      return decides;
    }
    if (command.join('').length > maxWords) this.unclear('limit', `it is longer than ${maxWords} characters`);
    // Some tools join the words and hand them to a shell.
    else if (/\s/.test(command[0] ?? '')) this.unclear('syntax', 'the name of a program has spaces');
    else return this.runWords(command.map(known), state, outermost).decides;
    return [];
  }

  runText(text: string, state: ShellState, around: Surroundings): Result {
    return walkText(text, state, { host: this, around });
  }

  /** A command that is given as words, as `sudo` and `xargs` are. */
  runWords(
    words: readonly Field[],
    state: ShellState,
    around: Surroundings,
    environment: readonly string[] = [],
  ): Result {
    if (around.depth > 12 || !this.step()) {
      this.unclear('limit', 'it runs commands within commands too deep');
      return nothing;
    }
    return runCommand({ words, environment, state, around }, this);
  }

  isProgram(name: string): boolean {
    return findProgram(name) !== undefined || name === 'command_not_found_handle';
  }

  /** The bodies of functions with that name. */
  runFunctions(name: string, state: ShellState, around: Surroundings): boolean {
    const bodies = this.functions.get(name);
    if (bodies === undefined) return false;
    const before = state.clone();
    for (const body of bodies) {
      if (around.depth > 8) this.unclear('limit', `\`${show(name)}\` calls itself`);
      else walkNode(body, state, { host: this, around: { ...around, depth: around.depth + 1 } });
    }
    // `return` may stand before what sets something.
    state.join(before);
    return true;
  }

  substitute(script: ParsedScript, state: ShellState): string | undefined {
    const around = this.#around;
    const inner = { ...around, depth: around.depth + 1, tested: true, input: noInput };
    if (inner.depth > 8) {
      this.unclear('limit', 'it has substitutions within substitutions too deep');
      return undefined;
    }
    const { output } = walkNode(script, state.clone(), { host: this, around: inner });
    this.#fetched ||= output.fetched;
    const [only, ...others] = state.folders ?? [];
    return others.length === 0 && isPwd(script) ? only : undefined;
  }

  #fetched = false;

  readCommand(node: Command, state: ShellState, around: Surroundings): Result {
    const words = node.name === undefined ? node.args : [node.name, ...node.args];
    if (!words.some((word) => word.type === 'Word' && mayExpandBraces(word.text)))
      return this.#readCommand(node, state, { around, braces: 'kept' });
    // For `sh` it is another command.
    const other = state.clone();
    this.#readCommand(node, other, { around, braces: 'kept' });
    const { output } = this.#readCommand(node, state, { around, braces: 'expanded' });
    state.join(other);
    return { decides: [], output };
  }

  #readCommand(
    node: Command,
    state: ShellState,
    { around, braces }: { readonly around: Surroundings; readonly braces: Braces },
  ): Result {
    const outer = { around: this.#around, fetched: this.#fetched };
    this.#around = around;
    this.#fetched = false;
    const assignments = node.prefix.filter((part): part is Assignment => part.type === 'Assignment');
    const words = (node.name === undefined ? [] : [node.name, ...node.args]).flatMap((word) =>
      this.#expand(word, state, braces),
    );
    const values = assignments.map((assignment) => this.assign(assignment, state));
    const own = this.redirect(node.redirects, state);
    if (
      node.redirects.some(
        (redirect) =>
          redirect.type === 'Redirect' && redirect.operator.startsWith('&>') && node.suffix.at(-1) !== redirect,
      )
    ) {
      this.unclear('syntax', '`&>` stands before other words, which `sh` runs');
    }
    const fetched = this.#fetched || own.fetched;
    this.#around = outer.around;
    this.#fetched = outer.fetched || fetched;
    // Where a file cannot be opened, the command does not run and changes nothing.
    const mayFail = node.redirects.some(opensFile);
    if (words.length === 0) {
      for (const { name, value } of values) state.assign(name, mayFail ? unknownWord : value);
      return { decides: [], output: fetched ? { given: false, fetched } : noInput };
    }
    const input = own.given
      ? { ...own, fetched: own.fetched || fetched }
      : { ...around.input, fetched: around.input.fetched || fetched };
    // They hold for the command alone, but for a function and some builtins, of which shells differ.
    const inner = values.length === 0 && !mayFail ? state : state.clone();
    inner.forget(values.map(({ name }) => name));
    const result = this.runWords(
      words,
      inner,
      { ...around, input, external: false },
      values.map(({ name }) => name),
    );
    if (inner !== state) {
      state.join(inner);
      state.forget(values.map(({ name }) => name));
    }
    return node.redirects.length === 0 ? result : { ...result, output: { ...noInput, fetched: result.output.fetched } };
  }

  #expand(argument: CommandArgument, state: ShellState, braces: Braces): readonly Field[] {
    if (argument.type === 'Word') return expandWord(argument, state, this, braces);
    const { name, append, index } = argument;
    const { value } = this.#value(argument, state);
    if (index !== undefined || append === true || argument.value.type !== 'Word') {
      return [{ text: `${name}=`, known: false, splits: false }];
    }
    return [{ ...value, text: `${name}=${value.text}` }];
  }

  #value(node: Assignment, state: ShellState): { readonly name: string; readonly value: Field } {
    const { name, append, index, value } = node;
    if (value.type !== 'Word') {
      visitNode(value, state, this);
      return { name, value: unknownWord };
    }
    const problem = findUnclear(node);
    if (problem !== undefined) this.unclear('syntax', problem);
    const field = expandValue(value, state, this);
    return { name, value: append === true || index !== undefined ? unknownWord : field };
  }

  /** The value of an assignment, which is not yet set. */
  assign(node: Assignment, state: ShellState): { readonly name: string; readonly value: Field } {
    const { name, value } = this.#value(node, state);
    this.checkVariable(name, value);
    return { name, value };
  }

  checkVariable(name: string, value: Field): void {
    if (changesPrograms(name, value.known ? value.text : undefined)) {
      this.unclear('environment', `\`${show(name)}\` changes what programs do`);
    }
  }

  redirect(redirections: readonly Redirection[], state: ShellState): Input {
    let input: Input = noInput;
    for (const redirection of redirections) {
      const problem = findUnclear(redirection) ?? (redirection.descriptor && findUnclear(redirection.descriptor));
      if (problem !== undefined) this.unclear('syntax', problem);
      const { operator, descriptor } = redirection;
      const read = this.#redirect(redirection, state);
      if (
        operator.startsWith('<') &&
        (descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 0))
      ) {
        input = { ...read, given: true, fetched: read.fetched || input.fetched };
      }
    }
    return input;
  }

  #redirect(redirection: Redirection, state: ShellState): Input {
    const unknown: Input = { given: true, fetched: false };
    if (redirection.type === 'HereDoc') {
      const { body, delimiter, operator } = redirection;
      const isQuoted = delimiter?.quoted === true;
      if (!isQuoted) for (const part of body.parts ?? []) visitNode(part, state, this);
      if (!isQuoted && /[$`\\]/.test(body.text)) return unknown;
      return { ...unknown, text: operator === '<<-' ? body.text.replace(/^\t+/gm, '') : body.text };
    }
    const { target } = redirection;
    if (target === undefined) return unknown;
    if (redirection.type === 'HereString') {
      expandValue(target, state, this);
      return unknown;
    }
    const { operator } = redirection;
    const isCopy = operator === '<&' || operator === '>&';
    for (const field of expandWord(target, state, this)) {
      if (field.known && isCopy && /^(?:\d+-?|-)$/.test(field.text)) continue;
      if (field.known && this.#connection(field.text, operator.includes('>'))) return { ...unknown, fetched: true };
      if (operator.startsWith('<') && operator !== '<&') this.facts.use('reads', field, state.folders);
      if (operator.includes('>')) this.facts.use('writes', field, state.folders);
      if (operator === '<&') this.facts.use('reads', field, state.folders);
    }
    return unknown;
  }

  /** `/dev/tcp/HOST/PORT`, which `bash` opens itself. */
  #connection(path: string, sends: boolean): boolean {
    const match = /^\/+dev\/+(tcp|udp)\/+([^/]+)\/+(\d+)/i.exec(path);
    if (match === null) return /^\/+dev\/+(?:tcp|udp)\//i.test(path);
    const [, scheme = '', host = '', port] = match;
    this.facts.host({ scheme: scheme.toLowerCase(), host: host.toLowerCase(), port: Number(port), sends });
    return true;
  }

  unclear(kind: 'syntax' | 'program' | 'words' | 'code' | 'project' | 'environment' | 'limit', reason: string): void {
    this.facts.unclear({ kind, reason });
  }

  step(): boolean {
    this.#steps += 1;
    return this.#steps <= maxSteps;
  }
}

function isPwd({ commands: [statement, ...others] }: ParsedScript): boolean {
  const command = statement?.command;
  if (command?.type !== 'Command' || others.length > 0 || statement?.background === true) return false;
  const { name, args, prefix, redirects } = command;
  return name?.text === 'pwd' && args.length + prefix.length + redirects.length === 0;
}
