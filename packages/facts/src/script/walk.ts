import {
  type AndOr,
  type Case,
  type Function as FunctionNode,
  type If,
  type ParsedScript,
  type Pipeline,
  parse,
  type Script,
  type Statement,
  type SyntaxNode,
} from 'unbash';
import { continuesOddly } from './continued-lines.ts';
import { expandValue, visitNode } from './expand.ts';
import { show } from './field.ts';
import { walkFor, walkWhile } from './loops.ts';
import { joinFolders, type ShellState } from './state.ts';
import { assignedIn, isCheck, isFailure, opensFile } from './syntax.ts';
import { type Input, nothing, type Result, type Surroundings } from './types.ts';
import { findUnclear } from './unclear-syntax.ts';
import type { WalkHost } from './walk-host.ts';

const maxLength = 32_768;
const maxDepth = 8;
const maxNesting = 100;
// Only the last ones of a long chain: fewer prove less, which is safe.
const maxProven = 32;

/** Analyzes a text as `bash` and `sh` would parse it. Never throws. */
export function walkText(
  text: string,
  state: ShellState,
  { host, around }: { host: WalkHost; around: Surroundings },
): Result {
  if (text.length > maxLength) host.unclear('limit', `it is longer than ${maxLength} characters`);
  else if (around.depth > maxDepth) host.unclear('limit', 'it runs scripts within scripts too deep');
  else if (/[^\P{Cc}\n\t]|[^\S \n\t]/u.test(text) || !text.isWellFormed())
    host.unclear('syntax', 'it holds control characters or odd blanks');
  else if (continuesOddly(text)) host.unclear('syntax', 'a word goes on in the next line');
  else {
    try {
      return new Walk(text, host).script(parse(text), state, around);
    } catch {
      // Nodes are parsed lazily. If the parser throws, only that fact is reported.
      host.unclear('syntax', 'it cannot be parsed');
    }
  }
  return nothing;
}

/** Analyzes a parsed script: the body of a function, a substitution. */
export function walkNode(
  node: SyntaxNode,
  state: ShellState,
  { host, around }: { host: WalkHost; around: Surroundings },
): Result {
  return new Walk('', host).node(node, state, around);
}

class Walk {
  readonly #text: string;
  readonly #host: WalkHost;
  #nesting = 0;

  constructor(text: string, host: WalkHost) {
    this.#text = text;
    this.#host = host;
  }

  script(script: ParsedScript | Script, state: ShellState, around: Surroundings): Result {
    const problem = findUnclear(script);
    if (problem !== undefined) this.#host.unclear('syntax', problem);
    return this.#list(script.commands, state, around);
  }

  node(node: SyntaxNode, state: ShellState, around: Surroundings): Result {
    if (this.#nesting > maxNesting || !this.#host.step()) {
      this.#host.unclear('limit', 'it is nested too deep, or too long');
      return nothing;
    }
    this.#nesting += 1;
    try {
      return this.#byType(node, state, around);
    } finally {
      this.#nesting -= 1;
    }
  }

