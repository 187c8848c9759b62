import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isPlainObject } from '@holdfast/core/internal';
import { readBounded } from '../files/read-bounded.ts';
import { findRealPath } from '../files/real-path.ts';

/** Finds files that tsx may load for an import, in addition to that of Node.js. */
export interface TsxFinder {
  /** Absolute paths of existing files, and of the settings that lead to them. */
  find(specifier: string, importer: string): readonly string[];
}

/**
 * tsx resolves more than Node.js: paths without extension, folders with an index, TypeScript by the name of its JavaScript, and `paths`
 * and `baseUrl` of the `tsconfig.json` in `folder`. Returns all candidates, whichever tsx would choose.
 */
export function createTsxFinder(folder: string): TsxFinder {
  let settings: readonly Settings[] | undefined;
  return {
    find(specifier, importer) {
      if (/^(?:\.{0,2}\/|file:)/.test(specifier)) {
        const path = toPath(specifier, importer);
        return path === undefined ? [] : listVariants(path, importer);
      }
      settings ??= readSettings(join(folder, 'tsconfig.json'));
      // `paths` of one file may be relative to the `baseUrl` of another.
      const bases = settings.flatMap(({ baseUrl }) => baseUrl ?? []);
      const targets = settings.flatMap((one) => listTargets(specifier, one, bases));
      const files = targets.flatMap((target) => listVariants(target, undefined));
      // Changed settings change the resolution.
      return files.length === 0 ? [] : [...files, ...settings.map(({ path }) => path)];
    },
  };
}

function toPath(specifier: string, importer: string): string | undefined {
  try {
    return fileURLToPath(new URL(specifier, pathToFileURL(importer)));
  } catch {
    return undefined;
  }
}

const endings = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json'];
/** TypeScript extensions by those of the compiled JavaScript. */
const sources: ReadonlyMap<string, readonly string[]> = new Map([
  ['.js', ['.ts', '.tsx', '.jsx']],
  ['.jsx', ['.tsx', '.js']],
  ['.mjs', ['.mts']],
  ['.cjs', ['.cts']],
]);

/** From JavaScript, an existing file is used as named. */
function listVariants(path: string, importer: string | undefined): readonly string[] {
  const isThere = isFile(path);
  const isFromScript = importer !== undefined && !/\.[cm]?tsx?$/.test(importer);
  if (isThere && isFromScript) return [path];
  const [ending = ''] = /\.[cm]?jsx?$/.exec(path) ?? [];
  const stem = path.slice(0, path.length - ending.length);
  const compiled = (sources.get(ending) ?? []).map((source) => stem + source);
  const further = isThere ? [] : endings.flatMap((one) => [path + one, join(path, `index${one}`)]);
  return [path, ...compiled, ...further].filter(isFile);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** The settings of one file. */
interface Settings {
  readonly path: string;
  /** Base folder for bare names. */
  readonly baseUrl: string | undefined;
  readonly paths: readonly (readonly [pattern: string, targets: readonly string[]])[];
}

/** Within a path: the folder of the first file. */
const ownFolder = /\$\{configDir\}/;
const maxSettingsBytes = 1024 * 1024;
const mostSettings = 20;

/** The file, and those that it extends. */
function readSettings(first: string): readonly Settings[] {
  const settings = new Map<string, Settings>();
  const waiting = [first];
  for (let path = waiting.pop(); path !== undefined && settings.size < mostSettings; path = waiting.pop()) {
    if (settings.has(path)) continue;
    const reading = readBounded(findRealPath(path) ?? path, maxSettingsBytes);
    if (reading.type !== 'read') continue;
    const { compilerOptions, extends: extended } = parseSettings(new TextDecoder().decode(reading.bytes));
    const options = isPlainObject(compilerOptions) ? compilerOptions : {};
    const place = dirname(path);
    const toFolder = (text: string): string => resolve(place, text.replace(ownFolder, dirname(first)));
    const baseUrl = typeof options['baseUrl'] === 'string' ? toFolder(options['baseUrl']) : undefined;
    const paths = isPlainObject(options['paths']) ? Object.entries(options['paths']) : [];
    settings.set(path, {
      path,
      baseUrl,
      paths: paths.map(([pattern, targets]) => [
        pattern,
        toTexts(targets).map((target) => target.replace(ownFolder, dirname(first))),
      ]),
    });
    for (const name of toTexts(extended)) waiting.push(...listExtended(name, path));
  }
  return [...settings.values()];
}

function toTexts(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).filter((one) => typeof one === 'string');
}

function listExtended(name: string, from: string): readonly string[] {
  const path = resolve(dirname(from), name);
  const candidates = [path, `${path}.json`, join(path, 'tsconfig.json')];
  if (/^\.{0,2}\//.test(name)) return candidates.filter(isFile);
  try {
    return [createRequire(from).resolve(name)];
  } catch {
    // tsx does not find it either, or finds it where there are no `paths`.
    return [];
  }
}

/** JSON with comments and trailing commas. Invalid settings count as empty. */
function parseSettings(text: string): Readonly<Record<string, unknown>> {
  const bare = text
    .replace(/^\uFEFF/, '')
    .replaceAll(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '$1')
    .replaceAll(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, '$1');
  try {
    const value: unknown = JSON.parse(bare);
    return isPlainObject(value) ? value : {};
  } catch {
    return {};
  }
}

function listTargets(
  specifier: string,
  { path, baseUrl, paths }: Settings,
  bases: readonly string[],
): readonly string[] {
  const aliased = paths.flatMap(([pattern, targets]) => {
    const [start = '', end] = pattern.split('*');
    if (end === undefined ? specifier !== pattern : !(specifier.startsWith(start) && specifier.endsWith(end)))
      return [];
    const middle = end === undefined ? '' : specifier.slice(start.length, specifier.length - end.length);
    return targets.flatMap((target) =>
      [dirname(path), ...bases].map((base) =>
        resolve(
          base,
          target.replace('*', () => middle),
        ),
      ),
    );
  });
  return baseUrl === undefined ? aliased : [...aliased, resolve(baseUrl, specifier)];
}
