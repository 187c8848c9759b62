import { isBuiltin } from 'node:module';
import { dirname, extname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ParsedModule } from '../parse/module.ts';
import type { Finding } from '../text/diagnostic.ts';
import { type PackageFinder, packageOf } from './packages.ts';

/** What an import stands for. */
export type ImportTarget =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'package'; readonly name: string; readonly version: string }
  | { readonly type: 'builtin' }
  | { readonly type: 'refused'; readonly finding: Finding };

/**
 * Finds what a module at `path` asks for; an undefined `specifier` is one that only running would tell. Refused are
 * `tool.import.dynamic`, `.unsupported`, `.package`, `.misplaced`, `.missing`, `.outside` and `.commonjs`.
 */
export function resolveImport(
  specifier: string | undefined,
  { path, root, packages }: { readonly path: string; readonly root: string; readonly packages: PackageFinder },
): ImportTarget {
  if (specifier === undefined) {
    const message = 'What this `import()` loads is known only when it runs, so it cannot be pinned.';
    return refuse('dynamic', message, 'Write the path as a plain text in quotes, one `import()` for each file.');
  }
  if (isBuiltin(specifier)) return { type: 'builtin' };
  if (/^\.{1,2}\//.test(specifier)) return resolveFile(specifier, path, root);
  const name = packageOf(specifier);
  if (name === undefined) {
    const message = `\`${specifier}\` is neither a relative path nor the name of a package, so it cannot be pinned.`;
    const hint = 'Import by a path that begins with `./` or `../`, or by the name of an installed package.';
    return refuse('unsupported', message, hint);
  }
  const found = packages.find(name, dirname(path));
  if (found.type === 'found') return { type: 'package', name, version: found.version };
  if (found.type === 'missing')
    return refuse('package', `The package \`${name}\` is not installed.`, 'Install it beside the lock, or above.');
  const message = `The package \`${name}\` is installed below the folder of the lock, where a pinned tool does not find it.`;
  return refuse('misplaced', message, 'Install it beside the lock.');
}

type Word = 'dynamic' | 'unsupported' | 'package' | 'misplaced' | 'missing' | 'outside';

function refuse(word: Word, message: string, hint: string): ImportTarget {
  return { type: 'refused', finding: { code: `tool.import.${word}`, message, hint } };
}

function resolveFile(specifier: string, from: string, root: string): ImportTarget {
  let path: string;
  try {
    path = fileURLToPath(new URL(specifier, pathToFileURL(from)));
  } catch {
    // A path that Node would not take either.
    return refuse('missing', `\`${specifier}\` is no path of a file.`, 'Name the file as it is.');
  }
  const inside = relative(root, path);
  const names = inside.split(sep);
  if (inside === '' || names[0] === '..' || join(root, inside) !== path) {
    const hint = 'Move the file into that folder, or make a package of it.';
    return refuse('outside', `\`${specifier}\` leads out of the folder of the lock.`, hint);
  }
  const extension = extname(path);
  if (extension === '.cjs') return { type: 'refused', finding: commonJs };
  if (!names.includes('node_modules') && /^\.(?:m?[jt]s|json)$/.test(extension)) return { type: 'file', path };
  const message = `\`${specifier}\` cannot be pinned: by path only .js, .mjs, .ts, .mts and .json are, outside of node_modules.`;
  return refuse('unsupported', message, 'Name the file with its extension; import a package by its name.');
}

/** A file that is written for `require`. */
export const commonJs: Finding = {
  code: 'tool.import.commonjs',
  message: 'A pinned file must be an ES module; this one is written for `require`.',
  hint: 'Use `import` and `export`, or make a package of it.',
};

/** What a module asks for; `specifier` is undefined where only running it would tell. */
export interface ModuleImport {
  readonly specifier: string | undefined;
  /** In the source. */
  readonly offset: number;
}

/** Every import of a module, `import()` in its functions too, but for those of types alone, which Node removes. */
export function listImports(module: ParsedModule, source: string): readonly ModuleImport[] {
  const imports: ModuleImport[] = hasNoStatements(module, source) ? [] : [...listStatements(module)];
  for (const { start, end } of module.dynamicImports) {
    imports.push({ specifier: readPlainText(source.slice(start, end)), offset: start });
  }
  return imports;
}

/** Whether it has no `import` and no `export … from`, as far as that can be seen without its tree. */
function hasNoStatements({ imports }: ParsedModule, source: string): boolean {
  return imports?.length === 0 && !/\bfrom\b/.test(source);
}

function listStatements({ body }: ParsedModule): readonly ModuleImport[] {
  const imports: ModuleImport[] = [];
  for (const statement of body) {
    if (statement.type === 'ImportDeclaration' && statement.importKind !== 'type') {
      imports.push({ specifier: statement.source.value, offset: statement.source.start });
    } else if (
      (statement.type === 'ExportAllDeclaration' || statement.type === 'ExportNamedDeclaration') &&
      statement.exportKind !== 'type' &&
      statement.source !== null
    ) {
      imports.push({ specifier: statement.source.value, offset: statement.source.start });
    }
  }
  return imports;
}

/** Whether it is written for `require`, which an ES module does not have. */
export function isCommonJs(module: ParsedModule, source: string): boolean {
  if (!/\brequire\s*\(|\bmodule\.exports\b|\bexports\.\w/.test(source)) return false;
  return !module.body.some(({ type }) => type === 'ImportDeclaration' || type.startsWith('Export'));
}

/** The text of a literal without escapes; whatever is written otherwise counts as computed. */
function readPlainText(code: string): string | undefined {
  return /^(?:'([^'\\\n]*)'|"([^"\\\n]*)"|`([^`\\$]*)`)$/
    .exec(code.trim())
    ?.slice(1)
    .find((text) => text !== undefined);
}
