import type { Json, JsonObject } from '@holdfast/core';
import { findToolNameProblem, isPlainObject } from '@holdfast/core/internal';
import { findHiddenCharacter } from '../text/hidden-text.ts';
import { checkEnvironment, checkExamples, checkResources, checkRetry } from './extended.ts';
import { checkDescription, checkFunction } from './function.ts';
import { readKeys } from './keys.ts';
import { checkParameters, checkReturns } from './parameters.ts';
import { showPath } from './report.ts';
import { checkTaken } from './taken.ts';
import type { MetadataLiteral, Report, ToolMetadata } from './types.ts';

const sharedKeys = 'name description dangerous effects repeat timeoutMs retry examples environment'.split(' ');
const fileKeys = [...sharedKeys, ...'parameters returns resources isolation version maxResultBytes'.split(' ')];
const definitionKeys = [...sharedKeys, 'inputSchema', 'outputSchema'];

/** Checks a metadata literal and fills in its defaults. Findings go to `report`; the result is only valid without errors. */
export function checkMetadata({ form, value, findFunction, own = {} }: MetadataLiteral, report: Report): ToolMetadata {
  const isDefinition = form === 'definition';
  const fromFile = [...fileKeys, ...(findFunction === undefined ? [] : ['function']), ...(own.keys ?? [])];
  const keys = isDefinition ? definitionKeys : fromFile;
  for (const key of Object.keys(value)) {
    if (keys.includes(key)) continue;
    const hint = `Known keys: ${keys.join(', ')}.`;
    report({
      code: 'tool.metadata.invalid',
      reason: 'unknown_key',
      path: [key],
      message: `Unknown metadata key \`${key}\`.`,
      hint,
    });
  }
  checkTexts(value, report);
  const [parametersKey, returnsKey] = isDefinition
    ? (['inputSchema', 'outputSchema'] as const)
    : (['parameters', 'returns'] as const);
  const name = checkName(value['name'], report);
  const exported = isDefinition
    ? findFunction?.('default')
    : findFunction && checkFunction(value['function'], { words: own.functionWords, findFunction }, report);
  const undeclared = value['dangerous'] === undefined && value['effects'] === undefined;
  const given = readKeys(value, report);
  const dangerous = isDangerous(value, name, report);
  // The forms differ: in METADATA, `dangerous: false` declares that nothing outside changes.
  const isHarmless = !isDefinition && value['dangerous'] === false;
  const effects = given.effects ?? (isHarmless ? 'none' : 'external');
  const namedFunction = isDefinition ? 'default' : findFunction === undefined ? '' : String(value['function']);
  const subject = isDefinition || findFunction === undefined ? name : namedFunction;
  const repeat = given.repeat ?? (effects === 'none' ? 'safe' : 'never');
  const parameters = checkParameters(value[parametersKey], { key: parametersKey, exported, subject }, report);
  const returns = checkReturns(value[returnsKey], returnsKey, report);
  if (exported?.type === 'function') checkTaken(exported, parameters, report);
  const { command, passing } = own.check?.(value, { exported, parameters }, report) ?? {};
  const { examples = [], resources, timeoutMs, isolation, version, maxResultBytes } = given;
  checkExamples(examples, { parameters, returns }, report);
  if (resources !== undefined) checkResources(resources, parameters, report);
  return {
    form,
    name,
    function: namedFunction,
    command,
    passing,
    description: checkDescription(value['description'], { form, exported, name }, report),
    parameters,
    returns,
    dangerous,
    undeclared,
    effects,
    repeat,
    timeoutMs,
    retry: checkRetry(value['retry'], repeat, report),
    examples,
    resources,
    isolation,
    version,
    maxResultBytes,
    environment: checkEnvironment(value['environment'], report),
  };
}

function checkTexts(metadata: JsonObject, report: Report): void {
  const visit = (node: Json, path: readonly string[]): void => {
    const texts = typeof node === 'string' ? [node] : isPlainObject(node) ? Object.keys(node) : [];
    for (const text of texts) {
      const character = findHiddenCharacter(text);
      if (character === undefined) continue;
      const message = `\`${showPath(path) || 'METADATA'}\` contains the invisible character ${character}.`;
      const hint = 'Remove it: models read characters that people cannot see.';
      report({ code: 'tool.metadata.invalid', reason: 'text.hidden', path, message, hint });
    }
    if (typeof node === 'object' && node !== null)
      for (const [key, inner] of Object.entries(node)) visit(inner, [...path, key]);
  };
  // Visit every string only if one of them has a finding.
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
    const message = '`name` is missing.';
    const hint = "Name the tool, for example `name: 'weather_fetcher'`.";
    report({ code: 'tool.name.missing', path: ['name'], message, hint });
    return '';
  }
  const problem =
    typeof name === 'string'
      ? findToolNameProblem(name)
      : { code: 'tool.invalid', reason: 'name.invalid', message: '`name` must be a string.' };
  if (problem !== undefined) report({ ...problem, path: ['name'], hint: 'Choose a name such as `weather_fetcher`.' });
  return String(name);
}

/** Anything but a boolean counts as true. */
function isDangerous({ dangerous, effects }: JsonObject, name: string, report: Report): boolean {
  if (dangerous !== undefined) return dangerous !== false;
  if (effects !== undefined) return false;
  const message = `\`${name}\` declares neither \`dangerous\` nor \`effects\`: it may change anything outside, so each call needs approval.`;
  const hint = "Declare `dangerous: false` and `effects: 'none'` if it only reads, otherwise `dangerous: true`.";
  report({ severity: 'warning', code: 'tool.metadata.invalid', reason: 'dangerous.missing', path: [], message, hint });
  return true;
}
