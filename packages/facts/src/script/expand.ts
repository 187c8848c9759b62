import {
  type CommandExpansionPart,
  forEachChild,
  type ParsedScript,
  parse,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { expandGlob, type GlobLimits } from '../places/glob.ts';
import type { Places } from '../places/places.ts';
import { isWildcard } from '../places/wildcard.ts';
import { expandBraces } from './braces.ts';
import { type Field, known, unknownWord, unknownWords } from './field.ts';
import type { ShellState } from './state.ts';
import { findUnclear } from './unclear-syntax.ts';
import { changesPrograms } from './variables.ts';

/** The callbacks of an expansion into its script. */
export interface ExpansionHost {
  readonly places: Places;
  readonly limits: GlobLimits;
  readonly home: string | undefined;
  /** Walks a substitution, and returns its output if known. */
  substitute(script: ParsedScript, state: ShellState): string | undefined;
  unclear(kind: 'syntax' | 'words' | 'environment' | 'limit', reason: string): void;
}

/** Expands one word of a script into words: braces, `~`, variables, substitutions and patterns. */
export function expandWord(word: Word, state: ShellState, host: ExpansionHost): readonly Field[] {
  const { text, value, parts } = word;
  if (parts === undefined && !/[~{]/.test(text)) return [known(value)];
  if (!text.includes('{') || !/[,.]/.test(text) || !/\{[^}]*(?:,|\.\.)/.test(text))
    return expandParts(word, state, host);
  const words = expandBraces(text);
  host.limits.names -= words?.length ?? 0;
  if (words === undefined || host.limits.names < 0) {
    host.unclear('words', 'braces that expand to too many words');
    return [unknownWords];
  }
  if (words.length === 1 && words[0] === text) return expandParts(word, state, host);
  // `sh` leaves the braces as they are.
  return [...words.flatMap((one) => readAgain(one, state, host)), ...expandParts(word, state, host)];
}

/** Words from braces are parsed again: their quotes and variables are not expanded yet. */
function readAgain(text: string, state: ShellState, host: ExpansionHost): readonly Field[] {
  if (text === '') return [];
  const [statement] = parse(`: ${text}`).commands;
  const command = statement?.command.type === 'Command' ? statement.command : undefined;
  const [only, ...others] = command?.args ?? [];
  if (only === undefined || others.length > 0) return [unknownWords];
  return only.type === 'Word' ? expandParts(only, state, host) : [unknownWord];
}

/** One word that the shell neither splits nor globs: the value of a variable, a here-string. */
export function expandValue(word: Word, state: ShellState, host: ExpansionHost): Field {
  const pieces = collect(word, state, host, true);
  const [only] = pieces;
  if (pieces.length === 1 && only?.field !== undefined) return { ...only.field, splits: false };
  const index = pieces.findIndex(({ field, all }) => field !== undefined || all === true);
  const text = pieces
    .slice(0, index === -1 ? pieces.length : index)
    .map((piece) => piece.text)
    .join('');
  return index === -1 ? known(text) : { text, known: false, splits: false };
}

interface Piece {
  readonly text: string;
  /** Its characters are literal. */
  readonly quoted: boolean;
  /** The shell splits it at spaces. */
  readonly splits: boolean;
  /** Unknown text. */
  readonly field?: Field;
  /** `"$@"`. */
  readonly all?: true;
  /** `sh` reads a different text. */
  readonly differs?: true;
}

function expandParts(word: Word, state: ShellState, host: ExpansionHost): readonly Field[] {
  const pieces = collect(word, state, host, false);
  const made: Building[] = [];
  let current: Building | undefined;
  const here = (): Building => {
    if (current !== undefined) return current;
    current = { pattern: '', text: '', splits: false };
    made.push(current);
    return current;
  };
  for (const piece of pieces) {
    if (piece.differs === true) here().differs = true;
    if (piece.all === true) {
      const positional = state.positional ?? [unknownWords];
      if (pieces.length === 1) return positional;
      Object.assign(here(), { field: unknownWords, ends: '' });
    } else if (piece.field !== undefined) {
      const building = here();
      building.field ??= piece.field;
      building.splits ||= piece.splits;
      building.ends = '';
      building.isWhole = pieces.length === 1;
    } else if (!piece.splits) append(here(), piece.text, piece.quoted);
    else {
      const parts = piece.text.split(/[ \t\n]+/);
      for (const [index, part] of parts.entries()) {
        if (index > 0) current = undefined;
        if (part !== '') append(here(), part, false);
      }
    }
  }
  return made.flatMap((building) => finish(building, state, host));
}

interface Building {
  /** Escapes literal characters with a backslash. */
  pattern: string;
  text: string;
  splits: boolean;
  field?: Field;
  ends?: string;
  isWhole?: boolean;
  differs?: true;
}

function append(building: Building, text: string, quoted: boolean): void {
  building.pattern += quoted ? text.replace(/[\\*?[\]]/g, '\\$&') : text;
  if (building.field === undefined) building.text += text;
  else building.ends = (building.ends ?? '') + text;
}

function finish(building: Building, state: ShellState, host: ExpansionHost): readonly Field[] {
  const { pattern, text, field, ends = '', splits } = building;
  if (field !== undefined) {
    if (building.isWhole === true) return [{ ...field, splits: splits || field.splits }];
    return [{ text, known: false, splits: splits || isWildcard(pattern), ends }];
  }
  if (building.differs === true) return [{ ...known(text), differs: true }];
  if (!isWildcard(pattern) || state.options.noglob) return [known(text)];
  const folders = pattern.startsWith('/') ? ['/'] : state.folders;
  const found = folders?.map((folder) => expandGlob(pattern, folder, host));
  if (found === undefined || found.includes(undefined)) {
    const [begins = ''] = text.split(/[*?[]/);
    return [{ text: begins, known: false, splits: true, ends: text.slice(text.search(/[^*?\]]*$/)) }];
  }
  for (const paths of found) host.limits.names -= paths?.length ?? 0;
  const names = [...new Set(found.flatMap((paths) => paths ?? []))];
  // `bash` and `sh` keep a pattern without a match.
  const stays = names.length === 0 || found.some((paths) => paths?.length === 0);
  return (stays ? [...names, text] : names).map((name) => ({ ...known(name), matched: true }));
}

function collect(word: Word, state: ShellState, host: ExpansionHost, isValue: boolean): readonly Piece[] {
  const { text, value, parts } = word;
  const pieces: Piece[] = [];
  if (parts === undefined) pieces.push({ text: value, quoted: true, splits: false });
  else for (const part of parts) collectPart(part, { pieces, state, host, quoted: isValue });
  if (!text.startsWith('~')) return pieces;
  const [first, ...others] = pieces;
  const name = /^~[^/]*/.exec(first?.text ?? '')?.[0];
  if (first === undefined || name === undefined || first.field !== undefined) return pieces;
  const rest = { ...first, text: first.text.slice(name.length) };
  const home = name === '~' ? (state.read('HOME') ?? homeOf(host)) : unknownWord;
  return [
    home.known ? { text: home.text, quoted: true, splits: false } : { ...rest, text: '', field: home },
    rest,
    ...others,
  ];
}

function homeOf({ home }: ExpansionHost): Field {
  return home === undefined ? unknownWord : known(home);
}

interface Collecting {
  readonly pieces: Piece[];
  readonly state: ShellState;
  readonly host: ExpansionHost;
  readonly quoted: boolean;
}

function collectPart(part: WordPart, collecting: Collecting): void {
  const { pieces, host, quoted } = collecting;
  const problem = findUnclear(part);
  if (problem !== undefined) host.unclear('syntax', problem);
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
      pieces.push({ text: part.value, quoted: true, splits: false });
      return;
    case 'AnsiCQuoted':
      pieces.push({ text: part.value, quoted: true, splits: false, differs: true });
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      pieces.push({ text: '', quoted: true, splits: false });
      for (const inner of part.parts) collectPart(inner, { ...collecting, quoted: true });
      return;
    case 'Glob':
      if (part.kind === 'bracket') visitInner(part, collecting);
      pieces.push({ text: part.text, quoted, splits: false });
      return;
    case 'ProcessSubstitution':
      if (part.script !== undefined) host.substitute(part.script, collecting.state);
      pieces.push({ text: '/dev/fd/63', quoted: true, splits: false });
      return;
    case 'CommandExpansion':
      pieces.push(toPiece(substituted(part, collecting), collecting));
      return;
    case 'SimpleExpansion':
      collectVariable(part.text.slice(1), collecting);
      return;
    case 'ParameterExpansion': {
      visitInner(part, collecting);
      const { parameter, operation, prefix, index } = part;
      const assigns = operation?.type === 'Default' && operation.operator.endsWith('=');
      if (assigns && changesPrograms(parameter)) host.unclear('environment', `\`${parameter}\` is set`);
      if (assigns) collecting.state.variables.set(parameter, unknownWord);
      if (operation === undefined && prefix === undefined && index === undefined)
        collectVariable(parameter, collecting);
      else pieces.push({ text: '', quoted, splits: !quoted || part.text.includes('@'), field: unknownWord });
      return;
    }
    case 'ArithmeticExpansion':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      if (part.type === 'BraceExpansion' && !part.text.includes('$') && !part.text.includes('`')) {
        pieces.push({ text: part.text, quoted: true, splits: false });
        return;
      }
      visitInner(part, collecting);
      pieces.push({ text: '', quoted, splits: !quoted, field: unknownWord });
      return;
    default:
      part satisfies never;
  }
}

function collectVariable(name: string, { pieces, state, host, quoted }: Collecting): void {
  if (name === '@' || name === '*') {
    const all = name === '@' || !quoted;
    pieces.push(
      all ? { text: '', quoted, splits: !quoted, all } : { text: '', quoted, splits: false, field: unknownWord },
    );
    return;
  }
  const field = state.read(name) ?? (name === 'HOME' ? homeOf(host) : unknownWord);
  pieces.push(toPiece(field, { quoted, state }));
}

function toPiece(field: Field, { quoted, state }: { readonly quoted: boolean; readonly state: ShellState }): Piece {
  if (!field.known) return { text: '', quoted, splits: !quoted && field.tree === undefined, field };
  // With a different `IFS` the split points of a value are unknown.
  const isSplit = !quoted && state.variables.has('IFS') && /\W/.test(field.text);
  return { text: field.text, quoted, splits: !quoted, ...(isSplit ? { field: unknownWords } : {}) };
}

function substituted({ script }: CommandExpansionPart, { host, state }: Collecting): Field {
  const text = script === undefined ? undefined : host.substitute(script, state);
  return text === undefined ? unknownWord : known(text.replace(/\n+$/, ''));
}

/** Substitutions within an expansion also run. */
function visitInner(node: SyntaxNode, collecting: Collecting): void {
  forEachChild(node, (child) => visitNode(child, collecting.state, collecting.host));
}

/** Walks all substitutions within a node. */
export function visitNode(node: SyntaxNode, state: ShellState, host: ExpansionHost): void {
  const problem = findUnclear(node);
  if (problem !== undefined) host.unclear('syntax', problem);
  if (
    node.type === 'CommandExpansion' ||
    node.type === 'ProcessSubstitution' ||
    node.type === 'ArithmeticCommandExpansion'
  ) {
    if (node.script !== undefined) host.substitute(node.script, state);
    return;
  }
  forEachChild(node, (child) => visitNode(child, state, host));
}
