import { joinLogically } from '../places/path.ts';
import { runFile } from '../programs/run-file.ts';
import { type Field, known, show, unknownWord } from '../script/field.ts';
import { joinFolders } from '../script/state.ts';
import { type Call, type Handler, noInput, nothing, type Result, type Runner, unclearCode } from '../script/types.ts';
import { changesPrograms } from '../script/variables.ts';

/** Builtins of the shell: they affect the commands after them. */
export const builtins: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['cd', changeFolder],
  ['pushd', changeFolder],
  ['popd', forgetFolder],
  ['pwd', ({ state }) => printing(state.folders?.length === 1 ? state.folders[0] : undefined)],
  ['echo', ({ words }) => printWords(words)],
  ['printf', printFormat],
  ...['declare', 'typeset', 'local', 'export', 'readonly'].map((name) => [name, declare] as const),
  ['unset', forgetWords],
  ['read', readVariables],
  ...['mapfile', 'readarray', 'getopts'].map((name) => [name, readVariables] as const),
  ['let', evaluateNumbers],
  ['test', checkTest],
  ['[', checkTest],
  ['alias', defineAlias],
  ['unalias', () => undefined],
  ['set', setOptions],
  ['eval', evaluate],
  ['source', source],
  ['.', source],
  ['trap', trap],
  ...['exit', 'return'].map((name) => [name, end] as const),
  ['shift', ({ state }) => forgetPositional(state)],
  ...['shopt', 'enable', 'hash', 'bind', 'complete', 'compopt', 'fc'].map((name) => [name, changeShell] as const),
]);

function printing(text: string | undefined): Result {
  return text === undefined ? nothing : { decides: [], output: { given: true, fetched: false, text } };
}

function printWords(words: readonly Field[]): Result {
  const texts = words.filter(({ text, known: isKnown }) => !isKnown || !/^-[neE]+$/.test(text));
  const [only, ...others] = texts;
  if (only?.tree !== undefined && others.length === 0)
    return { decides: [], output: { given: true, fetched: false, names: [only] } };
  // Some shells interpret backslashes in printed text.
  const isPlain = texts.every(({ text, known: isKnown }) => isKnown && !text.includes('\\'));
  return printing(isPlain ? `${texts.map(({ text }) => text).join(' ')}\n` : undefined);
}

function printFormat({ words: given, state }: Call, runner: Runner): Result {
  const isSet = given[0]?.text.startsWith('-v') === true;
  const words = isSet ? given.slice(given[0]?.text === '-v' ? 2 : 1) : given;
  if (isSet) setVariable(given[0]?.text === '-v' ? given[1] : known(given[0]?.text.slice(2) ?? ''), state, runner);
  else if (given[0]?.known === false && given[0].text === '') runner.unclear('words', 'cannot tell what `printf` gets');
  const [format, ...values] = words;
  if (format?.known === true && /^%s(?:\\n|\\0)?$/.test(format.text) && values.every((field) => field.known)) {
    return printing(`${values.map(({ text }) => text).join('\n')}\n`);
  }
  return printing(
    format?.known === true && !/[%\\]/.test(format.text.replace(/\\n$/, ''))
      ? format.text.replace(/\\n$/, '\n')
      : undefined,
  );
}

/** Assigns an unknown value to a name; `bash` evaluates a subscript after it. */
function setVariable(name: Field | undefined, state: Call['state'], runner: Runner): void {
  if (name?.known !== true || !/^[A-Za-z_]\w*$/.test(name.text)) {
    runner.unclear('syntax', 'a variable whose name is evaluated');
    return;
  }
  if (changesPrograms(name.text)) runner.unclear('environment', `\`${name.text}\` changes what programs do`);
  state.variables.set(name.text, unknownWord);
}

