import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';
import { isolatedDeclarationSync } from 'oxc-transform';
import type { Member, Repository } from './repository.ts';

/** The path of a package's report. */
export const apiFolder = 'tooling/api';

interface Declaration {
  /** Of the source file. */
  readonly path: string;
  readonly name: string;
  /** First sentence of the docstring, or empty. */
  readonly summary: string;
  /** Without comments. Several if overloaded, or if a value and a type share a name. */
  readonly texts: readonly string[];
  /** Names in it, including parameters and properties: those match no declaration of the file. */
  readonly names: ReadonlySet<string>;
}

interface DeclarationFile {
  readonly declared: ReadonlyMap<string, Declaration>;
  /** Names imported or re-exported from another file. */
  readonly elsewhere: ReadonlyMap<string, { readonly from: string; readonly name: string }>;
}

/** The API report of every package, by path. A changed report is a changed API. */
export function describeApis({ members, files }: Repository): ReadonlyMap<string, string> {
  const read = remember((path) => readDeclarations(path, files.get(path) ?? ''));
  const published = members.filter(({ manifest }) => manifest.private !== true && manifest.exports !== undefined);
  return new Map(
    published.map((member) => [`${apiFolder}/${posix.basename(member.folder)}.md`, describePackage(member, read)]),
  );
}

function describePackage({ folder, manifest }: Member, read: (path: string) => DeclarationFile): string {
  const parts = Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
    const source = typeof target === 'string' ? undefined : target['holdfast-source'];
    if (source === undefined) return [];
    const entry = posix.join(folder, source);
    const exported = [...readExports(entry, read)].toSorted(([a], [b]) => compareNames(a, b));
    const listed = new Set(exported.map(([, declaration]) => declaration));
    const behind = findBehind(listed, read);
    return [
      `## ${manifest.name}${subpath.slice(1)}`,
      ...exported.map(([name, declaration]) => formatDeclaration(name, declaration)),
      ...(behind.length === 0 ? [] : ['### Not exported, and part of the above']),
      ...behind.map((declaration) => formatDeclaration(declaration.name, declaration)),
    ];
  });
  const head = `# API of ${manifest.name}\n\nWritten by \`npm run api\`. A change here is a change of what users rely on.`;
  return `${[head, ...parts].join('\n\n')}\n`;
}

function formatDeclaration(name: string, { name: ownName, summary, texts }: Declaration): string {
  const renamed = name === ownName ? '' : ` (\`${ownName}\` in its file)`;
  const heading = `**${name}**${renamed}${summary === '' ? '' : `: ${summary}`}`;
  return `${heading}\n\n\`\`\`ts\n${texts.join('\n')}\n\`\`\``;
}

/** The exports of a file with their declarations. */
function readExports(path: string, read: (path: string) => DeclarationFile): ReadonlyMap<string, Declaration> {
  const { declared, elsewhere } = read(path);
  return new Map(
    [...elsewhere.keys(), ...declared.keys()].flatMap((name) => {
      const declaration = resolve(path, name, read);
      return declaration === undefined ? [] : [[name, declaration]];
    }),
  );
}

function resolve(path: string, name: string, read: (path: string) => DeclarationFile): Declaration | undefined {
  const { declared, elsewhere } = read(path);
  const found = declared.get(name);
  const other = elsewhere.get(name);
  if (found !== undefined || other === undefined) return found;
  // Another package has its own report.
  return other.from.startsWith('.')
    ? resolve(posix.join(posix.dirname(path), other.from), other.name, read)
    : undefined;
}

/** The declarations that `listed` uses but does not contain, sorted by name. */
function findBehind(listed: ReadonlySet<Declaration>, read: (path: string) => DeclarationFile): readonly Declaration[] {
  const all = new Set(listed);
  // Iterating a set also visits items added meanwhile.
  for (const { path, names } of all) {
    for (const name of names) {
      const declaration = resolve(path, name, read);
      if (declaration !== undefined) all.add(declaration);
    }
  }
  return [...all].filter((declaration) => !listed.has(declaration)).toSorted((a, b) => compareNames(a.name, b.name));
}

