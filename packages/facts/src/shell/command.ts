import { programs } from '../programs/programs.ts';
import { runFile } from '../programs/run-file.ts';
import { applyShape } from '../programs/shape.ts';
import { foldProgram } from '../rules/command-rule.ts';
import { type Field, show } from '../script/field.ts';
import type { ShellState } from '../script/state.ts';
import { type Call, nothing, type Result, type Runner, type Surroundings } from '../script/types.ts';
import { builtins } from './builtins.ts';

export interface CommandHost extends Runner {
  readonly facts: Runner['facts'];
  runFunctions(name: string, words: readonly Field[], state: ShellState, around: Surroundings): boolean;
}

interface Started {
  readonly words: readonly Field[];
  /** Names of the variables set for it. */
  readonly environment: readonly string[];
  readonly state: ShellState;
  readonly around: Surroundings;
}

// `sh` always runs its own version of these, even if a function has the name.
const special: ReadonlySet<string> = new Set(
  ': . break continue eval exec exit export readonly return set shift times trap unset'.split(' '),
);
const systemFolder = /^\/(?:usr\/(?:local\/)?|opt\/homebrew\/|opt\/local\/)?s?bin\/[^/]+$/;

/** Adds a simple command and the commands that it runs. */
export function runCommand({ words, environment, state, around }: Started, host: CommandHost): Result {
  const [name, ...given] = words;
  const { facts } = host;
  if (name === undefined) return nothing;
  if (!name.known || name.text === '' || name.matched === true) {
    host.unclear('program', 'the name of a command is known only when it runs');
    for (const word of words)
      if (word.tree !== undefined || word.matched === true) facts.use('reads', word, state.folders);
    return nothing;
  }
  const alias = around.external === true ? undefined : host.aliases.get(name.text);
  if (alias !== undefined) runAlias(alias, given, { state, around, host });
  const isShadowed = around.external !== true && host.runFunctions(name.text, given, state, around);
  // A function that certainly exists is what runs.
  if (isShadowed && state.defined.has(name.text) && !special.has(name.text)) return nothing;
  const isFile = name.text.includes('/') && !systemFolder.test(name.text);
  const program = isFile ? name.text : foldProgram(name.text);
  const [folder, ...others] = state.folders ?? [];
  const position = facts.run({
    program,
    arguments: given.map((field) => (field.known ? field.text : null)),
    ...(folder === undefined || others.length > 0 ? {} : { folder }),
    environment,
    decides: false,
    background: around.background,
    after: around.after,
    written: false,
  });
  const call: Call = { program, words: given, state, around, position };
  const result = isFile ? runProgramFile(name, call, host) : runKnown(call, host);
  const decides = isShadowed || alias !== undefined ? [] : [position, ...(result?.decides ?? [])];
  const output = result?.output ?? { given: true, fetched: false };
  return { decides, output: { ...output, fetched: output.fetched || around.input.fetched } };
}

function runKnown(call: Call, host: CommandHost): Result | undefined {
  const { program } = call;
  const builtin = builtins.get(program);
  if (builtin !== undefined) return builtin(call, host);
  const known = programs.get(program) ?? programs.get(program.replace(/-?[\d.]+$/, ''));
  if (known === undefined) {
    host.unclear('program', `unknown program \`${show(program)}\``);
    return applyShape(unknownProgram, call, host);
  }
  return typeof known === 'function' ? known(call, host) : applyShape(known, call, host);
}

function runProgramFile(name: Field, call: Call, host: CommandHost): Result | undefined {
  runFile(name, call, host, { shell: true, words: call.words });
  return applyShape(unknownProgram, call, host);
}

const unknownProgram = { options: 'o:write output:write', operands: 'maybe*' } as const;

function runAlias(
  alias: string,
  given: readonly Field[],
  { state, around, host }: { readonly state: ShellState; readonly around: Surroundings; readonly host: CommandHost },
): void {
  if (given.some((field) => !field.known)) host.unclear('words', 'cannot tell what an alias gets');
  const quoted = given.map(({ text }) => `'${text.replaceAll("'", "'\\''")}'`);
  host.runText([alias, ...quoted].join(' '), state, { ...around, depth: around.depth + 1 });
}
