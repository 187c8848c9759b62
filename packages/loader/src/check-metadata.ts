import {
  type Effects,
  findToolNameProblem,
  isPlainObject,
  type Json,
  type JsonObject,
  type Repeat,
  type ToolExample,
} from '@holdfast/core';
import { checkDescription } from './check-description.ts';
import { checkExamples } from './check-examples.ts';
import { checkIsolation, checkMaxResultBytes, checkResources, checkVersion, type Isolation } from './check-extended.ts';
import { checkParameters, checkReturns } from './check-parameters.ts';
import type { ExportedFunction } from './exported-function.ts';
import { findHiddenCharacter } from './hidden-text.ts';
import { oneOf } from './one-of.ts';
import { type Report, showPath } from './report.ts';

/** What a tool file says of its tool, with every default filled in. */
export interface ToolMetadata {
  /** `metadata`: the file exports `METADATA`. `definition`: its default export is made by `defineTool`. */
  readonly form: MetadataForm;
  readonly name: string;
  /** The export that does the work; in a definition, `default`, whose `execute` does. */
  readonly function: string;
  readonly description: string;
  /** `undefined`: the tool takes no arguments. */
  readonly parameters: JsonObject | undefined;
  /** Of the output. */
  readonly returns: JsonObject | undefined;
  readonly dangerous: boolean;
  readonly effects: Effects;
  readonly repeat: Repeat;
  readonly timeoutMs: number | undefined;
  readonly examples: readonly ToolExample<JsonObject, Json>[];
  /** Names of what a call works on; `$input.path` stands for the argument `path`. */
  readonly resources: readonly string[] | undefined;
  /** The weakest isolation that the tool may run in. */
  readonly isolation: Isolation | undefined;
  /** Of the tool, as semantic versioning has it. */
  readonly version: string | undefined;
  /** Most that a result may take as JSON. */
  readonly maxResultBytes: number | undefined;
}

export type MetadataForm = 'metadata' | 'definition';

const sharedKeys: readonly string[] = [
  'name',
  'description',
  'dangerous',
  'effects',
  'repeat',
  'timeoutMs',
  'examples',
];
const words = {
  metadata: {
    keys: [
      ...sharedKeys,
      'function',
      'parameters',
      'returns',
      'resources',
      'isolation',
      'version',
      'maxResultBytes',
    ] as readonly string[],
    parameters: 'parameters',
    returns: 'returns',
  },
  definition: {
    keys: [...sharedKeys, 'inputSchema', 'outputSchema'] as readonly string[],
    parameters: 'inputSchema',
    returns: 'outputSchema',
  },
} as const;

/** What a tool file says, as far as it is known before it is checked. */
export interface MetadataLiteral {
  readonly form: MetadataForm;
  readonly value: JsonObject;
  /** Finds the function of that name; in a definition the only one there is. */
  findFunction(name: string): ExportedFunction;
}

/**
 * Checks a metadata literal and fills in its defaults. What is wrong goes to `report`; the answer is only good when nothing of
 * severity `error` did.
 */
export function checkMetadata({ form, value, findFunction }: MetadataLiteral, report: Report): ToolMetadata {
  const { keys, parameters: parametersKey, returns: returnsKey } = words[form];
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
  const name = checkName(value['name'], report);
  const exported =
    form === 'definition' ? findFunction('default') : checkFunction(value['function'], findFunction, report);
  const dangerous = checkDangerous(value, form, report);
  // The two forms differ: in METADATA, `dangerous: false` is the author's word that nothing outside changes.
  const isHarmless = form === 'metadata' && value['dangerous'] === false;
  const effects =
    oneOf(value['effects'], 'effects', ['none', 'state', 'external'], report) ?? (isHarmless ? 'none' : 'external');
  const parameters = checkParameters(
    value[parametersKey],
    { key: parametersKey, exported, subject: form === 'definition' ? name : String(value['function']) },
    report,
  );
  const returns = checkReturns(value[returnsKey], returnsKey, report);
  return {
    form,
    name,
    function: form === 'definition' ? 'default' : String(value['function']),
    description: checkDescription(value['description'], { form, exported, name }, report),
    parameters,
    returns,
    dangerous,
    effects,
    repeat:
      oneOf(value['repeat'], 'repeat', ['safe', 'keyed', 'never'], report) ?? (effects === 'none' ? 'safe' : 'never'),
    timeoutMs: checkTimeout(value['timeoutMs'], report),
    examples: checkExamples(value['examples'], { parameters, returns }, report),
    resources: checkResources(value['resources'], parameters, report),
    isolation: checkIsolation(value['isolation'], report),
    version: checkVersion(value['version'], report),
    maxResultBytes: checkMaxResultBytes(value['maxResultBytes'], report),
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
  visit(metadata, []);
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

function checkFunction(
  name: Json | undefined,
  findFunction: (name: string) => ExportedFunction,
  report: Report,
): ExportedFunction | undefined {
  const path = ['function'];
  if (typeof name !== 'string' || name === '') {
    report({
      code: 'tool.function.missing',
      path,
      message: '`function` must name the exported function that does the work.',
      hint: "Add for example `function: 'runWeather'`.",
    });
    return undefined;
  }
  const exported = findFunction(name);
  if (exported.type === 'not-exported') {
    const others = exported.exported.map((other) => `\`${other}\``).join(', ');
    report({
      code: 'tool.function.not_exported',
      path,
      message: `The file does not export \`${name}\`.`,
      hint:
        others === ''
          ? `Write \`export function ${name}(input) { … }\`.`
          : `It exports ${others}: name one of these, or export \`${name}\`.`,
    });
  } else if (exported.type === 'not-function') {
    report({
      code: 'tool.function.not_function',
      path,
      message: `\`${name}\` cannot be seen to be a function: it is ${exported.found}.`,
      hint: `Write \`export function ${name}(input) { … }\` in this file.`,
    });
  }
  return exported;
}

function checkDangerous({ dangerous, effects }: JsonObject, form: MetadataForm, report: Report): boolean {
  if (typeof dangerous === 'boolean') return dangerous;
  // Whoever writes code and names the effects has said what matters.
  if (dangerous === undefined && form === 'definition' && effects !== undefined) return false;
  if (dangerous === undefined) {
    const assumed = effects === undefined ? 'the tool counts as one that changes the world, and is' : 'the tool is';
    report({
      severity: 'warning',
      code: 'tool.dangerous.missing',
      path: [],
      message: `\`dangerous\` is missing: ${assumed} not asked for.`,
      hint: 'Say `dangerous: false` when it changes nothing outside, `true` when a person has to approve each call.',
    });
  } else {
    report({
      code: 'tool.dangerous.invalid',
      path: ['dangerous'],
      message: `\`dangerous\` must be true or false, got \`${JSON.stringify(dangerous)}\`.`,
      hint: 'Write `true` or `false` without quotes.',
    });
  }
  return false;
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