/** `test -v` evaluates a subscript, and an unknown word may contain one. */
function checkTest({ words, program }: Call, runner: Runner): undefined {
  if (words.some(({ text, known: isKnown, splits }) => /^-[vR]$/.test(text) || (!isKnown && splits))) {
    runner.unclear('syntax', `cannot tell what \`${program}\` tests`);
  }
}

function evaluateNumbers({ program }: Call, runner: Runner): undefined {
  runner.unclear('syntax', `\`${program}\` evaluates`);
}

function changeFolder(call: Call, runner: Runner): Result | undefined {
  const { state } = call;
  const target = call.words.find(({ text, known: isKnown }) => !isKnown || !/^-[LPe@n]+$|^--$/.test(text));
  const before = state.folders;
  if (target === undefined)
    state.folders = runner.home === undefined || call.program === 'pushd' ? undefined : [runner.home];
  else if (!target.known || target.text === '-' || /^[+-]\d+$/.test(target.text)) state.folders = undefined;
  else {
    const { text } = target;
    const folders = before?.map((folder) => joinLogically(folder, text));
    const targets = text.startsWith('/') ? [joinLogically('/', text)] : folders;
    const isThere = targets?.every((path) => runner.places.type(path) === 'folder') ?? false;
    // If the folder does not exist, the script continues in the current one.
    state.folders = isThere ? targets : joinFolders(targets, before);
  }
  if (state.variables.has('CDPATH')) state.folders = undefined;
  state.variables.set('OLDPWD', unknownWord);
  return undefined;
}

function forgetFolder({ state }: Call): undefined {
  state.folders = undefined;
}

function declare({ words, state, program }: Call, runner: Runner): undefined {
  if (words.every(({ text }) => text.startsWith('-')) && program !== 'local') {
    runner.unclear('words', `\`${program}\` prints the environment`);
  }
  for (const { text, known: isKnown, splits } of words) {
    if (/^[-+]\w*$/.test(text) && isKnown) {
      if (/n/.test(text) && program !== 'export') runner.unclear('words', 'a variable that names another');
      continue;
    }
    const [, name, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text) ?? [];
    if (name === undefined || (splits && !isKnown)) runner.unclear('words', `cannot tell what \`${program}\` declares`);
    else if (value === undefined) {
      // Without a value the variable keeps its value.
      if (program !== 'export' && program !== 'readonly') state.variables.set(name, unknownWord);
      else if (program === 'export' && !words.some((word) => word.text === '-n')) state.export(name);
      if (state.variables.has(name) && changesPrograms(name))
        runner.unclear('environment', `\`${name}\` changes what programs do`);
    } else {
      const field = isKnown ? known(value) : { text: value, known: false, splits: false };
      runner.checkVariable(name, field);
      state.variables.set(name, field);
      if (program === 'export' || words.some((word) => /^-\w*x/.test(word.text))) state.export(name);
    }
  }
}

function forgetWords({ words, state }: Call, runner: Runner): undefined {
  // Also functions.
  state.defined = new Set();
  for (const word of words) if (!/^-[fvn]$/.test(word.text)) setVariable(word, state, runner);
}

function readVariables({ words, state, around, program }: Call, runner: Runner): Result {
  const { names, text } = around.input;
  const variables = words.filter(({ text: word, known: isKnown }) => isKnown && /^[A-Za-z_]\w*$/.test(word));
  const lines = text?.trimEnd().split('\n') ?? [];
  const isWhole =
    program === 'read' && variables.length === 1 && lines.length === 1 && text !== undefined && !/[\\]/.test(text);
  for (const { text: name } of variables) {
    if (changesPrograms(name)) runner.unclear('environment', `\`${name}\` changes what programs do`);
    const tree = program === 'read' && names?.length === 1 && variables.length === 1 ? names[0] : undefined;
    state.variables.set(name, tree ?? (isWhole ? known((lines[0] ?? '').trim()) : unknownWord));
  }
  if (words.some((field) => !field.known || field.text.includes('['))) {
    runner.unclear('words', `cannot tell which variables \`${program}\` sets`);
  }
  // `mapfile -C` runs a command.
  if (program !== 'read' && words.some(({ text }) => /^-\w*C/.test(text)))
    runner.unclear('code', `code that \`${program}\` runs is not analyzed`);
  return nothing;
}

