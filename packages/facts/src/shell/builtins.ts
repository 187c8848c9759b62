import { joinLogically } from '../places/path.ts';
import { plainNames } from '../programs/plain-names.ts';
import { runFile } from '../programs/run-file.ts';
import { type Field, known, mayBeOption, show, unknownWord } from '../script/field.ts';
import { joinFolders } from '../script/state.ts';
import { type Call, type Handler, noInput, type Result, type Runner, unclearCode } from '../script/types.ts';
import { changesPrograms } from '../script/variables.ts';

/** What belongs to the shell itself: it changes what the commands after it do. */
export const builtins: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['cd', changeFolder],
  ...['pushd', 'popd', 'chdir'].map((name) => [name, forgetFolder] as const),
  ...['echo', 'pwd'].map((name) => [name, () => undefined] as const),
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
  ['shift', () => undefined],
  ...['shopt', 'enable', 'hash', 'bind', 'complete', 'compopt', 'fc'].map((name) => [name, changeShell] as const),
]);

function printFormat({ words, state }: Call, runner: Runner): undefined {
  const [first, second] = words;
  if (first?.text.startsWith('-v') === true)
    setVariable(first.text === '-v' ? second : known(first.text.slice(2)), state, runner);
  else if (first?.known === false && mayBeOption(first)) runner.unclear('words', 'what `printf` gets is not known');
}

/** A name that gets a value which is not known; `bash` evaluates what stands in brackets behind it. */
function setVariable(name: Field | undefined, state: Call['state'], runner: Runner): void {
  if (name?.known !== true || !/^[A-Za-z_]\w*$/.test(name.text)) {
    runner.unclear('syntax', 'a variable whose name is evaluated');
    return;
  }
  if (changesPrograms(name.text)) runner.unclear('environment', `\`${name.text}\` changes what programs do`);
  state.variables.set(name.text, unknownWord);
}

/** `test -v` evaluates what stands in brackets, and a word that is not known may be that. */
function checkTest({ words, program }: Call, runner: Runner): undefined {
  if (words.some(({ text, known: isKnown, splits }) => /^-[vR]$/.test(text) || (!isKnown && splits))) {
    runner.unclear('syntax', `what \`${program}\` tests is not known`);
  }
}

function evaluateNumbers({ program }: Call, runner: Runner): undefined {
  runner.unclear('syntax', `\`${program}\` evaluates`);
}

function changeFolder({ words, state }: Call, runner: Runner): undefined {
  const before = state.folders;
  const [target, ...others] = words[0]?.text === '--' ? words.slice(1) : words;
  state.forget(['OLDPWD']);
  if (target === undefined) state.folders = runner.home === undefined ? undefined : [runner.home];
  else if (!target.known || /^(?:|-.*|[+]\d+)$/.test(target.text) || others.length > 0 || state.variables.has('CDPATH'))
    state.folders = undefined;
  else {
    const { text } = target;
    const from = text.startsWith('/') ? ['/'] : before;
    const targets = from?.map((folder) => joinLogically(folder, text));
    const isThere = targets?.every((path) => runner.places.type(path) === 'folder') ?? false;
    // A shell that was not told how it came here takes `..` for the folder above where a link leads.
    const behind = text.includes('..')
      ? from?.map((folder) => runner.places.resolve(`${folder}/${text}`) ?? '')
      : targets;
    // Where it is not there, the script goes on in the folder that it was in.
    state.folders = joinFolders(joinFolders(targets, behind), isThere ? targets : before);
  }
}

function forgetFolder({ state }: Call): undefined {
  state.folders = undefined;
}

function declare({ words, state, program }: Call, runner: Runner): undefined {
  if (words.every(({ text }) => text.startsWith('-')) && program !== 'local') {
    runner.unclear('words', `\`${program}\` prints the environment`);
  }
  // Where it is set again, `bash` leaves out the rest of the line, and goes on.
  if (program === 'readonly') runner.unclear('words', 'which commands run after what `readonly` forbids is not known');
  for (const { text, known: isKnown, splits } of words) {
    // Others evaluate, name another variable, or change what is set later.
    if (isKnown && /^-[xgp]+$/.test(text)) continue;
    const [, name, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text) ?? [];
    if (name === undefined || (splits && !isKnown) || value?.startsWith('(') === true) {
      runner.unclear('words', `what \`${program}\` declares is not known`);
    } else if (value !== undefined) {
      const field = isKnown ? known(value) : unknownWord;
      runner.checkVariable(name, field);
      // Some shells split the value.
      state.assign(name, program === 'export' && /^[\w./:@%+,-]*$/.test(value) ? field : unknownWord);
    } else {
      if (program !== 'export') state.forget([name]);
      if (state.variables.has(name) && changesPrograms(name))
        runner.unclear('environment', `\`${name}\` changes what programs do`);
    }
  }
}

