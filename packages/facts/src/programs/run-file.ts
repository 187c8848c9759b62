import { joinPath } from '../places/path.ts';
import { type Field, show } from '../script/field.ts';
import { type Call, type Result, type Runner, unclearCode } from '../script/types.ts';

const maxScript = 32_768;

export interface FileRun {
  /** A shell runs the file, so it can be analyzed. */
  readonly shell?: true;
  /** In the current shell, as `source` does. */
  readonly sourced?: true;
}

/** A file whose code a command runs. In the workspace it is `project`; a file that this session wrote is analyzed if possible. */
export function runFile(field: Field, call: Call, runner: Runner, run: FileRun = {}): Result | undefined {
  const { facts } = runner;
  facts.use('reads', field, call.state.folders);
  if (!field.known || field.matched === true) {
    runner.unclear('code', `cannot tell which file \`${show(call.program)}\` runs`);
    return undefined;
  }
  if (/^\/dev\/(?:fd\/|stdin)/.test(field.text)) {
    unclearCode(runner, call.around.input, `cannot tell what \`${show(call.program)}\` reads`);
    return undefined;
  }
  for (const path of pathsOf(field, call)) {
    const place = runner.places.place(path);
    if (place === undefined) continue;
    if (!isWritten(path, call, runner)) {
      if (place.inside) runner.unclear('project', `\`${show(field.text)}\` is code of the workspace`);
      else runner.unclear('program', `\`${show(field.text)}\` is outside the workspace`);
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

/** Code in the working folder of a program is code of the workspace, or unreviewed. */
export function runProject(what: string, { program, state }: Call, runner: Runner): void {
  const isInside = state.folders?.every((folder) => runner.places.place(folder)?.inside === true) === true;
  if (isInside) runner.unclear('project', `\`${show(program)}\` runs ${what} of the workspace`);
  else runner.unclear('program', `\`${show(program)}\` runs ${what} of another folder`);
}

/** True if this session wrote a file that a program runs implicitly, as `make` runs `Makefile`. */
export function noteWritten(names: readonly string[], call: Call, runner: Runner): void {
  const paths = (call.state.folders ?? []).flatMap((folder) => names.map((name) => joinPath(folder, name)));
  if (!paths.some((path) => isWritten(path, call, runner))) return;
  markWritten(call, runner);
  runner.unclear('code', `\`${show(call.program)}\` runs code that this session wrote`);
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
