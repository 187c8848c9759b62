import {
  type Command,
  type CommandArgument,
  forEachChild,
  type Pipeline,
  parse,
  type Redirect,
  type Redirection,
  type SyntaxNode,
} from 'unbash';
import { foldProgram } from './command-rule.ts';
import {
  findOpaque,
  type InputTexts,
  isDownloader,
  isInterpreter,
  runsItsInput,
  unwrapBuiltin,
} from './shell-builtins.ts';
import { knownWord, type ShellWord, toShellWord } from './shell-word.ts';
import { findUnclear } from './unclear-syntax.ts';
import { type Inner, unwrap } from './wrappers.ts';

/** All that a script does, as far as reading it tells; nothing is decided yet. */
export interface ScriptFacts {
  readonly commands: readonly FoundCommand[];
  readonly redirections: readonly FoundRedirection[];
  /** Commands that run what was downloaded. */
  readonly downloads: readonly string[];
  /** Why it is not known what runs. */
  readonly unclear: readonly string[];
  /** Names that it makes commands of its own. */
  readonly functions: ReadonlySet<string>;
}

/** A simple command, wherever it stands and whatever runs it. */
export interface FoundCommand {
  readonly words: readonly ShellWord[];
  /** Its name, folded. */
  readonly program: string;
  /** What it runs is among the commands, too, and it does nothing else. */
  readonly isTransparent: boolean;
  /** Why it cannot be said what it does. */
  readonly opaque: string | undefined;
}

/** Of a file, for reading or writing. */
export interface FoundRedirection {
  /** `undefined`: not known. */
  readonly target: string | undefined;
  readonly writes: boolean;
}

const maxLength = 32_768;
const maxDepth = 8;
const maxNesting = 400;
const maxCommands = 1_000;

/** What a shell would do with this text. Never throws. */
export function readScript(text: string): ScriptFacts {
  const reader = new ScriptReader();
  reader.readText(text, outermost);
  return reader;
}

/** What a program started with these words, without a shell, would do. */
export function readWords(words: readonly string[]): ScriptFacts {
  const reader = new ScriptReader();
  // Some tools join the words and hand them to a shell.
  if (/\s/.test(words[0] ?? '')) reader.unclear.push('the name of a program has spaces');
  if (words.join('').length > maxLength) reader.unclear.push(`it is longer than ${maxLength} characters`);
  else reader.readCommand(words.map(knownWord), outermost, { texts: [], fetches: false });
  return reader;
}

interface Place {
  readonly depth: number;
  /** What is read here was downloaded. */
  readonly isDownloaded: boolean;
}

const outermost: Place = { depth: 0, isDownloaded: false };

interface Surroundings {
  readonly texts: InputTexts;
  /** Something in its words or redirections downloads. */
  readonly fetches: boolean;
}

class ScriptReader implements ScriptFacts {
  readonly commands: FoundCommand[] = [];
  readonly redirections: FoundRedirection[] = [];
  readonly downloads: string[] = [];
  readonly unclear: string[] = [];
  readonly functions: Set<string> = new Set();

  readText(text: string, place: Place): void {
    if (text.length > maxLength) this.unclear.push(`it is longer than ${maxLength} characters`);
    else if (place.depth > maxDepth) this.unclear.push('it runs scripts within scripts too deep');
    else if (/[^\P{Cc}\n\t]/u.test(text) || !text.isWellFormed()) this.unclear.push('it holds control characters');
    else this.#readTree(text, place);
  }

  readCommand(words: readonly ShellWord[], place: Place, { texts, fetches }: Surroundings): void {
    const [name, ...given] = words;
    if (name === undefined) return;
    if (!name.known) {
      this.unclear.push('the name of a command is not known before it runs');
      return;
    }
    const program = foldProgram(name.text);
    const isRun = fetches || (place.isDownloaded && runsItsInput(program, given));
    if (isRun && isInterpreter(program)) this.downloads.push(name.text);
    const wrapped = unwrap(program, given) ?? unwrapBuiltin(program, given, texts);
    if (!this.#addCommand(words, wrapped?.isTransparent === true)) return;
    for (const inner of wrapped?.inner ?? []) this.#readInner(inner, place, { texts, fetches });
  }

  #addCommand(words: readonly ShellWord[], isTransparent: boolean): boolean {
    if (this.commands.length === maxCommands) {
      this.unclear.push(`it has more than ${maxCommands} commands`);
      return false;
    }
    const [name, ...given] = words;
    const program = foldProgram(name?.text ?? '');
    this.commands.push({ words, program, isTransparent, opaque: findOpaque(program, given) });
    return true;
  }

