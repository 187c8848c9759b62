import { isBuiltin } from 'node:module';
import { dirname, extname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ParsedModule } from '../parse/module.ts';
import type { Finding } from '../text/diagnostic.ts';
import { type PackageFinder, packageOf } from './packages.ts';

/** The target of an import. */
export type ImportTarget =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'package'; readonly name: string; readonly version: string }
  | { readonly type: 'builtin' }
  | { readonly type: 'refused'; readonly finding: Finding };

/**
 * Resolves an import of the module at `path`; an undefined `specifier` is computed at run time. Refuses with
 * `tool.import.invalid` (`dynamic`), `.unsupported`, `.package`, `.misplaced`, `.missing`, `.outside` and `.commonjs`.
 */
export function resolveImport(
  specifier: string | undefined,
  { path, root, packages }: { readonly path: string; readonly root: string; readonly packages: PackageFinder },
): ImportTarget {
  if (specifier === undefined) {
    const message = 'The target of this `import()` is only known at run time, so it cannot be pinned.';
    return refuse('dynamic', message, 'Write the path as a string literal, with one `import()` per file.');
  }
  if (isBuiltin(specifier)) return { type: 'builtin' };
  if (/^\.{1,2}\//.test(specifier)) return resolveFile(specifier, path, root);
  const name = packageOf(specifier);
  if (name === undefined) {
    const message = `\`${specifier}\` is neither a relative path nor a package name, so it cannot be pinned.`;
    const hint = 'Import a path that starts with `./` or `../`, or an installed package by name.';
    return refuse('unsupported', message, hint);
  }
  const found = packages.find(name, dirname(path));
  if (found.type === 'found') return { type: 'package', name, version: found.version };
  if (found.type === 'missing')
    return refuse(
      'package',
      `The package \`${name}\` is not installed.`,
      'Install it in the folder of the lock, or above.',
    );
  const message = `The package \`${name}\` is installed below the folder of the lock, where a pinned tool cannot find it.`;
  return refuse('misplaced', message, 'Install it in the folder of the lock.');
}

/** Reasons of `tool.import.invalid`. */
type Reason = 'dynamic' | 'unsupported' | 'package' | 'misplaced' | 'missing' | 'outside';

function refuse(reason: Reason, message: string, hint: string): ImportTarget {
  return { type: 'refused', finding: { code: 'tool.import.invalid', reason, message, hint } };
}

function resolveFile(specifier: string, from: string, root: string): ImportTarget {
  let path: string;
  try {
    path = fileURLToPath(new URL(specifier, pathToFileURL(from)));
  } catch {
    // Node would reject the path too.
    return refuse('missing', `\`${specifier}\` is not a valid file path.`, 'Write the exact name of the file.');
  }
  const inside = relative(root, path);
  const names = inside.split(sep);
  if (inside === '' || names[0] === '..' || join(root, inside) !== path) {
    const hint = 'Move the file into that folder, or make it a package.';
    return refuse('outside', `\`${specifier}\` is outside the folder of the lock.`, hint);
  }
  const extension = extname(path);
  if (extension === '.cjs') return { type: 'refused', finding: commonJs };
  if (!names.includes('node_modules') && /^\.(?:m?[jt]s|json)$/.test(extension)) return { type: 'file', path };
  const message = `\`${specifier}\` cannot be pinned: path imports must be .js, .mjs, .ts, .mts or .json files outside node_modules.`;
  return refuse('unsupported', message, 'Write the file name with its extension; import a package by name.');
}

/** A CommonJS file. */
export const commonJs: Finding = {
  code: 'tool.import.invalid',
  reason: 'commonjs',
  message: 'A pinned file must be an ES module; this one uses `require`.',
  hint: 'Use `import` and `export`, or make it a package.',
};

/** An import of a module; `specifier` is undefined if it is computed at run time. */
export interface ModuleImport {
  readonly specifier: string | undefined;
  /** In the source. */
  readonly offset: number;
}

/** Lists the imports of a module, including `import()` in its functions, except type-only ones, which Node removes. */
export function listImports(module: ParsedModule, source: string): readonly ModuleImport[] {
  const imports: ModuleImport[] = hasNoStatements(module, source) ? [] : [...listStatements(module)];
  for (const { start, end } of module.dynamicImports) {
    imports.push({ specifier: readPlainText(source.slice(start, end)), offset: start });
  }
  return imports;
}

/** True if it certainly has no `import` and no `export … from`, judging without its tree. */
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

/** True if it uses `require`, which ES modules do not have. */
export function isCommonJs(module: ParsedModule, source: string): boolean {
  if (!/\brequire\s*\(|\bmodule\.exports\b|\bexports\.\w/.test(source)) return false;
  return !module.body.some(({ type }) => type === 'ImportDeclaration' || type.startsWith('Export'));
}

/** The value of a string literal without escapes; anything else counts as computed. */
function readPlainText(code: string): string | undefined {
  return /^(?:'([^'\\\n]*)'|"([^"\\\n]*)"|`([^`\\$]*)`)$/
    .exec(code.trim())
    ?.slice(1)
    .find((text) => text !== undefined);
}
