import { dirname } from 'node:path';
import { HoldfastError, type Json } from '@holdfast/core';
import { isPlainObject, parseJson } from '@holdfast/core/internal';
import {
  type PinnedTool,
  type ProgramAnswer,
  type ProgramCall,
  type ProgramExit,
  toErrorText,
} from '@holdfast/loader/language';
import { readOutput } from '../command/run.ts';
import { pythonCallProgram } from './call-program.ts';
import { findPython, type PythonState } from './find.ts';
import { isolatedPython } from './reader.ts';

type PythonPlace = Extract<PythonState, { readonly available: true }>;

/** Runs calls of functions in Python files. */
export interface PythonCalls {
  prepare(tool: PinnedTool, input: Json, sha256: string): Promise<ProgramCall>;
  readEnd(tool: PinnedTool, end: ProgramExit): ProgramAnswer;
}

/** Looks for Python on the first call. */
export function createPythonCalls(): PythonCalls {
  let known: PythonPlace | undefined;

  async function find({ metadata: { name } }: PinnedTool): Promise<PythonPlace> {
    const state = known ?? (await findPython());
    if (!state.available) {
      throw new HoldfastError('tool.process.not_started', `\`${name}\` requires Python, and ${state.reason}.`, {
        data: { reason: 'python' },
      });
    }
    known = state;
    return state;
  }

  return {
    async prepare(tool, input, sha256) {
      const { program, folders } = await find(tool);
      const { function: name, passing } = tool.metadata;
      const files = tool.files === undefined ? null : Object.fromEntries(tool.files);
      return {
        command: [program, ...isolatedPython, '-c', pythonCallProgram],
        input: JSON.stringify({ path: tool.entry, sha256, files, function: name, passing: passing ?? 'named', input }),
        folders,
      };
    },
    readEnd(tool, { code, signal, output }) {
      const end = output.indexOf(10);
      if (end < 0) return { type: 'ended', how: signal === null ? `with code ${code}` : `by ${signal}` };
      return readAnswer(tool, { header: output.subarray(0, end), value: output.subarray(end + 1) });
    },
  };
}

function readAnswer(
  tool: PinnedTool,
  { header, value }: { readonly header: Uint8Array; readonly value: Uint8Array },
): ProgramAnswer {
  const parsed = parseJson(new TextDecoder().decode(header));
  const answer = parsed.ok && isPlainObject(parsed.value) ? parsed.value : {};
  const textOf = (key: string): string => (typeof answer[key] === 'string' ? answer[key] : '');
  const toError = (): Error => toPythonError(tool, textOf('message'), textOf('stack'));
  switch (answer['type']) {
    case 'returned':
      return readOutput(value);
    case 'unfit':
      return { type: 'unfit', problem: textOf('problem') };
    case 'changed':
      return { type: 'changed' };
    case 'no-function':
      return { type: 'no-function' };
    case 'unimportable':
      return { type: 'unimportable', message: textOf('message'), error: toError() };
    case 'threw':
      return { type: 'threw', error: toError() };
    default:
      return { type: 'unreadable' };
  }
}

function toPythonError({ entry }: PinnedTool, message: string, stack: string): Error {
  const error = new Error(toErrorText(message, dirname(entry), 'start'));
  error.name = 'PythonError';
  // The stack of the error in Python, not of reading it here.
  error.stack = stack;
  return error;
}
