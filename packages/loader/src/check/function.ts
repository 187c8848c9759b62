import type { Json } from '@holdfast/core';
import type { ExportedFunction } from '../parse/exported-function.ts';
import { findHiddenCharacter } from '../text/hidden-text.ts';
import type { FunctionWords, MetadataForm, Report } from './types.ts';

const wordsOfModules: FunctionWords = {
  write: (name) => `Write \`export function ${name}(input) { … }\``,
  missing: (name) => `The file does not export \`${name}\`.`,
  others: (names, name) => `It exports ${names}: name one of these, or export \`${name}\`.`,
};

/** Checks `function` against what the file has; `undefined` when it names nothing. */
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
    const message = '`function` must name the exported function that does the work.';
    report({ code: 'tool.function.missing', path, message, hint: "Add for example `function: 'runWeather'`." });
    return undefined;
  }
  const exported = findFunction(name);
  if (exported.type === 'not-exported') {
    const names = exported.exported.map((other) => `\`${other}\``).join(', ');
    const hint = names === '' ? `${write(name)}.` : others(names, name);
    report({ code: 'tool.function.not_exported', path, message: missing(name), hint });
  } else if (exported.type === 'not-function') {
    const message = `\`${name}\` cannot be seen to be a function: it is ${exported.found}.`;
    report({ code: 'tool.function.not_function', path, message, hint: `${write(name)} in this file.` });
  }
  return exported;
}

// Those of `defineTool` in core, which a definition meets when its file is imported.
const limits = {
  file: { maxLength: 4096, pattern: /^/, hint: 'Keep it under 4096.' },
  definition: {
    maxLength: 200,
    pattern: /^[\x20-\x7e\n\t]*$/,
    hint: '`defineTool` takes 1 to 200 ASCII characters; METADATA takes more.',
  },
} as const;

/** Checks what a model reads of a tool; without a description its words are taken from the doc comment or the name. */
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
    const message = '`description` must be a text.';
    report({ code: 'tool.description.invalid', path, message, hint: 'Say in a sentence what the tool does.' });
    return '';
  }
  const text = (description ?? documentation ?? '').trim();
  if (text.length > maxLength || !pattern.test(text)) {
    const problem = text.length > maxLength ? `has ${text.length} characters` : 'is not ASCII';
    report({ code: 'tool.description.invalid', path, message: `The description ${problem}.`, hint });
  }
  if (description === undefined && documentation !== undefined) {
    const character = findHiddenCharacter(documentation);
    const message = `The doc comment holds the invisible character ${character}.`;
    const leaveOut = 'A model reads what a person cannot see: leave it out.';
    if (character !== undefined) report({ code: 'tool.text.hidden', path, message, hint: leaveOut });
  }
  if (text !== '') return text;
  const words = name.replace(/[_-]+/g, ' ').trim();
  const [severity, what] =
    form === 'definition' ? (['error', ''] as const) : (['warning', ': the words of the name have to do'] as const);
  const message = `\`description\` is missing${what}.`;
  const advice = 'Say in a sentence what the tool does; a model chooses by it.';
  report({ severity, code: 'tool.description.missing', path, message, hint: advice });
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}
