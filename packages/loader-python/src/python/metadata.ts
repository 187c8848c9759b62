import { lstat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import {
  checkLiteral,
  type ExportedFunction,
  type Finding,
  type FunctionWords,
  type LanguagePart,
  type LanguagePartReading,
  type LiteralPath,
  type MetadataReading,
  type NeededFile,
  type ToolPlace,
  type ToolReading,
  type ToolSource,
  toDiagnostic,
} from '@holdfast/loader/language';
import { listPythonModules } from './imports.ts';
import { type PythonFile, type PythonPlace, toOffset } from './outline.ts';
import { checkPassing } from './passing.ts';
import type { PythonReader, PythonReading } from './reader.ts';

const metadataHint =
  "Write `METADATA = {'name': …, 'function': …, 'description': …, 'dangerous': …, 'parameters': …}` at the top level.";

/** Reads the metadata of a Python file. */
export async function readPythonTool(
  { file, path, source }: ToolSource,
  { root, strict }: ToolPlace,
  python: PythonReader,
): Promise<ToolReading> {
  const outline = await python.read(source);
  if (outline.type !== 'outlined') {
    const { finding, place } = findReadingProblem(outline);
    const diagnostic = toDiagnostic(finding, { file, source, offset: toOffset(source, place) });
    const isNoTool = outline.type === 'unavailable' && !source.includes('METADATA');
    return { reading: { type: 'refused', diagnostics: [diagnostic] }, isNoTool, parts: [] };
  }
  const folder = dirname(path);
  const modules = outline.imports.flatMap((one) => listPythonModules(one, basename(path)));
  const parts = modules.map((module) => relative(root, join(folder, module)).split(sep).join('/'));
  return { reading: readPythonMetadata(outline, { file, source, strict }), parts };
}

/** Lists the existing files that a Python file imports. */
export async function readPythonPart(
  { path, source, base }: LanguagePart,
  python: PythonReader,
): Promise<LanguagePartReading> {
  const outline = await python.read(source);
  if (outline.type !== 'outlined') {
    const { finding, place } = findReadingProblem(outline);
    return { type: 'refused', finding, offset: toOffset(source, place) };
  }
  const needs: NeededFile[] = [];
  const own = relative(base, path).split(sep).join('/');
  for (const one of outline.imports) {
    for (const module of listPythonModules(one, own)) {
      const target = join(base, module);
      if (await exists(target)) needs.push({ path: target, kind: 'part', offset: toOffset(source, one) });
    }
  }
  if (outline.ownPlace === null) return { type: 'read', needs };
  return { type: 'read', needs, warning: { finding: ownPath, offset: toOffset(source, outline.ownPlace) } };
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch {
    // A missing file belongs to Python, or is installed.
    return false;
  }
}

const ownPath: Finding = {
  severity: 'warning',
  code: 'tool.import.invalid',
  reason: 'meta',
  message: '`__file__` is the path of the pinned copy, which contains only imported files.',
  hint: 'Put data into a module, and import it.',
};

/** Explains why a Python file cannot be read. */
function findReadingProblem(reading: Exclude<PythonReading, PythonFile>): {
  readonly finding: Finding;
  readonly place: PythonPlace;
} {
  return { finding: toFinding(reading), place: reading.type === 'syntax' ? reading : { line: 1, column: 0 } };
}

function toFinding(reading: Exclude<PythonReading, PythonFile>): Finding {
  switch (reading.type) {
    case 'unavailable': {
      const message = `Reading the file requires Python, and ${reading.reason}.`;
      const hint = 'Install Python 3.8 or later, so that `python3` is on the PATH.';
      return { code: 'tool.process.not_started', reason: 'python', message, hint };
    }
    case 'encoding': {
      const message = `The file declares the encoding \`${reading.encoding}\`.`;
      return { code: 'tool.file.invalid', reason: 'encoding', message, hint: 'Save the file as UTF-8 text.' };
    }
    case 'syntax': {
      const message = `Syntax error: ${reading.message}.`;
      return {
        code: 'tool.file.invalid',
        reason: 'syntax',
        message,
        hint: 'Fix the file so that Python can parse it.',
      };
    }
    case 'complex': {
      const message = 'Cannot parse the file: it is nested too deeply, or takes too long.';
      return {
        code: 'tool.file.invalid',
        reason: 'too_complex',
        message,
        hint: 'Split the file, or flatten its largest expression.',
      };
    }
  }
}

/** Checks the metadata of a Python file. */
function readPythonMetadata(
  outline: PythonFile,
  { file, source, strict }: { readonly file: string; readonly source: string; readonly strict: boolean },
): MetadataReading {
  const refuse = (finding: Finding, place: PythonPlace): MetadataReading => ({
    type: 'refused',
    diagnostics: [toDiagnostic(finding, { file, source, offset: toOffset(source, place) })],
  });
  const { metadata, refusal } = outline;
  if (refusal !== null) {
    const { found, hint } = refusal;
    return refuse(
      {
        code: 'tool.metadata.invalid',
        reason: 'not_literal',
        message: `\`METADATA\` must be a literal, but contains ${found}.`,
        hint,
      },
      refusal,
    );
  }
  if (metadata === null) {
    const message = 'The file has no `METADATA` at its top level.';
    const hint = `${metadataHint} If the file is not a tool, start its name with \`_\`, or import it from one.`;
    return refuse({ code: 'tool.metadata.missing', message, hint }, { line: 1, column: 0 });
  }
  const places = new Map(metadata.places.map(([path, line, column]) => [JSON.stringify(path), { line, column }]));
  const offsetOf = (path: LiteralPath): number => {
    for (let length = path.length; length >= 0; length -= 1) {
      const place = places.get(JSON.stringify(path.slice(0, length)));
      if (place !== undefined) return toOffset(source, place);
    }
    return toOffset(source, metadata);
  };
  return checkLiteral(
    {
      form: 'python',
      value: metadata.value,
      subject: '`METADATA`',
      offset: toOffset(source, metadata),
      offsetOf,
      findFunction: (name) => findFunction(name, outline, source),
      own: {
        functionWords,
        check({ function: name }, { exported, parameters }, report) {
          const found = exported?.type === 'function' ? outline.functions.get(String(name)) : undefined;
          return found === undefined ? {} : { passing: checkPassing(found, parameters, report) };
        },
      },
    },
    { file, source, strict },
  );
}

const functionWords: FunctionWords = {
  write: (name) => `Write \`def ${name}(…):\``,
  missing: (name) => `The file defines no function \`${name}\` at its top level.`,
  others: (names) => `It defines ${names}: name one of these.`,
};

function findFunction(name: string, { functions, others }: PythonFile, source: string): ExportedFunction {
  const found = functions.get(name);
  if (found === undefined) {
    const other = others.get(name);
    if (other === undefined) return { type: 'not-exported', exported: [...functions.keys()].filter(isPublic) };
    return { type: 'not-function', offset: toOffset(source, other), found: other.what };
  }
  const offset = toOffset(source, found);
  const { generator, parameters, takesMore, takesRest, documentation } = found;
  if (generator) return { type: 'not-function', offset, found: 'a generator, whose result is not JSON' };
  return {
    type: 'function',
    offset,
    takesInput: parameters.length > 0 || takesMore || takesRest,
    documentation: readFirstParagraph(documentation),
  };
}

function isPublic(name: string): boolean {
  return !name.startsWith('_');
}

function readFirstParagraph(documentation: string | null): string | undefined {
  const [paragraph = ''] = (documentation ?? '').trim().split(/\n\s*\n/);
  const text = paragraph.replace(/\s+/g, ' ').trim();
  return text === '' ? undefined : text;
}
