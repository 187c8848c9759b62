import { execFile } from 'node:child_process';
import { isPlainObject } from '@holdfast/core/internal';
import { findProgram, toolEnvironment } from '@holdfast/loader/language';
import { findVersionProblem, isolatedPython } from './reader.ts';

/** The Python of this machine, or, as a clause, why there is none. */
export type PythonState =
  | {
      readonly available: true;
      /** Absolute path of the interpreter itself. */
      readonly program: string;
      /** Folders of the interpreter and its installed packages. */
      readonly folders: readonly string[];
    }
  | { readonly available: false; readonly reason: string };

// The `python3` on the PATH may be a script that looks up the right version on each start.
const script = `
import json, os, sys
print(json.dumps({'version': list(sys.version_info[:3])}))
print(json.dumps({'program': sys.executable, 'folders': [sys.prefix, sys.base_prefix, os.path.dirname(sys.executable)]}))
`;

/** Queries the \`python3\` on the PATH, which is that of the active virtual environment, if any. */
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
    return { available: false, reason: '`python3` does not report its own path' };
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
