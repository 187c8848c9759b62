import type { Json } from '@holdfast/core';
import type { ExportedFunction } from '../parse/exported-function.ts';
import { findHiddenCharacter } from '../text/hidden-text.ts';
import type { FunctionWords, MetadataForm, Report } from './types.ts';

const wordsOfModules: FunctionWords = {
  write: (name) => `Write \`export function ${name}(input) { … }\``,
  missing: (name) => `The file does not export \`${name}\`.`,
  others: (names, name) => `It exports ${names}: name one of these, or export \`${name}\`.`,
};

/** Checks `function` against the file's exports; `undefined` if it names none. */
export function checkFunction(
  name: Json | undefined,
  {
    words = wordsOfModules,
    findFunction,
  }: { readonly words?: FunctionWords | undefined; findFunction(name: string): ExportedFunction },
  report: Report,
): ExportedFunction | undefined {
  const path = ['function'];
  const { write, missing, others } = words;
  if (typeof name !== 'string' || name === '') {
    const message = '`function` must name the exported function of the tool.';
    report({ code: 'tool.function.missing', path, message, hint: "For example: `function: 'runWeather'`." });
    return undefined;
  }
  const exported = findFunction(name);
  if (exported.type === 'not-exported') {
    const names = exported.exported.map((other) => `\`${other}\``).join(', ');
    const hint = names === '' ? `${write(name)}.` : others(names, name);
    report({ code: 'tool.function.not_exported', path, message: missing(name), hint });
  } else if (exported.type === 'not-function') {
    const message = `Cannot verify that \`${name}\` is a function: it is ${exported.found}.`;
    report({ code: 'tool.function.not_function', path, message, hint: `${write(name)} in this file.` });
  }
  return exported;
}

// The limits of `defineTool` in core, which apply when a definition is imported.
const limits = {
  file: { maxLength: 4096, pattern: /^/, hint: 'Keep it under 4096 characters.' },
  definition: {
    maxLength: 200,
    pattern: /^[\x20-\x7e\n\t]*$/,
    hint: '`defineTool` accepts 1 to 200 ASCII characters; METADATA allows more.',
  },
} as const;

/** Checks the description. Without one, the doc comment or the words of the name are used. */
export function checkDescription(
  description: Json | undefined,
  {
    form,
    exported,
    name,
  }: { readonly form: MetadataForm; readonly exported: ExportedFunction | undefined; readonly name: string },
  report: Report,
): string {
  const path = ['description'];
  const { maxLength, pattern, hint } = limits[form === 'definition' ? form : 'file'];
  const documentation = exported?.type === 'function' ? exported.documentation : undefined;
  if (description !== undefined && typeof description !== 'string') {
    const message = '`description` must be a string.';
    report({
      code: 'tool.invalid',
      reason: 'description.invalid',
      path,
      message,
      hint: 'Describe in one sentence what the tool does.',
    });
    return '';
  }
  const text = (description ?? documentation ?? '').trim();
  if (text.length > maxLength || !pattern.test(text)) {
    const problem = text.length > maxLength ? `has ${text.length} characters` : 'is not ASCII';
    report({ code: 'tool.invalid', reason: 'description.invalid', path, message: `The description ${problem}.`, hint });
  }
  if (description === undefined && documentation !== undefined) {
    const character = findHiddenCharacter(documentation);
    const message = `The doc comment contains the invisible character ${character}.`;
    const leaveOut = 'Remove it: models read characters that people cannot see.';
    if (character !== undefined)
      report({ code: 'tool.metadata.invalid', reason: 'text.hidden', path, message, hint: leaveOut });
  }
  if (text !== '') return text;
  const words = name.replace(/[_-]+/g, ' ').trim();
  const [severity, what] =
    form === 'definition'
      ? (['error', ''] as const)
      : (['warning', ': the words of the name are used instead'] as const);
  const message = `\`description\` is missing${what}.`;
  const advice = 'Describe in one sentence what the tool does; models choose tools by it.';
  report({ severity, code: 'tool.metadata.invalid', reason: 'description.missing', path, message, hint: advice });
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}
