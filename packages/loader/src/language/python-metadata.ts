import { checkLiteral, type MetadataReading } from '../check/literal.ts';
import type { ExportedFunction } from '../parse/exported-function.ts';
import type { LiteralPath } from '../parse/literal.ts';
import { type Finding, toDiagnostic } from '../text/diagnostic.ts';
import { type PythonFile, type PythonPlace, toOffset } from './python-outline.ts';
import type { PythonReading } from './python-reader.ts';

const metadataHint =
  "Write `METADATA = {'name': …, 'function': …, 'description': …, 'dangerous': …, 'parameters': …}` at the top level.";

/** Why a Python file cannot be read at all; `undefined`: it can. */
export function findReadingProblem(reading: Exclude<PythonReading, PythonFile>): {
  readonly finding: Finding;
  readonly place: PythonPlace;
} {
  const start = { line: 1, column: 0 };
  switch (reading.type) {
    case 'unavailable': {
      const message = `Only Python can read the file, and ${reading.reason}.`;
      const hint = 'Install Python 3.8 or later, so that `python3` is on the PATH.';
      return { finding: { code: 'tool.python.unavailable', message, hint }, place: start };
    }
    case 'encoding': {
      const message = `The file says that its encoding is \`${reading.encoding}\`.`;
      return { finding: { code: 'tool.file.encoding', message, hint: 'Save the file as UTF-8 text.' }, place: start };
    }
    case 'syntax': {
      const message = `Syntax error: ${reading.message}.`;
      return {
        finding: { code: 'tool.file.syntax', message, hint: 'Correct the file so that Python can parse it.' },
        place: reading,
      };
    }
    case 'complex': {
      const message = 'The file cannot be parsed: it is nested too deeply, or takes too long.';
      return {
        finding: { code: 'tool.file.too_complex', message, hint: 'Split the file, or flatten its largest expression.' },
        place: start,
      };
    }
  }
}

/** Checks what a Python file says of its tool. */
export function readPythonMetadata(
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
    return refuse({ code: 'tool.metadata.not_literal', message: `\`METADATA\` holds ${found}.`, hint }, refusal);
  }
  if (metadata === null) {
    const message = 'The file has no `METADATA` at its top level.';
    const hint = `${metadataHint} A file that is no tool gets a name that begins with \`_\`, or is imported by one.`;
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
    },
    { file, source, strict },
  );
}

function findFunction(name: string, { functions, others }: PythonFile, source: string): ExportedFunction {
  const found = functions.get(name);
  if (found === undefined) {
    const other = others.get(name);
    if (other === undefined) return { type: 'not-exported', exported: [...functions.keys()].filter(isPublic) };
    return { type: 'not-function', offset: toOffset(source, other), found: other.what };
  }
  const offset = toOffset(source, found);
  const { generator, parameters, takesMore, takesRest, documentation } = found;
  if (generator) return { type: 'not-function', offset, found: 'a generator, whose result is no JSON' };
  return {
    type: 'function',
    offset,
    takesInput: parameters.length > 0 || takesMore || takesRest,
    documentation: readFirstParagraph(documentation),
    signature: { parameters, takesMore },
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
