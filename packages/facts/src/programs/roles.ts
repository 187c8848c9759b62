import type { Recursion } from '@holdfast/core/types';
import { joinPath } from '../places/path.ts';
import { type Field, show } from '../script/field.ts';
import type { Call, Runner } from '../script/types.ts';
import type { Role } from './arguments.ts';
import { runFile } from './run-file.ts';

export interface Applying {
  readonly call: Call;
  readonly runner: Runner;
  readonly recursion: Recursion | undefined;
  readonly name: string;
}

/** Adds the effect of one word. */
export function applyRole(role: Role, field: Field, { call, runner, recursion, name }: Applying): void {
  const { facts } = runner;
  const { folders } = call.state;
  switch (role) {
    case 'read':
      if (field.text !== '-')
        facts.use('reads', field, folders, needsTree(field, call, runner) ? recursion : undefined);
      return;
    case 'write':
      if (field.text !== '-')
        facts.use('writes', field, folders, needsTree(field, call, runner) ? recursion : undefined);
      return;
    case 'delete':
      facts.use('deletes', field, folders, needsTree(field, call, runner) ? recursion : undefined);
      return;
    case 'into':
      facts.use('writes', field, folders, { skips: [] });
      return;
    case 'move':
      applyRole('read', field, { call, runner, recursion, name });
      applyRole('delete', field, { call, runner, recursion, name });
      return;
    case 'list':
      facts.use('reads', field, folders);
      runner.unclear('words', `cannot tell which files \`${show(field.text)}\` names`);
      return;
    case 'load':
      runFile(field, call, runner);
      return;
    case 'run':
      if (field.known)
        runner.runText(field.text, call.state.forProcess(), { ...call.around, depth: call.around.depth + 1 });
      else runner.unclear('code', `cannot tell what \`${show(call.program)}\` runs`);
      return;
    case 'code':
      runner.unclear('code', `a program that \`${show(call.program)}\` gets as text`);
      return;
    case 'host':
      facts.host({ scheme: 'unknown', host: field.text.toLowerCase(), sends: true });
      return;
    case 'maybe':
      if (mayBePath(field, call, runner))
        facts.use('reads', pathPart(field), folders, needsTree(field, call, runner) ? recursion : undefined);
      return;
    case 'text':
    case 'flag':
    case 'only':
    case 'except':
    case 'folder':
      return;
    default:
      role satisfies never;
      runner.unclear('program', name);
  }
}

function needsTree(field: Field, { state }: Call, { places }: Runner): boolean {
  if (!field.known) return true;
  return pathsOf(field, state.folders).some((path) => places.type(path) !== 'file');
}

export function pathsOf({ text }: Field, folders: readonly string[] | undefined): readonly string[] {
  return text.startsWith('/') ? [text] : (folders ?? []).map((folder) => joinPath(folder, text));
}

/** A word of an unknown program: an existing file, or a word that looks like one. */
function mayBePath(field: Field, { state }: Call, { places }: Runner): boolean {
  if (!field.known) return field.tree !== undefined || !/^(?:-|[\w-]+[:=@])/.test(field.text);
  const { text } = pathPart(field);
  if (text === '' || /^(?:[a-z][a-z+.-]*:\/\/|-)/i.test(text)) return false;
  if (/[\n*?]/.test(text) || text.length > 1_000) return false;
  return (
    /^(?:\.|~|\/)/.test(text) ||
    text.includes('/') ||
    pathsOf({ ...field, text }, state.folders).some((path) => places.type(path) !== 'missing')
  );
}

/** Returns the file of `@FILE`, `NAME=FILE` and `FILE:LINE`. */
function pathPart(field: Field): Field {
  if (!field.known) return field;
  const text = field.text.replace(/^@/, '').replace(/^[\w-]+=@?/, '');
  return { ...field, text: text.replace(/:\d+(?::\d+)?$/, '') };
}

/** The state of a program with another working folder. */
export function inFolder(call: Call, field: Field): Call['state'] {
  const state = call.state.clone();
  state.folders = field.known ? pathsOf(field, state.folders) : undefined;
  return state;
}
