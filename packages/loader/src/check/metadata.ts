import {
  type Effects,
  findToolNameProblem,
  isPlainObject,
  type Json,
  type JsonObject,
  type Repeat,
  type ToolExample,
  type ToolRetry,
} from '@holdfast/core';
import { checkCommand, type ToolCommand } from '../language/check-command.ts';
import { checkPassing } from '../language/check-passing.ts';
import type { ExportedFunction } from '../parse/exported-function.ts';
import { findHiddenCharacter } from '../text/hidden-text.ts';
import {
  checkEnvironment,
  checkExamples,
  checkIsolation,
  checkMaxResultBytes,
  checkResources,
  checkRetry,
  checkVersion,
  type Isolation,
} from './extended.ts';
import { checkDescription, checkFunction } from './function.ts';
import { checkParameters, checkReturns } from './parameters.ts';
import { oneOf, type Report, showPath } from './report.ts';

/** What a tool file says of its tool, with every default filled in. */
export interface ToolMetadata {
  /**
   * `metadata`: the file exports `METADATA`. `definition`: its default export is made by `defineTool`. `command`: a `.tool.json`
   * names a program. `python`: a Python file has `METADATA`.
   */
  readonly form: MetadataForm;
  readonly name: string;
  /** The export that does the work; in a definition, `default`, whose `execute` does; empty in a command. */
  readonly function: string;
  /** Of a command only. */
  readonly command: ToolCommand | undefined;
  /** Of Python only: how the function takes the arguments. */
  readonly passing: ArgumentPassing | undefined;
  readonly description: string;
  /** `undefined`: the tool takes no arguments. */
  readonly parameters: JsonObject | undefined;
  /** Of the output. */
  readonly returns: JsonObject | undefined;
  readonly dangerous: boolean;
  /** It says neither `dangerous` nor `effects`, and so counts as dangerous. */
  readonly undeclared: boolean;
  readonly effects: Effects;
  readonly repeat: Repeat;
  readonly timeoutMs: number | undefined;
  readonly retry: Required<ToolRetry> | undefined;
  readonly examples: readonly ToolExample<JsonObject, Json>[];
  /** Names of what a call works on; `$input.path` stands for the argument `path`. */
  readonly resources: readonly string[] | undefined;
  /** The weakest isolation that the tool may run in. */
  readonly isolation: Isolation | undefined;
  /** Of the tool, as semantic versioning has it. */
  readonly version: string | undefined;
  /** Most that a result may take as JSON. */
  readonly maxResultBytes: number | undefined;
  /** Environment variables that the tool asks for; `NAME?` is an optional one. */
  readonly environment: readonly string[] | undefined;
}

export type MetadataForm = 'metadata' | 'definition' | 'command' | 'python';

/** Each argument by its name, all of them as one dictionary, or nothing. */
export type ArgumentPassing = 'named' | 'whole' | 'none';

const sharedKeys: readonly string[] = [
  'name',
  'description',
  'dangerous',
  'effects',
  'repeat',
  'timeoutMs',
  'retry',
  'examples',
  'environment',
];
const fileKeys: readonly string[] = [
  ...sharedKeys,
  'parameters',
  'returns',
  'resources',
  'isolation',
  'version',
  'maxResultBytes',
];
const keysOf: Readonly<Record<MetadataForm, readonly string[]>> = {
  metadata: [...fileKeys, 'function'],
  definition: [...sharedKeys, 'inputSchema', 'outputSchema'],
  command: [...fileKeys, 'command', 'files'],
  python: [...fileKeys, 'function'],
};

/** What a tool file says, as far as it is known before it is checked. */
export interface MetadataLiteral {
  readonly form: MetadataForm;
  readonly value: JsonObject;
  /** Finds the function of that name; in a definition the only one there is. A command has none. */
  findFunction(name: string): ExportedFunction;
}

/**
 * Checks a metadata literal and fills in its defaults. What is wrong goes to `report`; the answer is only good when nothing of
 * severity `error` did.
 */