function forgetWords({ words, state }: Call, runner: Runner): undefined {
  // Functions, too.
  state.defined = new Set();
  for (const word of words) if (!/^-[fvn]$/.test(word.text)) setVariable(word, state, runner);
}

const readOptions = /^-(?:[rse]+|[rse]*[ptnNud])$/;

function readVariables({ words, state, around, program }: Call, runner: Runner): undefined {
  const names = words.filter(({ text }) => /^[A-Za-z_]\w*$/.test(text));
  for (const { text: name } of names) {
    if (changesPrograms(name)) runner.unclear('environment', `\`${name}\` changes what programs do`);
    const found = program === 'read' && names.length === 1 ? plainNames(around.input, runner) : undefined;
    state.variables.set(name, found?.length === 1 && found[0] !== undefined ? found[0] : unknownWord);
  }
  const isPlain = words.every(
    ({ text, known: isKnown }) => isKnown && !text.includes('[') && (!text.startsWith('-') || readOptions.test(text)),
  );
  if (!isPlain) runner.unclear('words', `which variables \`${program}\` sets is not known`);
}

function defineAlias({ words }: Call, runner: Runner): undefined {
  if (words.some(({ text, known: isKnown }) => !isKnown || text.includes('=')))
    runner.unclear('code', 'what an alias stands for is read when it is used');
}

function setOptions({ words, state, program }: Call, runner: Runner): undefined {
  if (words.length === 0) runner.unclear('words', `\`${program}\` prints the environment`);
  for (let index = 0; index < words.length; index += 1) {
    const { text, known: isKnown } = words[index] as Field;
    // The words behind are `$1` and on.
    if (isKnown && (text === '--' || /^[^-+]/.test(text))) return;
    const takesName = text.endsWith('o');
    if (takesName) index += 1;
    const name = takesName ? (words[index]?.text ?? '') : 'xtrace';
    if (
      !isKnown ||
      !/^[-+][eux]*o?$/.test(text) ||
      text.length < 2 ||
      !/^(?:pipefail|errexit|nounset|xtrace)$/.test(name)
    ) {
      runner.unclear('environment', `\`${program}\` changes what commands do`);
      return;
    }
    const isOn = text.startsWith('-');
    const { errexit, pipefail } = state.options;
    state.options = {
      errexit: text.includes('e') || name === 'errexit' ? isOn : errexit,
      pipefail: name === 'pipefail' ? isOn : pipefail,
    };
  }
}

function evaluate({ words, state, around }: Call, runner: Runner): Result | undefined {
  const given = words[0]?.text === '--' ? words.slice(1) : words;
  if (given.every(({ known: isKnown }) => isKnown)) {
    const before = state.clone();
    const text = given.map((field) => field.text).join(' ');
    const result = runner.runText(text, state, { ...around, depth: around.depth + 1 });
    // Of a text that a shell cannot parse nothing runs, and the script goes on.
    state.join(before);
    return result;
  }
  unclearCode(runner, around.input, 'what `eval` runs is not known');
  return undefined;
}

function source(call: Call, runner: Runner): undefined {
  const [file] = call.words[0]?.text === '--' ? call.words.slice(1) : call.words;
  if (file === undefined) return;
  runFile(file, call, runner, { shell: true, sourced: true });
  call.state.forgetAll();
  call.state.mayHaveEnded = true;
}

function trap({ words, state, around }: Call, runner: Runner): undefined {
  const [action, ...signals] = words[0]?.text === '--' ? words.slice(1) : words;
  if (action === undefined || signals.length === 0 || /^-[lp]?$/.test(action.text)) return;
  if (action.known && /^-?$/.test(action.text)) return;
  // It runs at any time from here on, with what is set and defined by then, and may end the script with another code.
  runner.unclear('code', 'when `trap` runs its command is not known');
  state.mayHaveEnded = true;
  const then = state.clone();
  then.forgetAll();
  // Where nothing changes folders, what it does here is what it would do.
  then.folders = state.folders;
  if (action.known) runner.runText(action.text, then, { ...around, depth: around.depth + 1 });
}

function end({ words, state }: Call): Result {
  const isFailure = words.length === 1 && words[0]?.known === true && /^[1-9]\d?$/.test(words[0].text);
  if (!isFailure) state.mayHaveEnded = true;
  return { decides: [], output: noInput };
}

function changeShell({ words, program }: Call, runner: Runner): undefined {
  const isHarmless =
    program === 'shopt' && words.every(({ text }) => /^-[sup]$|^(?:inherit_errexit|lastpipe)$/.test(text));
  if (!isHarmless && words.length > 0) runner.unclear('environment', `\`${show(program)}\` changes what commands do`);
}
