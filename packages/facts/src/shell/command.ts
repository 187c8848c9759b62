import { programs } from '../programs/programs.ts';
import { runFile } from '../programs/run-file.ts';
import { applyShape, type Shape } from '../programs/shape.ts';
import { foldProgram } from '../rules/command-rule.ts';
import { type Field, show } from '../script/field.ts';
import type { ShellState } from '../script/state.ts';
import { type Call, type Handler, nothing, type Result, type Runner, type Surroundings } from '../script/types.ts';
import { builtins } from './builtins.ts';

export interface CommandHost extends Runner {
  readonly facts: Runner['facts'];
  runFunctions(name: string, state: ShellState, around: Surroundings): boolean;
}

interface Started {
  readonly words: readonly Field[];
  /** Names of the variables set for it. */
  readonly environment: readonly string[];
  readonly state: ShellState;
  readonly around: Surroundings;
}

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
  const isShadowed = around.external !== true && host.runFunctions(name.text, state, around);
  if (isShadowed && state.defined.has(name.text)) return nothing;
  const isFile = name.text.includes('/') && !systemFolder.test(name.text);
  const program = isFile ? name.text : foldProgram(name.text);
  const [folder, ...others] = state.folders ?? [];
  // A program by the name of a builtin changes nothing here.
  const own = name.text.includes('/') && builtins.has(program) ? state.clone() : state;
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
  const call: Call = { program, words: given, state: own, around, position };
  const result = isFile ? runProgramFile(name, call, host) : runKnown(call, host);
  const decides = isShadowed ? [] : [position, ...(result?.decides ?? [])];
  const output = result?.output ?? { given: true, fetched: false };
  return { decides, output: { ...output, fetched: output.fetched || around.input.fetched } };
}

/** A command, as far as known. */
export function findProgram(name: string): Handler | Shape | undefined {
  return builtins.get(name) ?? programs.get(name) ?? programs.get(name.replace(/-?[\d.]+$/, ''));
}

function runKnown(call: Call, host: CommandHost): Result | undefined {
  const { program } = call;
  const known = findProgram(program);
  if (known === undefined) {
    host.unclear('program', `unknown program \`${show(program)}\``);
    return applyShape(unknownProgram, call, host);
  }
  return typeof known === 'function' ? known(call, host) : applyShape(known, call, host);
}

function runProgramFile(name: Field, call: Call, host: CommandHost): Result | undefined {
  runFile(name, call, host, { shell: true });
  return applyShape(unknownProgram, call, host);
}

const unknownProgram = { options: 'o:write output:write', operands: 'maybe*' } as const;