export function checkMetadata({ form, value, findFunction }: MetadataLiteral, report: Report): ToolMetadata {
  const keys = keysOf[form];
  for (const key of Object.keys(value)) {
    if (keys.includes(key)) continue;
    report({
      code: 'tool.metadata.unknown_key',
      path: [key],
      message: `\`${key}\` is no metadata key.`,
      hint: `Known keys: ${keys.join(', ')}.`,
    });
  }
  checkTexts(value, report);
  const isDefinition = form === 'definition';
  const [parametersKey, returnsKey] = isDefinition
    ? (['inputSchema', 'outputSchema'] as const)
    : (['parameters', 'returns'] as const);
  const name = checkName(value['name'], report);
  const exported = isDefinition
    ? findFunction('default')
    : form === 'command'
      ? undefined
      : checkFunction(value['function'], { form, findFunction }, report);
  const undeclared = value['dangerous'] === undefined && value['effects'] === undefined;
  const dangerous = checkDangerous(value, name, report);
  // The forms differ: outside of a definition, `dangerous: false` is the author's word that nothing outside changes.
  const isHarmless = !isDefinition && value['dangerous'] === false;
  const effects =
    oneOf(value['effects'], 'effects', ['none', 'state', 'external'], report) ?? (isHarmless ? 'none' : 'external');
  const namedFunction = isDefinition ? 'default' : form === 'command' ? '' : String(value['function']);
  const subject = isDefinition || form === 'command' ? name : namedFunction;
  const repeat =
    oneOf(value['repeat'], 'repeat', ['safe', 'keyed', 'never'], report) ?? (effects === 'none' ? 'safe' : 'never');
  const parameters = checkParameters(value[parametersKey], { key: parametersKey, exported, subject }, report);
  const returns = checkReturns(value[returnsKey], returnsKey, report);
  return {
    form,
    name,
    function: namedFunction,
    command: form === 'command' ? checkCommand(value, report) : undefined,
    passing: exported?.type === 'function' ? checkPassing(exported, parameters, report) : undefined,
    description: checkDescription(value['description'], { form, exported, name }, report),
    parameters,
    returns,
    dangerous,
    undeclared,
    effects,
    repeat,
    timeoutMs: checkTimeout(value['timeoutMs'], report),
    retry: checkRetry(value['retry'], repeat, report),
    examples: checkExamples(value['examples'], { parameters, returns }, report),
    resources: checkResources(value['resources'], parameters, report),
    isolation: checkIsolation(value['isolation'], report),
    version: checkVersion(value['version'], report),
    maxResultBytes: checkMaxResultBytes(value['maxResultBytes'], report),
    environment: checkEnvironment(value['environment'], report),
  };
}

function checkTexts(metadata: JsonObject, report: Report): void {
  const visit = (node: Json, path: readonly string[]): void => {
    const texts = typeof node === 'string' ? [node] : isPlainObject(node) ? Object.keys(node) : [];
    for (const text of texts) {
      const character = findHiddenCharacter(text);
      if (character === undefined) continue;
      report({
        code: 'tool.text.hidden',
        path,
        message: `\`${showPath(path) || 'METADATA'}\` holds the invisible character ${character}.`,
        hint: 'A model reads what a person cannot see: leave it out.',
      });
    }
    if (typeof node === 'object' && node !== null)
      for (const [key, inner] of Object.entries(node)) visit(inner, [...path, key]);
  };
  // Where each text stands matters only when something is to be said of one.
  if (hasHiddenText(metadata)) visit(metadata, []);
}

function hasHiddenText(node: Json): boolean {
  if (typeof node === 'string') return findHiddenCharacter(node) !== undefined;
  if (typeof node !== 'object' || node === null) return false;
  if (Array.isArray(node)) return node.some(hasHiddenText);
  const object = node as JsonObject;
  return Object.keys(object).some((key) => hasHiddenText(key) || hasHiddenText(object[key] ?? null));
}

function checkName(name: Json | undefined, report: Report): string {
  if (name === undefined || name === '') {
    report({
      code: 'tool.name.missing',
      path: ['name'],
      message: '`name` is missing.',
      hint: "Name the tool, for example `name: 'weather_fetcher'`.",
    });
    return '';
  }
  const problem =
    typeof name === 'string'
      ? findToolNameProblem(name)
      : { code: 'tool.name.invalid', message: '`name` must be a text.' };
  if (problem !== undefined) report({ ...problem, path: ['name'], hint: 'Choose a name such as `weather_fetcher`.' });
  return String(name);
}

function checkDangerous({ dangerous, effects }: JsonObject, name: string, report: Report): boolean {
  if (typeof dangerous === 'boolean') return dangerous;
  if (dangerous === undefined) {
    if (effects !== undefined) return false;
    report({
      severity: 'warning',
      code: 'tool.dangerous.missing',
      path: [],
      message: `\`${name}\` says neither \`dangerous\` nor \`effects\`: it may change anything outside, so each call needs approval.`,
      hint: "Say `dangerous: false` and `effects: 'none'` when it only reads, or `dangerous: true`.",
    });
    return true;
  }
  report({
    code: 'tool.dangerous.invalid',
    path: ['dangerous'],
    message: `\`dangerous\` must be true or false, got \`${JSON.stringify(dangerous)}\`.`,
    hint: 'Write `true` or `false` without quotes.',
  });
  return true;
}

function checkTimeout(timeoutMs: Json | undefined, report: Report): number | undefined {
  if (timeoutMs === undefined) return undefined;
  if (typeof timeoutMs === 'number' && timeoutMs > 0) return timeoutMs;
  report({
    code: 'tool.timeout.invalid',
    path: ['timeoutMs'],
    message: '`timeoutMs` must be a positive number of milliseconds.',
    hint: 'Write for example `timeoutMs: 5000`.',
  });
  return undefined;
}
