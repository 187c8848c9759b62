import { type Field, known, show } from '../script/field.ts';
import type { Call, Handler, Runner } from '../script/types.ts';
import { readArguments, readRoles } from './arguments.ts';
import { applyRole } from './roles.ts';

const sedAddress = String.raw`(?:(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\.)*/I?)(?:,\s*[+~]?(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?))?\s*!?)?\s*`;
const sedSubstitute = String.raw`s([^\w\s\\])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpIi\d]*`;
// Commands that neither read, write nor run anything.
const sedCommand = new RegExp(
  String.raw`^(?:${sedAddress}(?:[=dDgGhHlnNpPqQxz]|[aic]\\?\s?[^\n]*|[qQ]\s*\d+|${sedSubstitute}|y/[^/\n]*/[^/\n]*/)|\s*[{}]\s*)\s*$`,
);

function isPlainSed(script: string): boolean {
  if (script.length > 2_000) return false;
  const [, address, inner] = /^(.*?)\{([^{}]*)\}$/s.exec(script) ?? [];
  if (inner !== undefined && address !== undefined && new RegExp(`^${sedAddress}$`).test(address))
    return isPlainSed(inner);
  if (sedCommand.test(script)) return true;
  // A `;` or a newline within a text does not end a command, so every part must be plain.
  const parts = script.split(/[;\n]/).filter((part) => part.trim() !== '');
  return parts.length > 0 && parts.every((part) => sedCommand.test(part.trim()));
}

/** A program with its code among its arguments, such as `awk`: it can read files and run commands, but rarely does. */
function textProgram(
  options: string,
  {
    script,
    unless,
    writes,
  }: { readonly script: (text: string) => boolean; readonly unless: string; readonly writes?: string },
): Handler {
  const roles = readRoles(options);
  return (call, runner) => {
    const given = readArguments(call.words, roles);
    const scripts: Field[] = [];
    const inPlace = writes !== undefined && given.options.some(({ name }) => writes.split(' ').includes(name));
    for (const { role, value, name } of given.options) {
      if (role === 'code') scripts.push(value ?? known(''));
      else if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
    }
    if (given.unsure) runner.unclear('words', `cannot tell which options \`${call.program}\` gets`);
    const isGiven = given.options.some(({ name }) => unless.split(' ').includes(name));
    const [first, ...others] = given.operands;
    const files = isGiven ? given.operands : others;
    if (!isGiven && first !== undefined) scripts.push(first);
    for (const field of scripts) checkScript(field, script, { call, runner });
    for (const field of files) {
      if (field.known && /^[A-Za-z_]\w*=/.test(field.text) && call.program !== 'sed') continue;
      applyRole('read', field, { call, runner, recursion: undefined, name: '' });
      if (inPlace) applyRole('write', field, { call, runner, recursion: undefined, name: '' });
    }
    return undefined;
  };
}

function checkScript(
  field: Field,
  isPlain: (text: string) => boolean,
  { call, runner }: { call: Call; runner: Runner },
): void {
  if (field.known && field.matched !== true && isPlain(field.text)) return;
  runner.unclear('code', `\`${show(call.program)}\` gets a program that may read, write or run something`);
}

// Comments, texts and expressions of `awk`, where it is sure that they are some.
const awkTexts = /#[^\n]*|"(?:[^"\\\n]|\\.)*"|(?<=(?:^|[({,~!;&|\n])[ \t]*)\/(?:[^/\\\n[]|\\.|\[[^\]/\n]+\])+\//g;

// Only `getline`, `system`, pipes, redirections and loading have outside effects.
function isPlainAwk(script: string): boolean {
  if (/getline|system|close|fflush|@|ENVIRON|ARGV|ARGC|PROCINFO|SYMTAB/.test(script)) return false;
  const code = script.replace(awkTexts, ' 0 ');
  if (!/[|>]/.test(script)) return true;
  // A quote, or a division, may as well begin a text.
  return !/["/#]|\|(?!\|)(?<!\|\|)|\bprintf?\b[^;}\n]*>/.test(code);
}

function isPlainJq(script: string): boolean {
  return !/\b(?:env|import|include|input_filename|modulemeta)\b|\$ENV|\$__/.test(script);
}

const editorOptions = readRoles('c:code S:load u:load cmd:code s:load W:write w:write es:flag');

/** `vim`: its commands can do anything. */
function runEditor(call: Call, runner: Runner): undefined {
  const given = readArguments(call.words, editorOptions);
  for (const { role, value, name } of given.options)
    applyRole(role, value ?? known(''), { call, runner, recursion: undefined, name });
  // Its input is also commands.
  if (call.program === 'ed' || call.program === 'ex' || call.around.input.given)
    runner.unclear('code', `\`${call.program}\` gets commands`);
  for (const field of given.operands) {
    if (field.text.startsWith('+')) runner.unclear('code', `\`${call.program}\` gets a command`);
    else {
      applyRole('read', field, { call, runner, recursion: undefined, name: '' });
      applyRole('write', field, { call, runner, recursion: undefined, name: '' });
    }
  }
}

const awk = textProgram(
  'f:load F:text v:text e:code i:load l:load E:load file:load field-separator:text assign:text source:code include:load load:load exec:load o:write d:write p:write',
  {
    script: isPlainAwk,
    unless: 'f e E file source exec',
  },
);

const sed = textProgram('e:code f:load l:text i:flag expression:code file:load line-length:text in-place:flag', {
  script: isPlainSed,
  unless: 'e f expression file',
  writes: 'i in-place',
});

export const textPrograms: readonly (readonly [string, Handler])[] = [
  ['sed', sed],
  ['gsed', sed],
  ...['awk', 'gawk', 'mawk', 'nawk'].map((name) => [name, awk] as const),
  ['jq', runJq],
  ...['vim', 'vi', 'nvim', 'ed', 'ex', 'view', 'emacs'].map((name) => [name, runEditor] as const),
];

const jqOptions = readRoles(
  'f:load from-file:load L:text indent:text arg:text argjson:text rawfile:text slurpfile:text',
);

function runJq(call: Call, runner: Runner): undefined {
  // `--rawfile NAME FILE` takes two words.
  const words = call.words.flatMap((word, index) => {
    const before = call.words[index - 1]?.text ?? '';
    const twoBefore = call.words[index - 2]?.text ?? '';
    const second = /^--(?:rawfile|slurpfile|arg|argjson)$/.test(twoBefore);
    if (second && /file$/.test(twoBefore))
      applyRole('read', word, { call, runner, recursion: undefined, name: before });
    return second ? [] : [word];
  });
  const given = readArguments(words, jqOptions);
  for (const { role, value, name } of given.options)
    if (value !== undefined) applyRole(role, value, { call, runner, recursion: undefined, name });
  const isGiven = given.options.some(({ name }) => name === 'f' || name === 'from-file');
  const [script, ...files] = given.operands;
  if (script !== undefined && !isGiven) checkScript(script, isPlainJq, { call, runner });
  for (const field of isGiven ? given.operands : files)
    applyRole('read', field, { call, runner, recursion: undefined, name: '' });
}
