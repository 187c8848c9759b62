import type { Json } from '@holdfast/core';
import type { MetadataForm } from './check-metadata.ts';
import type { ExportedFunction } from './exported-function.ts';
import { findHiddenCharacter } from './hidden-text.ts';
import type { Report } from './report.ts';

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
    report({
      code: 'tool.description.invalid',
      path,
      message: '`description` must be a text.',
      hint: 'Say in a sentence what the tool does.',
    });
    return '';
  }
  const text = (description ?? documentation ?? '').trim();
  if (text.length > maxLength || !pattern.test(text)) {
    const problem = text.length > maxLength ? `has ${text.length} characters` : 'is not ASCII';
    report({ code: 'tool.description.invalid', path, message: `The description ${problem}.`, hint });
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
    severity: form === 'definition' ? 'error' : 'warning',
    code: 'tool.description.missing',
    path,
    message: `\`description\` is missing${form === 'definition' ? '' : ': the words of the name have to do'}.`,
    hint: 'Say in a sentence what the tool does; a model chooses by it.',
  });
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}
