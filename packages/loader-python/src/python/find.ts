import { execFile } from 'node:child_process';
import { isPlainObject } from '@holdfast/core';
import { findProgram, toolEnvironment } from '@holdfast/loader/language';
import { findVersionProblem, isolatedPython } from './reader.ts';

/** The Python of this machine, or why there is none, as a clause. */
export type PythonState =
  | {
      readonly available: true;
      /** Absolute path of the interpreter itself. */
      readonly program: string;
      /** Where it and what is installed for it lie. */
      readonly folders: readonly string[];
    }
  | { readonly available: false; readonly reason: string };

// The `python3` of the PATH may be a script that looks for the right one at every start.
const script = `
import json, os, sys
print(json.dumps({'version': list(sys.version_info[:3])}))
print(json.dumps({'program': sys.executable, 'folders': [sys.prefix, sys.base_prefix, os.path.dirname(sys.executable)]}))
`;

/** Asks the \`python3\` of the PATH, which is the one of a virtual environment where that is active. */
export async function findPython(): Promise<PythonState> {
  const program = findProgram('python3');
  if (program === undefined) return { available: false, reason: 'there is no `python3` on the PATH' };
  const said = await ask(program);
  if (said === undefined) return { available: false, reason: '`python3` cannot be started' };
  const [version = '', place = ''] = said.split(/\r?\n/);
  const reason = findVersionProblem(version);
  if (reason !== undefined) return { available: false, reason };
  const found: unknown = JSON.parse(place);
  const { program: own, folders } = isPlainObject(found) ? found : {};
  if (typeof own !== 'string' || own === '' || !Array.isArray(folders))
    return { available: false, reason: '`python3` does not know where it lies' };
  return { available: true, program: own, folders: folders.filter((folder) => typeof folder === 'string') };
}

function ask(program: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: toolEnvironment(), timeout: 30_000, windowsHide: true };
    execFile(program, [...isolatedPython, '-S', '-c', script], options, (error, stdout) => {
      resolve(error === null ? stdout : undefined);
    });
  });
}