function defineAlias({ words }: Call, runner: Runner): undefined {
  for (const { text, known: isKnown } of words) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (!isKnown || name === undefined || value === undefined) {
      if (!isKnown) runner.unclear('words', 'cannot tell what an alias stands for');
    } else runner.aliases.set(name, value);
  }
}

function setOptions({ words, state, program }: Call, runner: Runner): undefined {
  let index = 0;
  for (; index < words.length; index += 1) {
    const { text, known: isKnown } = words[index] as Field;
    if (!isKnown && text === '') runner.unclear('words', 'cannot tell what `set` changes');
    if (text === '--' || !/^[-+]./.test(text)) break;
    const isOn = text.startsWith('-');
    const takesName = /o$/.test(text);
    if (takesName) index += 1;
    const name = takesName ? words[index]?.text : undefined;
    const { options } = state;
    state.options = {
      noglob: /f/.test(text) || name === 'noglob' ? isOn : options.noglob,
      errexit: /e/.test(text) || name === 'errexit' ? isOn : options.errexit,
      pipefail: name === 'pipefail' ? isOn : options.pipefail,
    };
    if (/k/.test(text) || name === 'keyword') runner.unclear('environment', '`set -k` turns words into variables');
  }
  if (words.length === 0) runner.unclear('words', `\`${program}\` prints the environment`);
  else if (index < words.length) state.positional = words.slice(words[index]?.text === '--' ? index + 1 : index);
}

function evaluate({ words, state, around }: Call, runner: Runner): Result | undefined {
  const given = words[0]?.text === '--' ? words.slice(1) : words;
  if (given.every(({ known: isKnown, differs }) => isKnown && differs !== true)) {
    return runner.runText(given.map(({ text }) => text).join(' '), state, { ...around, depth: around.depth + 1 });
  }
  unclearCode(runner, around.input, 'cannot tell what `eval` runs');
  return undefined;
}

function source(call: Call, runner: Runner): undefined {
  const [file, ...words] = call.words[0]?.text === '--' ? call.words.slice(1) : call.words;
  if (file === undefined) return;
  runFile(file, call, runner, { shell: true, sourced: true, words });
  // The variables that it sets are unknown.
  call.state.folders = undefined;
  call.state.mayHaveEnded = true;
}

function trap({ words, state, around }: Call, runner: Runner): undefined {
  const [action, ...signals] = words[0]?.text === '--' ? words.slice(1) : words;
  if (action === undefined || signals.length === 0 || /^-[lp]?$/.test(action.text)) return;
  if (!action.known) runner.unclear('code', 'cannot tell what `trap` runs');
  else {
    runner.runText(action.text, state.clone(), { ...around, depth: around.depth + 1 });
    // It may end the script with a different exit code.
    if (/\b(?:exit|return|exec)\b/.test(action.text)) state.mayHaveEnded = true;
  }
}

function end({ words, state }: Call): Result {
  const isFailure = words.length === 1 && words[0]?.known === true && /^[1-9]\d?$/.test(words[0].text);
  if (!isFailure) state.mayHaveEnded = true;
  return { decides: [], output: noInput };
}

function forgetPositional(state: Call['state']): undefined {
  state.positional = undefined;
}

function changeShell({ words, program }: Call, runner: Runner): undefined {
  const isHarmless =
    program === 'shopt' &&
    words.every(({ text }) => /^-[sup]$|^(?:nullglob|failglob|inherit_errexit|lastpipe)$/.test(text));
  if (!isHarmless && words.length > 0) runner.unclear('environment', `\`${show(program)}\` changes what commands do`);
}
