import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { types } from 'node:util';
import { describeThrown } from '@holdfast/core/internal';
import { showFile } from './small-file.ts';

/** The exports of a project's `tsx/esm/api`. */
interface Tsx {
  tsImport(url: string, options: { readonly parentURL: string; readonly tsconfig: string | false }): Promise<unknown>;
}

/**
 * Imports a file with Node.js. If its TypeScript cannot simply be stripped, or it imports through `paths` of the `tsconfig.json` in
 * `directory`, the project's installed tsx loads it; modules loaded by tsx are separate from those of Node.js.
 *
 * @throws the error of the import; without tsx that of Node.js, for which `needsTsx` is true.
 */
export async function importModule(path: string, directory: string): Promise<unknown> {
  const url = pathToFileURL(path).href;
  try {
    return await import(/* @vite-ignore */ url);
  } catch (thrown) {
    const tsx = needsTsx(thrown, directory) ? findTsx(directory) : undefined;
    if (tsx === undefined) throw thrown;
    // The exports of the user's installed package.
    const { tsImport } = (await import(/* @vite-ignore */ pathToFileURL(tsx).href)) as Tsx;
    const tsconfig = findTsconfig(directory) ?? false;
    return await tsImport(url, { parentURL: url, tsconfig });
  }
}

/** True if an import failed because of a feature that tsx supports and Node.js does not. */
export function needsTsx(thrown: unknown, directory: string): boolean {
  if (!(thrown instanceof Error && 'code' in thrown)) return false;
  if (thrown.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return true;
  if (!unresolvedCodes.has(thrown.code)) return false;
  const [, name = ''] = /['"]([^'"\n]{1,1000})['"]/.exec(thrown.message) ?? [];
  const tsconfig = findTsconfig(directory);
  return tsconfig !== undefined && listAliases(tsconfig).some((alias) => isAliased(name, alias));
}

// E.g. `lib/part`, `@/part` and `#part`.
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

/** The keys of `paths` and of other lists: enough to tell an alias from a missing package. */
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
    // An unreadable base config has no aliases; the error of the import is reported.
    return '';
  }
}

/** For `lib/part`, Node.js names only `lib`. */
function isAliased(name: string, alias: string): boolean {
  const [start = ''] = alias.split('*');
  return name !== '' && start !== '' && (name === alias || name.startsWith(start) || start.startsWith(`${name}/`));
}

/**
 * Describes an import error, as a suffix: ", at `git.ts:3`: no luck". The position is omitted if unknown: Node.js gives
 * none for a syntax error in JavaScript.
 */
export function describeFailedImport(thrown: unknown, directory: string): string {
  const place = findPlace(thrown, directory);
  const what = describeThrown(thrown);
  return `${place === undefined ? '' : `, at \`${place}\``}: ${what}${findHint(thrown, what, directory)}`;
}

function findHint(thrown: unknown, what: string, directory: string): string {
  if (commonJsProblem.test(what))
    return '. It is loaded as CommonJS: use the extension `.mts` or `.mjs`, or set `"type": "module"` in the package.json';
  return needsTsx(thrown, directory) ? '. Install tsx to load it anyway: `npm install --save-dev tsx`' : '';
}

// The errors of Node.js for an ES module loaded as CommonJS.
const commonJsProblem = /^(?:Cannot use import statement outside a module|Unexpected token 'export')$/;

const frame = /^(?: {4}at (?:.* \()?)?(?<path>file:\/\/\/[^()]+?|(?:[A-Za-z]:)?[/\\][^()]*?):(?<line>\d+)(?::\d+)?\)?$/;

/** The topmost position in the user's own files, otherwise in a package. Positions elsewhere, such as in a Node.js hook, do not help. */
function findPlace(thrown: unknown, directory: string): string | undefined {
  try {
    const { stack } = types.isNativeError(thrown) ? thrown : {};
    const lines = typeof stack === 'string' ? stack.slice(0, 20_000).split('\n') : [];
    const places = lines.flatMap((text) => {
      const { path, line } = (text.length < 1_000 ? frame.exec(text)?.groups : undefined) ?? {};
      if (path === undefined) return [];
      const shown = showFile(path.startsWith('file:') ? fileURLToPath(path) : path, directory);
      return isAbsolute(shown) ? [] : [`${shown}:${line}`];
    });
    return places.find((place) => !/(?:^|\/)node_modules\//.test(place)) ?? places[0];
  } catch {
    // An unreadable stack gives no position; the error is still reported.
    return undefined;
  }
}
