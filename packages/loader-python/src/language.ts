import type { Language } from '@holdfast/loader/language';
import { readCommandPart, readCommandTool } from './command/metadata.ts';
import { prepareCommand, readCommandEnd } from './command/run.ts';
import { readPythonPart, readPythonTool } from './python/metadata.ts';
import { createPythonReader } from './python/reader.ts';
import { createPythonCalls } from './python/run.ts';

/**
 * Supports tool files in Python, and `*.tool.json` files that name any program. Each call runs in a process of its own.
 * Reading Python files requires Python 3.8 or later, which is searched for on first use.
 *
 * @example const { tools } = await loadTools('./plugins', { languages: [python()] });
 */
export function python(): Language {
  const calls = createPythonCalls();
  return {
    name: 'python',
    takes: (name) => isCommand(name) || name.endsWith('.py'),
    passesOver: (name) => /^test_.*\.py$|_test\.py$|^(?:conftest|setup)\.py$/.test(name),
    openReader() {
      const reader = createPythonReader();
      return {
        readTool: (file, place) =>
          isCommand(file.file) ? readCommandTool(file, place) : readPythonTool(file, place, reader),
        readPart: async (part) => (isCommand(part.path) ? readCommandPart(part) : await readPythonPart(part, reader)),
        [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
      };
    },
    prepare: (tool, input, sha256) =>
      isCommand(tool.file) ? prepareCommand(tool, input) : calls.prepare(tool, input, sha256),
    readEnd: (tool, end) => (isCommand(tool.file) ? readCommandEnd(tool, end) : calls.readEnd(tool, end)),
  };
}

function isCommand(file: string): boolean {
  return file.endsWith('.tool.json');
}
