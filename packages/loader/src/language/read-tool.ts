import { basename, dirname, join, relative, sep } from 'node:path';
import type { MetadataReading } from '../check/literal.ts';
import { readMetadata } from '../scan/metadata.ts';
import { kindOf, type ToolFileReading } from '../scan/tool-files.ts';
import { toDiagnostic } from '../text/diagnostic.ts';
import { readCommandFiles, toCommandPath } from './command-files.ts';
import { readCommand, readCommandMetadata } from './command-metadata.ts';
import { listPythonModules } from './python-imports.ts';
import { findReadingProblem, readPythonMetadata } from './python-metadata.ts';
import { toOffset } from './python-outline.ts';
import { createPythonReader, type PythonReader } from './python-reader.ts';

type ReadFile = Extract<ToolFileReading, { type: 'read' }>;

/** What was found in a tool file of any kind. */
export interface ToolReading {
  readonly reading: MetadataReading;
  /** Whether it says nothing of a tool at all. */
  readonly isPlain: boolean;
  /** Whether it can be left out without a word: there is nothing that could read it, and it has not even the word `METADATA`. */
  readonly isNoTool?: boolean;
  /** The files that it names or imports, as far as that can be told from it alone, relative to the tools folder. They may not be there. */
  readonly parts: readonly string[];
  /** See `ScannedFile`. */
  readonly commandFiles?: ReadonlyMap<string, string>;
}

/** Reads tool files of every kind. To be disposed of at the end. */
export interface ToolReader extends AsyncDisposable {
  read(file: ReadFile): Promise<ToolReading>;
}

/** @param root - the tools folder, absolute, without symlinks. */
export function createToolReader({ root, strict }: { readonly root: string; readonly strict: boolean }): ToolReader {
  const python = createPythonReader();
  return {
    async read(file) {
      switch (kindOf(file.file)) {
        case 'command':
          return await readCommandTool(file, { root, strict });
        case 'python':
          return await readPythonTool(file, { root, strict, python });
        default:
          return toPlainReading(await readMetadata(file.source, file.file, { strict }));
      }
    },
    [Symbol.asyncDispose]: () => python[Symbol.asyncDispose](),
  };
}

function toPlainReading(reading: MetadataReading): ToolReading {
  const isPlain =
    reading.type === 'refused' && reading.diagnostics.some(({ code }) => code === 'tool.metadata.missing');
  return { reading, isPlain, parts: [] };
}

async function readCommandTool(
  { file, path, source }: ReadFile,
  { root, strict }: { readonly root: string; readonly strict: boolean },
): Promise<ToolReading> {
  const { reading, offsetOf } = await readCommandMetadata(source, file, { strict });
  const command = readCommand(source);
  if (command === undefined) return { reading, isPlain: false, parts: [] };
  const { words, files } = command;
  const parts = files.map((word) => relative(root, toCommandPath(path, word)).split(sep).join('/'));
  const found = await readCommandFiles(path, command);
  if (found.type === 'read')
    return { reading, isPlain: false, parts, commandFiles: new Map(found.files.map((one) => [one.path, one.digest])) };
  const place = words.includes(found.word) ? ['command', String(words.indexOf(found.word))] : ['files'];
  const diagnostic = toDiagnostic(found.finding, { file, source, offset: offsetOf(place) });
  return { reading: { type: 'refused', diagnostics: [...reading.diagnostics, diagnostic] }, isPlain: false, parts };
}

async function readPythonTool(
  { file, path, source }: ReadFile,
  { root, strict, python }: { readonly root: string; readonly strict: boolean; readonly python: PythonReader },
): Promise<ToolReading> {
  const outline = await python.read(source);
  if (outline.type !== 'outlined') {
    const { finding, place } = findReadingProblem(outline);
    const diagnostic = toDiagnostic(finding, { file, source, offset: toOffset(source, place) });
    const isNoTool = outline.type === 'unavailable' && !source.includes('METADATA');
    return { reading: { type: 'refused', diagnostics: [diagnostic] }, isPlain: false, isNoTool, parts: [] };
  }
  const folder = dirname(path);
  const modules = outline.imports.flatMap((one) => listPythonModules(one, basename(path)));
  const parts = modules.map((module) => relative(root, join(folder, module)).split(sep).join('/'));
  return { ...toPlainReading(readPythonMetadata(outline, { file, source, strict })), parts };
}