  #readInner(inner: Inner, place: Place, surroundings: Surroundings): void {
    const within: Place = { ...place, depth: place.depth + 1 };
    switch (inner.type) {
      case 'command':
        if (within.depth > maxDepth) this.unclear.push('it runs commands within commands too deep');
        else this.readCommand(inner.words, within, surroundings);
        return;
      case 'file':
        // Whether a shell may read a file is said by its own name: only what is refused by name is refused here.
        this.#addCommand(inner.words, true);
        return;
      case 'script':
        this.readText(inner.text, within);
        return;
      case 'unclear':
        this.unclear.push(inner.problem);
        return;
      case 'nothing':
        return;
      default:
        inner satisfies never;
    }
  }

  #readTree(text: string, place: Place): void {
    try {
      this.#visit(parse(text), place, 0);
    } catch {
      // Parts are parsed as they are visited. Nothing more is known of what the parser could not take, which is what is told.
      this.unclear.push('it cannot be parsed');
    }
  }

  #visit(node: SyntaxNode, place: Place, nesting: number): void {
    if (nesting > maxNesting) {
      this.unclear.push('it is nested too deep');
      return;
    }
    const problem = findUnclear(node);
    if (problem !== undefined) this.unclear.push(problem);
    switch (node.type) {
      case 'Pipeline':
        this.#visitPipeline(node, place, nesting);
        return;
      case 'Command':
        this.#visitCommand(node, place, nesting);
        return;
      case 'Redirect':
        this.#addRedirection(node);
        break;
      case 'Function':
        this.functions.add(toShellWord(node.name).text);
        break;
      default:
    }
    this.#visitChildren(node, place, nesting);
  }

  #visitChildren(node: SyntaxNode, place: Place, nesting: number): void {
    forEachChild(node, (child) => this.#visit(child, place, nesting + 1));
  }

  #visitPipeline({ commands }: Pipeline, place: Place, nesting: number): void {
    let { isDownloaded } = place;
    for (const command of commands) {
      const before = this.commands.length;
      this.#visit(command, { ...place, isDownloaded }, nesting + 1);
      isDownloaded ||= this.#hasDownloaded(before);
    }
  }

  #visitCommand(node: Command, place: Place, nesting: number): void {
    const before = this.commands.length;
    this.#visitChildren(node, place, nesting);
    const args: readonly CommandArgument[] = node.name === undefined ? [] : [node.name, ...node.args];
    const isLast = (redirect: Redirection): boolean => node.suffix.at(-1) === redirect;
    if (node.redirects.some((redirect) => redirect.operator.startsWith('&>') && !isLast(redirect))) {
      this.unclear.push('`&>` stands before other words, where `sh` runs these');
    }
    this.readCommand(args.map(toShellWord), place, {
      texts: node.redirects.flatMap(textsOf),
      fetches: this.#hasDownloaded(before),
    });
  }

  #hasDownloaded(since: number): boolean {
    return this.commands.slice(since).some(({ program }) => isDownloader(program));
  }

  #addRedirection({ operator, target }: Redirect): void {
    const word = target === undefined ? undefined : toShellWord(target);
    const isCopy = operator === '<&' || operator === '>&';
    if (isCopy && word?.known === true && /^(?:\d+-?|-)$/.test(word.text)) return;
    const writes = operator !== '<' && operator !== '<&';
    // What a process substitution stands for is a pipe.
    if (word?.known === false && word.text === '/dev/fd/') return;
    this.redirections.push({ target: word?.known === true ? word.text : undefined, writes });
  }
}

function textsOf(redirection: Redirection): InputTexts {
  const { type, operator, descriptor } = redirection;
  if (!operator.startsWith('<')) return [];
  if (type === 'Redirect' || descriptor !== undefined) return [undefined];
  if (type === 'HereString') {
    const word = redirection.target === undefined ? undefined : toShellWord(redirection.target);
    return [word?.known === true ? word.text : undefined];
  }
  const { body, delimiter } = redirection;
  if (delimiter?.quoted !== true && /[$`\\]/.test(body.text)) return [undefined];
  return [operator === '<<-' ? body.text.replace(/^\t+/gm, '') : body.text];
}
