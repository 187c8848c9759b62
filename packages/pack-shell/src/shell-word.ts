import type { CommandArgument, Word, WordPart } from 'unbash';

/** A word of a command, as far as it is known before the command runs. */
export interface ShellWord {
  /** All of it when it is `known`, otherwise what it begins with. */
  readonly text: string;
  readonly known: boolean;
  /** It may become several words, or none. */
  readonly splits: boolean;
}

export function knownWord(text: string): ShellWord {
  return { text, known: true, splits: false };
}

/** What stands for words that only exist when the command runs. */
export const unknownWords: ShellWord = { text: '', known: false, splits: true };

export function toShellWord(argument: CommandArgument): ShellWord {
  if (argument.type === 'Word') return fromWord(argument);
  const { name, value, append, index } = argument;
  const head = `${name}${append === true ? '+=' : '='}`;
  if (value.type !== 'Word' || index !== undefined) return { text: name, known: false, splits: false };
  const { text, known } = fromWord(value);
  return { text: head + text, known, splits: false };
}

function fromWord({ text, value, parts }: Word): ShellWord {
  // Shells differ in which braces they expand.
  if (parts === undefined) return { text: value, known: !mayBeBraces(text), splits: mayBeBraces(text) };
  const state: Reading = { text: '', known: true, splits: false };
  for (const part of parts) readPart(part, state, false);
  return state;
}

function mayBeBraces(text: string): boolean {
  return text.includes('{') && (text.includes(',') || text.includes('..'));
}

interface Reading {
  text: string;
  known: boolean;
  splits: boolean;
}

function readPart(part: WordPart, state: Reading, quoted: boolean): void {
  switch (part.type) {
    case 'Literal':
      if (!quoted && mayBeBraces(part.text)) {
        state.splits = true;
        state.known = false;
      } else if (state.known) state.text += part.value;
      return;
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      if (state.known) state.text += part.value;
      return;
    case 'DoubleQuoted':
    case 'LocaleString':
      for (const inner of part.parts) readPart(inner, state, true);
      return;
    case 'ProcessSubstitution':
      if (state.known) state.text += '/dev/fd/';
      state.known = false;
      return;
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      state.known = false;
      // "$@" and "${list[@]}" are as many words as there are.
      if (!quoted || part.text.includes('@')) state.splits = true;
      return;
    case 'CommandExpansion':
    case 'ArithmeticExpansion':
    case 'Glob':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      state.known = false;
      if (!quoted) state.splits = true;
      return;
    default:
      part satisfies never;
  }
}
