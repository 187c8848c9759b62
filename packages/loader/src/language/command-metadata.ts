import { isPlainObject, type JsonObject } from '@holdfast/core';
import { checkLiteral, type MetadataReading } from '../check/literal.ts';
import { type LiteralPath, readLiteral } from '../parse/literal.ts';
import { parseModule } from '../parse/module.ts';
import { outlineModule } from '../parse/outline.ts';
import { type Finding, toDiagnostic } from '../text/diagnostic.ts';
import { checkCommand, type ToolCommand } from './check-command.ts';

const prefix = 'export default ';

/** What a `.tool.json` says. */
export interface CommandReading {
  readonly reading: MetadataReading;
  /** Offset in the source of the member at `path`, or of the nearest member around it; 0 in a file that was refused early. */
  offsetOf(path: LiteralPath): number;
}

/** Reads and checks the text of a `.tool.json`, which is strict JSON: no comments, no key twice. */
export async function readCommandMetadata(
  source: string,
  file: string,
  { strict = false }: { readonly strict?: boolean } = {},
): Promise<CommandReading> {
  const refuse = (finding: Finding, offset: number): CommandReading => {
    const diagnostic = toDiagnostic(finding, { file, source, offset: Math.max(0, offset) });
    return { reading: { type: 'refused', diagnostics: [diagnostic] }, offsetOf: () => 0 };
  };
  const problem = findJsonProblem(source);
  if (problem !== undefined)
    return refuse(
      {
        code: 'tool.file.syntax',
        message: `Not JSON: ${problem.message}.`,
        hint: 'Correct the file; JSON has no comments.',
      },
      problem.offset,
    );
  // JSON is an expression of JavaScript, and that parser knows where each member stands.
  const parsing = await parseModule(`${prefix}${source}`, 'tool.mjs');
  if (parsing.type === 'refused') return refuse(parsing.finding, parsing.offset - prefix.length);
  const { bindings } = outlineModule(parsing.module);
  const binding = bindings.get('*default*');
  if (binding?.type !== 'const') return refuse(notObject, 0);
  const literal = readLiteral(binding.value, bindings);
  if (literal.type === 'refused') {
    const { found, hint, offset } = literal;
    return refuse(
      { code: 'tool.metadata.not_literal', message: `The file holds ${found}.`, hint },
      offset - prefix.length,
    );
  }
  const offsetOf = (path: LiteralPath): number => Math.max(0, literal.offsetOf(path) - prefix.length);
  const reading = checkLiteral(
    {
      form: 'command',
      value: literal.value,
      subject: 'The file',
      offset: 0,
      offsetOf,
      findFunction: () => ({ type: 'not-exported', exported: [] }),
    },
    { file, source, strict },
  );
  return { reading, offsetOf };
}

/** The command alone, also of a file that is refused for something else; `undefined` where there is no sound one. */
export function readCommand(source: string): ToolCommand | undefined {
  try {
    const value: unknown = JSON.parse(source);
    // Came from JSON.
    return isPlainObject(value) ? checkCommand(value as JsonObject, () => undefined) : undefined;
  } catch {
    // Not JSON: the check says where.
    return undefined;
  }
}

const notObject: Finding = {
  code: 'tool.metadata.not_literal',
  message: 'The file is not an object.',
  hint: 'Write `{ "name": …, "description": …, "dangerous": …, "parameters": …, "command": … }`.',
};

function findJsonProblem(source: string): { readonly message: string; readonly offset: number } | undefined {
  try {
    JSON.parse(source);
    return undefined;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : 'unknown reason';
    if (/^Unexpected end of/.test(message)) return { message: 'it ends too early', offset: source.length };
    const [, offset] = /at position (\d+)/.exec(message) ?? [];
    // The parser quotes the text around, which the place shows better.
    const what = message.replace(/ (?:in JSON )?at position .*$/s, '').replace(/, (?:\.\.\.)?".*$/s, '');
    return { message: what, offset: offset === undefined ? findUnexpected(source, message) : Number(offset) };
  }
}

// Of some problems the parser gives no position, only the text around: ten characters before the one it did not expect.
function findUnexpected(source: string, message: string): number {
  const [, character = '', excerpt] =
    /^Unexpected token '(.+?)', (?:\.\.\."(.*)"\.{0,3} is not|")/su.exec(message) ?? [];
  const offset = excerpt === undefined ? source.indexOf(character) : source.indexOf(excerpt) + 10;
  return Math.max(0, offset);
}
