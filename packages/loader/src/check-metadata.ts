import {
  type Effects,
  findToolNameProblem,
  isPlainObject,
  type Json,
  type JsonObject,
  type Repeat,
  type ToolExample,
} from '@holdfast/core';
import { checkExamples } from './check-examples.ts';
import { checkParameters, checkReturns } from './check-parameters.ts';
import type { ExportedFunction } from './exported-function.ts';
import { findHiddenCharacter } from './hidden-text.ts';
import { type Report, showPath } from './report.ts';

/** What a tool file says of its tool, with every default filled in. */
export interface ToolMetadata {
  readonly name: string;
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
}

const knownKeys: readonly string[] = [
  'name',
  'function',
  'description',
  'parameters',
  'returns',
  'dangerous',
  'effects',
  'repeat',
  'timeoutMs',
  'examples',
];

/**
 * Checks a metadata literal and fills in its defaults. What is wrong goes to `report`; the answer is only good when nothing of
 * severity `error` did.
 */
export function checkMetadata(
  metadata: JsonObject,
  findFunction: (name: string) => ExportedFunction,
  report: Report,
): ToolMetadata {
  for (const key of Object.keys(metadata)) {
    if (knownKeys.includes(key)) continue;
    report({
      code: 'tool.metadata.unknown_key',
      path: [key],
      message: `\`${key}\` is no metadata key.`,
      hint: `Known keys: ${knownKeys.join(', ')}.`,
    });
  }
  checkTexts(metadata, report);
  const name = checkName(metadata['name'], report);
  const exported = checkFunction(metadata['function'], findFunction, report);
  const dangerous = checkDangerous(metadata['dangerous'], report);
  const effects =
    oneOf(metadata['effects'], 'effects', ['none', 'state', 'external'], report) ??
    (metadata['dangerous'] === false ? 'none' : 'external');
  const parameters = checkParameters(metadata['parameters'], exported, String(metadata['function']), report);
  const returns = checkReturns(metadata['returns'], report);
  return {
    name,
    function: String(metadata['function']),
    description: checkDescription(metadata['description'], exported, name, report),
    parameters,
    returns,
    dangerous,
    effects,
    repeat:
      oneOf(metadata['repeat'], 'repeat', ['safe', 'keyed', 'never'], report) ??
      (effects === 'none' ? 'safe' : 'never'),
    timeoutMs: checkTimeout(metadata['timeoutMs'], report),
    examples: checkExamples(metadata['examples'], { parameters, returns }, report),
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

function checkDangerous(dangerous: Json | undefined, report: Report): boolean {
  if (typeof dangerous === 'boolean') return dangerous;
  if (dangerous === undefined) {
    report({
      severity: 'warning',
      code: 'tool.dangerous.missing',
      path: [],
      message: '`dangerous` is missing: the tool counts as one that changes the world, and is not asked for.',
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

function oneOf<Word extends string>(
  value: Json | undefined,
  key: string,
  words: readonly Word[],
  report: Report,
): Word | undefined {
  if (value === undefined) return undefined;
  const word = words.find((one) => one === value);
  if (word === undefined) {
    report({
      code: `tool.${key}.invalid`,
      path: [key],
      message: `\`${key}\` must be ${words.join(', ')}, got \`${JSON.stringify(value)}\`.`,
      hint: 'Choose one of them, or leave the key out.',
    });
  }
  return word;
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

const maxDescriptionLength = 4096;

function checkDescription(
  description: Json | undefined,
  exported: ExportedFunction | undefined,
  name: string,
  report: Report,
): string {
  const path = ['description'];
  const documentation = exported?.type === 'function' ? exported.documentation : undefined;
  if (description !== undefined && typeof description !== 'string') {
    report({
      code: 'tool.description.invalid',
      path,
      message: '`description` must be a text.',
      hint: 'Say in a sentence what the tool does.',
    });
    return '';
  }
  const text = (description ?? documentation ?? '').trim();
  if (text.length > maxDescriptionLength) {
    report({
      code: 'tool.description.invalid',
      path,
      message: `The description has ${text.length} characters.`,
      hint: `Keep it under ${maxDescriptionLength}.`,
    });
  }
  if (description === undefined && documentation !== undefined) {
    const character = findHiddenCharacter(documentation);
    if (character !== undefined)
      report({
        code: 'tool.text.hidden',
        path,
        message: `The doc comment holds the invisible character ${character}.`,
        hint: 'A model reads what a person cannot see: leave it out.',
      });
  }
  if (text !== '') return text;
  const words = name.replace(/[_-]+/g, ' ').trim();
  report({
    severity: 'warning',
    code: 'tool.description.missing',
    path,
    message: '`description` is missing: the words of the name have to do.',
    hint: 'Say in a sentence what the tool does; a model chooses by it.',
  });
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}
