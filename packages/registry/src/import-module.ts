import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What `tsx/esm/api` of a project exports. */
interface Tsx {
  tsImport(url: string, options: { readonly parentURL: string; readonly tsconfig: string | false }): Promise<unknown>;
}

/**
 * Imports a file as Node.js does. Where its TypeScript is more than types, or it imports by the `paths` of the `tsconfig.json` in
 * `directory`, it is loaded by the tsx that is installed there, whose modules are apart from those that Node.js has loaded.
 *
 * @throws what the import throws; without tsx that of Node.js, for which `needsTsx` holds.
 */
export async function importModule(path: string, directory: string): Promise<unknown> {
  const url = pathToFileURL(path).href;
  try {
    return await import(/* @vite-ignore */ url);
  } catch (thrown) {
    const tsx = needsTsx(thrown, directory) ? findTsx(directory) : undefined;
    if (tsx === undefined) throw thrown;
    // Its exports are those of the package that the user has installed.
    const { tsImport } = (await import(/* @vite-ignore */ pathToFileURL(tsx).href)) as Tsx;
    const tsconfig = findTsconfig(directory) ?? false;
    return await tsImport(url, { parentURL: url, tsconfig });
  }
}

/** Whether an import has failed at what Node.js cannot do and tsx can. */
export function needsTsx(thrown: unknown, directory: string): boolean {
  if (!(thrown instanceof Error && 'code' in thrown)) return false;
  if (thrown.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return true;
  if (!unresolvedCodes.has(thrown.code)) return false;
  const [, name = ''] = /['"]([^'"\n]{1,1000})['"]/.exec(thrown.message) ?? [];
  const tsconfig = findTsconfig(directory);
  return tsconfig !== undefined && listAliases(tsconfig).some((alias) => isAliased(name, alias));
}

// Such as `lib/part`, `@/part` and `#part`.
const unresolvedCodes: ReadonlySet<unknown> = new Set([
  'ERR_MODULE_NOT_FOUND',
  'ERR_INVALID_MODULE_SPECIFIER',
  'ERR_PACKAGE_IMPORT_NOT_DEFINED',
]);

function findTsx(directory: string): string | undefined {
  try {
    return createRequire(join(directory, 'importer.js')).resolve('tsx/esm/api');
  } catch {
    // Not installed, or too old to have it.
    return undefined;
  }
}

function findTsconfig(directory: string): string | undefined {
  const path = join(directory, 'tsconfig.json');
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : undefined;
}

const mostExtended = 10;

/** The keys of `paths`, and what else is a list there: it only has to tell an alias from a package that is not installed. */
function listAliases(tsconfig: string): readonly string[] {
  const aliases: string[] = [];
  let path: string | undefined = tsconfig;
  for (let count = 0; path !== undefined && count < mostExtended; count += 1) {
    const text: string = readText(path);
    aliases.push(...[...text.matchAll(/"([^"\n]+)"\s*:\s*\[/g)].map(([, key = '']) => key));
    const [, extended] = /"extends"\s*:\s*"(\.[^"\n]+)"/.exec(text) ?? [];
    path = extended === undefined ? undefined : resolve(dirname(path), extended);
  }
  return aliases;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Of `lib/part` Node.js names only `lib`. */
function isAliased(name: string, alias: string): boolean {
  const [start = ''] = alias.split('*');
  return name !== '' && start !== '' && (name === alias || name.startsWith(start) || start.startsWith(`${name}/`));
}