  #byType(node: SyntaxNode, state: ShellState, around: Surroundings): Result {
    const problem = node.type === 'Script' ? undefined : findUnclear(node);
    if (problem !== undefined) this.#host.unclear('syntax', problem);
    switch (node.type) {
      case 'Script':
        return this.script(node, state, around);
      case 'CompoundList':
        return this.#list(node.commands, state, around);
      case 'Statement':
        return this.#statement(node, state, around);
      case 'AndOr':
        return this.#andOr(node, state, around);
      case 'Pipeline':
        return this.#pipeline(node, state, around);
      case 'Command':
        // The parser accepts one that is never closed.
        if (node.name !== undefined && /^[ \t]*\(/.test(this.#text.slice(node.name.end)))
          this.#host.unclear('syntax', 'a parenthesis follows the name of a command');
        return this.#host.readCommand(node, state, around);
      case 'BraceGroup':
        return this.#list(node.body.commands, state, around);
      case 'Subshell':
        return this.#list(node.body.commands, state.clone(), around);
      case 'Redirected': {
        const input = this.#host.redirect(node.redirects, state);
        const before = node.redirects.some(opensFile) ? state.clone() : state;
        const result = this.node(node.command, state, input.given ? { ...around, input } : around);
        // Where a file cannot be opened, nothing runs.
        if (before !== state) state.join(before);
        const { given, fetched } = result.output;
        return { decides: result.decides, output: { given, fetched } };
      }
      case 'Function':
        return this.#function(node, state, around);
      case 'If':
        return this.#if(node, state, around);
      case 'While':
        return walkWhile(node, state, { walk: this, host: this.#host, around });
      case 'For':
      case 'Select':
        return walkFor(node, state, { walk: this, host: this.#host, around });
      case 'Case':
        return this.#case(node, state, around);
      case 'Coproc':
        return this.#inBackground(node.body, state, around);
      case 'ArithmeticFor':
        visitNode(node, state, this.#host);
        return this.#inBackground(node.body, state, around);
      default:
        visitNode(node, state, this.#host);
        return nothing;
    }
  }

  #list(statements: readonly Statement[], state: ShellState, around: Surroundings): Result {
    let result: Result = nothing;
    let proven: readonly number[] = around.after;
    let own: readonly number[] = [];
    let fetched = false;
    for (const statement of statements) {
      const mayHaveEnded = state.mayHaveEnded;
      result = this.node(statement, state, { ...around, after: proven });
      fetched ||= result.output.fetched;
      // With `set -e` the script continues only after a success, as after `x || exit 1`.
      const goesOn = (state.options.errexit && !around.tested) || isCheck(statement);
      if (goesOn && statement.background !== true) {
        proven = [...proven, ...result.decides].slice(-maxProven);
        own = [...own, ...result.decides];
      }
      if (mayHaveEnded) result = { ...result, decides: [] };
    }
    return { decides: [...new Set([...own, ...result.decides])], output: { given: result.output.given, fetched } };
  }

  #statement({ command, background }: Statement, state: ShellState, around: Surroundings): Result {
    return background === true ? this.#inBackground(command, state, around) : this.node(command, state, around);
  }

  #inBackground(node: SyntaxNode, state: ShellState, around: Surroundings): Result {
    const beside = (): Result => this.node(node, state.clone(), { ...around, background: true });
    beside();
    this.#host.beside.push(beside);
    return nothing;
  }

  #andOr({ commands, operators }: AndOr, state: ShellState, around: Surroundings): Result {
    let decides: readonly number[] = [];
    let fetched = false;
    for (const [index, command] of commands.entries()) {
      const operator = index === 0 ? undefined : operators[index - 1];
      const before = operator === undefined ? undefined : state.clone();
      const isLast = index === commands.length - 1;
      const tested = around.tested || !isLast;
      const after = [...around.after, ...decides].slice(-maxProven);
      const mayHaveEnded = state.mayHaveEnded;
      const result = this.node(command, state, { ...around, tested, after: operator === '||' ? around.after : after });
      fetched ||= result.output.fetched;
      // A command after `&&` or `||` may not have run.
      if (before !== undefined) state.join(before);
      if (operator !== '||') decides = mayHaveEnded ? decides : [...decides, ...result.decides];
      else if (!isFailure(command)) decides = [];
    }
    return { decides, output: { given: true, fetched } };
  }

  #pipeline({ commands, prefixes, operators }: Pipeline, state: ShellState, around: Surroundings): Result {
    let input = around.input;
    let decides: readonly number[] = [];
    const isNegated = prefixes.some(({ type }) => type === 'Negation');
    // `time` is a separate program in `sh`: its command then changes nothing here.
    const before = prefixes.some(({ type }) => type === 'Time') ? state.clone() : undefined;
    let result: Result = nothing;
    const { facts } = this.#host;
    const { changes } = facts;
    const start = state.clone();
    const inputs: Input[] = [];
    for (const [index, command] of commands.entries()) {
      // Some shells run the last part of a pipeline in the current process.
      const own = commands.length === 1 ? state : state.clone();
      inputs.push(input);
      result = this.node(command, own, { ...around, input, tested: around.tested || isNegated });
      if (own !== state) {
        state.forget(assignedIn(command));
        if (index === commands.length - 1) state.folders = joinFolders(state.folders, own.folders);
      }
      decides = state.options.pipefail ? [...decides, ...result.decides] : result.decides;
      const fetched = input.fetched || result.output.fetched;
      input = { ...result.output, given: true, fetched };
      // Errors are not names.
      if (operators[index] === '|&') input = { given: true, fetched };
    }
    if (before !== undefined) state.join(before);
    // They run at the same time.
    if (commands.length > 1 && facts.changes > changes)
      facts.repeat(() => {
        for (const [index, command] of commands.entries())
          this.node(command, start.clone(), { ...around, input: inputs[index] ?? input });
      });
    return { decides: isNegated ? [] : decides, output: input };
  }

  #function(node: FunctionNode, state: ShellState, around: Surroundings): Result {
    const name = node.name.value;
    const bodies = this.#host.functions.get(name) ?? [];
    this.#host.functions.set(name, [...bodies, node.body]);
    // Which one runs depends on when.
    if (this.#host.isProgram(name) || bodies.some((body) => body !== node.body))
      this.#host.unclear('program', `\`${show(name)}\` is not always the same command`);
    // `sh` does not know the word, and runs the body.
    if (!/^[^\s()]+\s*\(/.test(this.#text.slice(node.pos, node.pos + name.length + 20)))
      this.node(node.body, state.clone(), around);
    else state.define(name);
    return nothing;
  }

  #if(node: If, state: ShellState, around: Surroundings): Result {
    const clauses = [node, ...node.elif];
    const ends: ShellState[] = [];
    for (const { clause, then } of clauses) {
      const { decides } = this.node(clause, state, { ...around, tested: true });
      const branch = state.clone();
      this.node(then, branch, { ...around, after: [...around.after, ...decides] });
      ends.push(branch);
    }
    if (node.else !== undefined) this.node(node.else, state, around);
    for (const end of ends) state.join(end);
    return nothing;
  }

  #case({ word, items }: Case, state: ShellState, around: Surroundings): Result {
    expandValue(word, state, this.#host);
    const ends: ShellState[] = [];
    for (const { pattern, body } of items) {
      for (const one of pattern) expandValue(one, state, this.#host);
      const branch = state.clone();
      this.node(body, branch, around);
      ends.push(branch);
    }
    for (const end of ends) state.join(end);
    return nothing;
  }
}
