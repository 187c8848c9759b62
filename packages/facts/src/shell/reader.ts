import type { CallFacts, PlaceView } from '@holdfast/core';
import type { Assignment, Command, CommandArgument, Function as FunctionNode, ParsedScript, Redirection } from 'unbash';
import type { GlobLimits } from '../places/glob.ts';
import type { Places } from '../places/places.ts';
import { expandValue, expandWord, visitNode } from '../script/expand.ts';
import { FactsBuilder } from '../script/facts-builder.ts';
import { type Field, known, show, unknownWord } from '../script/field.ts';
import { ShellState } from '../script/state.ts';
import { type Input, noInput, nothing, type Result, type Surroundings } from '../script/types.ts';
import { findUnclear } from '../script/unclear-syntax.ts';
import { changesPrograms } from '../script/variables.ts';
import { walkNode, walkText } from '../script/walk.ts';
import type { WalkHost } from '../script/walk-host.ts';
import { runCommand } from './command.ts';

const maxSteps = 3_000;
const maxWords = 32_768;
const outermost: Surroundings = { depth: 0, after: [], background: false, tested: false, input: noInput };

/** Describes what a shell would do with a script, or a program with its arguments. Never throws. */
export function readShell(command: string | readonly string[], view: PlaceView): CallFacts {
  const reader = new ShellReader(view);
  const state = new ShellState([view.folder]);
  return reader.facts.build(reader.read(command, state));
}

/** Analyzes one script and everything it runs. */
class ShellReader implements WalkHost {
  readonly facts: FactsBuilder;
  readonly places: Places;
  readonly home: string | undefined;
  readonly limits: GlobLimits = { names: 3_000 };
  readonly functions: Map<string, FunctionNode['body'][]> = new Map();
  readonly aliases: Map<string, string> = new Map();
  #steps = 0;
  #around: Surroundings = outermost;

  constructor(view: PlaceView) {
    this.facts = new FactsBuilder(view);
    this.places = this.facts.places;
    this.home = view.home;
  }

  read(command: string | readonly string[], state: ShellState): readonly number[] {
    if (typeof command === 'string') return this.runText(command, state, outermost).decides;
    if (command.join('').length > maxWords) this.unclear('limit', `it is longer than ${maxWords} characters`);
    // Some tools join the words and pass them to a shell.
    else if (/\s/.test(command[0] ?? '')) this.unclear('syntax', 'the name of a program has spaces');
    else return this.runWords(command.map(known), state, outermost).decides;
    return [];
  }

  runText(text: string, state: ShellState, around: Surroundings): Result {
    return walkText(text, state, { host: this, around });
  }

  /** A command given as words, as by `sudo` and `xargs`. */
  runWords(
    words: readonly Field[],
    state: ShellState,
    around: Surroundings,
    environment: readonly string[] = [],
  ): Result {
    if (around.depth > 12 || !this.step()) {
      this.unclear('limit', 'its commands are nested too deep');
      return nothing;
    }
    return runCommand({ words, environment, state, around }, this);
  }

  /** The bodies of functions with that name. */
  runFunctions(name: string, words: readonly Field[], state: ShellState, around: Surroundings): boolean {
    const bodies = this.functions.get(name);
    if (bodies === undefined) return false;
    const { positional } = state;
    const before = state.clone();
    state.positional = words;
    for (const body of bodies) {
      if (around.depth > 8) this.unclear('limit', `\`${show(name)}\` calls itself`);
      else walkNode(body, state, { host: this, around: { ...around, depth: around.depth + 1 } });
    }
    state.positional = positional;
    // `return` may precede an assignment.
    state.join(before);
    return true;
  }

  substitute(script: ParsedScript, state: ShellState): string | undefined {
    const around = this.#around;
    const inner = { ...around, depth: around.depth + 1, tested: true, input: noInput };
    if (inner.depth > 8) {
      this.unclear('limit', 'its substitutions are nested too deep');
      return undefined;
    }
    const { output } = walkNode(script, state.clone(), { host: this, around: inner });
    this.#fetched ||= output.fetched;
    return output.text;
  }

  #fetched = false;

  readCommand(node: Command, state: ShellState, around: Surroundings): Result {
    const outer = { around: this.#around, fetched: this.#fetched };
    this.#around = around;
    this.#fetched = false;
    const assignments = node.prefix.filter((part): part is Assignment => part.type === 'Assignment');
    const words = (node.name === undefined ? [] : [node.name, ...node.args]).flatMap((word) =>
      this.#expand(word, state),
    );
    const values = assignments.map((assignment) => this.assign(assignment, state));
    const own = this.redirect(node.redirects, state);
    if (
      node.redirects.some(
        (redirect) =>
          redirect.type === 'Redirect' && redirect.operator.startsWith('&>') && node.suffix.at(-1) !== redirect,
      )
    ) {
      this.unclear('syntax', '`&>` precedes other words, which `sh` runs');
    }
    const fetched = this.#fetched || own.fetched;
    this.#around = outer.around;
    this.#fetched = outer.fetched || fetched;
    // If a file cannot be opened, the command does not run and changes nothing.
    const mayFail = node.redirects.some(opensFile);
    if (words.length === 0) {
      for (const { name, value } of values) state.variables.set(name, mayFail ? unknownWord : value);
      return { decides: [], output: fetched ? { given: false, fetched } : noInput };
    }
    const input = own.given
      ? { ...own, fetched: own.fetched || fetched }
      : { ...around.input, fetched: around.input.fetched || fetched };
    // They apply only to the command; shells differ for functions and some builtins.
    const inner = values.length === 0 && !mayFail ? state : state.clone();
    for (const { name, value } of values) {
      inner.variables.set(name, value);
      inner.export(name);
    }
    const result = this.runWords(
      words,
      inner,
      { ...around, input, external: false },
      values.map(({ name }) => name),
    );
    if (inner !== state) {
      state.join(inner);
      for (const { name } of values) state.variables.set(name, unknownWord);
    }
    return result;
  }

  #expand(argument: CommandArgument, state: ShellState): readonly Field[] {
    if (argument.type === 'Word') return expandWord(argument, state, this);
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

  /** The value of an assignment, before it is set. */
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
      const field = expandValue(target, state, this);
      if (field.known) return { ...unknown, text: `${field.text}\n` };
      return field.tree === undefined ? unknown : { ...unknown, names: [field] };
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

  /** `/dev/tcp/HOST/PORT`: `bash` itself connects. */
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

/** True if a missing or unwritable file prevents the command from running. */
function opensFile(redirection: Redirection): boolean {
  if (redirection.type !== 'Redirect' || redirection.target === undefined) return false;
  const { operator, target } = redirection;
  return !(operator.endsWith('&') && /^(?:\d+-?|-)$/.test(target.text)) && target.text !== '/dev/null';
}
