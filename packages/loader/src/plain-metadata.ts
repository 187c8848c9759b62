import type { JsonObject } from '@holdfast/core';
import type { StaticExport } from 'oxc-parser';
import type { ExportedFunction, TakenParameter } from './exported-function.ts';
import type { ParsedModule } from './parse-module.ts';
import { readPlainLiteral, skipBlanks } from './plain-literal.ts';

/** What a module says of its tool in the plainest way there is. */
export interface PlainMetadata {
  readonly value: JsonObject;
  /** Offset of the member `name`. */
  readonly nameOffset: number;
  /** A function that the module declares and exports, if it can be seen to be one. */
  findFunction(name: string): ExportedFunction;
}

/**
 * Reads `export const METADATA = { … };` and `export function NAME(…)` where they stand so in a sound module, from its text, without its
 * tree. `undefined` for everything else, for which the tree has to be looked at; and so it has for whatever is found to be wrong then.
 */
export function readPlainMetadata(
  source: string,
  { exports }: ParsedModule,
  { isTypeScript }: { readonly isTypeScript: boolean },
): PlainMetadata | undefined {
  const statements = exports === undefined ? undefined : listPlainExports(exports);
  const statement = statements?.get('METADATA');
  if (statements === undefined || statement === undefined) return undefined;
  const { start, end } = statement;
  const begin = matchAt(metadataStart, source, start);
  const literal = begin === undefined ? undefined : readPlainLiteral(source, begin);
  // Nothing else is declared or done there. Blanks behind the literal may lie behind the statement.
  if (literal === undefined || !/^;?$/.test(source.slice(literal.end, end))) return undefined;
  const { name, function: work, description } = literal.value;
  // Without a description a comment of the function takes its place.
  if (typeof name !== 'string' || typeof work !== 'string' || typeof description !== 'string') return undefined;
  const found = findPlainFunction(work, statements.get(work), { source, isTypeScript });
  if (found === undefined) return undefined;
  return { value: literal.value, nameOffset: literal.offsets.get('name') ?? start, findFunction: () => found };
}

const metadataStart = /export\s+const\s+METADATA\s*=\s*(?=\{)/y;

/** By exported name; `undefined` when there is anything among them whose meaning is not plain. */
function listPlainExports(exports: readonly StaticExport[]): ReadonlyMap<string, StaticExport> | undefined {
  const found = new Map<string, StaticExport>();
  for (const statement of exports) {
    for (const { exportName, isType } of statement.entries) {
      if (isType) continue;
      const { name } = exportName;
      // The default, everything of another module, or what makes a module something to be waited for.
      if (name === null || name === 'then') return undefined;
      found.set(name, statement);
    }
  }
  return found;
}

function findPlainFunction(
  name: string,
  statement: StaticExport | undefined,
  { source, isTypeScript }: { readonly source: string; readonly isTypeScript: boolean },
): ExportedFunction | undefined {
  if (statement === undefined || !/^[A-Za-z_][\w]*$/.test(name)) return undefined;
  const open = matchAt(functionStart, source, statement.start);
  if (open === undefined || matchAt(identifier, source, open) !== open + name.length) return undefined;
  if (!source.startsWith(name, open)) return undefined;
  const parameters = skipBlanks(source, open + name.length);
  if (source[parameters] !== '(') return undefined;
  const first = skipBlanks(source, parameters + 1);
  if (isTypeScript) {
    // There `this` is no parameter, and what has no body is no function.
    if (matchAt(thisParameter, source, first) !== undefined) return undefined;
    if (matchAt(plainSignature, source, parameters) === undefined) return undefined;
  }
  const taken = readTaken(source, first);
  if (taken === undefined) return undefined;
  const takesInput = source[first] !== ')';
  return { type: 'function', offset: statement.start, takesInput, taken, documentation: undefined };
}

/** `undefined` where the parameters are more than names, and objects that are taken apart into names. */
function readTaken(source: string, first: number): TakenParameter | undefined {
  plainParameters.lastIndex = first;
  const found = plainParameters.exec(source);
  if (found === null) return undefined;
  const [, parameter] = found;
  if (parameter?.startsWith('{') !== true) return { name: parameter, keys: undefined };
  const keys = parameter.match(/[\w$]+/g) ?? [];
  return { name: undefined, keys: keys.map((name) => ({ name, hasDefault: false })) };
}

// Up to two parameters, each with a type that is a name or an object without others in it. No blank can be matched in two ways.
const plainParameter = String.raw`([\w$]+|\{[\w$,\s]*\})\s*(?::(?:[\w$.<>[\]|\s]+|\s*\{[\w$.<>[\]|\s:;,?]*\}\s*))?`;
const plainParameters = new RegExp(String.raw`(?:${plainParameter}(?:,\s*${plainParameter})?(?:,\s*)?)?\)`, 'y');

// Parameters without functions and texts among them, a type that is one name, and the body.
const plainSignature =
  /\((?:[^(){}'"`/]|\{[^(){}'"`/]*\})*\)\s*(?::\s*(?!(?:keyof|typeof|readonly|unique|asserts|infer|new|abstract)\b)[\w.]+(?:<[\w.<>[\], ]*>)?(?:\[\])*\s*)?\{/y;
const functionStart = /export\s+(?:async\s+)?function\s+/y;
const identifier = /[\w$]+/y;
const thisParameter = /this\b/y;

/** Where the match ends that begins at `start`. */
function matchAt(pattern: RegExp, source: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(source) ? pattern.lastIndex : undefined;
}
