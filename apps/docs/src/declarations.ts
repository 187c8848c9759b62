import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Comment, parseSync, type Statement } from 'oxc-parser';
import { isolatedDeclarationSync } from 'oxc-transform';
import { repository } from './libraries.ts';

/** An export of a module. */
export interface Declaration {
  readonly name: string;
  readonly isType: boolean;
  /** The declaring file, without its extension. */
  readonly file: string;
  /** As Markdown; empty when there is no docstring. */
  readonly documentation: string;
  /** As in a declaration file, with the comments of its members and all overloads. */
  readonly signature: string;
}

/**
 * Reads the exports of the module at `path`, including re-exports of other files and packages. With `isolatedDeclarations`, each source file
 * gives its declarations alone, so no build and no compiler is needed.
 *
 * @throws Error if an exported name is missing, or a file gives no declarations.
 */
export function readExports(path: string): readonly Declaration[] {
  const { code, errors } = isolatedDeclarationSync(path, readFileSync(path, 'utf8'));
  const error = errors[0];
  if (error !== undefined) throw new Error(`\`${path}\`: ${error.message}`);
  const { program, comments, module } = parseSync('declarations.d.ts', code);
  const found = new Map<string, Declaration>();
  for (const statement of program.body) {
    for (const declaration of readStatement(statement, { code, comments, file: basename(path, '.ts') })) {
      const first = found.get(declaration.name);
      const signature = first === undefined ? declaration.signature : `${first.signature}\n${declaration.signature}`;
      found.set(declaration.name, { ...(first ?? declaration), signature });
    }
  }
  const others = new Map<string, readonly Declaration[]>();
  for (const { moduleRequest, importName, exportName, isType } of module.staticExports.flatMap(
    ({ entries }) => entries,
  )) {
    const name = exportName.name;
    if (moduleRequest === null || name === null) continue;
    const from = moduleRequest.value;
    const declarations = others.get(from) ?? readExports(toPath(from, path));
    others.set(from, declarations);
    // `export { one as other } from`.
    const other = declarations.find((one) => one.name === (importName.name ?? name));
    if (other === undefined) throw new Error(`\`${from}\` does not export \`${name}\`.`);
    // A class exported as a type is a type: outside code cannot construct it.
    const signature = other.signature.replaceAll(new RegExp(`\\b${other.name}\\b`, 'g'), name);
    found.set(name, { ...other, name, signature, isType: other.isType || isType });
  }
  return [...found.values()];
}

/** The source of a neighboring file, or of a package of this repository. */
function toPath(specifier: string, path: string): string {
  const [, folder, entry = 'index'] = /^@holdfast\/([\w-]+)(?:\/([\w-]+))?$/.exec(specifier) ?? [];
  return folder === undefined
    ? join(dirname(path), specifier)
    : join(repository, 'packages', folder, 'src', `${entry}.ts`);
}

interface Source {
  readonly code: string;
  readonly comments: readonly Comment[];
  readonly file: string;
}

function readStatement(statement: Statement, { code, comments, file }: Source): readonly Declaration[] {
  if (statement.type !== 'ExportNamedDeclaration' || statement.declaration === null) return [];
  const { declaration, start, end } = statement;
  const comment = comments.findLast((one) => one.end <= start && code.slice(one.end, start).trim() === '');
  const ids =
    declaration.type === 'VariableDeclaration' ? declaration.declarations.map(({ id }) => id) : [declaration.id];
  return ids.flatMap((id) => {
    if (id?.type !== 'Identifier') return [];
    const isType = declaration.type === 'TSInterfaceDeclaration' || declaration.type === 'TSTypeAliasDeclaration';
    const documentation = toMarkdown(comment?.value ?? '');
    return [{ name: id.name, isType, file, documentation, signature: toSignature(code.slice(start, end)) }];
  });
}

function toSignature(text: string): string {
  return text
    .replace(/^export (?:declare )?/, '')
    .replaceAll(/^\s*(?:#private|private \w+);\n/gm, '')
    .replaceAll(/^\t+/gm, (tabs) => '  '.repeat(tabs.length));
}

function toMarkdown(comment: string): string {
  const lines = comment.replace(/^\*/, '').split('\n');
  return lines
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
    .join('\n')
    .trim();
}
