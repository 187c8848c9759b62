import type { PythonImport } from './outline.ts';

/**
 * The possible files of an import beside the tool file: paths, relative to its folder, of modules, packages and their
 * members. Most do not exist: those modules belong to Python or are installed.
 *
 * @param file - the importing file, relative to the same folder.
 */
export function listPythonModules({ level, module, names }: PythonImport, file: string): readonly string[] {
  const above = level === 0 ? [] : folderOf(file, level);
  if (above === undefined) return [];
  const path = [...above, ...(module === '' ? [] : module.split('.'))];
  if (![...path, ...names].every(isName)) return [];
  const found: string[] = [];
  const add = (parts: readonly string[]): void => {
    if (parts.length > 0) found.push(`${parts.join('/')}.py`, `${parts.join('/')}/__init__.py`);
  };
  for (let length = 1; length <= path.length; length += 1) add(path.slice(0, length));
  for (const name of names) add([...path, name]);
  return found;
}

/** The package that `level` dots refer to; `undefined` if outside the folder. One dot is the folder of the file. */
function folderOf(file: string, level: number): readonly string[] | undefined {
  const folders = file.split('/').slice(0, -1);
  return level - 1 > folders.length ? undefined : folders.slice(0, folders.length - (level - 1));
}

function isName(name: string): boolean {
  return /^[\p{L}\p{N}_]+$/u.test(name);
}
