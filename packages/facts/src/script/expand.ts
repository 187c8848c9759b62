import {
  type CommandExpansionPart,
  forEachChild,
  type ParsedScript,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { expandGlob, type GlobLimits } from '../places/glob.ts';
import type { Places } from '../places/places.ts';
import { isWildcard } from '../places/wildcard.ts';
import { expandBraces, mayExpandBraces } from './braces.ts';
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
  unclear(kind: 'syntax' | 'program' | 'words' | 'environment' | 'limit', reason: string): void;
}

/** How braces are read: as `bash` does, as `sh` does, or both. */
export type Braces = 'expanded' | 'kept' | 'both';

/** Expands one word of a script into words: braces, `~`, variables, substitutions and patterns. */
export function expandWord(
  word: Word,
  state: ShellState,
  host: ExpansionHost,
  braces: Braces = 'both',
): readonly Field[] {
  const { text, value, parts } = word;
  if (parts === undefined && !/[~{]/.test(text)) return [known(value)];
  const kept = expandParts(word, state, host);
  if (braces === 'kept' || !mayExpandBraces(text)) return kept;
  const words = expandBraces(text);
  host.limits.names -= words?.length ?? 0;
  if (words === undefined || host.limits.names < 0) {
    host.unclear('words', 'braces that are not plain, or make too many words');
    return [unknownWords];
  }
  const expanded = words.filter((one) => one !== '').flatMap((one) => expandPattern(one, one, { state, host }));
  return braces === 'both' ? [...expanded, ...kept] : expanded;
}

/** One word that the shell neither splits nor globs: the value of a variable, a here-string. */
export function expandValue(word: Word, state: ShellState, host: ExpansionHost): Field {
  const pieces = collect(word, state, host, true);
  const [only] = pieces;
  if (pieces.length === 1 && only?.field !== undefined) return { ...only.field, splits: false };
  const index = pieces.findIndex(({ field }) => field !== undefined);
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
    if (piece.field !== undefined) {
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
    // Where it is split, its end belongs to the last word alone.
    return [{ text, known: false, splits: splits || isWildcard(pattern), ...(splits ? {} : { ends }) }];
  }
  return expandPattern(pattern, text, { state, host });
}

/** `text`, or the names of the files that a pattern matches. */
function expandPattern(
  pattern: string,
  text: string,
  { state, host }: { readonly state: ShellState; readonly host: ExpansionHost },
): readonly Field[] {
  if (!isWildcard(pattern)) return [known(text)];
  const [folder, ...others] = pattern.startsWith('/') ? ['/'] : (state.folders ?? []);
  // The names found on disk are written without these.
  const isOdd = others.length > 0 || /(?:^|\/)\.?(?:\/|$)/.test(pattern.replace(/^\.?\//, ''));
  const found = folder === undefined || isOdd ? undefined : expandGlob(pattern, folder, host);
  if (found === undefined) {
    const [begins = ''] = text.split(/[*?[]/);
    return [{ text: begins, known: false, splits: true, ends: text.slice(text.search(/[^*?\]]*$/)) }];
  }
  host.limits.names -= found.length;
  // `bash` and `sh` keep a pattern without a match.
  const start = pattern.startsWith('./') ? './' : '';
  return (found.length === 0 ? [text] : found.map((name) => start + name)).map((name) => ({
    ...known(name),
    matched: true,
  }));
}

function collect(word: Word, state: ShellState, host: ExpansionHost, isValue: boolean): readonly Piece[] {
  const { text, value, parts } = word;
  const pieces: Piece[] = [];
  if (parts === undefined) pieces.push({ text: value, quoted: true, splits: false });
  else for (const part of parts) collectPart(part, { pieces, state, host, quoted: isValue });
  // Shells differ in whether `NAME=~` is one of a home.
  if (/[=:]~/.test(text)) return [...pieces, unknownPiece];
  if (!text.startsWith('~')) return pieces;
  const [first, ...others] = pieces;
  const home = state.read('HOME') ?? homeOf(host);
  // Another user's, a former folder, or quotes that make it a plain `~`.
  if (first === undefined || !/^~(?:\/[^'"\\$`]*)?$/.test(text) || !home.known) return [unknownPiece, ...pieces];
  return [{ text: home.text, quoted: true, splits: false }, { ...first, text: first.text.slice(1) }, ...others];
}

const unknownPiece: Piece = { text: '', quoted: true, splits: false, field: unknownWord };

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
    case 'LocaleString':
      // For `sh` the `$` is a character.
      visitInner(part, collecting);
      pieces.push(unknownPiece);
      return;
    case 'DoubleQuoted':
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
      if (part.type === 'BraceExpansion' && !/["'\\$`]/.test(part.text)) {
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
    const splits = name === '@' || !quoted;
    pieces.push({ text: '', quoted, splits, field: splits ? unknownWords : unknownWord });
    return;
  }
  const field = state.read(name) ?? (name === 'HOME' ? homeOf(host) : unknownWord);
  pieces.push(toPiece(field, { quoted, state }));
}

function toPiece(field: Field, { quoted, state }: { readonly quoted: boolean; readonly state: ShellState }): Piece {
  if (!field.known) return { text: '', quoted, splits: !quoted && field.tree === undefined, field };
  // With another `IFS` it is not known where a value is split; of patterns and backslashes shells and their versions differ.
  const isSplit = !quoted && (/[\\*?[\]]/.test(field.text) || (state.variables.has('IFS') && /\W/.test(field.text)));
  return { text: field.text, quoted, splits: !quoted, ...(isSplit ? { field: unknownWords } : {}) };
}

function substituted({ script }: CommandExpansionPart, { host, state }: Collecting): Field {
  const text = script === undefined ? undefined : host.substitute(script, state);
  return text === undefined ? unknownWord : known(text);
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
