import { joinPath } from '../places/path.ts';
import { type Field, show } from '../script/field.ts';
import { type Call, type Result, type Runner, unclearCode } from '../script/types.ts';

const maxScript = 32_768;

export interface FileRun {
  /** A shell reads the file, so that what it does can be read here. */
  readonly shell?: true;
  /** In the shell that reads it itself, as `source` does. */
  readonly sourced?: true;
}

/** A file whose code a command runs. Of the workspace it is `project`; one that this session wrote is read as far as it can be. */
export function runFile(field: Field, call: Call, runner: Runner, run: FileRun = {}): Result | undefined {
  const { facts } = runner;
  facts.use('reads', field, call.state.folders);
  if (!field.known || field.matched === true) {
    runner.unclear('code', `which file \`${show(call.program)}\` runs is not known`);
    return undefined;
  }
  if (/^\/dev\/(?:fd\/|stdin)/.test(field.text)) {
    unclearCode(runner, call.around.input, `what \`${show(call.program)}\` reads is not known`);
    return undefined;
  }
  for (const path of pathsOf(field, call)) {
    const place = runner.places.place(path);
    if (place === undefined) continue;
    if (!isWritten(path, call, runner)) {
      if (place.inside) runner.unclear('project', `\`${show(field.text)}\` is code of the workspace`);
      else runner.unclear('program', `\`${show(field.text)}\` lies outside of the workspace`);
      continue;
    }
    markWritten(call, runner);
    const text = run.shell === true ? facts.view.disk?.readText(place.path, maxScript) : undefined;
    if (text === undefined || facts.wrote(place.path)) {
      runner.unclear('code', `\`${show(field.text)}\` was written by this session`);
      continue;
    }
    const state = run.sourced === true ? call.state : call.state.forProcess();
    runner.runText(text, state, { ...call.around, depth: call.around.depth + 1 });
  }
  return undefined;
}

/** Code of the folder where a program works is the workspace's, or nobody has looked at it. */
export function runProject(what: string, { program, state }: Call, runner: Runner): void {
  const isInside = state.folders?.every((folder) => runner.places.place(folder)?.inside === true) === true;
  if (isInside) runner.unclear('project', `\`${show(program)}\` runs ${what} of the workspace`);
  else runner.unclear('program', `\`${show(program)}\` runs ${what} of another folder`);
}

/** Whether this session wrote a file that a program runs without being told, as `make` runs `Makefile`. */
export function noteWritten(names: readonly string[], call: Call, runner: Runner): void {
  const paths = (call.state.folders ?? []).flatMap((folder) => names.map((name) => joinPath(folder, name)));
  if (!paths.some((path) => isWritten(path, call, runner))) return;
  markWritten(call, runner);
  runner.unclear('code', `\`${show(call.program)}\` runs what this session wrote`);
}

function isWritten(path: string, _call: Call, { places, facts }: Runner): boolean {
  const resolved = places.resolve(path);
  return resolved !== undefined && (facts.view.written?.(resolved) === true || facts.wrote(resolved));
}

function markWritten({ position }: Call, { facts }: Runner): void {
  const command = facts.runs[position];
  if (command !== undefined) facts.runs[position] = { ...command, written: true };
}

function pathsOf({ text }: Field, { state }: Call): readonly string[] {
  return text.startsWith('/') ? [text] : (state.folders ?? []).map((folder) => joinPath(folder, text));
}
