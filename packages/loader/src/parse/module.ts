import { execFile } from 'node:child_process';
import { HoldfastError } from '@holdfast/core';
import { type Comment, type ParseResult, type Program, parseSync, type StaticImport } from 'oxc-parser';
import type { FileReason, Finding } from '../text/diagnostic.ts';

/** A file's syntax tree. Function bodies may be missing; they are not used. */
export interface ParsedModule {
  /** Created on first access, because it takes most of the parsing time. */
  readonly body: Program['body'];
  readonly comments: readonly Comment[];
  /** Offsets of the arguments of all `import()` calls in the file. */
  readonly dynamicImports: readonly Span[];
  /** Offsets of all `import.meta` in the file. */
  readonly importMetas: readonly Span[];
  /** Its static imports, if known without the tree. */
  readonly imports?: readonly StaticImport[];
}

type Span = { readonly start: number; readonly end: number };

export type Parsing =
  | { readonly type: 'parsed'; readonly module: ParsedModule }
  | { readonly type: 'refused'; readonly offset: number; readonly finding: Finding };

interface RawParse extends ParsedModule {
  readonly errors: readonly { readonly message: string; readonly offset: number }[];
}

// The native parser is recursive: a few thousand levels of nesting crash the process. Measured on a 4 MB stack (a
// worker's), no source with fewer than 4,000 of these pieces nests that deeply.
const nestingPieces = /[([{<!~+\-?:=*/%&|^@`.]|[\w$]\s+(?=[\w$])/g;
const maxPiecesInProcess = 2000;

/** Parses a tool file as a module without running it. A file that could crash the parser is parsed in another process. */
export async function parseModule(source: string, file: string): Promise<Parsing> {
  const name = `tool${/\.[^.]*$/.exec(file)?.[0] ?? '.js'}`;
  const raw =
    source.length <= maxPiecesInProcess || countPieces(source) <= maxPiecesInProcess
      ? toRaw(parseSync(name, source, parserOptions))
      : await parseApart(name, source);
  if (raw === undefined) {
    const message = 'Cannot parse the file: it is nested too deeply, or takes too long.';
    return refused(0, 'too_complex', message, 'Split the file, or flatten its largest expression.');
  }
  const [error] = raw.errors;
  if (error !== undefined)
    return refused(
      error.offset,
      'syntax',
      `Syntax error: ${error.message}.`,
      'Fix the file so that Node can parse it.',
    );
  if (isStrippable(source, name)) return { type: 'parsed', module: raw };
  const unstrippable = raw.body
    .map((node) => (node.type === 'ExportNamedDeclaration' ? (node.declaration ?? node) : node))
    .find(isUnstrippable);
  if (unstrippable !== undefined) {
    const message =
      'Node runs TypeScript by stripping its types, which does not support enums, namespaces and `import =`.';
    const hint = 'Use a const object instead of an enum, and modules instead of a namespace.';
    return refused(unstrippable.start, 'syntax', message, hint);
  }
  return { type: 'parsed', module: raw };
}

const parserOptions = { sourceType: 'module', showSemanticErrors: true } as const;

function refused(offset: number, reason: FileReason, message: string, hint: string): Parsing {
  return { type: 'refused', offset, finding: { code: 'tool.file.invalid', reason, message, hint } };
}

/** True if the file is certainly strippable without its tree: JavaScript, or TypeScript without these keywords. */
function isStrippable(source: string, name: string): boolean {
  return name.endsWith('js') || !unstrippableWords.test(source);
}

const unstrippableWords =
  /\b(?:enum|namespace|module|import)\b|\bexport\b(?!\s+(?:const|let|async|function|class|type|interface|default)\b|\s*\{)/;

function countPieces(source: string): number {
  let count = 0;
  for (const _ of source.matchAll(nestingPieces)) {
    count += 1;
    if (count > maxPiecesInProcess) break;
  }
  return count;
}

function toRaw(result: ParseResult): RawParse {
  const { errors, comments, module } = result;
  return {
    errors: errors
      .filter(({ severity }) => severity === 'Error')
      .map(({ message, labels }) => ({ message, offset: labels[0]?.start ?? 0 })),
    get body() {
      return result.program.body;
    },
    comments,
    imports: module.staticImports,
    dynamicImports: module.dynamicImports.map(({ moduleRequest }) => moduleRequest),
    importMetas: module.importMetas,
  };
}

function isUnstrippable(node: { readonly type: string; readonly declare?: boolean | null }): boolean {
  const types = ['TSEnumDeclaration', 'TSModuleDeclaration', 'TSImportEqualsDeclaration', 'TSExportAssignment'];
  return types.includes(node.type) && node.declare !== true;
}

// Reads the source from standard input and writes the tree as JSON, without function bodies.
const script = `
const { parseSync } = await import(process.argv[1]);
let source = '';
process.stdin.setEncoding('utf8');
for await (const chunk of process.stdin) source += chunk;
const { errors, program, comments, module } = parseSync(process.argv[2], source, ${JSON.stringify(parserOptions)});
process.stdout.write(JSON.stringify({
  errors: errors.filter((error) => error.severity === 'Error')
    .map(({ message, labels }) => ({ message, offset: labels[0]?.start ?? 0 })),
  body: program.body,
  comments,
  dynamicImports: module.dynamicImports.map(({ moduleRequest }) => moduleRequest),
  importMetas: module.importMetas,
}, (key, value) => {
  if (typeof value === 'bigint') return String(value);
  return value?.type === 'BlockStatement' || value?.type === 'ClassBody' ? { ...value, body: [] } : value;
}));
`;
// Many times what a file of 1 MiB needs on a slow and busy machine.
const timeoutMs = 60_000;
const maxTreeBytes = 256 * 1024 * 1024;

async function parseApart(name: string, source: string): Promise<RawParse | undefined> {
  const parser = import.meta.resolve('oxc-parser');
  const tree = await new Promise<string | undefined>((resolve, reject) => {
    const child = execFile(
      process.execPath,
      ['--input-type=module', '--eval', script, '--', parser, name],
      { encoding: 'utf8', env: {}, maxBuffer: maxTreeBytes, timeout: timeoutMs, windowsHide: true },
      (error, stdout) => {
        if (error === null) resolve(stdout);
        // A failed start says nothing about the file.
        else if (child.pid === undefined)
          reject(
            new HoldfastError('tool.process.not_started', 'Cannot start a process to parse a large tool file.', {
              data: { reason: 'parser' },
              cause: error,
            }),
          );
        else resolve(undefined);
      },
    );
    // A crashed parser stops reading; its exit is handled above.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(source);
  });
  // Written by the script above.
  return tree === undefined ? undefined : (JSON.parse(tree) as RawParse);
}