function readDeclarations(path: string, source: string): DeclarationFile {
  const { code, errors } = isolatedDeclarationSync(path, source);
  const error = errors[0];
  if (error !== undefined) throw new Error(`\`${path}\`: ${error.message}`);
  const { program, comments, module } = parseSync('declarations.d.ts', code);
  const declared = new Map<string, Declaration>();
  for (const statement of program.body) {
    const inner = 'declaration' in statement ? statement.declaration : statement;
    if (typeof inner !== 'object' || inner === null) continue;
    const comment = comments.findLast(
      ({ end }) => end <= statement.start && code.slice(end, statement.start).trim() === '',
    );
    const within = comments.filter(({ start, end }) => start >= statement.start && end <= statement.end);
    const text = printWithout(code, statement, within);
    const names = collectNames(inner);
    for (const name of namesOf(inner)) {
      const before = declared.get(name);
      declared.set(name, {
        path,
        name,
        summary: before?.summary || summarise(comment?.value ?? ''),
        texts: [...(before?.texts ?? []), text],
        names: new Set([...(before?.names ?? []), ...names]),
      });
    }
  }
  const elsewhere = new Map<string, { from: string; name: string }>();
  for (const { moduleRequest, entries } of module.staticImports) {
    for (const { importName, localName } of entries) {
      elsewhere.set(localName.value, { from: moduleRequest.value, name: importName.name ?? localName.value });
    }
  }
  for (const { moduleRequest, importName, exportName } of module.staticExports.flatMap(({ entries }) => entries)) {
    if (moduleRequest === null || exportName.name === null) continue;
    elsewhere.set(exportName.name, { from: moduleRequest.value, name: importName.name ?? exportName.name });
  }
  return { declared, elsewhere };
}

/** The text of a statement without its comments and the empty lines that they leave. */
function printWithout(
  code: string,
  { start, end }: { readonly start: number; readonly end: number },
  comments: readonly { readonly start: number; readonly end: number }[],
): string {
  const pieces = [...comments, { start: end, end }].map((comment, index) =>
    code.slice(index === 0 ? start : comments[index - 1]?.end, comment.start),
  );
  const lines = pieces.join('').split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => line.replace(/^\t+/, (tabs) => '  '.repeat(tabs.length)).trimEnd())
    .join('\n');
}

function summarise(comment: string): string {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*? ?/, '').trim());
  const first = lines.findIndex((line) => line !== '');
  const rest = lines.slice(Math.max(first, 0));
  const end = rest.findIndex((line) => line === '' || line.startsWith('@'));
  const paragraph = rest.slice(0, end < 0 ? rest.length : end).join(' ');
  return /^.*?\.(?=\s|$)/.exec(paragraph)?.[0] ?? paragraph;
}

type Node = Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function namesOf(declaration: object): readonly string[] {
  const { id, declarations } = declaration as Node;
  const ids = Array.isArray(declarations) ? declarations.map((one: Node) => one['id']) : [id];
  return ids.flatMap((one) => (isNode(one) && typeof one['name'] === 'string' ? [one['name']] : []));
}

function collectNames(node: unknown, found: Set<string> = new Set()): ReadonlySet<string> {
  if (Array.isArray(node)) for (const item of node) collectNames(item, found);
  else if (isNode(node)) {
    if (node['type'] === 'Identifier' && typeof node['name'] === 'string') found.add(node['name']);
    for (const [key, value] of Object.entries(node)) {
      // A property name does not refer to a declaration, unless it is computed.
      if (key !== 'key' || node['computed'] === true) collectNames(value, found);
    }
  }
  return found;
}

// Not by locale, which differs between machines.
function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function remember<Value>(make: (key: string) => Value): (key: string) => Value {
  const known = new Map<string, Value>();
  return (key) => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
}
