import { dirname } from 'node:path';
import { HoldfastError, isPlainObject, parseJson } from '@holdfast/core';
import { fromThrownMessage } from '../child/call-messages.ts';
import { fileChanged, importFailed, notFunction, processExited, processFailure, unfit } from '../isolate/failures.ts';
import type { ToolLanguage } from '../isolate/program.ts';
import type { PinnedTool } from '../isolate/types.ts';
import { toErrorText } from '../text/hide-paths.ts';
import { readOutput } from './command-language.ts';
import { findPython, type PythonState } from './find-python.ts';
import { pythonCallProgram } from './python-call-program.ts';
import { isolatedPython } from './python-reader.ts';

type PythonPlace = Extract<PythonState, { readonly available: true }>;

/** Tools that are Python files with `METADATA`. Python is looked for when the first of them is called. */
export function createPythonLanguage(): ToolLanguage {
  let known: PythonPlace | undefined;

  async function find({ metadata: { name } }: PinnedTool): Promise<PythonPlace> {
    const state = known ?? (await findPython());
    if (!state.available) {
      throw new HoldfastError('tool.python.unavailable', `\`${name}\` is written in Python, and ${state.reason}.`);
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
    read(tool, { code, signal, output }) {
      const end = output.indexOf(10);
      if (end < 0) throw processExited(tool, signal === null ? `with code ${code}` : `by ${signal}`);
      return readAnswer(tool, { header: output.subarray(0, end), value: output.subarray(end + 1) });
    },
  };
}

function readAnswer(
  tool: PinnedTool,
  { header, value }: { readonly header: Uint8Array; readonly value: Uint8Array },
): unknown {
  const parsed = parseJson(new TextDecoder().decode(header));
  const answer = parsed.ok && isPlainObject(parsed.value) ? parsed.value : {};
  const textOf = (key: string): string => (typeof answer[key] === 'string' ? answer[key] : '');
  switch (answer['type']) {
    case 'returned':
      return readOutput(value);
    case 'unfit':
      return unfit(textOf('problem'));
    case 'changed':
      throw fileChanged(tool.file);
    case 'no-function':
      throw notFunction(tool);
    case 'unimportable':
      throw importFailed(tool, textOf('message'), toError(tool, textOf('message'), textOf('stack')));
    case 'threw':
      throw toError(tool, textOf('message'), textOf('stack'));
    default:
      throw processFailure(tool, 'protocol', 'sent a message that cannot be read');
  }
}

function toError({ entry }: PinnedTool, message: string, stack: string): Error {
  return fromThrownMessage({ name: 'PythonError', message: toErrorText(message, dirname(entry), 'start'), stack });
}
