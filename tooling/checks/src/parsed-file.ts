import { parseSync } from 'oxc-parser';

/** The parts of a source file that the checks use. */
export interface ParsedFile {
  readonly path: string;
  readonly text: string;
  /** Every imported or re-exported module, including type-only imports, and `import()` and `import.meta.resolve()` of a literal. */
  readonly imports: readonly string[];
  readonly hasExportAll: boolean;
  readonly hasDefaultExport: boolean;
  readonly comments: readonly string[];
  /** Names used as variables or types, and properties of `globalThis`. */
  readonly references: ReadonlySet<string>;
}

export function parseFile(path: string, text: string): ParsedFile {
  const { module, program, comments, errors } = parseSync(path, text);
  const error = errors[0];
  if (error !== undefined) throw new Error(`\`${path}\` does not parse: ${error.message}`);
  const exported = module.staticExports.flatMap(({ entries }) => entries);
  const literals = module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const literal = /^(['"`])([^'"`$]+)\1$/.exec(text.slice(start, end));
    return literal?.[2] === undefined ? [] : [literal[2]];
  });
  const references = new Set<string>();
  collectReferences(program, references);
  return {
    path,
    text,
    imports: [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...exported.flatMap(({ moduleRequest }) => (moduleRequest === null ? [] : [moduleRequest.value])),
      ...literals,
      ...[...text.matchAll(/\bimport\.meta\.resolve\('([\w@][^']*)'\)/g)].flatMap(([, name]) => name ?? []),
    ],
    // Compared as text: the parser's kinds are const enums, which exist only in its own compilation.
    hasExportAll: exported.some(({ importName }) => ['All', 'AllButDefault'].includes(String(importName.kind))),
    hasDefaultExport: exported.some(({ exportName }) => String(exportName.kind) === 'Default'),
    comments: comments.map(({ value }) => value),
    references,
  };
}

type Node = Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

// Property names and keys are not references; every other Identifier counts as one.
function collectReferences(node: unknown, found: Set<string>): void {
  if (Array.isArray(node)) {
    for (const item of node) collectReferences(item, found);
    return;
  }
  if (!isNode(node)) return;
  if (node['type'] === 'Identifier' && typeof node['name'] === 'string') found.add(node['name']);
  const named = node['computed'] === true ? undefined : node['type'] === 'MemberExpression' ? 'property' : 'key';
  for (const [key, value] of Object.entries(node)) {
    if (key === named && !isGlobalProperty(node)) continue;
    collectReferences(value, found);
  }
}

function isGlobalProperty({ type, object }: Node): boolean {
  return type === 'MemberExpression' && isNode(object) && object['name'] === 'globalThis';
}
